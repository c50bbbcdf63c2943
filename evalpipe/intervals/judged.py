"""Limits of measures that labels of judges take part in, beside rows with an outcome.

Outcomes in hand may all agree with a judge that is wrong elsewhere. So errors are those of replicates plus what they
would be if the judge were wrong on one event and one non-event more: share^2 (1 / events + 1 / non-events) of the
variance without judges. Where rows were chosen unequally, these two have the largest weight.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.bootstrap import bootstrap_error, limits_on_scale, percentile_limits, scale_slope
from evalpipe.intervals.declare import Limits, interval

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

Ends = tuple[float, float]

PPI = ("Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient prediction-powered inference. "
       "arXiv:2311.01453.")
KORN_GRAUBARD = (
    "Korn, E. L. & Graubard, B. I. (1998). Confidence intervals for proportions with small expected number of "
    "positive counts estimated from survey data. Survey Methodology 24(2), 193–201.")
UNSEEN = (
    "As if the judge were wrong on one event and one non-event more than outcomes show, the variance without the judge "
    "is added to the variance, times the square of the judge’s share, times 1 / events + 1 / non-events. "
    "Where rows were chosen unequally, both have the largest weight, and sums of squared weights take the place of "
    "counts. Where rows are in clusters, it is times the square of the rows of a cluster: a judge may be wrong on all.")


def unseen_errors(largest: float, squares: Floats, rows: float, clusters: int | None) -> float:
    """Return what one event and one non-event more of the ``largest`` weight would add to a variance, as a part of it.

    It is the sum of largest^2 / S, with S the sums of squared weights of the rarest level and of all others, from
    ``squares`` [levels]: 1 / events + 1 / non-events where all weigh alike. Of fewer whole ``clusters`` than ``rows``
    it is more by the square of that factor: they are so many fewer, and a judge may be wrong on all rows of one.
    Infinite where all rows are of one level.
    """
    rarest = float(squares.min())
    others = float(squares.sum()) - rarest
    if rarest <= 0 or others <= 0:
        return math.inf
    return largest**2 * (1 / rarest + 1 / others) * (1.0 if clusters is None else max(rows / clusters, 1.0)**2)


@interval(
    "judged_t", title="Student’s t where outcomes are missing", short="t, labels",
    text="The value plus and minus a quantile of Student’s distribution times the standard error of bootstrap "
         "replicates, which resample rows with an outcome and other rows apart. Where a judge is seldom wrong, or rows "
         "were chosen unequally, few rows move the value. With an effective number of K of them the variance is times "
         "K / (K − 1). The degrees of freedom are those of a variance of so few, at most the rarer outcomes less 1. "
         f"{UNSEEN} Limits are symmetric on the logit scale of the range of the measure, on the log scale where the "
         "range has one end. Last, one of them is moved out as far as a shift of the value by its bias would: the "
         "bias is how far the median of the replicates is from the value.",
    detail="K is (Σ d²)² / Σ d⁴ of the distances d that J groups of rows with an outcome, left out in turn, move "
           "the value from their mean. The degrees of freedom are 2 J K / (J − K), by the fourth moment of the d.",
    ref=f"Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics "
        f"Bulletin 2(6), 110–114. {PPI}")
def judged_limits(
    replicates: Floats, jackknife: Floats, alone: Floats, share: float, value: float, rows: float,
    rarest: float, unseen: float, clusters: int | None, bounds: Ends, level: float,
) -> Limits | None:
    """Return the limits of a value from its replicates [B], in which judges have a ``share`` together.

    ``jackknife`` [J] are the values without each group of rows with an outcome in turn, ``alone`` [B] replicates
    without judges. ``unseen`` is what `unseen_errors` gives. Percentiles where the value is at an end of its range.
    """
    factor, freedom = few_groups(jackknife, rows, rarest, clusters)
    variance = factor * bootstrap_error(replicates)**2 + (share**2 * unseen * bootstrap_error(alone)**2 if share else 0)
    error = math.sqrt(variance) * scale_slope(value, bounds)
    limits = limits_on_scale(value, error, bounds, level, freedom)
    if limits is None:
        percentiles = percentile_limits(replicates, level)
        return None if percentiles is None else Limits(*percentiles, method="percentile")
    # A bias is allowed for and not taken away: few rows tell it badly, and a corrected value varies more.
    unbiased = 2 * value - float(np.nanmedian(replicates))
    moved = limits_on_scale(unbiased, error, bounds, level, freedom) if bounds[0] < unbiased < bounds[1] else None
    return Limits(*limits) if moved is None else Limits(min(limits[0], moved[0]), max(limits[1], moved[1]))


@interval(
    "judged_score", title="Wilson score with labels of judges", short="Wilson, judged",
    text="Wilson’s score limits for as many trials as have the variance of the bootstrap replicates, with a quantile "
         "of Student’s distribution in place of the normal one; the degrees of freedom are the rarer outcomes less 1. "
         "The trials are at least those with an outcome. They are at most so many that the judge could be wrong on "
         "one event and one non-event more than outcomes show.",
    ref=f"{KORN_GRAUBARD} {PPI}")
def judged_proportion_limits(
    replicates: Floats, share: float, value: float, trials: float, rows: float, rarest: float, unseen: float,
    clusters: int | None, level: float,
) -> Limits | None:
    """Return the score limits of a proportion from its replicates [B], in which judges have a ``share`` together.

    ``trials`` are those among rows with an outcome, ``unseen`` is what `unseen_errors` gives. The value may lie outside
    0 to 1, where it counts as the end.
    """
    proportion = min(max(value, 0.0), 1.0)
    least = trials if clusters is None else min(trials, clusters)
    most = max(least / ((1 - share)**2 + (share**2 * unseen if share else 0.0)), least)
    binomial, variance = proportion * (1 - proportion), bootstrap_error(replicates)**2
    effective = min(max(binomial / variance, least), most) if binomial > 0 and variance > 0 else most
    rarer = (rows if clusters is None else min(rows, clusters)) * rarest / rows
    return _wilson(proportion, effective, max(rarer - 1, 1.0), level)


@interval(
    "weighted_score", title="Wilson score where rows were chosen unequally", short="Wilson, weighted",
    text="Wilson’s score limits for as many trials as have the variance of the bootstrap replicates, which is larger "
         "for few rows of large weight, and with Student’s quantile, both as in judged_t. Where the value is 0 or 1, "
         f"for the effective number of trials. {UNSEEN}",
    ref=f"{KORN_GRAUBARD} {PPI}")
def weighted_proportion_limits(
    replicates: Floats, jackknife: Floats, alone: Floats, share: float, value: float, trials: float, rows: float,
    rarest: float, unseen: float, clusters: int | None, level: float,
) -> Limits | None:
    """Return the score limits of a proportion of rows that were chosen unequally; judges have a ``share`` together.

    ``trials`` is the effective number of those with an outcome; the others are those of `judged_limits`. The value may
    lie outside 0 to 1, where it counts as the end.
    """
    proportion = min(max(value, 0.0), 1.0)
    factor, freedom = few_groups(jackknife, rows, rarest, clusters)
    variance = factor * bootstrap_error(replicates)**2 + (share**2 * unseen * bootstrap_error(alone)**2 if share else 0)
    binomial = proportion * (1 - proportion)
    least = trials if clusters is None else min(trials, clusters)
    at_end = least / ((1 - share)**2 + share**2 * unseen) if share else least
    return _wilson(proportion, binomial / variance if binomial > 0 and variance > 0 else at_end, freedom, level)


def _wilson(proportion: float, trials: float, freedom: float, level: float) -> Limits | None:
    """Return Wilson's (1927) limits of a proportion with Student's quantile; None where no trial counts."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(freedom, (1 + level) / 2))
    scale, spread = 1 + quantile**2 / trials, proportion * (1 - proportion) / trials + quantile**2 / (4 * trials**2)
    centre, half = (proportion + quantile**2 / (2 * trials)) / scale, quantile * math.sqrt(spread) / scale
    return Limits(max(centre - half, 0.0), min(centre + half, 1.0)) if math.isfinite(half) else None


