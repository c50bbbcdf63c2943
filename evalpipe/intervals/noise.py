"""Limits of measures that noise makes larger: distances, their squares, maxima; and smaller: scatter within bins.

Noise adds to every observed distance, and resampling adds it once more, so quantiles of replicates lie too high and may
exclude the value itself. These limits take the noise out: they are the true values for which the observed one would be
a quantile. A limit that the value lies beyond is put at the value, which only makes the interval wider. Not so of a
part of the Brier score in thin bins, of which most is noise: with the value, its limits would say nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.arithmetic import power, root
from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.binomial import clopper_pearson
from evalpipe.intervals.declare import IN_CLOSED_FORM, interval
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from evalpipe.base.arraytypes import Floats


ENOUGH = 20
"""The rows of a bin that tell the variance of an event in it; of fewer, the bins next to it help. Of squares in bins
that have fewer on average most is noise: see the simulations of docs/methods.md."""


def rate_variances(events: Floats, others: Floats, squared_events: Floats, squared_others: Floats) -> Floats:
    """Return the variance of the event rate of each bin, from totals [b] of weights and of squared weights.

    The linearised variance of a ratio, times n / (n - 1) with n the effective rows (Kish 1965). The variance of an
    event is that of the rows of the bin or, where they are fewer than `ENOUGH`, of its neighbours too, bins being in
    order. Where all of these are of one class, half an event and half a non-event are added for the rate.
    """
    rows, squares = events + others, squared_events + squared_others
    first, last = _pooled_bins(rows**2 / squares)
    tables = events, others, squared_events, squared_others
    cumulative = [np.concatenate([[0.0], np.cumsum(table)]) for table in tables]
    hits, misses, squared_hits, squared_misses = (table[last] - table[first] for table in cumulative)
    pooled, weight = hits + misses, squared_hits + squared_misses
    n = pooled**2 / weight
    mixed = (hits > 0) & (misses > 0)
    rate = np.where(mixed, hits / pooled, (hits / pooled * n + 0.5) / (n + 1))
    spread = np.where(mixed, squared_hits * (1 - rate) ** 2 + squared_misses * rate**2, weight * rate * (1 - rate))
    variances: Floats = spread / weight * n / np.maximum(n - 1, 1) * squares / rows**2
    return variances


def _pooled_bins(counts: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return, for each bin [b], the first and one past the last bin whose rows give the variance of an event in it.

    These are the bin itself where it has `ENOUGH` rows; else the bins within half as many rows on either side.
    """
    after = np.cumsum(counts)
    bins, before = np.arange(len(counts)), after - counts
    first = np.searchsorted(after, before - ENOUGH / 2, side="right")
    last = np.searchsorted(before, after + ENOUGH / 2, side="left")
    enough = counts >= ENOUGH
    return np.where(enough, bins, np.minimum(first, bins)), np.where(enough, bins + 1, np.maximum(last, bins + 1))


def squared_error_variances(variances: Floats, counts: Floats) -> Floats:
    """Return the variance of the squared error of each bin's rate [b], from the variances of the rates and the rows.

    Two squared variances, as of a normal error, plus the fourth cumulant of the mean of so many events, which is
    negative where a rate is near one half: of a single row with a rate of one half, the squared error is always 1/4.
    """
    of_squares: Floats = 2 * variances**2 + variances / counts**2 - 6 * variances**2 / counts
    return of_squares


@dataclass(frozen=True, slots=True)
class Bins:
    """The used bins of a measure of gaps, each [b].

    ``events`` and ``others`` are totals of weights, ``squared_events`` and ``squared_others`` of squared weights;
    ``gap`` is the events less those expected.
    """

    events: Floats
    others: Floats
    gap: Floats
    squared_events: Floats
    squared_others: Floats

    @property
    def rows(self) -> Floats:
        """The total weight of each bin."""
        return self.events + self.others

    @property
    def squares(self) -> Floats:
        """The sum of squared weights of the rows of each bin, [b]."""
        return self.squared_events + self.squared_others

    @property
    def shares(self) -> Floats:
        """The share of each bin in the total weight."""
        shares: Floats = self.rows / self.rows.sum()
        return shares

    @property
    def variances(self) -> Floats:
        """The variance of the event rate of each bin."""
        return rate_variances(self.events, self.others, self.squared_events, self.squared_others)

    @property
    def thin(self) -> bool:
        """Whether the bins have fewer than `ENOUGH` effective rows on average."""
        return self.n < ENOUGH * len(self.events)

    @property
    def n(self) -> float:
        """Kish's effective number of rows."""
        return float(self.rows.sum() ** 2 / self.squares.sum())


