"""Score tables of events and others at, and at or above, each distinct score; losses of probabilities; all thresholds.

A measure of predicted classes sees four cells. A cut makes four weights of them, so a summary of four rows, one for
each cell, with a batch of such weights for every cut has all that any such measure needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import log
from evalpipe.base.constants import LOG_ODDS_CLIP
from evalpipe.statistics.rows import Rows, runs_within, starts_of_runs, totals_of_runs
from evalpipe.statistics.summary import Summary, column, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.statistics.rows import ClassRows


@table
def events_at(summary: Summary) -> Floats:
    """Events at each distinct score."""
    return np.asarray(summary.by_score[0])


@table
def others_at(summary: Summary) -> Floats:
    """Non-events at each distinct score."""
    return np.asarray(summary.by_score[1])


@table
def events_from(summary: Summary) -> Floats:
    """Events scored at or above each distinct score."""
    return _total_from_above(summary.by_score[0])


@table
def others_from(summary: Summary) -> Floats:
    """Non-events scored at or above each distinct score."""
    return _total_from_above(summary.by_score[1])


@table
def rounded_events(summary: Summary, *, digits: int) -> Floats:
    """Events at each distinct probability after rounding to ``digits`` decimals."""
    return _rounded(summary, summary("events_at"), digits)


@table
def rounded_others(summary: Summary, *, digits: int) -> Floats:
    """Non-events at each distinct probability after rounding."""
    return _rounded(summary, summary("others_at"), digits)


@table
def rounded_sum(summary: Summary, *, digits: int) -> Floats:
    """Total of the rounded probabilities at each distinct one."""
    weight_at = summary("events_at") + summary("others_at")
    return _rounded(summary, weight_at * np.round(summary.rows.probability_of_score, digits), digits)


@table
def binned_gap(summary: Summary, *, bins: int) -> Floats:
    """Events less the total of their probabilities in each of ``bins`` intervals of equal width that holds any."""
    return _binned(summary, summary("events_at") - summary("probability_at"), bins)


@table
def binned_events(summary: Summary, *, bins: int) -> Floats:
    """Events in each of ``bins`` intervals of equal width of the probability that holds any row."""
    return _binned(summary, summary("events_at"), bins)


@table
def binned_others(summary: Summary, *, bins: int) -> Floats:
    """Non-events in each of ``bins`` intervals of equal width of the probability that holds any row."""
    return _binned(summary, summary("others_at"), bins)


@table
def probability_at(summary: Summary) -> Floats:
    """Total of the probabilities at each distinct score."""
    return np.asarray((summary("events_at") + summary("others_at")) * summary.rows.probability_of_score)


@table
def log_odds_at(summary: Summary) -> Floats:
    """Total of the log odds at each distinct score; nearer to 0 or 1 than the clip, those of the clip."""
    probability = summary.rows.probability_of_score
    log_odds = log(np.maximum(probability, LOG_ODDS_CLIP)) - log(np.maximum(1 - probability, LOG_ODDS_CLIP))
    return np.asarray((summary("events_at") + summary("others_at")) * log_odds)


def _binned(summary: Summary, values: Floats, bins: int) -> Floats:
    """Return the totals [..., b] of values [..., m] at distinct scores, in each interval of the probability with any.

    The intervals are ``bins`` of equal width, closed below; the last includes 1.
    """
    starts, _ = runs_within(summary.rows.probability_of_score, np.arange(bins) / bins)
    return totals_of_runs(values, starts)


def _rounded(summary: Summary, values: Floats, digits: int) -> Floats:
    """Return the totals [..., g] of values [..., m] at distinct scores, for each distinct rounded probability."""
    rounded = np.round(summary.rows.probability_of_score, digits)
    return np.add.reduceat(values, starts_of_runs(rounded), axis=-1)


def _total_from_above(values: Floats) -> Floats:
    """Return the totals [..., m] of values [..., m] at or above each score.

    Of counts, the total below is taken from the overall total, which is exact and runs forwards in memory.
    """
    if values.dtype.kind == "f":
        return np.cumsum(values[..., ::-1], axis=-1)[..., ::-1]
    totals = np.cumsum(values, axis=-1, dtype=values.dtype)
    whole = totals[..., -1:].copy()
    np.subtract(values, totals, out=totals)
    totals += whole
    return totals


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
    """The square of how far the probability of the true class is below 1."""
    return rows.shortfall**2


@table
def shortfall_at(summary: Summary) -> Floats:
    """Weight at each distinct distance of the probability of the true class from 1."""
    return np.asarray(summary.rows.by_shortfall.totals(summary.weights))


@table
def shortfall_total(summary: Summary) -> Floats:
    """Total of how far the probability of the true class is below 1, at each distinct distance."""
    return np.asarray(summary.rows.by_shortfall.totals(summary.weights * summary.rows.shortfall))


@column
def predicted_gini_total(rows: Rows | ClassRows) -> Floats:
    """The Gini index of the probabilities of all classes, the sum of p (1 - p)."""
    return rows.expected(1 - rows.level_probabilities)


@column
def predicted_entropy_total(rows: Rows | ClassRows) -> Floats:
    """The entropy of the probabilities of all classes in nats; a probability of 0 adds nothing."""
    probabilities = rows.level_probabilities
    return rows.expected(-log(np.where(probabilities > 0, probabilities, 1.0)))


@column
def predicted_error_total(rows: Rows | ClassRows) -> Floats:
    """1 less the largest of the probabilities."""
    return np.asarray(1 - rows.level_probabilities.max(axis=1))


@column
def probability_total(rows: Rows) -> Floats:
    """Probability of the event, of all rows."""
    return rows.event_probability


@column
def probability_of_events(rows: Rows) -> Floats:
    """Probability of the event, of the events alone."""
    return rows.event_probability * rows.truth


@column
def spiegelhalter_excess(rows: Rows) -> Floats:
    """Excess of the Brier score over its expectation if all probabilities are right: (y - p)(1 - 2p)."""
    return (rows.truth - rows.event_probability) * (1 - 2 * rows.event_probability)


@column
def spiegelhalter_variance(rows: Rows) -> Floats:
    """Variance of a row's term of Spiegelhalter's z, (y - p)(1 - 2p), if all p are right: (1 - 2p)^2 p (1 - p)."""
    return (1 - 2 * rows.event_probability) ** 2 * rows.event_probability * (1 - rows.event_probability)


CELLS = Rows(truth=np.array([True, True, False, False]), predicted=np.array([True, False, True, False]))
"""A true positive, a false negative, a false positive and a true negative."""


def sweep(summary: Summary, cuts: Wholes | None = None) -> Summary:
    """Return the statistics of scored `Rows` under every cut of the score, with the cuts as last leading axis.

    The cuts are the m distinct scores in ascending order, at or above which a row is predicted as the event, and last
    one above them all; ``cuts`` chooses some by their indices among these m + 1.
    """
    return _swept(_cells(summary), slice(None) if cuts is None else cuts)


def of_cells(summary: Summary) -> Summary:
    """Return the statistics of four rows, the cells of the confusion matrix: all that measures of classes use."""
    matrix = summary("confusion")
    return Summary(CELLS, matrix.reshape(*matrix.shape[:-2], 4), {("confusion", ()): matrix})


def swept_in_parts(summary: Summary, cuts: Wholes, most: int) -> Iterator[Summary]:
    """Yield the statistics of the score cut at some ``cuts``, ``most`` at a time, to fit the processor's cache."""
    cells = _cells(summary)
    for first in range(0, len(cuts), most):
        yield _swept(cells, cuts[first : first + most])


