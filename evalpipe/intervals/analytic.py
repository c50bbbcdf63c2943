"""Limits from a known variance: symmetric on the logit scale, and from the curvature of a likelihood."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.arithmetic import expit
from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.binomial import clopper_pearson
from evalpipe.intervals.declare import IN_CLOSED_FORM, Limits, NoLimits, interval
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


UNIT = (0.0, 1.0)

FAILS = {**IN_CLOSED_FORM, "weights": sentence("weighted-closed-form")}


@interval(
    "delong", title="DeLong", asked=True, fails=FAILS,
    for_={"auc": sentence("auc")},
    text="The variance of the area under the ROC curve from the placements of the rows of each level among those of "
         "the other, with limits symmetric on the logit scale. Where the area is 0 or 1 the variance is 0; the "
         "limits are then Clopper-Pearson's, with the rows of the smaller level as trials.",
    ref="DeLong, E. R., DeLong, D. M. & Clarke-Pearson, D. L. (1988). Comparing the areas under two or more "
    "correlated receiver operating characteristic curves. Biometrics 44(3), 837–845.")
def delong_limits(events_at: Floats, others_at: Floats, value: float, level: float) -> Limits:
    """Return DeLong's limits; where its variance is zero or unknown, exact ones with the smaller class as trials."""
    variance = auc_variance(events_at, others_at)
    limits = logit_limits(value, math.sqrt(variance), level) if variance > 0 else None
    if limits is not None:
        return Limits(*limits)
    trials = min(events_at.sum(), others_at.sum())
    return Limits(*clopper_pearson(value * trials, trials, level), method="exact")


@interval(
    "logit", title="delta method on the logit", short="delta method", fails=FAILS,
    for_={"predictive": sentence("predictive")},
    text="The standard errors of sensitivity and specificity carried over to the measure under the fixed prior, with "
         "limits symmetric on the logit scale.",
    ref="Mercaldo, N. D., Lau, K. F. & Zhou, X. H. (2007). Confidence intervals for predictive values with an "
    "emphasis to case-control studies. Statistics in Medicine 26(10), 2170–2183.")
def predictive_limits(
    measure: str, value: float, tp: Floats, fp: Floats, fn: Floats, tn: Floats, level: float
) -> tuple[float, float]:
    """Return the limits of ``ppv`` or else npv by the delta method; raises NoLimits where it knows no error."""
    events, others = float(tp + fn), float(fp + tn)
    shares = (float(tp) / events, float(tn) / others) if measure == "ppv" else (float(fn) / events, float(fp) / others)
    limits = logit_limits(value, predictive_error(value, *shares, events, others), level)
    if limits is None:
        raise NoLimits(sentence("no-delta-error"))
    return limits


def auc_variance(events_at: Floats, others_at: Floats) -> float:
    """Return DeLong's variance of the area under the ROC curve from the counts at each distinct score, ascending.

    The placement of an event is the share of non-events scored below it, ties one half, and the other way round; the
    variance is that of the mean placements. NaN with fewer than two rows of a class. DeLong, DeLong & Clarke-Pearson
    (1988), computed over scores rather than pairs.
    """
    events, others = events_at.sum(), others_at.sum()
    if events < 2 or others < 2:
        return math.nan
    below = (np.cumsum(others_at) - others_at / 2) / others
    above = 1 - (np.cumsum(events_at) - events_at / 2) / events
    return variance_of_mean(below, events_at) + variance_of_mean(above, others_at)


def variance_of_mean(values: Floats, counts: Floats) -> float:
    """Return the variance of the mean of values [n] that occur ``counts`` [n] times; NaN for fewer than two."""
    total = float(counts.sum())
    away = values - np.average(values, weights=counts)
    return float((counts * away**2).sum()) / (total - 1) / total if total >= 2 else math.nan


def logit_limits(value: float, error: float, level: float) -> tuple[float, float] | None:
    """Return limits of a value inside (0, 1) from its standard error, symmetric on the logit scale; None outside.

    The delta method: the standard error of logit(v) is that of v over v (1 - v). They never leave [0, 1].
    """
    from scipy.special import ndtri

    if not 0 < value < 1 or not math.isfinite(error):
        return None
    reach = float(ndtri((1 + level) / 2)) * error / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return _inverse_logit(centre - reach), _inverse_logit(centre + reach)


def _inverse_logit(logit: float) -> float:
    """Return the probability whose log odds are ``logit``, without overflow."""
    return 1 / (1 + math.exp(-logit)) if logit > -700 else math.exp(logit)