Limits = tuple[float, float]

UNSEEN = 2.5
"""How many times the noise that replicates show is taken out of the lower limit of a measure that searches the rows for
its largest value, or is fitted to follow them. Their noise falls with the 2/3 power of the variance (Kim & Pollard
1990), of which a replicate shows 0.59 at most, and in the simulations of docs/methods.md one half and less."""


LARGE = 1e6
"""The mean of a noncentral chi-squared variable from which on its probabilities are those of the approximation."""

SQUARES = ("squared_gaps", "squared_distance", "searched_square")
"""The kinds of measures that are squares of distances themselves."""

SEARCHED = ("searched", "searched_square")
"""The kinds of measures that search the rows for their value, so that replicates show a part of their noise alone."""

BEYOND = "If the value itself is beyond a limit, the limit is set to the value."

THIN = (
    f"But where the groups of a part of the Brier score have fewer than {ENOUGH} rows on average, most of the value is "
    "noise: limits without it then leave the value out, and the status says so."
)

MEAN_SQUARE = sentence("squared-distances")

FAILS = {
    **IN_CLOSED_FORM,
    "weighted_even_bins": sentence("weighted-even-bins"),
}


@dataclass(frozen=True, slots=True)
class Noise:
    """The noise of an observed square: the ``mean`` that it adds, and the ``variance`` of the observed square."""

    mean: float
    variance: float


def including(limits: Limits, value: float) -> Limits:
    """Return limits widened, where need be, to include the value."""
    return min(limits[0], value), max(limits[1], value)


def square_noise(shares: Floats, gaps: Floats, variances: Floats, n: float) -> Noise:
    """Return the bias and the variance (`Noise`) of the mean squared gap [b] that sampling adds to the true value.

    Bins are weighed by their ``shares`` of ``n`` rows. A squared gap exceeds the true one by the variance of its rate
    on average: Broecker (2012), Ferro & Fricker (2012). The variance has the noise of the rates and that of which rows
    are in which bin; of the latter, the true squares and fourth powers of the gaps are the observed ones without their
    noise.
    """
    squares = gaps**2
    of_rates = shares**2 * (4 * squares * variances + squared_error_variances(variances, shares * n))
    fourth = float((shares * (squares**2 - 6 * squares * variances + 3 * variances**2)).sum())
    second = max(float((shares * (squares - variances)).sum()), 0.0)
    between = max(fourth - second**2, 0.0) / n
    return Noise(float((shares * variances).sum()), float(of_rates.sum()) + between)


def replicate_noise(squares: Floats, value: float) -> Noise:
    """Return the bias and the variance of an observed square, estimated from its bootstrap replicates [B]."""
    defined = squares[~np.isnan(squares)]
    if len(defined) < 2:
        return Noise(math.nan, math.nan)
    return Noise(float(defined.mean()) - value, float(defined.var(ddof=1)))


def noncentral_limits(square: float, noise: Noise, level: float, unseen: float = 1.0) -> Limits | None:
    """Return the limits of a true squared distance by a noncentral chi-squared distribution; None without noise.

    The observed square is taken for a sum of squares of normal variables of equal variance, of which the noise tells
    the variance and the number: with a true square of t its mean is t + noise.mean, and its variance is the one given
    where t is the square itself. The limits are the t for which the observed square is a quantile of that noncentral
    chi-squared distribution (Kent & Hainsworth 1995; moments as of Patnaik 1949); the lower one is 0 where no distance
    at all is likely enough. The lower limit takes ``unseen`` times the noise out.
    """
    if not (noise.mean > 0 and noise.variance > 0):
        return None
    lower = _true_square(square, unseen * noise.mean, noise.variance, (1 + level) / 2)
    return lower, _true_square(square, noise.mean, noise.variance, (1 - level) / 2)


def _true_square(square: float, mean: float, variance: float, share: float) -> float:
    """Return the true square for which the observed one is the ``share`` quantile of its distribution; 0 if none is."""
    scale = variance / (4 * square + 2 * mean)

    def excess(true: float) -> float:
        return noncentral_cdf(square / scale, mean / scale, true / scale) - share

    if excess(0.0) <= 0:
        return 0.0
    far = square + 10 * (math.sqrt(variance) + scale)
    return root(excess, 0.0, far, 1e-12 * max(far, 1e-300))


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
    return float(ndtr((float(power(at / mean, h)) - centre) / (h * math.sqrt(2 * p) * (1 + m * p / 2))))


