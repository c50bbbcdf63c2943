"""Losses of predicted probabilities, totalled over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.statistics.summary import column

if TYPE_CHECKING:
    from evalpipe.statistics.rows import Rows


@column
def squared_error(rows: Rows) -> Any:
    """Squared difference of the event (1 or 0) and its probability."""
    return (rows.truth - rows.chances) ** 2


@column
def negative_log(rows: Rows, *, epsilon: float) -> Any:
    """Negative natural logarithm of the probability of the true class, clipped to [epsilon, 1 - epsilon]."""
    clipped = np.clip(rows.chances, epsilon, 1 - epsilon)
    return -np.where(rows.truth, np.log(clipped), np.log1p(-clipped))


@column
def probability_total(rows: Rows) -> Any:
    """Probability of the event, of all rows."""
    return rows.chances


@column
def probability_of_events(rows: Rows) -> Any:
    """Probability of the event, of the events alone."""
    return rows.chances * rows.truth
