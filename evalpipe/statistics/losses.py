"""Losses of predicted probabilities, totalled over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.statistics.summary import column

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats
    from evalpipe.statistics.class_rows import ClassRows
    from evalpipe.statistics.rows import Rows


@column
def squared_error(rows: Rows | ClassRows) -> Floats:
    """Half the squared distance of the probabilities of all classes from the truth."""
    return rows.squared_error()


@column
def negative_log(rows: Rows | ClassRows, *, epsilon: float) -> Floats:
    """Negative natural logarithm of the probability of the true class, clipped to [epsilon, 1 - epsilon]."""
    return rows.negative_log(epsilon)


@column
def probability_total(rows: Rows) -> Floats:
    """Probability of the event, of all rows."""
    return rows.chances


@column
def probability_of_events(rows: Rows) -> Floats:
    """Probability of the event, of the events alone."""
    return rows.chances * rows.truth


@column
def spiegelhalter_excess(rows: Rows) -> Floats:
    """Excess of the Brier score over its expectation if all probabilities are right: (y - p)(1 - 2p)."""
    return (rows.truth - rows.chances) * (1 - 2 * rows.chances)


@column
def spiegelhalter_variance(rows: Rows) -> Floats:
    """Variance of that excess if all probabilities are right: (1 - 2p)^2 p (1 - p)."""
    return (1 - 2 * rows.chances) ** 2 * rows.chances * (1 - rows.chances)