def corrected_limits(value: float, noise: float, error: float, level: float) -> Limits:
    """Return normal limits about the value plus the ``noise`` that it lacks on average: Ferro & Fricker (2012)."""
    from scipy.special import ndtri

    reach = float(ndtri((1 + level) / 2)) * error
    return value + noise - reach, value + noise + reach


def folded_limits(gaps: Floats, errors: Floats, level: float) -> tuple[float, float]:
    """Return limits of a sum of true distances, such as the ECE, by inverting folded normal distributions.

    ``gaps`` and ``errors`` [b] are the observed distances and their standard errors. Noise makes every observed |gap|
    larger, so a sum of them is too large and its bootstrap replicates are more so. Were each true distance k times its
    error, the sum would have the mean and the variance of folded normal variables (Leone, Nelson & Nottingham 1961);
    the limits are the sums of true distances at the two k for which the observed sum is a quantile. The lower one is 0
    where no distance at all is likely enough.
    """
    from scipy.special import ndtr, ndtri

    reach, observed = float(ndtri((1 + level) / 2)), float(np.abs(gaps).sum())
    total, spread = float(errors.sum()), math.sqrt(float((errors**2).sum()))

    def excess(k: float, side: int) -> float:
        """Return how far a limit of the sum lies above the observed sum, where distances are k errors."""
        mean = math.sqrt(2 / math.pi) * math.exp(-k * k / 2) + k * (1 - 2 * float(ndtr(-k)))
        deviation = math.sqrt(max(1 + k * k - mean * mean, 0.0))
        return total * mean + side * reach * spread * deviation - observed

    def limit(side: int) -> float:
        """Return the sum of true distances whose upper (1) or lower (-1) limit is the observed sum."""
        if total == 0:
            return observed
        far = observed / total + reach + 1
        return 0.0 if excess(0.0, side) >= 0 else root(lambda k: excess(k, side), 0.0, far, 2e-12) * total

    return limit(1), limit(-1)


def binomial_bins_limits(events: Floats, others: Floats, expected: Floats, level: float) -> Limits:
    """Return limits of the largest distance of event rate and ``expected`` rate [b] among bins of so many rows.

    From Clopper-Pearson limits of each rate. The upper one is the largest distance that a bin's own limits allow: that
    of the bin where the true distance is largest exceeds it often enough. The lower one is the largest distance that no
    bin's limits deny, all bins at once (Šidák 1967). Both cover at least the level.
    """
    rows, bins = events + others, len(events)
    low, high = clopper_pearson(events, rows, level)
    upper = np.maximum(np.abs(high - expected), np.abs(expected - low)).max()
    low, high = clopper_pearson(events, rows, float(power((1 + level) / 2, 1 / bins)))
    return float(np.maximum(np.maximum(low - expected, expected - high), 0.0).max()), float(upper)


@interval(
    "folded", title="inversion of folded normals", short="folded normal", insists=True, fails=FAILS,
    detail="Replicates add the noise once more: their quantiles are too high.",
    for_={"l1": sentence("distances")},
    text="Noise makes each distance, and so their sum, larger than the true one. The limits are the true sums, with "
         "distances in proportion to their errors, for which the observed sum would be a quantile; bootstrap "
         "quantiles would be too high.",
    ref="Leone, F. C., Nelson, L. S. & Nottingham, R. B. (1961). The folded normal distribution. Technometrics "
    "3(4), 543–550.")
def mean_distance_limits(bins: Bins, value: float, level: float) -> Limits:
    """Return the limits of the mean distance of event rate and expected rate over bins; see `folded_limits`."""
    return including(folded_limits(bins.shares * bins.gap / bins.rows, bins.shares * np.sqrt(bins.variances), level),
                     value)