def few_groups(jackknife: Floats, rows: float, rarest: float, clusters: int | None) -> tuple[float, float]:
    """Return what a variance is to be multiplied by as few groups of rows move a value, and its degrees of freedom.

    By values without each group in turn, ``jackknife`` [J], and the ``rows`` or ``clusters`` of the ``rarest`` level.
    """
    groups, effective = effective_groups(jackknife)
    freedom = 2 * groups * effective / (groups - effective) if 0 < effective < groups else math.inf
    rarer = (rows if clusters is None else min(rows, clusters)) * rarest / rows
    return effective / (effective - 1) if effective > 1 else 1.0, max(min(freedom, rarer - 1), 1.0)


def effective_groups(jackknife: Floats) -> tuple[int, float]:
    """Return how many values without a group of rows there are, and the groups' effective number.

    ``jackknife`` [J] are the values, d their distances from their mean; the number is (sum of d^2)^2 / sum of d^4: so
    many groups that all moved the value alike would be as uneven. 0 where none moves it.
    """
    left_out = jackknife[~np.isnan(jackknife)]
    if not len(left_out):
        return 0, 0.0
    squares = (left_out - left_out.mean())**2
    fourth = float((squares**2).sum())
    return len(left_out), float(squares.sum())**2 / fourth if fourth > 0 else 0.0
