"""Control limits of a measure over nights of different sizes: Laney's p' chart (2002), for any measure with intervals.

Shewhart's (1931) chart of individual values takes all nights for alike. A night of few rows scatters more, so its
limits are wider here: each night has the standard error that its size gives it,

    s_i = sqrt(u / n_i),  u the mean of n_j e_j² over the nights counted, e_j the standard error that an interval has,

and z_i = (x_i − c) / s_i about the centre c = Σ n_j x_j / Σ n_j is charted as individual values: its sigma is the mean
moving range over d₂ = 1.128. The limits are c ± k sigma s_i. All nights have one error of an observation, and not each
its own, because a night's error depends on its value: near 1 both shrink, and a mean weighted by such errors is drawn
there. A sigma below 1 is taken as 1, for nights cannot vary less than their sampling makes them, but for chance
(Spiegelhalter 2005).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

D2 = 1.128
"""The mean of the range of two values of the standard normal distribution, as tables of control charts have it."""


@dataclass(frozen=True, slots=True)
class CountedNight:
    """A night that limits are made of: its value, the standard error of its interval, and its observations."""

    value: float
    error: float
    n: int


@dataclass(frozen=True, slots=True)
class ControlLimits:
    """The ``centre``, the variance of one observation as nights have it, and the ``dispersion`` sigma, 1 or more."""

    centre: float
    unit_variance: float
    dispersion: float

    @classmethod
    def of(cls, nights: Sequence[CountedNight]) -> ControlLimits:
        """Return the limits that nights give, the oldest first; two or more."""
        total = sum(night.n for night in nights)
        centre = math.fsum(night.n * night.value for night in nights) / total
        unit = math.fsum(night.n * night.error**2 for night in nights) / len(nights)
        z = [(night.value - centre) / math.sqrt(unit / night.n) for night in nights]
        moved = math.fsum(abs(after - before) for before, after in pairwise(z)) / (len(z) - 1)
        return cls(centre, unit, max(moved / D2, 1.0))

    def about(self, n: int, sigma: float, low: float | None, high: float | None) -> tuple[float, float]:
        """Return the limits of a night of ``n`` observations, not beyond the lowest and highest possible value."""
        reach = sigma * self.dispersion * math.sqrt(self.unit_variance / n)
        lower, upper = self.centre - reach, self.centre + reach
        return lower if low is None else max(lower, low), upper if high is None else min(upper, high)
