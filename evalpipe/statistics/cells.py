"""The cells of the confusion matrix, those at a threshold of its own, and the total weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.summary import column, table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.statistics.class_rows import ClassRows
    from evalpipe.statistics.rows import Rows
    from evalpipe.statistics.summary import Summary


@table
def total(summary: Summary) -> Floats:
    """Weight of all rows."""
    return np.asarray(summary.weights.sum(axis=-1))


@column
def reportable(rows: Rows | ClassRows) -> Flags:
    """Rows that have a predicted class: those outside the equivocal zone."""
    return np.ones(len(rows.truth), bool) if rows.reportable is None else rows.reportable


@column
def rows_trained_on(rows: Rows) -> Flags:
    """Rows that the model was fitted to, where these are all of them."""
    return np.full(len(rows.truth), rows.trained_on)


@column
def events(rows: Rows) -> Flags:
    """Events."""
    return rows.truth


@table
def tp(summary: Summary) -> Floats:
    """Events predicted as events."""
    return summary("confusion")[..., 0, 0]


@table
def fp(summary: Summary) -> Floats:
    """Non-events predicted as events."""
    return summary("confusion")[..., 1, 0]


@table
def fn(summary: Summary) -> Floats:
    """Events predicted as non-events."""
    return summary("confusion")[..., 0, 1]


@table
def tn(summary: Summary) -> Floats:
    """Non-events predicted as non-events."""
    return summary("confusion")[..., 1, 1]


@column
def events_reached(rows: Rows, *, threshold: float) -> Flags:
    """Events whose probability is at least ``threshold``."""
    return rows.truth & (rows.chances >= threshold)


@column
def others_reached(rows: Rows, *, threshold: float) -> Flags:
    """Non-events whose probability is at least ``threshold``."""
    return ~rows.truth & (rows.chances >= threshold)
