"""Rows for which a model has no prediction, left out for every model where the spec says so."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.data.aligned import row_of
from evalpipe.data.values import blank, texts
from evalpipe.errors import Problem
from evalpipe.plan.fits import Fit
from evalpipe.results import Warned
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.block import RowBlock


def complete(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> RowBlock | Problem:
    """Keep the rows for which every model has a prediction, and count those that each model lacks.

    ``files`` are the files of predictions, matched to the rows. A prediction is absent where the file has no row for
    the id, and where one of the model's cells is empty or NaN, at any step and in any fit.
    """
    own = {Fit(model): None for model in rows.plan.models if Fit(model) not in files}
    lacking = {model: reduce(or_, (_lacks(rows, theirs, fit) for fit, theirs in {**files, **own}.items()
                                   if fit.model == model)) for model in rows.plan.models}
    absent = reduce(or_, lacking.values())
    if absent.all():
        message = f"no row of dataset '{rows.name}' has a prediction of every model"
        place = rows.plan.places.place("complete_case")
        return Problem("no-rows-left", message, place, "find out why predictions are missing, or leave out a model")
    counts = {model: int(mask.sum()) for model, mask in lacking.items() if mask.any()}
    frame = rows.frame.filter(~absent)
    return replace(rows, frame=frame, incomplete=int(absent.sum()), lacking=MappingProxyType(counts))


def _lacks(rows: RowBlock, theirs: RowBlock | None, fit: Fit) -> pl.Series:
    """Return for which rows a model has no prediction, at its step where it has steps; [n].

    A row without an id is another fault.
    """
    import polars as pl

    plan = rows.plan
    at = None if theirs is None else rows.frame[row_of(fit)]
    mask = pl.repeat(value=False, n=rows.frame.height, eager=True)
    # By position every row has a partner, or the files were refused for their lengths.
    if at is not None and plan.id is not None:
        mask = at.is_null() & texts(rows.frame[plan.id]).is_not_null()
    source = rows if theirs is None else theirs
    for kind, column in plan.models[fit.model].columns.items():
        cells = source.frame[column]
        empty = _empty(cells, numeric=kind != "prediction" or plan.task in NUMBERS)
        mask |= empty if at is None else empty.gather(at).fill_null(value=False)
    return mask


def _empty(cells: pl.Series, *, numeric: bool) -> pl.Series:
    """Return which cells hold no prediction, shape [n]: empty ones, and NaN where a number is expected."""
    import polars as pl

    if cells.dtype.is_float():
        return cells.is_null() | cells.is_nan().fill_null(value=False)
    if numeric and cells.dtype == pl.String:
        return blank(cells) | (cells.str.strip_chars().str.to_lowercase() == "nan").fill_null(value=False)
    return blank(cells)


def warning(rows: RowBlock) -> Warned:
    """Say how many rows were left out, and which models lack them."""
    models = ", ".join(f"'{model}' lacks {count:,}" for model, count in rows.lacking.items())
    total = rows.incomplete + rows.frame.height
    message = (f"{rows.incomplete:,} of {total:,} rows of dataset '{rows.name}' are left out for every model, because "
               f"a model has no prediction for them: {models}; performance on these rows is unknown")
    return Warned(code="incomplete-rows", message=message)
