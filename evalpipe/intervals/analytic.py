"""Limits from a variance that is known in closed form, made symmetric on the logit scale."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats


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
    return float(_spread(below, events_at) / events + _spread(above, others_at) / others)


def _spread(values: Floats, counts: Floats) -> Any:
    """Return the sample variance of values that occur so often."""
    mean = np.average(values, weights=counts)
    return (counts * (values - mean) ** 2).sum() / (counts.sum() - 1)


def logit_limits(value: float, error: float, level: float) -> tuple[float, float] | None:
    """Return limits of a value inside (0, 1) from its standard error, symmetric on the logit scale; None outside.

    The delta method: the standard error of logit(v) is that of v over v (1 - v). They never leave [0, 1].
    """
    from scipy.special import ndtri

    if not 0 < value < 1 or not math.isfinite(error):
        return None
    reach = float(ndtri((1 + level) / 2)) * error / (value * (1 - value))
    centre = math.log(value / (1 - value))
    return 1 / (1 + math.exp(reach - centre)), 1 / (1 + math.exp(-reach - centre))


def predictive_error(value: float, sensitivity: float, specificity: float, events: float, others: float) -> float:
    """Return the standard error of ppv or npv under a fixed prevalence; NaN where a share is 0 or 1 and it is unknown.

    Sensitivity and specificity are independent proportions; the prevalence only shifts the logit, so its error is
    sqrt((1 - Se) / (Se n1) + Sp / ((1 - Sp) n0)) for ppv, and that of their complements for npv. Mercaldo, Lau
    & Zhou (2007).
    """
    if not (0 < sensitivity < 1 and 0 < specificity < 1):
        return math.nan
    on_logit = (1 - sensitivity) / (sensitivity * events) + specificity / ((1 - specificity) * others)
    return math.sqrt(on_logit) * value * (1 - value)


def logit_bootstrap(replicates: Floats, value: float, level: float) -> tuple[float, float] | None:
    """Return limits of a value inside (0, 1) from the spread of its replicates, symmetric on the logit scale.

    The logit of average precision is nearly normal where its own replicates are biased: Boyd, Eng & Page (2013). None
    where fewer than two replicates are defined, or one of them is 0 or 1.
    """
    from scipy.special import logit

    defined = replicates[~np.isnan(replicates)]
    if len(defined) < 2 or not 0 < value < 1 or defined.min() <= 0 or defined.max() >= 1:
        return None
    error = float(np.std(logit(defined), ddof=1))
    return logit_limits(value, error * value * (1 - value), level)


def folded_limits(gaps: Floats, errors: Floats, level: float) -> tuple[float, float]:
    """Return limits of a sum of true distances, from the observed distances and their standard errors, by inversion.

    Noise makes every observed |gap| larger, so a sum of them, such as the expected calibration error, is too large and
    its bootstrap replicates are more so. Were each true distance k times its error, the sum would have the mean and the
    variance of folded normal variables (Leone, Nelson & Nottingham 1961); the limits are the sums of true distances at
    the two k for which the observed sum is a quantile. The lower one is 0 where no distance at all is likely enough.
    """
    from scipy.optimize import brentq
    from scipy.special import ndtr, ndtri

    reach, observed = float(ndtri((1 + level) / 2)), float(np.abs(gaps).sum())
    total, spread = float(errors.sum()), math.sqrt(float((errors**2).sum()))

    def excess(k: float, side: int) -> float:
        mean = math.sqrt(2 / math.pi) * math.exp(-k * k / 2) + k * (1 - 2 * float(ndtr(-k)))
        deviation = math.sqrt(max(1 + k * k - mean * mean, 0.0))
        return total * mean + side * reach * spread * deviation - observed

    def limit(side: int) -> float:
        if total == 0:
            return observed
        far = observed / total + reach + 1
        return 0.0 if excess(0.0, side) >= 0 else float(brentq(excess, 0.0, far, args=(side,))) * total

    return limit(1), limit(-1)
