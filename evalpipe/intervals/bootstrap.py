"""Limits from bootstrap replicates, and how far they are to be trusted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.base.later import np
from evalpipe.intervals.declare import EVERY, interval, registry
from evalpipe.intervals.quantiles import quantiles
from evalpipe.intervals.scales import limits_on_scale, slope

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Values

Limits = tuple[float, float]

FOLDS = 40
"""Groups of observations that are left out in turn for the standard error of each replicate."""

GROUPS = 1000
"""The most groups of units that the jackknife leaves out in turn."""

SPREAD_TAIL = 0.025
"""The share of replicates beyond each of the two quantiles that their spread is read from."""

FOR_ALL = {EVERY: "the spec asks for the bootstrap"}

ROUNDING = 1e-12
"""What is smaller than this, beside the numbers it was computed from, is rounding and no spread."""


BIASED = "resampling biases the measure"
"""Why a value lies outside limits from replicates."""

THIN = "the noise of bins with few rows is left out of them; ask for fewer digits"
"""Why it lies outside limits without the noise of bins."""


def doubtful(value: float, limits: Limits, method: str) -> str | None:
    """Return why limits say little of how uncertain a value is; None where nothing speaks against them.

    They are one number but for rounding, so no uncertainty was seen; or the value lies outside them.
    """
    if limits[1] - limits[0] <= ROUNDING * max(abs(limits[0]), abs(limits[1])):
        if not registry[method].drawn and registry[method].caution:
            return registry[method].caution
        return "the same in nearly all replicates, so the bootstrap cannot estimate its uncertainty"
    return excluding(value, limits, method, THIN if registry[method].insists else BIASED)


def excluding(value: float, limits: Limits, method: str, because: str = BIASED) -> str | None:
    """Return a sentence that says that a value lies outside its limits and why; None where it does not but rounding."""
    slack = ROUNDING * max(abs(value), abs(limits[0]), abs(limits[1]))
    if value < limits[0] - slack or value > limits[1] + slack:
        side = "below" if value < limits[0] else "above"
        return f"the value is {side} its {method} limits: {because}"
    return None


@interval(
    "percentile", title="percentile bootstrap", short="bootstrap", asked=True, for_=FOR_ALL,
    detail="It also serves measures without a method of their own, or whose own method is not valid; quantiles are "
           "interpolated linearly.",
    text="Quantiles of the measure over bootstrap replicates of the rows. Every measure and every model of a "
    "dataset sees the same replicates.",
    ref="Efron, B. (1979). Bootstrap methods: another look at the jackknife. The Annals of Statistics 7(1), 1–26.")
def percentile_limits(replicates: Floats, level: float) -> Limits | None:
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
def basic_limits(replicates: Floats, value: float, level: float) -> Limits | None:
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
def bca_limits(replicates: Floats, value: float, jackknife: Floats, level: float) -> Limits | None:
    """Return the bias-corrected and accelerated limits, or None where fewer than two replicates are defined.

    ``jackknife`` are the values with one group of rows left out at a time, groups of like size. Efron (1987), eq. 6.
    """
    from scipy.special import ndtr, ndtri

    defined, left = replicates[~np.isnan(replicates)], jackknife[~np.isnan(jackknife)]
    if len(defined) < 2 or len(left) < 2:
        return None
    # A replicate equal to the value lies half on either side, as many do where a measure takes few values.
    share = ((defined < value).sum() + (defined == value).sum() / 2) / len(defined)
    if not 0 < share < 1:
        return None
    bias, away = ndtri(share), left.mean() - left
    square = (away**2).sum()
    acceleration = (away * away**2).sum() / (6 * square * np.sqrt(square)) if square else 0.0
    tail = ndtri([(1 - level) / 2, (1 + level) / 2])
    at = ndtr(bias + (bias + tail) / (1 - acceleration * (bias + tail)))
    lower, upper = quantiles(defined, at)
    return float(lower), float(upper)


@interval(
    "studentised", title="studentised bootstrap", asked=True, for_=FOR_ALL,
    detail=f"It is {FOLDS} times the work.",
    text="Quantiles of (replicate − value) / error over bootstrap replicates of the rows, each with its own "
    f"error from {FOLDS} groups of its rows left out in turn.",
    ref="Efron, B. (1981). Nonparametric standard errors and confidence intervals. Canadian Journal of "
    "Statistics 9(2), 139–158.")
def studentised_limits(replicates: Floats, errors: Floats, value: float, error: float, level: float) -> Limits | None:
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
    """Return the standard error that the defined replicates [B] tell: the distance of two quantiles over a normal's.

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
    "bootstrap_logit", title="bootstrap error on the logit", short="bootstrap, logit",
    for_={"skewed": "skewed: the bootstrap's standard error on the logit scale covers better than its quantiles"},
    text="An interval around the value on the logit scale, with the standard error that its bootstrap replicates tell "
         "and a quantile of Student’s distribution. Its degrees of freedom are the rows of the rarer level, or the "
         "clusters where these are fewer, minus one. Covers better than quantiles for a share whose replicates are "
         "biased.",
    ref="Boyd, K., Eng, K. H. & Page, C. D. (2013). Area under the precision-recall curve: point "
    "estimates and confidence intervals. ECML PKDD 2013, 451–466.")
def logit_bootstrap(
    replicates: Floats, value: float, rarest: float, clusters: int | None, level: float
) -> tuple[float, float] | None:
    """Return limits of a value inside (0, 1) from the spread of its replicates, symmetric on the logit scale.

    The logit of average precision is nearly normal where its own replicates are biased: Boyd, Eng & Page (2013). The
    error is carried there by the delta method, as replicates may be 1; it is told by the ``rarest`` level, of which
    few rows make it as uncertain as those of so few rows. None where fewer than two replicates are defined.
    """
    units, more = (rarest, 1.0) if clusters is None else (
        min(rarest, clusters), math.sqrt(clusters / max(clusters - 1, 1)))
    error = bootstrap_error(replicates) * more * slope(value, (0.0, 1.0))
    return limits_on_scale(value, error, (0.0, 1.0), level, max(units - 1, 1.0))


def monte_carlo_error(replicates: Floats, level: float) -> float | None:
    """Return the larger standard error of the two percentile limits that comes from drawing so few replicates.

    That of a quantile at share q of B draws is half the distance between the quantiles at q +- sqrt(q (1 - q) / B):
    Maritz & Jarrett (1978) give the idea; it needs no density. None where fewer than two replicates are defined.
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
    given = np.asarray(weights, float)
    squares = (given**2).sum(axis=-1)
    return np.asarray(given.sum(axis=-1) ** 2 / np.where(squares > 0, squares, np.nan))
