"""Losses of predicted probabilities, totalled over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.statistics.summary import column, table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics.class_rows import ClassRows
    from evalpipe.statistics.rows import Rows
    from evalpipe.statistics.summary import Summary


@column
def squared_error(rows: Rows | ClassRows) -> Floats:
    """Half the squared distance of the probabilities of all classes from the truth."""
    return rows.squared_error()


@column
def negative_log(rows: Rows | ClassRows, *, epsilon: float) -> Floats:
    """Negative natural logarithm of the probability of the true class, clipped to [epsilon, 1 - epsilon]."""
    return rows.negative_log(epsilon)


@column
def shortfall(rows: Rows | ClassRows) -> Floats:
    """How far the probability of the true class is below 1."""
    return rows.shortfall


@column
def squared_shortfall(rows: Rows | ClassRows) -> Floats:
    """The square of that."""
    return rows.shortfall**2


@table
def shortfall_at(summary: Summary) -> Floats:
    """Weight at each distinct distance of the probability of the true class from 1."""
    return np.asarray(summary.rows.by_shortfall.totals(summary.weights))


@table
def shortfall_total(summary: Summary) -> Floats:
    """Total of these distances at each distinct one."""
    return np.asarray(summary.rows.by_shortfall.totals(summary.weights * summary.rows.shortfall))


@column
def predicted_gini_total(rows: Rows | ClassRows) -> Floats:
    """The Gini index of the probabilities of all classes, the sum of p (1 - p)."""
    return rows.expected(1 - rows.all_chances)


@column
def predicted_entropy_total(rows: Rows | ClassRows) -> Floats:
    """The entropy of the probabilities of all classes in nats; a probability of 0 adds nothing."""
    chances = rows.all_chances
    return rows.expected(-log(np.where(chances > 0, chances, 1.0)))


@column
def predicted_error_total(rows: Rows | ClassRows) -> Floats:
    """1 less the largest of the probabilities."""
    return np.asarray(1 - rows.all_chances.max(axis=1))


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