@interval(
    "noncentral", title="inversion of noncentral chi-squared", short="noncentral χ²", insists=True, fails=FAILS,
    detail="A squared gap exceeds the true one by the variance of its rate (Bröcker 2012; Ferro & Fricker 2012).",
    for_={"l2": MEAN_SQUARE, "debiased": MEAN_SQUARE, "square": MEAN_SQUARE},
    text="Noise makes each squared distance, and so their mean, larger than the true one. The limits are "
    f"the true values for which the observed one would be a quantile. {BEYOND} {THIN}",
    ref="Kent, J. T. & Hainsworth, T. J. (1995). Confidence intervals for the noncentral chi-squared "
    "distribution. Journal of Statistical Planning and Inference 46(2), 147–159; Bröcker, J. (2012). Estimating "
    "reliability and resolution of probability forecasts through decomposition of the empirical score. Climate "
    "Dynamics 39, 655–667.")
def mean_square_limits(bins: Bins, kind: str, value: float, level: float) -> Limits:
    """Return the limits of the mean square of the distances over bins, or of its root where it is no square itself.

    They include the value, but not that of a square in thin bins, which is above the truth by several times.
    """
    gaps = bins.gap / bins.rows
    square = float((bins.shares * gaps**2).sum())
    noise = square_noise(bins.shares, gaps, bins.variances, bins.n)
    limits = noncentral_limits(square, noise, level) or (square, square)
    limits = limits if kind in SQUARES else _root(limits)
    return limits if kind in SQUARES and bins.thin else including(limits, value)


@interval(
    "binomial_bins", title="Clopper-Pearson in every bin", short="exact, every bin", insists=True, fails=FAILS,
    detail="All bins are taken at once as Šidák (1967) does.",
    for_={"max": sentence("largest-distance")},
    text="The upper limit is the largest distance that the limits of any bin allow; the lower limit is the largest "
         f"distance that the exact limits of all bins together require. Coverage is never below the level. {BEYOND}",
    ref="Clopper, C. J. & Pearson, E. S. (1934). The use of confidence or fiducial limits illustrated in "
    "the case of the binomial. Biometrika 26(4), 404–413; Šidák, Z. (1967). Rectangular confidence regions for the "
    "means of multivariate normal distributions. Journal of the American Statistical Association 62(318), 626–633.")
def largest_distance_limits(bins: Bins, value: float, level: float) -> Limits:
    """Return the limits of the largest distance of any bin, with effective rows; see `binomial_bins_limits`."""
    count = bins.rows / bins.squares
    expected = (bins.events - bins.gap) / bins.rows
    return including(binomial_bins_limits(bins.events * count, bins.others * count, expected, level), value)


@interval(
    "corrected", title="corrected for noise", short="corrected", insists=True, fails=FAILS,
    detail="Noise subtracts the variance of each bin's rate from it.",
    for_={"within": sentence("noise-within-bins")},
    text="Noise makes the loss within bins smaller than it truly is. The limits are normal limits around the value "
         f"corrected for this. {BEYOND} {THIN}",
    ref="Ferro, C. A. T. & Fricker, T. E. (2012). A bias-corrected decomposition of the Brier score. "
    "Quarterly Journal of the Royal Meteorological Society 138(668), 1954–1960.")
def scatter_limits(bins: Bins, value: float, level: float) -> Limits:
    """Return the limits of the mean variance within bins, of which noise takes the variance of each bin's rate.

    That variance is of the same rows, so the noise of a bin of m rows counts (m + 1) / m times.
    """
    shares, counts, variances = bins.shares, bins.shares * bins.n, bins.variances
    within = variances * counts  # of an event in each bin
    steep = np.maximum(1 - 4 * within, 0.0) * (1 + 1 / counts) ** 2
    of_rates = shares**2 * (steep * variances + squared_error_variances(variances, counts))
    between = max(float((shares * within**2).sum()) - float((shares * within).sum()) ** 2, 0.0) / bins.n
    lost, error = float((shares * variances).sum()), math.sqrt(max(float(of_rates.sum()) + between, 0.0))
    limits = corrected_limits(value, lost, error, level)
    return limits if bins.thin else including(limits, value)


@interval(
    "bootstrap_noncentral", title="bootstrap noise, inverted", short="bootstrap, inverted", insists=True,
    detail="The noise is estimated by how far the replicates' mean square exceeds the square of the value, and by "
           "its variance. For a measure that searches the rows or is fitted to them, the lower limit removes "
           f"{UNSEEN:g} times as much. The range of a measure over slices has these limits too; its upper one is at "
           "least the largest range that has the observed one among the nearest 95 % of what it would make.",
    for_=dict.fromkeys(("gaps", "distance", "searched", *SQUARES), sentence("noise-inverted")),
    text="Noise makes the measure larger than it truly is, and resampling adds the same noise once more. The limits "
         "are the true values for which the observed value would be a quantile, given the noise in the bootstrap "
         "replicates. Replicates show only a part of the noise of a measure that searches the rows for its largest "
         f"value or is fitted to them; its lower limit allows for the rest. {BEYOND}",
    ref="Kent, J. T. & Hainsworth, T. J. (1995). Confidence intervals for the noncentral "
    "chi-squared distribution. Journal of Statistical Planning and Inference 46(2), 147–159.")
