"""Columns that residuals are set against, or stand in the order of: numbers, or levels by their labels."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.data.columns import wrong_type
from evalpipe.data.errors import Unreadable
from evalpipe.data.numeric import bounded
from evalpipe.data.sample import ColumnValues
from evalpipe.data.slices import MISSING, labels_of, ordered

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.columns import Columns

MOST = 50
"""The most levels that residuals are set against."""


def check(columns: Columns) -> None:
    """Read every such column of evaluated rows; the rest gets a problem."""
    import polars as pl

    asked = columns.rows.plan.residuals
    for loc, name in () if asked is None else asked.columns:
        try:
            values = columns.rows.typed(name)
            values = values.fill_nan(None) if values.dtype.is_float() else values
            numeric = values.dtype.is_numeric()
            columns.row_columns[name] = ((), values.cast(pl.Float64)) if numeric else _levels(values)
        except Unreadable as fault:
            columns.problems.append(wrong_type(columns.rows, name, loc, fault))
            continue
        levels, codes = columns.row_columns[name]
        if numeric:
            bounded(columns, name, loc, codes)
        elif loc[2] == "against" and len(levels) > MOST:
            message = (f"column '{name}' of {columns.rows.called} has {len(levels):,} levels, more than the {MOST} "
                       "that residuals are set against")
            columns.problems.append(columns.rows.problem(
                "too-many-levels", message, loc, "group the levels in the data, or name a column of numbers"))


def _levels(values: pl.Series) -> tuple[tuple[str, ...], pl.Series]:
    """Return the labels of the levels in the order of people, dates by time, and the place of each row's, [n]."""
    import polars as pl

    distinct = values.unique()
    labels = labels_of(distinct)  # of these, for there may be few of them and many rows
    levels = tuple(ordered({*labels} - {MISSING}))
    places = {label: float(place) for place, label in enumerate(levels)}
    codes = pl.Series([places.get(label) for label in labels], dtype=pl.Float64)
    return levels, values.replace_strict(distinct, codes, return_dtype=pl.Float64)


def held(columns: Columns) -> dict[str, pl.Series]:
    """Return the columns of each row under names of their own."""
    return {f"column {place}": values for place, (_, values) in enumerate(columns.row_columns.values())}


def asked(columns: Columns, frame: pl.DataFrame) -> Mapping[str, ColumnValues]:
    """Return the columns by name; ``frame`` holds those of `held` for the rows of the sample."""
    return MappingProxyType({
        name: ColumnValues(levels, np.asarray(frame[f"column {place}"].fill_null(np.nan).to_numpy(), float))
        for place, (name, (levels, _)) in enumerate(columns.row_columns.items())})
