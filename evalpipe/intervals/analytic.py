"""Limits from a variance that is known in closed form, made symmetric on the logit scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]


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
