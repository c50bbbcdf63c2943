"""Predictive values of each model at every prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import exp
from evalpipe.engine.curves.declare import Computed, CurveRows, curve
from evalpipe.intervals.analytic import predictive_error
from evalpipe.metrics import registry
from evalpipe.metrics.values import ratio
from evalpipe.results.curves.events import PredictiveValueNotes, PredictiveValues

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

GRID = np.arange(101) / 100
"""The prevalences."""


@curve(PredictiveValues, of=("event",), needs="labels")
def predictive_values(rows: CurveRows) -> Computed | None:
    """Compute ppv and npv of the predicted classes of a binary outcome at every prevalence, with their limits.

    Limits are those of the delta method on the logit scale, where a prevalence adds a constant: Mercaldo, Lau & Zhou
    (2007). None under importance weights or clusters, or where sensitivity or specificity is 0 or 1. None at all where
    a class is absent. Of the rows outside the equivocal zone, where there is one.
    """
    plan, summary = rows.plan, rows.summary.reportable
    tp, fp, fn, tn = (float(summary(cell)) for cell in ("tp", "fp", "fn", "tn"))
    events, others = tp + fn, fp + tn
    if not (events and others):
        return None
    limited = plan.interval_method != "none" and plan.cluster is None and not plan.importance
    level = plan.level if limited else None
    ppv = _values(tp / events, fp / others, GRID, _reach(tp / events, tn / others, events, others, level))
    npv = _values(tn / others, fn / events, 1 - GRID, _reach(fn / events, fp / others, events, others, level))
    columns = ("prevalence", "ppv", "ppv_lower", "ppv_upper", "npv", "npv_lower", "npv_upper")
    points = dict(zip(columns, (GRID, *ppv, *npv), strict=True))
    declared = None if plan.prevalence is None else plan.prevalence.event
    at_declared = [
        None if declared is None else _known(summary.value(registry[name], {"prevalence": declared}))
        for name in ("ppv", "npv")
    ]
    return points, PredictiveValueNotes(
        sensitivity=tp / events, specificity=tn / others, observed=events / (events + others),
        ppv_observed=_known(ratio(tp, tp + fp)), npv_observed=_known(ratio(tn, tn + fn)), declared=declared,
        ppv_declared=at_declared[0], npv_declared=at_declared[1], level=level)


def _known(value: Floats) -> float | None:
    """Return a number; None where it is undefined."""
    return float(value) if np.isfinite(value) else None


def _reach(sensitivity: float, specificity: float, events: float, others: float, level: float | None) -> float:
    """Return how far the limits lie from a value on the logit scale, at any prevalence; NaN where that is unknown."""
    from scipy.special import ndtri

    if level is None:
        return np.nan
    # At a value of 1/2 the error on the logit scale is four times that of the value, and it is the same at any value.
    return 4 * predictive_error(0.5, sensitivity, specificity, events, others) * float(ndtri((1 + level) / 2))


def _values(right: float, wrong: float, share: Floats, reach: float) -> list[Floats]:
    """Return a predictive value and its two limits at each share of the class that is predicted."""
    correct, false = right * share, wrong * (1 - share)
    return [ratio(correct, correct + false * exp(shift)) for shift in (0.0, reach, -reach)]
