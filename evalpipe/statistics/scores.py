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


def _from_above(values: Any) -> Any:
    return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
