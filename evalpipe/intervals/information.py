"""Limits of the coefficients of a logistic line from the curvature of its likelihood."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.arithmetic.functions import expit
from evalpipe.base.later import np
from evalpipe.intervals.declare import NoLimits, interval

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

MOST = 50
"""Newton's steps to the intercept beside a known slope; it takes a few."""

CLOSE = 1e-10
"""A step after which the next changes nothing."""


@interval(
    "information", title="Wald, from the information", short="Wald",
    text="A normal interval with the standard error from the curvature of the likelihood of the logistic line. "
         "Findings use it for the calibration in the large and the calibration slope where these are not among the "
         "metrics; no replicates are then needed.",
    ref="Cox, D. R. (1958). Two further applications of a model for binary regression. Biometrika 45(3/4), 562–565.")
def information_limits(
    measure: str, value: float, events_at: Floats, others_at: Floats, log_odds_at: Floats, level: float
) -> tuple[float, float]:
    """Return the limits of ``calibration_in_the_large`` or else of the slope, from totals at each distinct log odds.

    Raises NoLimits where the likelihood has no curvature that a float holds.
    """
    from scipy.special import ndtri

    weight = events_at + others_at
    occurs = weight > 0
    weight, x = weight[occurs], log_odds_at[occurs] / weight[occurs]
    of_slope = measure != "calibration_in_the_large"
    line = value * x + _intercept(float(events_at.sum()), weight, value * x) if of_slope else x + value
    curvature = weight * expit(line) * expit(-line)
    information = float(curvature.sum())
    if of_slope and information > 0:
        away = x - float((curvature * x).sum()) / information
        information = float((curvature * away**2).sum())
    if not information > 0:
        raise NoLimits("the likelihood is flat, so its curvature cannot estimate the error")
    reach = float(ndtri((1 + level) / 2)) / math.sqrt(information)
    return value - reach, value + reach


def _intercept(events: float, weight: Floats, offset: Floats) -> float:
    """Return the number to add to the log odds ``offset`` [m] so that as many events are expected as occur."""
    at = math.log(events / (float(weight.sum()) - events)) - float(np.average(offset, weights=weight))
    for _ in range(MOST):
        chance = expit(offset + at)
        bend = float((weight * chance * (1 - chance)).sum())
        step = (events - float((weight * chance).sum())) / bend if bend > 0 else 0.0
        at += max(min(step, 1.0), -1.0)
        if abs(step) < CLOSE:
            break
    return at
