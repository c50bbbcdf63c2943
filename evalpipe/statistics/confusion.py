"""The confusion matrix: its cells for one class against the rest, and tables over all classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.rows import Groups
from evalpipe.statistics.summary import column, pairs, table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.statistics.rows import ClassRows, Rows
    from evalpipe.statistics.summary import Summary


def _counts(summary: Summary) -> bool:
    """Tell whether weights are whole numbers, which come to the same however they are summed."""
    return summary.weights.dtype.kind == "i"


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
    return rows.truth & (rows.event_probability >= threshold)


@column
def others_reached(rows: Rows, *, threshold: float) -> Flags:
    """Non-events whose probability is at least ``threshold``."""
    return ~rows.truth & (rows.event_probability >= threshold)


Costs = tuple[tuple[float, ...], ...]


@table
def agreed(summary: Summary) -> Floats:
    """Rows whose class was predicted correctly."""
    if _counts(summary):
        return np.asarray(np.trace(summary("confusion"), axis1=-2, axis2=-1))
    return np.asarray((summary.weights * (summary.rows.truth == summary.rows.classes)).sum(axis=-1))


@table
def confusion(summary: Summary) -> Floats:
    """Rows of each true class (first of the last two axes) predicted as each class (the last): [..., K, K]."""
    rows = summary.rows
    matrix = np.zeros((*summary.weights.shape[:-1], rows.levels, rows.levels))
    if _counts(summary) and rows.cut is not None:
        for truth, weights in enumerate(summary.by_score):
            matrix[..., truth, 0] = weights[..., rows.cut :].sum(axis=-1)
            matrix[..., truth, 1] = weights[..., : rows.cut].sum(axis=-1)
        return matrix
    first = rows.cells.first
    matrix[..., rows.codes[first], rows.predicted_codes[first]] = rows.cells.totals(summary.weights)
    return matrix


@table
def occurring(summary: Summary) -> Floats:
    """Rows of each true class: [..., K]."""
    rows = summary.rows
    if _counts(summary) and rows.predicted is not None:
        return np.asarray(summary("confusion").sum(axis=-1))
    totals = np.zeros((*summary.weights.shape[:-1], rows.levels))
    totals[..., rows.codes[rows.members.first]] = rows.members.totals(summary.weights)
    return totals


@column
def in_top(rows: ClassRows, *, k: int) -> Flags:
    """Rows whose true class is among the k most probable."""
    return rows.true_rank < k


@table
def top_label_gap(summary: Summary, *, bins: int) -> Floats:
    """Rows predicted correctly less the total probability of the predicted classes, in intervals of that probability.

    Those of ``bins`` intervals of equal width that hold a row.
    """
    rows = summary.rows.top_label
    # Intervals are closed below; 1 belongs to the last.
    inside = np.minimum(np.searchsorted(np.arange(bins + 1) / bins, rows.event_probability, side="right") - 1, bins - 1)
    return Groups.by(inside).totals(summary.floats * (rows.truth - rows.event_probability))


@column
def top_label_excess(rows: ClassRows) -> Floats:
    """1 where the predicted class is the true one and 0 elsewhere, less the probability of the predicted class."""
    top = rows.top_label
    return np.asarray(top.truth - top.event_probability)


@column
def cost_paid(rows: Rows | ClassRows, *, costs: Costs) -> Floats:
    """Cost of the predicted class, given the true one."""
    return np.asarray(costs)[rows.codes, rows.predicted_codes]


@column
def cost_expected(rows: Rows | ClassRows, *, costs: Costs) -> Floats:
    """Expectation of the cost under the probabilities, given the true class."""
    return rows.expected(np.asarray(costs)[rows.codes])


@column
def ranked_probability_error(rows: ClassRows) -> Floats:
    """Squared distance of the cumulative probabilities from the cumulative truth, summed over the cuts."""
    above = rows.truth[:, None] <= np.arange(rows.levels - 1)
    return np.asarray(((np.cumsum(rows.level_probabilities, axis=1)[:, :-1] - above) ** 2).sum(axis=1))


@column
def rank_error(rows: ClassRows) -> Floats:
    """Levels between the true and the predicted class."""
    return rows.rank_distance.astype(float)


@column
def squared_rank_error(rows: ClassRows) -> Floats:
    """Squared number of levels between the true and the predicted class."""
    return rows.rank_distance.astype(float) ** 2


@pairs
def ranked_pairs(summary: Summary) -> Floats:
    """Pairs of a row of class i and one of class j that the probability of i ranks rightly, ties half: [..., K, K].

    The diagonal is zero. Of a model that gives scores, by the log odds that they come to, which do not round to ties.
    """
    rows, members = summary.rows, summary.rows.members
    levels = rows.codes[members.first]
    rows_of_levels = dict(zip(levels, np.split(members.order, members.starts[1:]), strict=True))
    wins = np.zeros((*summary.weights.shape[:-1], rows.levels, rows.levels))
    for i in rows_of_levels:
        against_rest = summary.classes[i].ranked
        # The weight of the rows of class i above each score, and of half of those at it.
        above = against_rest("events_from") - against_rest("events_at") / 2
        lost = summary.weights * np.take(above, against_rest.rows.score_index, axis=-1)
        for j, of_j in rows_of_levels.items():
            if i != j:
                # np.take lays the rows of a batch out one after another, so that a batch sums as a single row does
                wins[..., i, j] = np.take(lost, of_j, axis=-1).sum(axis=-1)
    return wins
