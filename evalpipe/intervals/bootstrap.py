"""Limits from bootstrap replicates, and how far to trust them; of few clusters, with Student's distribution.

First the quantiles of replicates, and the scale on which the range of a measure has no end; last, bands about a curve.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.binomial import clopper_pearson
from evalpipe.intervals.declare import EVERY, FEW_CLUSTERS, Limits, interval, registry
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Values
    from evalpipe.words.sentences import Sentence

    Band = tuple[Floats, Floats]


def quantiles(values: Floats, shares: Sequence[float] | Floats) -> Floats:
    """Return the quantiles of ``values`` [n] at ``shares`` [k], interpolated linearly: as NumPy does, bit for bit.

    NumPy's function prepares for every shape and method, which takes several times as long as to sort a few thousand
    numbers. Neither values nor shares may be NaN.
    """
    ordered, position = np.sort(values), np.asarray(shares, float) * (len(values) - 1)
    low = np.floor(position).astype(np.intp)
    fraction, below, above = position - low, ordered[low], ordered[np.minimum(low + 1, len(values) - 1)]
    step = above - below
    # From the nearer of the two, as NumPy interpolates.
    return np.asarray(np.where(fraction < 0.5, below + step * fraction, above - step * (1 - fraction)))


Ends = tuple[float, float]


def limits_on_scale(
    value: float, error: float, bounds: tuple[float, float], level: float, freedom: float | None = None
) -> Ends | None:
    """Return limits of a value that are symmetric on the scale of its range, from its standard ``error`` there.

    The scale is the logit between two ``bounds``, the log from one, else the value itself. Limits are normal, or
    Student's with so many degrees of ``freedom``. None where the value is at a bound.
    """
    from scipy.special import ndtri, stdtrit

    if not math.isfinite(scale_slope(value, bounds)) or not math.isfinite(error):
        return None
    tail = (1 + level) / 2
    reach = error * float(ndtri(tail) if freedom is None else stdtrit(freedom, tail))
    middle = to_scale(value, bounds)
    return _from_scale(middle - reach, bounds), _from_scale(middle + reach, bounds)


def scale_slope(value: float, bounds: tuple[float, float]) -> float:
    """Return the derivative of the transformation at ``value``, which carries a standard error by the delta method.

    The transformation is the logit between two ``bounds``, the log from one, else the identity. Infinite at a bound.
    """
    distances = [abs(value - end) for end in bounds if math.isfinite(end)]
    if not distances:
        return 1.0
    return math.fsum(1 / distance for distance in distances) if all(distances) else math.inf


def to_scale(value: float, bounds: tuple[float, float]) -> float:
    """Return a value on the scale of its range: the logit between two ends, the log from one end, else unchanged."""
    low, high = bounds
    if math.isfinite(low) and math.isfinite(high):
        return math.log((value - low) / (high - value))
    if math.isfinite(low):
        return math.log(value - low)
    return -math.log(high - value) if math.isfinite(high) else value


def _from_scale(scaled: float, bounds: tuple[float, float]) -> float:
    """Return the value whose logit between two bounds, or log from one, is ``scaled``; without bounds, unchanged."""
    low, high = bounds
    if math.isfinite(low) and math.isfinite(high):
        share = 1 / (1 + math.exp(-scaled)) if scaled > 0 else math.exp(scaled) / (1 + math.exp(scaled))
        return low + (high - low) * share
    if math.isfinite(low):
        return low + math.exp(scaled)
    return high - math.exp(-scaled) if math.isfinite(high) else scaled


FOLDS = 40
"""Groups of observations that are left out in turn for the standard error of each replicate."""

GROUPS = 1000
"""The most groups of units that the jackknife leaves out in turn."""

SPREAD_TAIL = 0.025
"""The share of replicates beyond each of the two quantiles that their spread is read from."""

FOR_ALL = {EVERY: sentence("asked-bootstrap")}

ROUNDING = 1e-12
"""A difference smaller than this, relative to the numbers it was computed from, is rounding and no spread."""


BIASED = "biased-by-resampling"
"""The code of why a value lies outside limits from replicates."""

THIN = "noise-of-thin-bins"
"""The code of why a value lies outside limits without the noise of bins."""


def doubt_about_limits(value: float, limits: Ends, method: str) -> Sentence | None:
    """Return the reason why limits do not show a value's uncertainty: no width, or a value outside; else None."""
    if limits[1] - limits[0] <= ROUNDING * max(abs(limits[0]), abs(limits[1])):
        return sentence("no-width" if method == "wald" else "same-in-replicates")
    return reason_outside_limits(value, limits, method, THIN if registry[method].insists else BIASED)


