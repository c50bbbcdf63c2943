"""The rows of one model on one dataset whose outcome is a number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.rows import Groups, present, rows_at

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

SAME = 1e-13
"""The relative difference up to which a count and an expected count are the same but for rounding."""


@dataclass(frozen=True)
class Merge:
    """One level of a merge sort, without weights: where each cell of a right half belongs among those of its left half.

    ``left`` [cells / 2] are the cells of all left halves, ascending by prediction within each. In their running totals,
    flattened from [blocks, half + 1], ``less`` and ``at_most`` [cells / 2] index the total of smaller predictions, and
    of smaller or equal ones, for each cell of the right halves.
    """

    half: int
    left: Wholes
    less: Wholes
    at_most: Wholes

    @classmethod
    def of(cls, codes: Wholes, half: int) -> Merge:
        """Prepare the merge of the two halves, of ``half`` cells, of each block; ``codes`` are ranks of predictions.

        The length of ``codes`` is a power of two.
        """
        blocks = codes.reshape(-1, 2, half)
        number = np.arange(len(blocks))[:, None]
        left = np.argsort(blocks[:, 0], axis=-1, kind="stable")
        # Codes of later blocks are made larger, so that one search serves all blocks.
        keys = blocks + number[:, :, None] * (codes.max() + 1)
        ordered = np.take_along_axis(keys[:, 0], left, axis=-1).ravel()
        less, at_most = (np.searchsorted(ordered, keys[:, 1], side) + number for side in ("left", "right"))
        return cls(half, (left + 2 * half * number).ravel(), less.ravel(), at_most.ravel())


@dataclass(frozen=True)
class NumberRows:
    """Truth and predictions of n rows, shape [n]; ``left_out`` [n] are predictions by a model fitted without the row.

    ``baseline`` is the mean outcome of the data that the model was trained on, None where it is not known; ``about``
    the number that moments are taken about, None for the plain mean of the truth. Of counts, ``exposure`` [n] is the
    time, say, in which each was counted, None where none is declared; truth and predictions are then counts in it, and
    ``baseline`` is a count per unit of it. ``ranks`` [n] rank the rows instead of the predictions, where folds have
    predictions of their own; None where the predictions do. ``standardised`` [n] are then the predictions on a scale
    that folds share.
    """

    truth: Floats
    predicted: Floats
    left_out: Floats | None = None
    baseline: float | None = None
    about: float | None = None
    exposure: Floats | None = None
    ranks: Floats | None = None
    standardised: Floats | None = None

    @property
    def ranking(self) -> Floats:
        """The values [n] that the rows are ranked by: the predictions, unless others are given."""
        return self.predicted if self.ranks is None else self.ranks

    @property
    def gives(self) -> frozenset[str]:
        """What the rows provide for metrics: "truth", "values" and, with leave-one-out predictions, "loo_values"."""
        return frozenset({"truth", "values", *(() if self.left_out is None else ("loo_values",))})

    @cached_property
    def pilot(self) -> float:
        """The number that moments are taken about, so that large means do not cancel: the plain mean of the truth."""
        return float(self.truth.mean()) if self.about is None else self.about

    @cached_property
    def deviation(self) -> Floats:
        """Truth less the pilot, shape [n]."""
        return self.truth - self.pilot

    @cached_property
    def relative_exposure(self) -> Floats:
        """Exposure over its unweighted mean, shape [n], so that its unit does not matter; ones without exposure."""
        return np.ones(len(self.truth)) if self.exposure is None else self.exposure / self.exposure.mean()

    @cached_property
    def excess(self) -> Floats:
        """Truth less what the plain overall rate gives at the row's exposure, shape [n]; exactly 0 where they agree.

        Without exposure it is the deviation from the pilot.
        """
        if self.exposure is None:
            return self.deviation
        # Rounding must not make a row differ from what the plain rate gives it.
        excess = self.truth - self.pilot * self.relative_exposure
        return np.where(np.abs(excess) > SAME * np.abs(self.truth), excess, 0.0)

    @cached_property
    def predicted_deviation(self) -> Floats:
        """Prediction less the plain mean of the predictions, shape [n]."""
        return np.asarray(self.predicted - self.predicted.mean())

    @cached_property
    def residual(self) -> Floats:
        """Truth less prediction, shape [n]."""
        return self.truth - self.predicted

    @cached_property
    def left_out_residual(self) -> Floats:
        """Truth less leave-one-out prediction; raises TypeError where the model gives none."""
        return self.truth - present(self.left_out, "leave-one-out predictions")

    @cached_property
    def by_absolute_residual(self) -> Groups:
        """The rows grouped by the size of their residuals."""
        return Groups.by(np.abs(self.residual))

    @cached_property
    def by_truth(self) -> Groups:
        """The rows grouped by their truths."""
        return Groups.by(self.truth)

    @cached_property
    def by_rate(self) -> Groups:
        """The rows grouped by their truths per unit of exposure."""
        return Groups.by(self.excess / self.relative_exposure)

    @cached_property
    def by_prediction(self) -> Groups:
        """The rows grouped by what ranks them, as a rule their predictions."""
        return Groups.by(self.ranking)

    @cached_property
    def cells(self) -> Groups:
        """The rows grouped into cells of equal truth and equal rank: ascending by truth, then descending by rank."""
        return Groups.by(self.truth, -self.ranking)

    @cached_property
    def merges(self) -> tuple[Merge, ...]:
        """The levels of a merge sort of the cells by prediction, smallest blocks first.

        Over all levels, each pair of cells meets once: the one of smaller truth on the left. Cells of one truth are in
        descending order of prediction and so never count as ranked rightly.
        """
        first = self.cells.order[self.cells.starts]
        levels = (len(first) - 1).bit_length()
        codes = np.zeros(2**levels, np.intp)  # cells beyond the last have no weight
        codes[: len(first)] = np.unique(self.ranking[first], return_inverse=True)[1]
        return tuple(Merge.of(codes, 2**level) for level in range(levels))

    def at(self, index: Wholes) -> NumberRows:
        """Return the rows at the positions ``index``; moments are then taken about the mean of these rows."""
        return replace(rows_at(self, index), about=None)

    def always(self, truth: float) -> NumberRows:
        """Return the rows as if all had one truth, to average over random pairings; moments stay about one pilot."""
        return replace(self, truth=np.full(len(self.truth), truth), about=self.pilot)

    def paired(self, index: Wholes) -> NumberRows:
        """Return the rows with the truth of row ``index[i]`` beside the predictions of row i.

        A count keeps its exposure, and what it is paired with are the predicted rates, times that exposure.
        """
        truth = self.truth[index]
        if self.exposure is None:
            return replace(self, truth=truth)
        exposure = self.exposure[index]
        longer = exposure / self.exposure
        left_out = None if self.left_out is None else self.left_out * longer
        return replace(self, truth=truth, predicted=self.predicted * longer, left_out=left_out, exposure=exposure)

    @property
    def ranked(self) -> bool:
        """Always False: the model predicts numbers and gives no scores of an event."""
        return False

    def __post_init__(self) -> None:
        """Check that the arrays are as long as each other."""
        for values in (self.predicted, self.left_out, self.exposure):
            if values is not None and np.shape(values) != np.shape(self.truth):
                raise ValueError("truth, predictions and exposure have different lengths")
