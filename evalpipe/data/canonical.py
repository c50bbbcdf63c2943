"""The canonical order of rows: sorted by their values, so that their order in the files changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.arraytypes import Wholes


def in_order(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows sorted by all columns in turn.

    The columns up to the first of floats, scores as a rule, tell nearly all rows apart. Sorting by these, and by all
    columns only the rows that are left tied, takes half of the time and a part of the memory.
    """
    leading = _leading(table)
    if not leading or any(table[name].null_count() for name in leading):
        return table.sort(table.columns)
    order = np.lexsort([table[name].to_numpy() for name in reversed(leading)])
    tied = _tied(table, leading, order)
    if len(tied):
        among = table[order[tied]].with_row_index("\0row").sort(table.columns)["\0row"].to_numpy()
        order[tied] = order[tied][among]
    return table[order]


def _leading(table: pl.DataFrame) -> list[str]:
    """Return the columns up to the first of floats; none where there is none, or a text comes before."""
    for place, (name, kind) in enumerate(table.schema.items()):
        if kind.is_float():
            return [*table.columns[:place], name]
        if not (kind.is_integer() or kind.to_python() is bool):
            break
    return []


def _tied(table: pl.DataFrame, leading: list[str], order: Wholes) -> Wholes:
    """Return the places in an order whose row has the same leading values as a neighbour."""
    *others, last = leading
    values = table[last].to_numpy()[order]
    at = np.flatnonzero(values[1:] == values[:-1])  # of the column with most values, which leaves little to compare
    for name in others:
        values = table[name].to_numpy()
        at = at[values[order[at]] == values[order[at + 1]]]
    return np.union1d(at, at + 1)
