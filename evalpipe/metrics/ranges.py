"""The least and the largest that bins may hold, where it is not known which rows are in them, and measures of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.metrics.values import TWO, ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


class BinRanges(NamedTuple):
    """What each of b bins may hold, all [2, b]: the least first, then the largest.

    ``events`` and ``others`` are weights of rows, ``expected`` totals of probabilities, ``gap`` events less those,
    ``variance`` totals of p (1 - p), and ``chances`` the least and the largest probability of any row. ``trained_on``
    is whether the model was fitted to these rows.
    """

    events: Floats
    others: Floats
    expected: Floats
    gap: Floats
    variance: Floats
    chances: Floats
    trained_on: bool

    @property
    def rows(self) -> Floats:
        """The weight of all rows, [2, b]."""
        return self.events + self.others

    @property
    def far(self) -> Floats:
        """The size of the gap, [2, b]."""
        low, high = self.gap
        return np.stack([np.maximum(np.maximum(low, -high), 0.0), np.maximum(np.abs(low), np.abs(high))])

    def distance(self, norm: str, total: float) -> tuple[float, float]:
        """Return the least and the largest distance of `Gaps` of a norm; ``total`` is the weight of all bins."""
        far, rows = self.far, self.rows
        if norm == "l1":
            least, most = far.sum(axis=-1) / total
            return float(least), float(most)
        if norm == "max":
            # No rate is farther than 1 from another.
            low, high = ratio(far[0], rows[1], empty=0.0), np.minimum(ratio(far[1], rows[0], empty=1.0), 1.0)
            return float(low.max()), float(np.where(far[1] > 0, high, 0.0).max())
        if norm == "within":
            low, high = ratio(self.events * self.others, rows, empty=0.0)
        else:
            # A gap is no larger than the weight, so its square over the weight no larger than the gap.
            low, high = ratio(far[0] ** 2, rows[1], empty=0.0), np.minimum(ratio(far[1] ** 2, rows[0], np.inf), far[1])
        if norm == "debiased":
            low, high = self._debiased(low, high)
        least, most = low.sum() / total, high.sum() / total
        if norm in ("square", "within"):
            return float(least), float(most)
        return float(np.sqrt(max(least, 0.0))), float(np.sqrt(max(most, 0.0)))

    def _debiased(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest squares [b] without what chance alone adds; 0 of fewer than two rows."""
        rows, pairs = self.rows, self.events * self.others
        free = np.maximum(rows, 2.0)
        # Of two rows or more chance adds at most a half: of one event and one other.
        most = np.minimum(ratio(pairs[1], (free[0] - 1) * free[0]), 0.5)
        least = pairs[0] / ((free[1] - 1) * free[1])
        low, high = low - most, high - least
        doubtful, few = rows[0] < TWO, rows[1] < TWO
        low, high = np.where(doubtful, np.minimum(low, 0.0), low), np.where(doubtful, np.maximum(high, 0.0), high)
        return np.where(few, 0.0, low), np.where(few, 0.0, high)