def reason_outside_limits(value: float, limits: Ends, method: str, because: str = BIASED) -> Sentence | None:
    """Return the reason ``because`` where a value lies outside its limits, beyond rounding; None where it does not."""
    slack = ROUNDING * max(abs(value), abs(limits[0]), abs(limits[1]))
    if value < limits[0] - slack or value > limits[1] + slack:
        code = "below-its-limits" if value < limits[0] else "above-its-limits"
        return sentence(code, method=method, because=sentence(because))
    return None


@interval(
    "percentile", title="percentile bootstrap", short="bootstrap", asked=True, for_=FOR_ALL,
    detail="It also serves measures without a method of their own, or whose own method is not valid; quantiles are "
           "interpolated linearly.",
    text="Quantiles of the measure over bootstrap replicates of the rows. Every measure and every model of a "
    "dataset sees the same replicates.",
    ref="Efron, B. (1979). Bootstrap methods: another look at the jackknife. The Annals of Statistics 7(1), 1–26.")
def percentile_limits(replicates: Floats, level: float) -> Ends | None:
    """Return the percentile limits of the defined replicates, or None where fewer than two are. Efron (1979)."""
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return None
    tail = (1 - level) / 2
    lower, upper = quantiles(defined, [tail, 1 - tail])
    return float(lower), float(upper)


@interval(
    "basic", title="basic bootstrap", asked=True, for_=FOR_ALL,
    text="Quantiles of the measure over bootstrap replicates of the rows, mirrored at the value and kept within "
    "the range of the measure.",
    ref="Davison, A. C. & Hinkley, D. V. (1997). Bootstrap methods and their application. Cambridge University "
    "Press, section 5.2.")
def basic_limits(replicates: Floats, value: float, level: float) -> Ends | None:
    """Return the percentile limits mirrored at the value, 2 v - q; None without a value or two defined replicates.

    They take the spread of replicates about the value for that of the value about the truth, and may leave the range of
    the measure. Davison & Hinkley (1997), eq. 5.6.
    """
    limits = percentile_limits(replicates, level)
    if limits is None or math.isnan(value):
        return None
    return 2 * value - limits[1], 2 * value - limits[0]


@interval(
    "bca", title="BCa bootstrap", asked=True, for_=FOR_ALL,
    detail=f"The jackknife leaves out one row at a time, or one of {GROUPS:,} random groups of more rows.",
    text="Quantiles of the measure over bootstrap replicates of the rows, corrected for the bias of the replicates "
         "and for how the error changes with the value, as the jackknife shows.",
    ref="Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association "
    "82(397), 171–185.")
def bca_limits(replicates: Floats, value: float, jackknife: Floats, level: float) -> Ends | None:
    """Return the bias-corrected and accelerated limits, or None where fewer than two replicates are defined.

    ``jackknife`` are the values with one group of rows left out at a time, groups of like size. Efron (1987), eq. 6.
    """
    from scipy.special import ndtr, ndtri

    defined, left_out = replicates[~np.isnan(replicates)], jackknife[~np.isnan(jackknife)]
    if len(defined) < 2 or len(left_out) < 2:
        return None
    # A replicate equal to the value lies half on either side, as many do where a measure takes few values.
    share = ((defined < value).sum() + (defined == value).sum() / 2) / len(defined)
    if not 0 < share < 1:
        return None
    bias, away = ndtri(share), left_out.mean() - left_out
    square = (away**2).sum()
    acceleration = (away * away**2).sum() / (6 * square * np.sqrt(square)) if square else 0.0
    tail = ndtri([(1 - level) / 2, (1 + level) / 2])
    corrected_shares = ndtr(bias + (bias + tail) / (1 - acceleration * (bias + tail)))
    lower, upper = quantiles(defined, corrected_shares)
    return float(lower), float(upper)


