"""Estimates: value, interval, support and status of each measure of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.averages import by_class, values
from evalpipe.engine.no_information import no_information, skill
from evalpipe.intervals import (
    LIMITS,
    auc_variance,
    bca_limits,
    logit_limits,
    monte_carlo_error,
    percentile_limits,
    predictive_error,
)
from evalpipe.results import Estimate, Status

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.engine.averages import Floats
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan import MetricPlan, Plan
    from evalpipe.statistics import Summary

TOLERATED = 0.05
"""Share of undefined replicates above which an interval is marked degenerate."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A value with all that was found out about it."""

    value: float
    method: str = "none"
    limits: tuple[float, float] | None = None
    status: Status = "ok"
    reason: str | None = None
    undefined: int = 0
    noise: float | None = None
    blind: float | None = None


def estimates(
    plan: Plan, sample: Sample, model: str, summary: Summary, entry: MetricPlan, replicates: Replicates
) -> Iterator[Estimate]:
    """Yield the estimate of one measure for one model; one for each class where they are not averaged."""
    key = model, plan.metrics.index(entry)
    blind = no_information(plan, sample, summary, entry) if plan.spec.no_information else None
    drawn, left = replicates.metrics.get(key), replicates.jackknife.get(key)
    if entry.average != "none":
        value = float(values(summary, entry))
        found = _found(plan, summary, entry, value, drawn, left)
        used, short = _classes_used(sample, summary, entry)
        if short is not None and found.status == "ok":
            found = replace(found, status="degenerate", reason=short)
        found = replace(found, blind=None if blind is None else float(blind))
        yield _estimate(plan, sample, model, entry, found, used=used)
        return
    for place, (level, one) in enumerate(zip(sample.levels, summary.classes, strict=True)):
        value = float(one.value(entry.metric, entry.of_class[place]))
        each, without = (None if values is None else values[:, place] for values in (drawn, left))
        found = _found(plan, one, entry, value, each, without, place=place)
        found = replace(found, blind=None if blind is None else float(blind[place]))
        yield _estimate(plan, sample, model, entry, found, level=level)


def _found(
    plan: Plan, summary: Summary, entry: MetricPlan, value: float, drawn: Floats | None, left: Floats | None, *,
    place: int = 0,
) -> _Found:
    """Find the interval of a value, or why there is none."""
    level = plan.spec.intervals.level
    if math.isnan(value):
        return _Found(value, status="undefined", reason=entry.metric.undefined)
    if entry.method == "none":
        return _Found(value)
    if drawn is not None:
        return _bootstrapped(value, drawn, left, level, entry.metric.undefined)
    if entry.method == "delong":
        return _delong(summary, value, level)
    if entry.method == "logit":
        return _predictive(summary, entry, value, level)
    params = entry.of_class[place] if entry.of_class else entry.params
    successes, trials = summary.proportion(entry.metric, params)
    lower, upper = LIMITS[entry.method](successes, trials, level)
    return _Found(value, entry.method, (float(lower), float(upper)))


def _delong(summary: Summary, value: float, level: float) -> _Found:
    """Return DeLong's limits; where its variance is zero or unknown, those of the smaller class's rows as trials."""
    events_at, others_at = summary("events_at"), summary("others_at")
    variance = auc_variance(events_at, others_at)
    limits = logit_limits(value, math.sqrt(variance), level) if variance > 0 else None
    if limits is not None:
        return _Found(value, "delong", limits)
    trials = min(events_at.sum(), others_at.sum())
    lower, upper = LIMITS["exact"](value * trials, trials, level)
    return _Found(value, "exact", (float(lower), float(upper)))


def _predictive(summary: Summary, entry: MetricPlan, value: float, level: float) -> _Found:
    """Return the limits of ppv or npv by the delta method; none where sensitivity or specificity is 0 or 1."""
    tp, fp, fn, tn = (float(summary(cell)) for cell in ("tp", "fp", "fn", "tn"))
    events, others = tp + fn, fp + tn
    shares = (tp / events, tn / others) if entry.metric.name == "ppv" else (fn / events, fp / others)
    limits = logit_limits(value, predictive_error(value, *shares, events, others), level)
    if limits is None:
        reason = "sensitivity, specificity or the prevalence is 0 or 1, so the delta method knows no error of it"
        return _Found(value, status="degenerate", reason=reason)
    return _Found(value, "logit", limits)


def _bootstrapped(value: float, drawn: Floats, left: Floats | None, level: float, undefined: str) -> _Found:
    limits, gaps = percentile_limits(drawn, level), int(np.isnan(drawn).sum())
    method = "percentile" if limits else "none"
    if left is not None and (corrected := bca_limits(drawn, value, left, level)) is not None:
        limits, method = corrected, "bca"
    status: Status = "ok"
    reason = None
    if gaps > TOLERATED * len(drawn):
        status, reason = "degenerate", f"undefined in {gaps} of {len(drawn)} replicates: {undefined}"
    elif limits is not None and limits[0] == limits[1]:
        status, reason = "degenerate", "the same in nearly all replicates, so the bootstrap cannot tell its uncertainty"
    return _Found(value, method, limits, status, reason, gaps, monte_carlo_error(drawn, level))


def _classes_used(sample: Sample, summary: Summary, entry: MetricPlan) -> tuple[int | None, str | None]:
    """Return how many classes an average is over, and what to say where some have no value."""
    if entry.metric.every_class and len(sample.levels) > 2:
        defined = summary("occurring") > 0
    elif entry.average in ("macro", "macro_weighted"):
        defined = ~np.isnan(by_class(summary, entry))
    else:
        return None, None
    used, lacking = int(defined.sum()), [level for level, has in zip(sample.levels, defined, strict=True) if not has]
    if not lacking:
        return used, None
    return used, f"over {used} of {len(sample.levels)} classes; no value for {', '.join(map(repr, lacking))}"


def _estimate(
    plan: Plan, sample: Sample, model: str, entry: MetricPlan, found: _Found, *,
    level: str | None = None, used: int | None = None,
) -> Estimate:
    place = None if level is None else sample.levels.index(level)
    shown = entry.shown if place is None else {
        name: value for name, value in entry.of_class[place].items() if not isinstance(value, tuple)}
    support = sample.summary.events if level is None else next(
        round(count.weight) if sample.weight_kind == "frequency" else count.rows
        for count in sample.summary.levels if count.level == level)
    return Estimate(
        dataset=sample.dataset, model=model, metric=entry.metric.name, params=shown, average=entry.average,
        class_=level, value=None if math.isnan(found.value) else found.value,
        lower=found.limits[0] if found.limits else None, upper=found.limits[1] if found.limits else None,
        level=plan.spec.intervals.level if found.limits else None, method=found.method, n=sample.summary.n,
        events=support, status=found.status, reason=found.reason, classes_used=used,
        no_information=None if found.blind is None or math.isnan(found.blind) else found.blind,
        skill=None if found.blind is None else skill(entry, found.value, found.blind),
        undefined_replicates=found.undefined, monte_carlo_error=found.noise,
    )