def predictive_error(value: float, sensitivity: float, specificity: float, events: float, others: float) -> float:
    """Return the standard error of ppv or npv under a fixed prevalence; NaN where a share is 0 or 1 and it is unknown.

    Sensitivity and specificity are independent proportions; the prevalence only shifts the logit, so its error is
    sqrt((1 - Se) / (Se n1) + Sp / ((1 - Sp) n0)) for ppv, and that of their complements for npv. Mercaldo, Lau
    & Zhou (2007).
    """
    if not (0 < sensitivity < 1 and 0 < specificity < 1):
        return math.nan
    logit_variance = (1 - sensitivity) / (sensitivity * events) + specificity / ((1 - specificity) * others)
    return math.sqrt(logit_variance) * value * (1 - value)


LEAST = 1e-9
"""The least that is left of a residual beside its own leverage: of a row that the line goes through."""


@interval(
    "robust", title="Wald, with robust errors", short="Wald, robust", fails=FAILS,
    detail="The larger of that and the error from the curvature of the likelihood; each residual is divided by 1 minus "
    "the leverage of its row (HC3). Of calibration in the large at a prevalence, the error is that of the mean "
    "residual of each class, whose share of the weight is fixed.",
    for_={"coefficient": sentence("coefficient")},
    text="A normal interval with a standard error from the residuals of the logistic line, which holds where the line "
         "does not fit: where probabilities are 0 or 1, or the event rate follows a curve. Of few events residuals say "
         "too little, so the error is never below that of the likelihood.",
    ref="MacKinnon, J. G. & White, H. (1985). Some heteroskedasticity-consistent covariance matrix estimators with "
    "improved finite sample properties. Journal of Econometrics 29(3), 305–325.")
def robust_limits(
    measure: str, value: float, calibration_line: Floats, events_at: Floats, others_at: Floats, log_odds_at: Floats,
    level: float, shares: tuple[float, ...] | None = None,
) -> tuple[float, float]:
    """Return the limits of a coefficient of the logistic line, from totals at each distinct log odds.

    ``measure`` is ``calibration_in_the_large``, ``calibration_intercept`` or ``calibration_slope``. The first may be at
    a prevalence: ``shares`` of events and non-events, to which the totals are not yet weighed. Raises NoLimits where
    the likelihood has no curvature that a float holds, or a class that is weighed has a single row.
    """
    from scipy.special import ndtri

    weight = events_at + others_at
    occurs = weight > 0
    events, others, weight = events_at[occurs], others_at[occurs], weight[occurs]
    x = log_odds_at[occurs] / weight
    alone = measure == "calibration_in_the_large"
    if shares is not None:
        error = _shift_error(events, others, x + value, shares)
        reach = float(ndtri((1 + level) / 2)) * error
        return value - reach, value + reach
    line = x + value if alone else calibration_line[0] + calibration_line[1] * x
    curvature = expit(line) * expit(-line)
    column, other = (x, np.ones_like(x)) if measure == "calibration_slope" else (np.ones_like(x), x)
    of_other = 0.0 if alone else float((weight * curvature * other**2).sum())
    leverage = np.zeros_like(x)
    if of_other > 0:  # what the other column does not explain
        column = column - other * (float((weight * curvature * column * other).sum()) / of_other)
        leverage = curvature * other**2 / of_other
    information = float((weight * curvature * column**2).sum())
    if not information > 0:
        raise NoLimits(sentence("flat-likelihood"))
    remaining = np.maximum(1 - leverage - curvature * column**2 / information, LEAST)
    squares = events * expit(-line) ** 2 + others * expit(line) ** 2
    error = math.sqrt(float((squares * (column / remaining) ** 2).sum())) / information
    reach = float(ndtri((1 + level) / 2)) * max(error, 1 / math.sqrt(information))
    return value - reach, value + reach


def _shift_error(events: Floats, others: Floats, line: Floats, shares: tuple[float, ...]) -> float:
    """Return the standard error of calibration in the large at a prevalence, from counts at each log odds ``line``.

    Weights fix the share of each class, so that only the mean residual within each varies: a stratified sample.
    """
    probability, variance, information = expit(line), 0.0, 0.0
    for share, counts, residuals in ((shares[0], events, expit(-line)), (shares[1], others, probability)):
        rows = float(counts.sum())
        if share > 0:
            variance += share**2 * variance_of_mean(residuals, counts)
            information += share * float((counts * probability * expit(-line)).sum()) / rows
    if not math.isfinite(variance):
        raise NoLimits(sentence("single-row-of-level"))
    if not information > 0:
        raise NoLimits(sentence("flat-likelihood"))
    return math.sqrt(variance) / information
