"""Tables along distinct residuals, truths and predictions in ascending order, and the pairs ranked rightly.

A total over the weight at the same place gives back the distinct value itself, so that both are additive and a metric
still knows the values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.summary import pairs, table

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics.number_rows import Merge
    from evalpipe.statistics.summary import Summary

IN_CACHE = 2**15
"""Numbers worked on at once where places are looked up at random: more would not stay in the processor's cache."""


@table
def residual_size_at(summary: Summary) -> Floats:
    """Weight at each distinct size of the residuals."""
    return np.asarray(summary.rows.by_absolute_residual.totals(summary.weights))


@table
def residual_size_total(summary: Summary) -> Floats:
    """Total of the sizes of the residuals at each distinct one."""
    return np.asarray(summary.rows.by_absolute_residual.totals(summary.weights * np.abs(summary.rows.residual)))


@table
def truth_at(summary: Summary) -> Floats:
    """Weight at each distinct truth."""
    return np.asarray(summary.rows.by_truth.totals(summary.weights))


@table
def truth_total(summary: Summary) -> Floats:
    """Total of the truths, less the plain mean of all rows, at each of them."""
    return np.asarray(summary.rows.by_truth.totals(summary.weights * summary.rows.deviation))


@table
def prediction_at(summary: Summary) -> Floats:
    """Weight at each distinct prediction."""
    return np.asarray(summary.rows.by_prediction.totals(summary.weights))


@table
def truth_by_prediction(summary: Summary) -> Floats:
    """Total of the truths, less the plain mean of all rows, at each distinct prediction."""
    return np.asarray(summary.rows.by_prediction.totals(summary.weights * summary.rows.deviation))


@pairs
def concordant(summary: Summary) -> Floats:
    """Pairs of rows of unequal truth whose predictions are in the same order; equal predictions count half.

    One pass of prefix sums for each level of a merge sort that was done without the weights: n log n for each row of
    weights, and nothing is sorted again.
    """
    rows = summary.rows
    cells = rows.cells.totals(summary.weights)
    flat = cells.reshape(-1, cells.shape[-1])
    step = max(1, IN_CACHE // cells.shape[-1])
    totals = [_concordant(flat[first : first + step], rows.merges) for first in range(0, len(flat), step)]
    return np.concatenate(totals).reshape(cells.shape[:-1])


def _concordant(cells: Floats, merges: tuple[Merge, ...]) -> Floats:
    """Return the total weight [b] of the pairs of ``cells`` [b, m] that the merges rank rightly."""
    padded = np.zeros((len(cells), 2 ** len(merges)))
    padded[:, : cells.shape[-1]] = cells
    totals = np.zeros(len(cells))
    for merge in merges:
        running = np.zeros((len(cells), len(merge.left) // merge.half, merge.half + 1))
        left = np.take(padded, merge.left, axis=-1).reshape(len(cells), -1, merge.half)
        np.cumsum(left, axis=-1, out=running[..., 1:])
        flat = running.reshape(len(cells), -1)
        # The mean of "smaller" and "smaller or equal" counts an equal prediction by half; the halving is done last.
        below = np.take(flat, merge.less, axis=-1) + np.take(flat, merge.at_most, axis=-1)
        right = padded.reshape(len(cells), -1, 2, merge.half)[:, :, 1].reshape(len(cells), -1)
        totals += (right * below).sum(axis=-1) / 2
    return totals
