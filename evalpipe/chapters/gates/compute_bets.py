"""The evidence of one night on a limit: the logarithms of e-values, one for each size of a bet.

An e-value is a number of 0 or more whose mean is at most 1 while the limit is kept: what a bet of 1 against the limit
has become. The evidence for a limit that is kept is that of the same bets the other way round. Shafer (2021).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import log1p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats

SHARES = tuple(2.0**-k for k in range(1, 11))
"""The bets on rows, as shares of the largest that no row can ruin: from a half down, each half of the one before.

A bet of c times the best grows c (2 - c) times as fast as that, so halves lose at most 18 % of the growth. The smallest
is the best of a fall by 0.0005 of a proportion of a half.
"""

SCALES = (0.0625, 0.125, 0.25, 0.5, 1.0)
"""The bets on a value, each the best where the true value is so many standard errors of a night beyond its limit.

Larger bets rest on the far tail of a value's distribution, which is not normal there: `benchmarks/sequence.py`.
"""

ALLOWANCE = 0.25
"""The standard errors by which a value may be off on average, as its skewness or few rows move it.

A year adds up 365 nights: a tenth of a standard error on each of them would otherwise be evidence by itself.
"""

LEAST_BOUND = 1e-6
"""The least that a row may be thought to count for a limit: where none can, as none is above 1, a bet has no bound."""

BETS = {"exact": 1, "asymptotic": 2}
"""The version of the bets of each kind: evidence of another version is not added up."""


class NightEvidence(NamedTuple):
    """Logarithms of the e-values of a night [..., bets]: ``against`` the limit and, of the same bets, for it."""

    against: Floats
    kept: Floats


@dataclass(frozen=True, slots=True)
class Shortfalls:
    """How far rows are short of a limit: ``values`` [..., m], whose mean is 0 or less where the limit is kept.

    ``counts`` [..., m] are the rows of each value; none is below ``least`` or above ``most``.
    """

    values: Floats
    counts: Floats
    least: float
    most: float

    def evidence(self) -> NightEvidence:
        """Return the evidence of independent rows, by betting: the product of 1 + bet * value. It is exact.

        Of a proportion it is the likelihood ratio against the limit. Waudby-Smith & Ramdas (2024).
        """
        return NightEvidence(_bets(self.values, self.counts, -self.least), _bets(-self.values, self.counts, self.most))


def _bets(values: Floats, counts: Floats, bound: float) -> Floats:
    """Return the logarithms [..., bets] of what bets on values come to, none of which is below minus the bound."""
    sizes = [share / max(bound, LEAST_BOUND) for share in SHARES]
    return np.stack([(counts * log1p(size * values)).sum(axis=-1) for size in sizes], axis=-1)


def of_a_proportion(successes: Floats, trials: Floats, limit: float, side: int) -> NightEvidence:
    """Return the evidence that a proportion is below a limit (side -1) or above it (1); shapes broadcast [...]."""
    hits, all_ = np.broadcast_arrays(np.asarray(successes, float), np.asarray(trials, float))
    counts, values = np.stack([hits, all_ - hits], axis=-1), side * (np.array([1.0, 0.0]) - limit)
    return Shortfalls(values, counts, values.min(), values.max()).evidence()


def of_a_mean(values: Floats, counts: Floats, limit: float, side: int, bounds: tuple[float, float]) -> NightEvidence:
    """Return the evidence that the mean of values [..., m] within bounds is below a limit (side -1) or above it (1)."""
    low, high = sorted(side * (bound - limit) for bound in bounds)
    return Shortfalls(side * (np.asarray(values, float) - limit), counts, low, high).evidence()


def of_a_ratio(
    parts: Sequence[tuple[float, float]], counts: Floats, limit: float, side: int
) -> NightEvidence:
    """Return the evidence that a ratio of means is below a limit (side -1) or above it (1).

    ``parts`` are the numerators and denominators of the kinds of rows, of which there are ``counts`` [..., kinds]: a
    ratio of means is below a limit where the mean of numerator - limit * denominator is below 0.
    """
    values = side * np.array([numerator - limit * denominator for numerator, denominator in parts])
    return Shortfalls(values, np.asarray(counts, float), min(values.min(), 0.0), max(values.max(), 0.0)).evidence()


def of_a_value(value: Floats | float, error: Floats | float, limit: float, side: int) -> NightEvidence:
    """Return the evidence that a value [...] with a standard error is below a limit (side -1) or above it (1).

    It is asymptotic: that of a normal distribution with this error (Robbins 1970), whose mean is beyond the limit by
    more than the allowance.
    """
    z = (side * (np.asarray(value, float) - limit) / np.asarray(error, float))[..., None]
    sizes = np.array(SCALES)
    return NightEvidence(*(sizes * (distance - ALLOWANCE) - sizes**2 / 2 for distance in (z, -z)))
