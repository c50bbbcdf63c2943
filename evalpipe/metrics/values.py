"""What the function of a metric returns where that is more than a number."""

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
        """The distance, shape [...]."""
        rows = self.events + self.others
        if self.norm == "max":
            far = ratio(np.abs(self.gap), rows, empty=0.0).max(axis=-1)
            return np.where(rows.sum(axis=-1) > 0, far, np.nan)
        if self.norm == "l1":
            return ratio(np.abs(self.gap).sum(axis=-1), rows.sum(axis=-1))
        summed = self.events * self.others if self.norm == "within" else self.gap**2
        if self.norm == "debiased":
            free = np.where(rows >= TWO, rows - 1, 1.0)
            summed, rows = summed - self.events * self.others / free, np.where(rows >= TWO, rows, 0.0)
        mean = ratio(ratio(summed, rows, empty=0.0).sum(axis=-1), (self.events + self.others).sum(axis=-1))
        return mean if self.norm in ("square", "within") else np.asarray(np.sqrt(np.maximum(mean, 0.0)))


def ratio(numerator: Floats | float, denominator: Floats | float, empty: float = math.nan) -> Floats:
    """Divide, shapes broadcast; ``empty``, by default NaN (undefined), wherever the denominator is zero."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    # The common case: a division under a mask takes twice the time.
    if denominator.all():
        return np.asarray(numerator / denominator)
    quotient = np.full(np.broadcast_shapes(numerator.shape, denominator.shape), empty)
    np.divide(numerator, denominator, out=quotient, where=denominator != 0)
    return quotient
