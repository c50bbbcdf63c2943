"""Score tables: events and non-events at, and at or above, each distinct score in ascending order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.statistics.summary import table

if TYPE_CHECKING:
    from evalpipe.statistics.summary import Summary


@table
def events_at(summary: Summary) -> Any:
    """Events at each distinct score."""
    return summary.rows.by_score(summary.ordered_weights * summary.rows.truth[summary.rows.order])


@table
def others_at(summary: Summary) -> Any:
    """Non-events at each distinct score."""
    return summary.rows.by_score(summary.ordered_weights * ~summary.rows.truth[summary.rows.order])


@table
def events_from(summary: Summary) -> Any:
    """Events scored at or above each distinct score."""
    return _from_above(summary("events_at"))


@table
def others_from(summary: Summary) -> Any:
    """Non-events scored at or above each distinct score."""
    return _from_above(summary("others_at"))


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


def _rounded(summary: Summary, values: Any, digits: int) -> Any:
    rounded = np.round(summary.rows.distinct, digits)
    starts = np.flatnonzero(np.r_[True, rounded[1:] != rounded[:-1]])
    return np.add.reduceat(values, starts, axis=-1)


def _from_above(values: Any) -> Any:
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
