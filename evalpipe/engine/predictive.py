"""Predictive values at every prevalence, of each model; and what any model could have at the declared one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.points import Notes, Points, listed
from evalpipe.intervals.analytic import predictive_error
from evalpipe.metrics import registry
from evalpipe.metrics.declare import ratio
from evalpipe.results import PredictiveLine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.arraytypes import Floats
    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary

GRID = np.arange(101) / 100

OTHERS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The rates that lines are drawn for."""


def predictive_curves(plan: Plan, sample: Sample, summary: Summary) -> Iterator[tuple[str, Points, Notes]]:
    """Yield ppv and npv of the predicted classes of a binary outcome at every prevalence, with their limits.

    Limits are those of the delta method on the logit scale, where a prevalence adds a constant: Mercaldo, Lau & Zhou
    (2007). None under importance weights or clusters, or where sensitivity or specificity is 0 or 1. None at all where
    a class is absent. Of the rows outside the equivocal zone, where there is one.
    """
    if summary.rows.predicted is None:
        return
    summary = summary.reportable
    tp, fp, fn, tn = (float(summary(cell)) for cell in ("tp", "fp", "fn", "tn"))
    events, others = tp + fn, fp + tn
    if not (events and others):
        return
    limited = plan.interval_method != "none" and sample.cluster is None and not plan.importance
    level = plan.level if limited else None
    ppv = _values(tp / events, fp / others, GRID, _reach(tp / events, tn / others, events, others, level))
    npv = _values(tn / others, fn / events, 1 - GRID, _reach(fn / events, fp / others, events, others, level))
    points = listed(
        prevalence=GRID, ppv=ppv[0], ppv_lower=ppv[1], ppv_upper=ppv[2], npv=npv[0], npv_lower=npv[1], npv_upper=npv[2])
    notes: Notes = {
        "sensitivity": tp / events, "specificity": tn / others, "observed": events / (events + others),
        "ppv_observed": float(ratio(tp, tp + fp)), "npv_observed": float(ratio(tn, tn + fn)),
    }
    if plan.prevalence is not None:
        declared = plan.prevalence.event
        found = {name: float(summary.value(registry[name], {"prevalence": declared})) for name in ("ppv", "npv")}
        notes |= {"declared": declared, "ppv_declared": found["ppv"], "npv_declared": found["npv"]}
    if level is not None:
        notes["level"] = level
    yield "predictive_values", points, {name: value for name, value in notes.items() if np.isfinite(float(value))}


def _reach(sensitivity: float, specificity: float, events: float, others: float, level: float | None) -> float:
    """Return how far the limits lie from a value on the logit scale, at any prevalence; NaN where that is unknown."""
    from scipy.special import ndtri

    if level is None:
        return np.nan
    return 4 * predictive_error(0.5, sensitivity, specificity, events, others) * float(ndtri((1 + level) / 2))


def _values(right: float, wrong: float, share: Floats, reach: float) -> list[Floats]:
    """Return a predictive value and its two limits at each share of the class that is predicted."""
    found, away = right * share, wrong * (1 - share)
    return [ratio(found, found + away * np.exp(shift)) for shift in (0.0, reach, -reach)]


def predictive_lines(plan: Plan) -> list[PredictiveLine]:
    """Return ppv and npv at the declared prevalence along one rate, for some values of the other."""
    given = plan.prevalence
    if given is None or plan.task != "binary":
        return []
    prior, rates = given.event, np.arange(51) / 50
    found = []
    for by, other in (("sensitivity", "specificity"), ("specificity", "sensitivity")):
        for at in OTHERS:
            sensitivity, specificity = (rates, at) if by == "sensitivity" else (at, rates)
            hit, spared = sensitivity * prior, specificity * (1 - prior)
            ppv = ratio(hit, hit + (1 - specificity) * (1 - prior))
            npv = ratio(spared, spared + (1 - sensitivity) * prior)
            points = listed(rate=rates, ppv=ppv, npv=npv)
            found.append(PredictiveLine(by=by, other=other, at=at, points=points))
    return found