def _swept(cells: Sequence[Floats], cuts: Wholes | slice) -> Summary:
    """Return the statistics of some cuts, by index, from the weights of the four cells at all cuts, [..., m + 1]."""
    weights = np.stack([cell[..., cuts] for cell in cells], axis=-1).astype(float)
    # The four weights are the matrix already; to group the four rows again for each cut would cost far more.
    return Summary(CELLS, weights, {("confusion", ()): weights.reshape(*weights.shape[:-1], 2, 2)})


def _cells(summary: Summary) -> list[Floats]:
    """Return the weights of true positives, false negatives, false positives and true negatives at each cut.

    Each is [..., m + 1] for m distinct scores. What lies below a cut is a sum and no difference of floats, which could
    fall below zero by rounding.
    """
    events, others = summary.by_score
    cells: list[Floats] = []
    for weight_at, from_above in ((events, summary("events_from")), (others, summary("others_from"))):
        above = np.concatenate([from_above, np.zeros_like(from_above[..., :1])], axis=-1)
        below = np.zeros((*weight_at.shape[:-1], weight_at.shape[-1] + 1), weight_at.dtype)
        np.cumsum(weight_at, axis=-1, out=below[..., 1:])
        cells += [above, below]
    return cells


def cut_values(distinct: Floats) -> Floats:
    """Return a threshold for each cut [m + 1] of ascending distinct scores [m], at or above which rows are events.

    It lies midway between a score and the one below, so that a row as near to either is classified as that one was. The
    lowest cut is the lowest score itself, and the highest the next number above all of them.
    """
    middle = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
    middle = np.where(middle > distinct[:-1], middle, distinct[1:])  # of neighbouring numbers there is none between
    return np.concatenate([distinct[:1], np.minimum(middle, distinct[1:]), [np.nextafter(distinct[-1], np.inf)]])
