"""Decision curves, and curves against the prevalence: predictive values, and every measure of predicted classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import exp
from evalpipe.chapters.prevalence.plan import PriorPlan
from evalpipe.engine.averages import values
from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.engine.curves.ranking import Steps, stored_indices
from evalpipe.intervals import LIMITS
from evalpipe.intervals.analytic import predictive_error
from evalpipe.intervals.contrasts import net_benefit_limits
from evalpipe.metrics import registry
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import events
from evalpipe.results.curves.calibration import NetBenefit, NetBenefitNotes
from evalpipe.results.curves.events import PredictiveValueNotes, PredictiveValues
from evalpipe.statistics import of_cells, sweep, swept_in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.chapters.curves.plan import RelationsPlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Summary


THRESHOLDS = np.arange(1, 100) / 100
"""The threshold probabilities of the curve; cells of a grid end at them where one model is alone."""


def _weights_reached(summary: Summary, thresholds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weights of all rows [..., 1], and of events and of others from each threshold up [..., k]."""
    events, others = summary("events_from"), summary("others_from")
    total = events[..., :1] + others[..., :1]
    nothing = np.zeros_like(total)  # from a threshold above all probabilities
    score_index = np.searchsorted(summary.rows.probability_of_score, thresholds, side="left")
    caught, alarmed = (np.concatenate([values, nothing], axis=-1)[..., score_index] for values in (events, others))
    return total, caught, alarmed


def net_benefits(summary: Summary, thresholds: Floats) -> Floats:
    """Return the net benefit of acting on rows from each of ``thresholds`` [k] up, [..., k]. Vickers & Elkin (2006)."""
    total, caught, alarmed = _weights_reached(summary, thresholds)
    return ratio(caught - alarmed * (thresholds / (1 - thresholds)), total)


@curve(NetBenefit, of=("event",), needs="probabilities", heights=Heights(net_benefits, lambda *_: THRESHOLDS))
def decision_curve(rows: CurveRows) -> Computed:
    """Compute the net benefit by threshold with its limits, beside that of acting on all rows."""
    summary = rows.summary
    height = net_benefits(summary, THRESHOLDS)
    events, others = summary("events_from")[0], summary("others_from")[0]
    everybody = (events - others * (THRESHOLDS / (1 - THRESHOLDS))) / (events + others)
    if "net_benefit" not in rows.drawn or rows.plan.bins not in LIMITS or rows.plan.importance:
        lower, upper = rows.limits("net_benefit", len(THRESHOLDS))
    else:  # by the method of the measure
        reached = _weights_reached(summary, THRESHOLDS)
        lower, upper = net_benefit_limits(*reached, {"threshold": THRESHOLDS}, rows.plan.level)
    gained = height - np.maximum(everybody, 0.0)
    most = int(gained.argmax())
    points = {
        "threshold": THRESHOLDS, "net_benefit": height, "treat_all": everybody, "lower": lower, "upper": upper}
    return points, NetBenefitNotes(
        largest_gain=float(gained[most]), largest_gain_at=float(THRESHOLDS[most]),
        level=rows.plan.level if "net_benefit" in rows.drawn else None)


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
    half_width = _half_width(tp / events, tn / others, events, others, level)
    ppv = _predictive_value(tp / events, fp / others, GRID, half_width)
    half_width = _half_width(fn / events, fp / others, events, others, level)
    npv = _predictive_value(tn / others, fn / events, 1 - GRID, half_width)
    columns = ("prevalence", "ppv", "ppv_lower", "ppv_upper", "npv", "npv_lower", "npv_upper")
    points = dict(zip(columns, (GRID, *ppv, *npv), strict=True))
    declared = None if plan.prevalence is None else plan.prevalence.event
    at_declared = [
        None if declared is None else _finite(summary.value(registry[name], {"prevalence": declared}))
        for name in ("ppv", "npv")
    ]
    return points, PredictiveValueNotes(
        sensitivity=tp / events, specificity=tn / others, observed=events / (events + others),
        ppv_observed=_finite(ratio(tp, tp + fp)), npv_observed=_finite(ratio(tn, tn + fn)), declared=declared,
        ppv_declared=at_declared[0], npv_declared=at_declared[1], level=level)


def _finite(value: Floats) -> float | None:
    """Return a value as a float; None where it is not finite."""
    return float(value) if np.isfinite(value) else None


def _half_width(sensitivity: float, specificity: float, events: float, others: float, level: float | None) -> float:
    """Return how far the limits lie from a predictive value on the logit scale, at any prevalence; NaN if unknown."""
    from scipy.special import ndtri

    if level is None:
        return np.nan
    # At a value of 1/2 the error on the logit scale is four times that of the value, and it is the same at any value.
    return 4 * predictive_error(0.5, sensitivity, specificity, events, others) * float(ndtri((1 + level) / 2))


