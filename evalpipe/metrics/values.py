"""What the function of a metric returns where that is more than a number; and the ranges of totals in bins.

Ranges are for rows of which only the cells of a grid are known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


TWO = 2 - 1e-9
"""Two rows, but for rounding."""


class Proportion(NamedTuple):
    """Successes among trials: a value with a binomial interval. Shapes [...]."""

    successes: Floats
    trials: Floats


class Gaps(NamedTuple):
    """What occurred and by how much it missed what was expected, in bins [..., b]; `value` is their distance [...].

    ``events`` and ``others`` total the weights of a bin's rows, ``gap`` is its events less those expected. ``norm``:
    "l1" the mean distance of the rates; "l2" the root of their mean square, "debiased" without the variance of each
    bin's rate (Broecker 2012; Kumar, Liang & Ma 2019, section 5); "square" the mean square; "max" the largest distance;
    "within" the mean variance of an event within a bin. NaN where there are no rows.
    """

    events: Floats
    others: Floats
    gap: Floats
    norm: Literal["l1", "l2", "debiased", "square", "max", "within"]

    @property
    def value(self) -> Floats:
        """The metric [...]: the gaps between event rates and expected rates, combined over bins by the norm."""
        rows = self.events + self.others
        if self.norm == "max":
            far = ratio(np.abs(self.gap), rows, empty=0.0).max(axis=-1)
            return np.where(rows.sum(axis=-1) > 0, far, np.nan)
        if self.norm == "l1":
            return ratio(np.abs(self.gap).sum(axis=-1), rows.sum(axis=-1))
        summed = self.events * self.others if self.norm == "within" else self.gap**2
        if self.norm == "debiased":
            freedom = np.where(rows >= TWO, rows - 1, 1.0)
            summed, rows = summed - self.events * self.others / freedom, np.where(rows >= TWO, rows, 0.0)
        mean = ratio(ratio(summed, rows, empty=0.0).sum(axis=-1), (self.events + self.others).sum(axis=-1))
        return mean if self.norm in ("square", "within") else np.asarray(np.sqrt(np.maximum(mean, 0.0)))


def ratio(numerator: Floats | float, denominator: Floats | float, empty: float = math.nan) -> Floats:
    """Divide, shapes broadcast; ``empty``, by default NaN (undefined), wherever the denominator is zero."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    is_empty = denominator == 0
    if not is_empty.any():
        return np.asarray(numerator / denominator)
    # A division under a mask takes twice the time.
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.asarray(numerator / denominator)
    np.copyto(quotient, empty, where=is_empty)
    return quotient


class BinRanges(NamedTuple):
    """What each of b bins may hold, all [2, b]: the least first, then the largest.

    ``events`` and ``others`` are weights of rows, ``expected`` totals of probabilities, ``gap`` events less those,
    ``variance`` totals of p (1 - p), and ``probabilities`` the least and the largest probability of any row.
    ``trained_on`` is whether the model was fitted to these rows.
    """

    events: Floats
    others: Floats
    expected: Floats
    gap: Floats
    variance: Floats
    probabilities: Floats
    trained_on: bool

    @property
    def rows(self) -> Floats:
        """The bounds of the weight of all rows in each bin, [2, b]: least, then largest."""
        return self.events + self.others

    @property
    def far(self) -> Floats:
        """The bounds of the absolute gap between events and expected events in each bin, [2, b]."""
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
            low, high = self._debiased_bounds(low, high)
        least, most = low.sum() / total, high.sum() / total
        if norm in ("square", "within"):
            return float(least), float(most)
        return float(np.sqrt(max(least, 0.0))), float(np.sqrt(max(most, 0.0)))

    def _debiased_bounds(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Return the bounds [b] of the squared gap without the part due to chance; 0 in bins of fewer than two rows.

        ``low`` and ``high`` [b] are the bounds of the squared gap.
        """
        rows, pairs = self.rows, self.events * self.others
        free = np.maximum(rows, 2.0)
        # Of two rows or more chance adds at most a half: of one event and one other.
        most = np.minimum(ratio(pairs[1], (free[0] - 1) * free[0]), 0.5)
        least = pairs[0] / ((free[1] - 1) * free[1])
        low, high = low - most, high - least
        doubtful, few = rows[0] < TWO, rows[1] < TWO
        low, high = np.where(doubtful, np.minimum(low, 0.0), low), np.where(doubtful, np.maximum(high, 0.0), high)
        return np.where(few, 0.0, low), np.where(few, 0.0, high)