@interval(
    "studentised", title="studentised bootstrap", asked=True, for_=FOR_ALL,
    detail=f"It is {FOLDS} times the work.",
    text="Quantiles of (replicate − value) / error over bootstrap replicates of the rows, each with its own "
    f"error from {FOLDS} groups of its rows left out in turn.",
    ref="Efron, B. (1981). Nonparametric standard errors and confidence intervals. Canadian Journal of "
    "Statistics 9(2), 139–158.")
def studentised_limits(replicates: Floats, errors: Floats, value: float, error: float, level: float) -> Ends | None:
    """Return the bootstrap-t limits, v - t* s at the quantiles of t* = (replicate - v) / its own error.

    ``errors`` [B] are the standard errors of the replicates [B], each computed from its own resample; ``error`` is that
    of the value. They follow a skewed statistic that percentile limits of few rows fall short of, but may leave the
    range of the measure. A replicate that is NaN or has no positive error is left out; None where fewer than two are
    left, or where the value has no positive error. Efron (1981); Davison & Hinkley (1997), eq. 5.7.
    """
    used = ~np.isnan(replicates) & (errors > 0)
    if used.sum() < 2 or math.isnan(value) or not error > 0:
        return None
    tail = (1 - level) / 2
    low, high = quantiles((replicates[used] - value) / errors[used], [tail, 1 - tail])
    return float(value - high * error), float(value - low * error)


@interval(
    "bootstrap_error", title="bootstrap standard error",
    text="For differences: plus and minus the quantile of Student’s distribution times the standard error, taken "
         "from the distance between two quantiles of the replicates. A few extreme replicates do not change it.",
    ref="Machado, J. A. F. & Parente, P. (2005). Bootstrap estimation of covariance matrices via the "
    "percentile method. The Econometrics Journal 8(1), 70–78.")
def bootstrap_error(replicates: Floats) -> float:
    """Return the standard error from the defined replicates [B]: the distance of two quantiles over a normal's.

    The quantiles leave 2.5 % beyond each. Unlike the standard deviation, they are not moved by a few replicates far
    out, for which it need not even exist: Ghosh, Parr, Singh & Babu (1984); Machado & Parente (2005), eq. 6. NaN where
    fewer than two replicates are defined.
    """
    from scipy.special import ndtri

    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return math.nan
    low, high = quantiles(defined, [SPREAD_TAIL, 1 - SPREAD_TAIL])
    return float((high - low) / (2 * ndtri(1 - SPREAD_TAIL)))


@interval(
    "bootstrap_score", title="bootstrap error, Korn-Graubard limits", short="bootstrap, Korn-Graubard",
    for_={"score": sentence("score-of-items")},
    text="Clopper-Pearson limits for the number of items of 0 or 1 that would have the standard error which the "
         "replicates tell, with fewer of them where few items or clusters tell it. Of scores without a range: the "
         "value plus and minus the quantile of Student’s distribution times that error.",
    ref="Korn, E. L. & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of "
    "positive counts estimated from survey data. Survey Methodology 24(2), 193–201.")
def score_limits(
    replicates: Floats, value: float, bounds: Ends, rows: float, clusters: int | None, level: float
) -> tuple[float, float] | None:
    """Return limits of a mean of numbers within ``bounds`` from the spread of its replicates.

    With a standard error s of a share p of the range, p (1 - p) / s^2 items of 0 or 1 would have this error, times the
    squared quotient of the normal quantile and Student's: Korn & Graubard (1998), whose limits are Clopper and
    Pearson's of so many. Where nothing varies they are those of the ``rows``, or the ``clusters`` where there are any.
    The degrees of freedom are these less one; the error of so many units is that of the replicates times the root of
    n / (n - 1). None where fewer than two replicates are defined.
    """
    from scipy.special import ndtri, stdtrit

    (low, high), units = bounds, rows if clusters is None else float(clusters)
    error = bootstrap_error(replicates)
    if math.isnan(error) or math.isnan(value) or units < 2:
        return None
    error *= math.sqrt(units / (units - 1))
    quantile, normal = float(stdtrit(units - 1, (1 + level) / 2)), float(ndtri((1 + level) / 2))
    if not (math.isfinite(low) and math.isfinite(high)):
        return value - quantile * error, value + quantile * error
    share, spread = (value - low) / (high - low), error / (high - low)
    is_known = 0 < share < 1 and spread > 0
    trials = share * (1 - share) / (spread * quantile / normal) ** 2 if is_known else units
    lower, upper = clopper_pearson(share * trials, trials, level)
    return low + (high - low) * float(lower), low + (high - low) * float(upper)