def _predictive_value(right: float, wrong: float, share: Floats, half_width: float) -> list[Floats]:
    """Return a predictive value, its lower and its upper limit, at each ``share`` [k] of the predicted class.

    ``right`` is the rate at which rows of this class are predicted as it, ``wrong`` the rate for rows of the
    other. ``half_width`` is that of the limits on the logit scale.
    """
    correct, false = right * share, wrong * (1 - share)
    return [ratio(correct, correct + false * exp(shift)) for shift in (0.0, half_width, -half_width)]


PREVALENCES = np.arange(1, 50) / 50
"""The prevalences at which a measure is given."""

MOST = 200
"""About the most thresholds at each prevalence."""

AT_ONCE = 32_768
"""Thresholds at which the highest of a measure is looked for at once."""


def _at_prevalence(entry: MetricPlan, prevalence: float) -> MetricPlan:
    """Return a measure at a prevalence of the event; a measure that no prevalence changes stays as it is."""
    shares = (prevalence, 1 - prevalence)
    return replace(entry, prior=PriorPlan(shares, None if entry.metric.within_classes else shares, prevalence))


def _titles(relations: RelationsPlan) -> dict[str, str]:
    """Return the title of the metric of each measure, by the label that names the measure's column."""
    return {entry.short_label(relations.measures): entry.metric.title for entry in relations.measures}


@curve(events.RelatedMeasures, of=("event",), needs="scores")
def related_measures(rows: CurveRows) -> Computed | None:
    """Compute each measure at each threshold and prevalence; they need both classes."""
    relations = rows.plan.relations
    if relations is None or not rows.once(Steps.of).has_both:
        return None
    m = len(rows.summary.rows.distinct) + 1
    kept, count = stored_indices(m, MOST), len(relations.prevalences)
    swept = sweep(rows.summary, m - 1 - kept)
    by_prevalence = [_measures_at(relations, swept, prevalence) for prevalence in relations.prevalences]
    columns = {name: np.concatenate([measures[name] for measures in by_prevalence]) for name in by_prevalence[0]}
    threshold = np.r_[np.inf, rows.summary.rows.threshold_at[::-1]][kept]
    points = {
        "prevalence": np.repeat(relations.prevalences, len(kept)), "threshold": np.tile(threshold, count), **columns}
    many_points = None if len(kept) == m else m * count
    highest = tuple(
        _measures_at_best(relations, rows.summary, prevalence, cuts)
        for prevalence, cuts in _best_cuts_by_prevalence(relations, rows.summary))
    return points, events.RelatedNotes(points_of=many_points, titles=_titles(relations), highest=highest)


def _measures_at(relations: RelationsPlan, swept: Summary, prevalence: float) -> dict[str, Floats]:
    """Return the values [cuts] of each measure at a prevalence, by label, from statistics under some cuts."""
    return {entry.short_label(relations.measures): values(swept, _at_prevalence(entry, prevalence))
            for entry in relations.measures}


def _best_cuts_by_prevalence(relations: RelationsPlan, summary: Summary) -> Iterator[tuple[float, Wholes]]:
    """Yield each prevalence with the cuts, by index from the highest down, at which the first measure is highest."""
    cuts = np.arange(len(summary.rows.distinct), -1, -1)
    parts: dict[float, list[Floats]] = {prevalence: [] for prevalence in relations.prevalences}
    for swept in swept_in_parts(summary, cuts, AT_ONCE):
        for prevalence, part in parts.items():
            part.append(np.nan_to_num(values(swept, _at_prevalence(relations.measures[0], prevalence)), nan=-np.inf))
    for prevalence, part in parts.items():
        first = np.concatenate(part)
        yield prevalence, cuts[first == first.max()]


def _measures_at_best(
    relations: RelationsPlan, summary: Summary, prevalence: float, cuts: Wholes
) -> dict[str, float | None]:
    """Return each measure at the best of some ``cuts``: by the first measure, then the next; None where undefined."""
    measures = _measures_at(relations, sweep(summary, cuts), prevalence)
    columns = np.array(list(measures.values()))
    # The last key of lexsort is the first by which it sorts.
    best = columns[:, np.lexsort(np.nan_to_num(columns, nan=-np.inf)[::-1])[-1]]
    return {name: None if np.isnan(value) else float(value) for name, value in zip(measures, best, strict=True)}


@curve(events.MeasuresByPrevalence, of=("event",), needs="labels")
def by_prevalence(rows: CurveRows) -> Computed | None:
    """Compute each measure of the predicted classes at each prevalence."""
    relations = rows.plan.relations
    if relations is None:
        return None
    cells = of_cells(rows.summary.reportable)  # not the rows, each of which would be reweighted to every prevalence
    columns = {
        entry.short_label(relations.measures):
            np.array([values(cells, _at_prevalence(entry, prevalence)) for prevalence in PREVALENCES]).ravel()
        for entry in relations.measures}
    # Without rows of a level nothing can be reweighted, and every value is undefined.
    return None if np.isnan(list(columns.values())).all() else (
        {"prevalence": PREVALENCES, **columns}, events.RelationNotes(titles=_titles(relations)))
