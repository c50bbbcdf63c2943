"""Limits of measures that noise makes larger: distances, their squares, maxima; and smaller: scatter within bins.

Noise adds to every observed distance, and resampling adds it once more, so quantiles of replicates lie too high and may
exclude the value itself. These limits take the noise out: they are the true values for which the observed one would be
a quantile. A limit that the value lies beyond is put at the value, which only makes the interval wider.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals.binomial import clopper_pearson

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats

Limits = tuple[float, float]

UNSEEN = 2.5
"""How many times the noise that replicates show is taken out of the lower limit of a measure that searches the rows for
its largest value, or is fitted to follow them. Their noise falls with the 2/3 power of the variance (Kim & Pollard
1990), of which a replicate shows 0.59 at most, and in the simulations of docs/methods.md one half and less."""


LARGE = 1e6
"""The mean of a noncentral chi-squared variable from which on its probabilities are those of the approximation."""


@dataclass(frozen=True, slots=True)
class Noise:
    """What noise does to an observed square: it adds ``mean`` to it, and ``variance`` is that of the square."""

    mean: float
    variance: float


def including(limits: Limits, value: float) -> Limits:
    """Return limits that include the value."""
    return min(limits[0], value), max(limits[1], value)


def rate_variances(events: Floats, others: Floats, squared_events: Floats, squared_others: Floats) -> Floats:
    """Return the variance of the event rate of each bin, from totals [b] of weights and of squared weights.

    The linearised variance of a ratio, times n / (n - 1) with n the bin's effective rows (Kish 1965). Where all rows of
    a bin are of one class, its rate is taken as that of half an event more and half a non-event more.
    """
    rows, squares = events + others, squared_events + squared_others
    n = rows**2 / squares
    mixed = (events > 0) & (others > 0)
    rate = np.where(mixed, events / rows, (events / rows * n + 0.5) / (n + 1))
    spread = np.where(mixed, squared_events * (1 - rate) ** 2 + squared_others * rate**2, squares * rate * (1 - rate))
    variances: Floats = spread / rows**2 * n / np.maximum(n - 1, 1)
    return variances


def square_noise(shares: Floats, gaps: Floats, variances: Floats, n: float) -> Noise:
    """Return the noise of the mean square of gaps [b], bins weighed by their ``shares`` of ``n`` rows.

    A squared gap exceeds the true one by the variance of its rate on average: Broecker (2012), Ferro & Fricker (2012).
    The variance has the noise of the rates and that of which rows are in which bin.
    """
    squares, errors = shares * gaps**2, shares * variances
    between = float((squares * gaps**2).sum() - squares.sum() ** 2) / n
    return Noise(float(errors.sum()), float((4 * squares * errors + 2 * errors**2).sum()) + max(between, 0.0))


def drawn_noise(squares: Floats, value: float) -> Noise:
    """Return the noise of an observed square from its replicates [B], of which NaN are left out."""
    defined = squares[~np.isnan(squares)]
    if len(defined) < 2:
        return Noise(math.nan, math.nan)
    return Noise(float(defined.mean()) - value, float(defined.var(ddof=1)))


def noncentral_limits(square: float, noise: Noise, level: float, unseen: float = 1.0) -> Limits | None:
    """Return the limits of a true squared distance from the observed one and its noise, by inversion.

    The observed square is taken for a sum of squares of normal variables of equal variance, of which the noise tells
    the variance and the number: with a true square of t its mean is t + noise.mean, and its variance is the one given
    where t is the square itself. The limits are the t for which the observed square is a quantile of that noncentral
    chi-squared distribution (Kent & Hainsworth 1995; moments as of Patnaik 1949); the lower one is 0 where no distance
    at all is likely enough. The lower limit takes ``unseen`` times the noise out. None where there is no noise.
    """
    if not (noise.mean > 0 and noise.variance > 0):
        return None
    lower = _true_square(square, unseen * noise.mean, noise.variance, (1 + level) / 2)
    return lower, _true_square(square, noise.mean, noise.variance, (1 - level) / 2)


def _true_square(square: float, mean: float, variance: float, share: float) -> float:
    """Return the true square for which the observed one has this share of its distribution below it; 0 if none has."""
    from scipy.optimize import brentq

    scale = variance / (4 * square + 2 * mean)

    def excess(true: float) -> float:
        return noncentral_cdf(square / scale, mean / scale, true / scale) - share

    if excess(0.0) <= 0:
        return 0.0
    far = square + 10 * (math.sqrt(variance) + scale)
    return float(brentq(excess, 0.0, far, xtol=1e-12 * max(far, 1e-300)))


def noncentral_cdf(at: float, freedom: float, noncentrality: float) -> float:
    """Return the probability below ``at`` of a noncentral chi-squared variable.

    Where its mean is beyond `LARGE`, by the normal approximation to a power of it of Sankaran (1959), eq. 2.8, since
    the series that is summed below grows long and fails; there the two differ by less than 1e-8.
    """
    from scipy.special import chndtr, ndtr

    k, mean = freedom, freedom + noncentrality
    if mean <= LARGE:
        return float(chndtr(at, k, noncentrality))
    h = 1 - 2 / 3 * mean * (mean + 2 * noncentrality) / (mean + noncentrality) ** 2
    p, m = (mean + noncentrality) / mean**2, (h - 1) * (1 - 3 * h)
    centre = 1 + h * p * (h - 1 - (2 - h) * m * p / 2)
    return float(ndtr(((at / mean) ** h - centre) / (h * math.sqrt(2 * p) * (1 + m * p / 2))))


def corrected_limits(value: float, noise: float, error: float, level: float) -> Limits:
    """Return normal limits about the value plus what noise has taken from it: Ferro & Fricker (2012)."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * error
    return value + noise - reach, value + noise + reach


def binomial_bins_limits(events: Floats, others: Floats, expected: Floats, level: float) -> Limits:
    """Return limits of the largest distance of event rate and ``expected`` rate [b] among bins of so many rows.

    From Clopper-Pearson limits of each rate. The upper one is the largest distance that a bin's own limits allow: that
    of the bin where the true distance is largest exceeds it often enough. The lower one is the largest distance that no
    bin's limits deny, all bins at once (Šidák 1967). Both cover at least the level.
    """
    rows, bins = events + others, len(events)
    low, high = clopper_pearson(events, rows, level)
    upper = np.maximum(np.abs(high - expected), np.abs(expected - low)).max()
    low, high = clopper_pearson(events, rows, ((1 + level) / 2) ** (1 / bins))
    return float(np.maximum(np.maximum(low - expected, expected - high), 0.0).max()), float(upper)