@interval(
    "bootstrap_logit", title="bootstrap error on the logit", short="bootstrap, logit",
    for_={"skewed": sentence("skewed")},
    text="An interval around the value on the logit scale, with the standard error that its bootstrap replicates tell "
         "and a quantile of Student’s distribution. Its degrees of freedom are the rows of the rarer level, or the "
         "clusters where these are fewer, minus one. Covers better than quantiles for a share whose replicates are "
         "biased.",
    ref="Boyd, K., Eng, K. H. & Page, C. D. (2013). Area under the precision-recall curve: point "
    "estimates and confidence intervals. ECML PKDD 2013, 451–466.")
def logit_bootstrap_limits(
    replicates: Floats, value: float, rarest: float, clusters: int | None, level: float
) -> tuple[float, float] | None:
    """Return limits of a value inside (0, 1) from the spread of its replicates, symmetric on the logit scale.

    The logit of average precision is nearly normal where its own replicates are biased: Boyd, Eng & Page (2013). The
    error is carried there by the delta method, as replicates may be 1. Its degrees of freedom are the rows of the
    ``rarest`` level, or the ``clusters`` where these are fewer, minus one. None where fewer than two replicates are
    defined.
    """
    units, correction = rarest, 1.0
    if clusters is not None:
        units, correction = min(rarest, clusters), math.sqrt(clusters / max(clusters - 1, 1))
    error = bootstrap_error(replicates) * correction * scale_slope(value, (0.0, 1.0))
    return limits_on_scale(value, error, (0.0, 1.0), level, max(units - 1, 1.0))


def monte_carlo_error(replicates: Floats, level: float) -> float | None:
    """Return the Monte Carlo standard error of the percentile limits, the larger of the two; None if undefined.

    It comes from drawing finitely many replicates. That of a quantile at share q of B draws is half the distance
    between the quantiles at q +- sqrt(q (1 - q) / B): Maritz & Jarrett (1978) give the idea; it needs no density. None
    where fewer than two replicates are defined.
    """
    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2:
        return None
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    reach = np.sqrt(shares * (1 - shares) / len(defined))
    low, high = np.split(quantiles(defined, np.clip(np.concatenate([shares - reach, shares + reach]), 0, 1)), 2)
    return float(((high - low) / 2).max())


def kish(weights: Values) -> Floats:
    """Return the effective sample size, (sum of w)^2 / sum of w^2 along the last axis; NaN without any weight.

    The number of rows of equal weight whose mean varies as much as the weighted one, if the weights say nothing about
    the values. Kish (1965).
    """
    w = np.asarray(weights, float)
    squares = (w**2).sum(axis=-1)
    return np.asarray(w.sum(axis=-1) ** 2 / np.where(squares > 0, squares, np.nan))


FEWEST = 3
"""The clusters from which on these limits cover as often as they say; with two, shares cover 88 to 96 %."""


@interval(
    "cluster_t", title="Student’s t over clusters", short="t, clusters",
    detail=f"From {FEWEST} clusters on. Of more than {FEW_CLUSTERS}, limits are percentiles.",
    text=f"For rows of at most {FEW_CLUSTERS} clusters: the value plus and minus a quantile of Student’s distribution "
         "times the standard error. That is the one of the bootstrap replicates times √(K / (K − 1)) for K clusters; "
         "the degrees of freedom are K − 1. Limits are symmetric on the logit scale of the range of the measure, on "
         "the log scale where the range has one end.",
    ref="Cameron, A. C., Gelbach, J. B. & Miller, D. L. (2008). Bootstrap-based improvements for inference with "
    "clustered errors. The Review of Economics and Statistics 90(3), 414–427.")
