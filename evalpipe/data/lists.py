"""Columns whose lists hold the probabilities or scores of all levels: each is split into a column for each level."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.data.aligned import row_of
from evalpipe.data.columns import wrong_type
from evalpipe.data.errors import Unreadable
from evalpipe.data.stepped import in_short
from evalpipe.data.values import blank
from evalpipe.data.words import are, cells, counted, noun
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from evalpipe.base.origin import Loc
    from evalpipe.data.block import RowBlock
    from evalpipe.errors import Problem
    from evalpipe.plan.fits import Fit
    from evalpipe.plan.models import ModelPlan

_NUMBER = r"(?:[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|null|NaN|nan)"
_TEXT = rf"^\s*\[\s*(?:{_NUMBER}\s*(?:,\s*{_NUMBER}\s*)*)?\]\s*$"
"""A list as text: numbers with a decimal point between brackets, separated by commas; of null and NaN there is none."""

_EXAMPLE = "write the numbers of all levels between brackets, separated by commas: [0.7, 0.2, 0.1]"


def split(
    rows: RowBlock, files: Mapping[Fit, RowBlock]
) -> tuple[RowBlock, Mapping[Fit, RowBlock], list[Problem]]:
    """Split the columns of lists of the rows that are left of a dataset, and of the files matched to them.

    A list of a row that counts has as many numbers as there are levels; else it is a problem.
    """
    rows, problems = _split(rows, None)
    faults: dict[Fit, list[Problem]] = {}
    parts: dict[Fit, RowBlock] = {}
    for fit, theirs in files.items():
        parts[fit], faults[fit] = _split(theirs, rows.frame[row_of(fit)])
    return rows, parts, problems + in_short(faults, parts)


def _split(rows: RowBlock, counting: pl.Series | None) -> tuple[RowBlock, list[Problem]]:
    """Split the columns of lists of some rows; of those that are ``counting``, from 0, lists must be whole."""
    import polars as pl

    problems: list[Problem] = []
    parts: dict[str, dict[str, pl.Series]] = {}
    for model in _listed(rows):
        column = str(model.list_column)
        if column in parts:
            continue
        lists, faults = _lists(rows, model, column)
        if not faults and lists is not None:
            asked = pl.repeat(value=True, n=len(lists), eager=True) if counting is None else (
                pl.int_range(len(lists), eager=True).is_in(counting.drop_nulls().implode()))
            faults = list(_uneven(rows, model, column, lists, asked))
            parts[column] = {name: lists.list.get(place, null_on_oob=True).alias(name) for place, name in enumerate(
                model.level_columns[level] for level in model.order)}
        problems += faults
    if problems or not parts:
        return rows, problems
    names = [name for column in rows.dataset.columns for name in parts.get(column, {column: None})]
    frame = rows.frame.drop(list(parts)).with_columns(
        series for by_level in parts.values() for series in by_level.values())
    return replace(rows, frame=frame, dataset=replace(rows.dataset, columns=tuple(dict.fromkeys(names)))), []


def _listed(rows: RowBlock) -> Iterator[ModelPlan]:
    """Yield the models whose lists are in these rows: those of a file of predictions, or without one."""
    model_of_file = rows.dataset.table.named.model
    for model in rows.plan.models.values():
        here = not model.separate if model_of_file is None else model.name == model_of_file
        if here and model.list_column in rows.frame.columns:
            yield model


def _lists(rows: RowBlock, model: ModelPlan, column: str) -> tuple[pl.Series | None, list[Problem]]:
    """Read a column as lists of single values, those that are written as text too; null where there is none."""
    import polars as pl

    written, loc = rows.frame[column], _loc(model)
    taken = [name for name in model.level_columns.values() if name in rows.frame.columns]
    if taken:
        message = f"column '{column}' of {rows.called} is read as a column for each level, but it has '{taken[0]}' too"
        return None, [rows.problem("taken-name", message, loc, "rename one of the two")]
    if written.dtype == pl.String:
        lists, strange = _of_text(written)
        if not strange.any():
            return lists, []
        message = f"{cells(strange)} of column '{column}' {are(strange)} not {noun(strange, 'list')} of numbers"
        return None, [rows.problem("not-a-list", message, loc, _EXAMPLE, mask=strange, values=written)]
    if written.dtype == pl.Null:
        return written.cast(pl.List(pl.Float64)), []
    kind = written.dtype
    if isinstance(kind, pl.List | pl.Array) and not kind.inner.is_nested():
        return written.cast(pl.List(kind.inner)), []
    holds = "lists of lists" if kind.is_nested() else f"values of type {kind}"
    return None, [wrong_type(rows, column, loc, Unreadable("wrong-type", f"holds {holds}, not lists of numbers",
                                                           _EXAMPLE))]


def _of_text(written: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return the lists that texts are, null for an empty cell, and which cells are neither."""
    import polars as pl

    empty = blank(written)
    strange = ~empty & ~written.str.contains(_TEXT).fill_null(value=False)
    inside = written.set(empty | strange, None).str.strip_chars().str.strip_prefix("[").str.strip_suffix("]")
    texts = inside.str.split(",").list.eval(pl.element().str.strip_chars())
    numbers = texts.list.eval(pl.element().replace(["null", ""], None).cast(pl.Float64))
    return numbers.set(inside.str.strip_chars() == "", pl.Series([[]], dtype=numbers.dtype)[0]), strange


def listed_numbers(cells: pl.Series) -> pl.Series | None:
    """Return the lists of floats that the cells of a column are, as values or texts; None where they are others."""
    import polars as pl

    if isinstance(cells.dtype, pl.List | pl.Array):
        return cells.cast(pl.List(pl.Float64)) if cells.dtype.inner.is_numeric() else None
    if cells.dtype != pl.String or blank(cells).all():
        return None
    lists, strange = _of_text(cells)
    return None if strange.any() else lists


def _uneven(rows: RowBlock, model: ModelPlan, column: str, lists: pl.Series, asked: pl.Series) -> Iterator[Problem]:
    """Report the lists that do not hold a number for each level."""
    lengths = lists.list.len()
    wrong = ((lengths != len(model.order)) & asked).fill_null(value=False)
    if wrong.any():
        count = int(wrong.sum())
        message = (f"{counted(count, 'list')} of column '{column}' {'does' if count == 1 else 'do'} not hold "
                   f"{counted(len(model.order), 'number')}, one for each level")
        hint = f"give one number for each level, in the order {listed(model.order, 'and')}"
        problem = rows.problem("list-length", message, _loc(model), hint, mask=wrong, values=lengths)
        yield replace(problem, rows=tuple((row, f"a length of {length}") for row, length in problem.rows))


def _loc(model: ModelPlan) -> Loc:
    """Return where a model names its column of lists."""
    return ("models", model.name, "scores" if model.scores else "probabilities")
