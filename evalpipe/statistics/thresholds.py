"""Every threshold at once: the predicted classes of all cuts of a score, as one batch of statistics.

A measure of predicted classes sees four cells. A cut makes four weights of them, so a summary of four rows, one for
each cell, with a batch of such weights for every cut has all that any such measure needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.rows import Rows
from evalpipe.statistics.summary import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats, Wholes

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
