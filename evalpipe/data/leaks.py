"""Rows that an evaluated dataset shares with a reference dataset, such as the training data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.data.errors import SHOWN, more
from evalpipe.data.rows import POSITION
from evalpipe.data.values import shown
from evalpipe.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from evalpipe.data.columns import Columns


def shared(evaluated: Columns, reference: Columns) -> Iterator[Problem]:
    """Yield a problem when rows of ``evaluated`` are in ``reference``: by id, else by all columns read from both."""
    import polars as pl

    spec = evaluated.rows.spec
    keys = list(reference.rows.plan.columns) if spec.id is None else [spec.id]
    if any(key not in columns.values for key in keys for columns in (evaluated, reference)):
        return
    left = _keys(evaluated, keys)
    right = _keys(reference, keys).unique(keys, keep="first", maintain_order=True).rename({POSITION: "\0there"})
    if spec.id is not None:
        left = left.filter(pl.col(spec.id).is_not_null())
    both = left.join(right, on=keys, how="inner", nulls_equal=True).sort(POSITION)
    if both.height:
        yield _problem(evaluated, reference, both, keys)


def _keys(columns: Columns, keys: list[str]) -> pl.DataFrame:
    import polars as pl

    named = {key: columns.values[key] for key in keys}
    return pl.DataFrame(named | {POSITION: columns.rows.frame[POSITION]})


def _problem(evaluated: Columns, reference: Columns, both: pl.DataFrame, keys: list[str]) -> Problem:
    spec, there = evaluated.rows.spec, reference.rows
    rows = []
    for record in both.head(SHOWN).iter_rows(named=True):
        row, suffix = evaluated.rows.cell(record[POSITION])
        twin, file = there.cell(record["\0there"])
        value = f"{shown(record[spec.id])}{suffix}, " if spec.id is not None else f"{suffix.strip()}, ".lstrip(", ")
        rows.append((row, f"{value}{'also ' if value else 'the same as '}row {twin}{file or f' of {there.place}'}"))
    count = both.height
    message = (f"{count:,} {'row' if count == 1 else 'rows'} of dataset '{evaluated.rows.name}'"
               f" {'is' if count == 1 else 'are'} also in the reference dataset '{there.name}'")
    hint = "remove them from the evaluated data: a model must not be judged on what it has seen"
    notes = more(count)
    if spec.id is None:
        hint = (
            "declare 'id': without it rows count as the same when all columns read are equal, and different cases can "
            "look alike"
        )
        notes += (f"compared by {', '.join(keys)}",)
    place = spec.origin.place("datasets", evaluated.rows.name)
    notes += (f"named at {place}",) if place is not None else ()
    return Problem("shared-rows", message, evaluated.rows.place, hint, tuple(rows), notes)
