"""Score tables: events and non-events at, and at or above, each distinct score in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.statistics.groups import totals_of_runs
from evalpipe.statistics.summary import table

if TYPE_CHECKING:
    from evalpipe.statistics.summary import Summary


@table
def events_at(summary: Summary) -> Any:
    """Events at each distinct score."""
    return summary.by_score[0]


@table
def others_at(summary: Summary) -> Any:
    """Non-events at each distinct score."""
    return summary.by_score[1]


@table
def events_from(summary: Summary) -> Any:
    """Events scored at or above each distinct score."""
    return _from_above(summary.by_score[0])


@table
def others_from(summary: Summary) -> Any:
    """Non-events scored at or above each distinct score."""
    return _from_above(summary.by_score[1])


@table
def rounded_events(summary: Summary, *, digits: int) -> Any:
    """Events at each distinct score after rounding to ``digits`` decimals."""
    return _rounded(summary, summary("events_at"), digits)


@table
def rounded_others(summary: Summary, *, digits: int) -> Any:
    """Non-events at each distinct score after rounding."""
    return _rounded(summary, summary("others_at"), digits)


@table
def rounded_sum(summary: Summary, *, digits: int) -> Any:
    """Total of the rounded scores at each of them."""
    at = summary("events_at") + summary("others_at")
    return _rounded(summary, at * np.round(summary.rows.distinct, digits), digits)


@table
def binned_gap(summary: Summary, *, bins: int) -> Any:
    """Events less the total of their probabilities in each of ``bins`` intervals of equal width that holds any."""
    rows, events = summary.rows, summary("events_at")
    gap = events - (events + summary("others_at")) * rows.distinct
    inside = np.minimum(np.searchsorted(np.arange(bins + 1) / bins, rows.distinct, side="right") - 1, bins - 1)
    return totals_of_runs(gap, np.flatnonzero(np.r_[True, inside[1:] != inside[:-1]]))


def _rounded(summary: Summary, values: Any, digits: int) -> Any:
    rounded = np.round(summary.rows.distinct, digits)
    starts = np.flatnonzero(np.r_[True, rounded[1:] != rounded[:-1]])
    return np.add.reduceat(values, starts, axis=-1)


def _from_above(values: Any) -> Any:
    """Sum up from the right; of counts what lies below is taken from the whole, which is exact and runs forwards."""
    if values.dtype.kind == "f":
        return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    found = np.cumsum(values, axis=-1)
    total = found[..., -1:].copy()
    np.subtract(values, found, out=found)
    found += total
    return found