def cluster_limits(
    replicates: Floats, value: float, clusters: int | None, bounds: tuple[float, float], level: float
) -> Limits | None:
    """Return the limits of a value from its replicates [B] of so many whole clusters, percentiles of more than a few.

    A bootstrap of K clusters has (K - 1) / K of the variance of their mean (Davison & Hinkley 1997, section 2.3.1), and
    an error that K clusters tell has K - 1 degrees of freedom. Percentiles too where the value is at an end of its
    range. None where fewer than two replicates are defined.
    """
    limits = None
    if clusters is not None and 2 <= clusters <= FEW_CLUSTERS:
        error = bootstrap_error(replicates) * math.sqrt(clusters / (clusters - 1))
        limits = limits_on_scale(value, error * scale_slope(value, bounds), bounds, level, clusters - 1)
    if limits is not None:
        return Limits(*limits)
    percentiles = percentile_limits(replicates, level)
    return None if percentiles is None else Limits(*percentiles, method="percentile")


AT_ONCE = 1_000_000
"""Replicates of points that limits are computed of at once (8 MB); changes no result."""


def pointwise_band(replicates: Floats, level: float) -> Band:
    """Return the lower and upper percentile limits [m] of each point of a curve, from its replicates [B, m].

    Each point is covered at the level by itself, so the whole curve is covered less often. Replicates that are NaN at a
    point are left out there; where fewer than two are defined, the limits are NaN. Efron (1979).
    """
    limits, tail = np.full((2, replicates.shape[1]), np.nan), (1 - level) / 2
    step = max(1, AT_ONCE // max(1, len(replicates)))
    for first in range(0, replicates.shape[1], step):
        by_point = np.ascontiguousarray(replicates[:, first : first + step].T)
        absent = np.isnan(by_point).sum(axis=1)
        enough = len(replicates) - absent >= 2
        # Points without gaps are sorted all at once, which takes a fraction of the time; both give the same limits.
        for chosen, quantile in ((enough & (absent == 0), np.quantile), (enough & (absent > 0), np.nanquantile)):
            points = np.flatnonzero(chosen)
            if len(points):
                limits[:, first + points] = quantile(by_point[points], [tail, 1 - tail], axis=1)
    return limits[0], limits[1]


def simultaneous_band(
    replicates: Floats, value: Floats, level: float, within: tuple[float, float] = (-math.inf, math.inf)
) -> Band:
    """Return the lower and upper limits [m] of a band that covers all points of a curve at once, at the level.

    The sup-t band: a point's ``value`` [m] plus and minus its standard error over the replicates [B, m], times the
    level-quantile of the replicates' largest |replicate - value| / error over the points. Montiel Olea & Plagborg-
    Møller (2019), with replicates in place of their normal draws. Clipped to the range ``within`` that the curve cannot
    leave. A point at which no replicate moves, such as an end of the curve, stays at its value; that says nothing about
    other rows. A point without a value, or with fewer than two defined replicates, is NaN and left out of the largest.
    The band is symmetric, so with few rows it covers shares near 0 and 1 less often than it says.
    """
    band, size = np.full((2, replicates.shape[1]), np.nan), len(replicates)
    defined = np.flatnonzero(~np.isnan(value) & ((~np.isnan(replicates)).sum(axis=0) >= 2))
    errors, furthest = np.zeros(len(value)), np.full(size, np.nan)
    step = max(1, AT_ONCE // max(1, size))
    for first in range(0, len(defined), step):
        points = defined[first : first + step]
        drawn = replicates[:, points]
        points = points[np.nanmax(drawn, axis=0) > np.nanmin(drawn, axis=0)]
        if len(points):
            drawn = replicates[:, points]
            errors[points] = np.nanstd(drawn, axis=0, ddof=1)
            away = np.abs(drawn - value[points]) / errors[points]
            furthest = np.fmax(furthest, np.fmax.reduce(away, axis=1))
    varies = ~np.isnan(furthest)
    reach = errors * np.quantile(furthest[varies], level) if varies.any() else errors
    band[:, defined] = np.clip([value[defined] - reach[defined], value[defined] + reach[defined]], *within)
    return band[0], band[1]
