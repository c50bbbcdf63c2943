"""Predictions in files of their own: which of their rows belongs to which row of the dataset."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.data.columns import fill_hint, wrong_type
from evalpipe.data.errors import Unreadable
from evalpipe.data.stepped import in_short
from evalpipe.data.values import blank, differing, shown, texts
from evalpipe.data.words import counted, rows_have

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.block import RowBlock
    from evalpipe.errors import Problem
    from evalpipe.plan.fits import Fit

_CODE = "misaligned-rows"


def match(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> tuple[RowBlock, list[Problem]]:
    """Find for each row of a dataset, before its ``where``, the row that each model's file has for it.

    Rows are matched by their id where the spec names one, else by position: then columns that both have must agree. The
    dataset's rows come back with a column for each model (`row_of`): the row of its file from 0, null where none is.
    """
    faults: dict[Fit, list[Problem]] = {}
    places: list[pl.Series] = []
    for fit, theirs in files.items():
        at, faults[fit] = _by_position(rows, theirs) if rows.plan.id is None else _by_id(rows, theirs, rows.plan.id)
        places += [] if at is None else [at.alias(row_of(fit))]
    return replace(rows, frame=rows.frame.with_columns(places)), in_short(faults, files)


def take(rows: RowBlock, files: Mapping[Fit, RowBlock]) -> tuple[RowBlock, list[Problem]]:
    """Give the rows that are left the predictions for them, row by row; a problem where a row has none."""
    faults: dict[Fit, list[Problem]] = {}
    models: dict[Fit, RowBlock] = {}
    for fit, theirs in files.items():
        at = rows.frame[row_of(fit)]
        if at.null_count():
            faults[fit] = _unmatched(rows, theirs, at.is_null())
        else:
            models[fit] = replace(theirs, frame=theirs.frame[at])
    return replace(rows, models=MappingProxyType(models)), in_short(faults, files)


def row_of(fit: Fit) -> str:
    """Return the column that says which row of a model's file, or of a step there, belongs to a row of the dataset."""
    return f"\0row of {fit.model}\0{fit.kind} {fit.number}"


def _by_position(rows: RowBlock, theirs: RowBlock) -> tuple[pl.Series | None, list[Problem]]:
    """Match the first row with the first, and so on: as many rows, and the same values in every shared column."""
    import polars as pl

    here, there, loc = rows.frame.height, theirs.frame.height, theirs.dataset.table.named.loc
    if here != there:
        message = f"{theirs.called} has {counted(there, 'row')}, but the dataset has {here:,}"
        hint = f"{_identify(rows, theirs)}, or write one row for each"
        return None, [theirs.problem(_CODE, message, loc, hint)]
    # A file in another order would give each row the prediction of another, and nothing else would tell.
    for column in theirs.dataset.compared:
        differ = differing(rows.frame[column], theirs.frame[column])
        if differ.any():
            return None, [_differ(rows, theirs, column, differ)]
    return pl.int_range(here, dtype=pl.Int64, eager=True), []


def _differ(rows: RowBlock, theirs: RowBlock, column: str, differ: pl.Series) -> Problem:
    """Report a shared column whose values differ between rows of the same position."""
    own, written, count = rows.frame[column], theirs.frame[column], int(differ.sum())
    message = (f"{theirs.called} is matched row by row, but column '{column}', which both have, differs in {count:,} "
               f"of {counted(len(differ), 'row')}")
    hint = f"{_identify(rows, theirs)}, or write the file's rows in the order of the dataset"
    problem = theirs.problem(_CODE, message, theirs.dataset.table.named.loc, hint, mask=differ, values=written)
    pairs = zip(problem.rows, own.filter(differ).head(len(problem.rows)), strict=True)
    return replace(problem, rows=tuple((row, f"{value}, but {shown(value_here)} in the dataset")
                                       for (row, value), value_here in pairs))


def _identify(rows: RowBlock, theirs: RowBlock) -> str:
    """Suggest the shared column that identifies a row: complete, and no value twice, on either side."""
    for column in theirs.dataset.compared:
        values = (rows.frame[column], theirs.frame[column])
        if all(not blank(series).any() and series.n_unique() == len(series) for series in values):
            return f"write 'id: {column}', so that rows are matched by it"
    return "name the column that identifies a row under 'id', so that rows are matched by it"


def _by_id(rows: RowBlock, theirs: RowBlock, column: str) -> tuple[pl.Series | None, list[Problem]]:
    import polars as pl

    wanted, fault = _ids(rows, column)
    ids, other = _ids(theirs, column)
    if wanted is None or ids is None:
        return None, [*fault, *other]
    present = ids.is_not_null()
    again = present & ~ids.is_first_distinct()
    # Looked for among all rows of the dataset, of which `where` has left out none yet.
    strange = present & ~ids.is_in(wanted.drop_nulls().implode())
    problems = _faults(theirs, column, ids, again=again, strange=strange)
    # A join promises no order unless it is told to keep that of its left side.
    places = pl.DataFrame({"id": ids, "at": pl.int_range(len(ids), dtype=pl.Int64, eager=True)}).filter(present)
    matched = pl.DataFrame({"id": wanted}).join(
        places.unique("id", keep="first", maintain_order=True), on="id", how="left", maintain_order="left"
    )
    return matched["at"], problems


def _ids(rows: RowBlock, column: str) -> tuple[pl.Series | None, list[Problem]]:
    """Read the ids of rows as text."""
    try:
        return texts(rows.frame[column]), []
    except Unreadable as fault:
        return None, [wrong_type(rows, column, ("id",), fault)]


def _faults(
    theirs: RowBlock, column: str, ids: pl.Series, *, again: pl.Series, strange: pl.Series
) -> list[Problem]:
    """Report the rows of a file without an id, with one that stood there before, or with one of no row."""
    refused = (
        (ids.is_null(), f"no value in the id column '{column}' of {theirs.called}",
         f"each row needs the id of the row of dataset '{theirs.name}' that it predicts"),
        (again, f"an id that an earlier row of {theirs.called} has", "keep one prediction for each id"),
        (strange, f"an id in {theirs.called} that the dataset does not have",
         "remove them, or name the file that belongs to this dataset"),
    )
    loc = theirs.dataset.table.named.loc
    return [theirs.problem(_CODE, f"{rows_have(mask)} {what}", loc, hint, mask=mask, values=ids)
            for mask, what, hint in refused if mask.any()]


def _unmatched(rows: RowBlock, theirs: RowBlock, lacking: pl.Series) -> list[Problem]:
    """Report rows of the dataset for which a file has no prediction; they have an id, or are reported for that."""
    column = str(rows.plan.id)
    ids = texts(rows.frame[column])
    empty, loc = ids.is_null(), theirs.dataset.table.named.loc
    if empty.any():
        message = f"{rows_have(empty)} no value in the id column '{column}'"
        return [rows.problem("missing-id", message, ("id",), fill_hint(rows, column, ("id",)), mask=empty, values=ids)]
    message = f"{rows_have(lacking)} no prediction: their ids are not in {theirs.called}{theirs.at_step}"
    if int(lacking.sum()) == 1:
        message = f"1 row has no prediction: its id is not in {theirs.called}{theirs.at_step}"
    hint = "predict them, or leave such rows out for every model with 'complete_case: all'"
    return [rows.problem(_CODE, message, loc, hint, mask=lacking, values=ids)]