def drawn_distance_limits(
    replicates: Floats, value: float, kind: str, options: Mapping[str, object], level: float
) -> Limits | None:
    """Return the limits of a distance or a square from its replicates [B]; percentile limits where they show no noise.

    Of a measure that searches the rows, `UNSEEN` times the noise that they show is taken out of the lower limit.
    """
    unseen = UNSEEN if kind in SEARCHED else 1.0
    if kind in SQUARES:
        limits = noncentral_limits(value, replicate_noise(replicates, value), level, unseen)
    else:
        noise = replicate_noise(replicates**2, value**2)
        # A debiased value has lost its noise already, and the inversion would take it out once more.
        square = value**2 + (max(noise.mean, 0.0) if options.get("debiased") else 0.0)
        squares = noncentral_limits(square, noise, level, unseen)
        limits = None if squares is None else _root(squares)
    return _including_or_percentile(limits, replicates, value, level)


@interval(
    "bootstrap_corrected", title="bootstrap, corrected for noise", short="bootstrap, corrected", insists=True,
    for_={"scatter": sentence("noise-smaller")},
    text="Noise makes the measure smaller than it truly is, and resampling does so once more. The limits are normal "
         f"limits around the value corrected for the loss in the replicates. {BEYOND}",
    ref="Davison, A. C. & Hinkley, D. V. (1997). Bootstrap methods and their application. Cambridge "
    "University Press, section 5.2.")
def drawn_scatter_limits(replicates: Floats, value: float, level: float) -> Limits | None:
    """Return the limits of a measure that noise makes smaller, from its replicates [B]."""
    noise = replicate_noise(replicates, value)
    limits = corrected_limits(value, -noise.mean, math.sqrt(noise.variance), level)
    return _including_or_percentile(limits, replicates, value, level)


def range_limits(value: float, replicates: Floats, level: float) -> Limits | None:
    """Return the limits of the range (largest less least) of a metric over slices, from its replicates [B].

    Of few slices a range near 0 is smaller than 97.5 % of those that a true range of 0 makes, so that the upper limit
    that inverts a quantile is 0 too. That of `symmetric_upper` is as wide there as the noise.
    """
    limits = drawn_distance_limits(replicates, value, "distance", {}, level)
    upper = symmetric_upper(value, replicate_noise(replicates**2, value**2), level)
    return limits if limits is None or upper is None else (limits[0], max(limits[1], upper))


def symmetric_upper(value: float, noise: Noise, level: float) -> float | None:
    """Return the upper limit of a true distance by symmetric ranges (Kent & Hainsworth 1995); None without noise.

    It is the largest true distance for which the observed one is among the nearest ``level`` of its distribution.
    ``noise`` is that of the observed square, as of `noncentral_limits`.
    """
    if not (noise.mean > 0 and noise.variance > 0):
        return None
    scale = noise.variance / (4 * value**2 + 2 * noise.mean)

    def within(true: float) -> float:
        """Return by how much more than the level lies as near to a true distance as the value, which is below it."""
        below, above = (noncentral_cdf(at**2 / scale, noise.mean / scale, true**2 / scale)
                        for at in (value, 2 * true - value))
        return above - below - level

    far = value + 10 * math.sqrt(noise.mean + math.sqrt(noise.variance) + scale)
    return root(within, value, far, 1e-12 * far) if within(far) > 0 else None


def _including_or_percentile(limits: Limits | None, replicates: Floats, value: float, level: float) -> Limits | None:
    """Return ``limits``, else percentile limits, widened to include ``value``; None where both are unknown."""
    from evalpipe.intervals.bootstrap import percentile_limits

    limits = limits or percentile_limits(replicates, level)
    return None if limits is None or math.isnan(limits[0]) else including(limits, value)


def _root(limits: Limits) -> Limits:
    """Return the square roots of limits, of 0 where they are negative."""
    return math.sqrt(max(limits[0], 0.0)), math.sqrt(max(limits[1], 0.0))
