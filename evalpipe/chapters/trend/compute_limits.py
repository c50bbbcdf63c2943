"""Control limits of a measure over nights of different sizes: sampling and a variance between nights, added.

Shewhart's (1931) chart of individual values takes all nights for alike. A night of few rows scatters more, so its
limits are wider here. A night of n observations varies about the centre c by

    t + u / n,  t the variance between nights, u the mean of n_j e_j² over the nights counted,

e_j the standard error that an interval has. All nights have one variance of an observation, and not each its own,
because a night's error depends on its value: near 1 both shrink, and a mean weighted by such errors is drawn there.

The variance between nights is added, as in the random effects of Spiegelhalter (2005), Statistics in Medicine 24: what
makes a night of 5,000 rows vary makes one of 50 rows vary as much. Laney's p' chart (2002) multiplies the errors
instead, which widens small nights too much and large ones too little. It is estimated as Paule & Mandel (1982) do: it
makes the squared distances from the centre, each over its variance, add up to the nights less one. A night more than
`FURTHEST` errors out counts as one at that distance, so that nights out of control do not hide others. Limits are
c ± k sqrt(t + u / n + s), s the variance of the centre, the mean weighted by 1 / (t + u / n_j).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

FURTHEST = 3.0
"""The standard errors beyond which a night moves the variance between nights no further."""

HALVINGS = 40
"""How often the bracket of the variance between nights is halved: 2^-40 of the variance of the values."""


@dataclass(frozen=True, slots=True)
class CountedNight:
    """A night that limits are made of: its value, the standard error of its interval, and its observations."""

    value: float
    error: float
    n: int


@dataclass(frozen=True, slots=True)
class ControlLimits:
    """The ``centre`` with its variance, the variance of one observation, and that ``between`` nights.

    ``autocorrelation`` is that of a night with the next, in standard errors from the centre; 0 of nights all alike.
    """

    centre: float
    centre_variance: float
    unit_variance: float
    between: float
    autocorrelation: float

    @classmethod
    def of(cls, nights: Sequence[CountedNight]) -> ControlLimits:
        """Return the limits that nights give, the oldest first; two or more."""
        unit = math.fsum(night.n * night.error**2 for night in nights) / len(nights)
        between = _between(nights, unit)
        centre, weights = _centre(nights, unit, between)
        z = [(night.value - centre) * math.sqrt(weight) for night, weight in zip(nights, weights, strict=True)]
        spread = math.fsum(value**2 for value in z)
        together = math.fsum(before * after for before, after in pairwise(z))
        return cls(centre, 1 / math.fsum(weights), unit, between, together / spread if spread > 0 else 0.0)

    def widening(self, n: int) -> float:
        """Return how much wider than sampling alone the variance between nights makes the limits of a night."""
        return math.sqrt(1 + self.between * n / self.unit_variance)

    def about(self, n: int, sigma: float, low: float | None, high: float | None) -> tuple[float, float]:
        """Return the limits of a night of ``n`` observations, not beyond the lowest and highest possible value."""
        reach = sigma * math.sqrt(self.between + self.unit_variance / n + self.centre_variance)
        lower, upper = self.centre - reach, self.centre + reach
        return lower if low is None else max(lower, low), upper if high is None else min(upper, high)


def _centre(nights: Sequence[CountedNight], unit: float, between: float) -> tuple[float, list[float]]:
    """Return the mean of the nights by weights 1 / (t + u / n), and these."""
    weights = [1 / (between + unit / night.n) for night in nights]
    total = math.fsum(weight * night.value for weight, night in zip(weights, nights, strict=True))
    return total / math.fsum(weights), weights


def _between(nights: Sequence[CountedNight], unit: float) -> float:
    """Return the variance between nights; 0 where they vary no more than sampling makes them."""
    def excess(between: float) -> float:
        centre, weights = _centre(nights, unit, between)
        squares = (weight * (night.value - centre) ** 2 for night, weight in zip(nights, weights, strict=True))
        return math.fsum(min(square, FURTHEST**2) for square in squares) - (len(nights) - 1)

    if excess(0.0) <= 0:
        return 0.0
    mean = math.fsum(night.value for night in nights) / len(nights)
    # At the plain variance of the values the sum is at most the nights less one.
    low, high = 0.0, math.fsum((night.value - mean) ** 2 for night in nights) / (len(nights) - 1)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    return high
