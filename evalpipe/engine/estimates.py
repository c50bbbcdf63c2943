"""Estimates: value, interval, support and status of each measure of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.averages import by_class, values, weighed
from evalpipe.engine.no_information import no_information, skill
from evalpipe.engine.noise import drawn_limits, gap_limits, thin
from evalpipe.engine.parts import reported
from evalpipe.engine.support import counts, own_denominator
from evalpipe.intervals import (
    LIMITS,
    auc_variance,
    basic_limits,
    bca_limits,
    doubtful,
    kish,
    logit_bootstrap,
    logit_limits,
    monte_carlo_error,
    percentile_limits,
    predictive_error,
    studentised_limits,
)
from evalpipe.plan import LACKING
from evalpipe.plan.methods import GAPS
from evalpipe.results import Estimate, Status
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.arraytypes import Floats
    from evalpipe.data.sample import Sample
    from evalpipe.engine.parts import Part
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan import MetricPlan, Plan

CLUSTERS = 20
"""The clusters from which on their bootstrap is trusted; of fewer it covers too seldom, as the between-cluster variance
is known too badly: Cameron & Miller (2015), section VI, who call fewer than 20 to 50 few."""

ONE_CLUSTER = "all rows are of one cluster, so nothing tells how uncertain it is"

NO_ROW = "no row is reportable: all lie in the equivocal zone"

TOLERATED = 0.05
"""Share of undefined replicates above which an interval is marked degenerate."""


def few_clusters(clusters: int, level: float) -> str:
    """Say that an interval from so few clusters covers too seldom."""
    share = f"{100 * level:.10g}%"
    return f"{clusters} clusters, fewer than {CLUSTERS}: limits from so few hold the true value less often than {share}"


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
    moved: float | None = None


@dataclass(frozen=True, slots=True)
class Drawn:
    """The replicates [B] of one number with what else its limits may need; see `Replicates`."""

    values: Floats
    left: Floats | None = None
    errors: Floats | None = None
    error: float | None = None
    shift: float | None = None


@dataclass(frozen=True)
class Place:
    """Where estimates are taken: a model of a sample, in one of its parts; one serves all its measures."""

    plan: Plan
    sample: Sample
    model: str
    number: int
    part: Part
    summary: Summary

    def serves(self, entry: MetricPlan) -> bool:
        """Tell whether the model gives what a measure needs."""
        return entry.metric.needs in self.summary.rows.gives

    @property
    def units(self) -> int:
        """How many observations, or clusters of them, its resamples are drawn from."""
        if self.sample.cluster is None:
            return self.part.n
        return len(np.unique(self.part.of(self.sample.cluster)))

    def seen_by(self, entry: MetricPlan) -> Place:
        """Return what a measure is of: of predicted classes, the rows that have one alone."""
        return self if self.summary.seen_by(entry.metric) is self.summary else self._reported

    @cached_property
    def _reported(self) -> Place:
        part = reported(self.sample, self.sample.models[self.model], self.part)
        return replace(self, part=part, summary=self.summary.reportable)

    def rows(self, k: int | None = None) -> tuple[int, int | None]:
        """Return the observations of the place and the events among them, or those of the k-th class."""
        return self.part.n, self.part.events if k is None else self.part.of_level(self.sample, k)

    def support(self, entry: MetricPlan, k: int | None = None) -> tuple[int, int | None]:
        """Return the observations that a measure is of, of its k-th class where it is taken for each, and the events.

        A proportion is of its own denominator: sensitivity of the events, precision of the predicted events. Every
        other measure, and an average over classes, is of all rows that it sees.
        """
        if not entry.metric.is_proportion or (k is None and self.sample.task != "binary"):
            return self.rows(k)
        if k not in self._counts:
            rows = self.summary.rows if k is None else self.summary.classes[k].rows
            self._counts[k] = counts(self.sample, self.part, rows)
        return own_denominator(self._counts[k], entry, entry.params if k is None else entry.of_class[k])

    @cached_property
    def _counts(self) -> dict[int | None, Summary]:
        return {}


def estimates(place: Place, entry: MetricPlan, replicates: Replicates) -> Iterator[Estimate]:
    """Yield the estimate of one measure for one model; one for each class where they are not averaged."""
    place = place.seen_by(entry)
    plan, sample, summary = place.plan, place.sample, place.summary
    key = place.model, place.number, plan.entries.index(entry)
    asked = plan.no_information and place.part.slice is None
    blind = no_information(plan, sample, summary, entry) if asked else None
    if entry.average != "none":
        value = float(values(summary, entry))
        found = _found(place, summary, entry, value, drawn_of(replicates, key))
        used, short = _classes_used(sample, weighed(summary, entry), entry)
        if short is not None and found.status == "ok":
            found = replace(found, status="degenerate", reason=short)
        found = replace(found, blind=None if blind is None else float(blind))
        yield _estimate(place, entry, found, used=used)
        return
    each = values(summary, entry)
    for k, (level, one) in enumerate(zip(sample.levels, summary.classes, strict=True)):
        found = _found(place, one, entry, float(each[k]), drawn_of(replicates, key, k), k=k)
        found = replace(found, blind=None if blind is None else float(blind[k]))
        yield _estimate(place, entry, found, level=level)


def not_served(place: Place, entry: MetricPlan) -> Iterator[Estimate]:
    """Yield what stands for a measure that the model cannot serve: its absence on all rows, with the reason."""
    if place.part.slice is not None:
        return
    found = _Found(math.nan, status="undefined", reason=f"the model gives {LACKING[entry.metric.needs]}")
    for level in place.sample.levels if entry.average == "none" else (None,):
        yield _estimate(place, entry, found, level=level)


def insufficient(place: Place, entry: MetricPlan) -> Iterator[Estimate]:
    """Yield what stands for a measure in a slice of too few rows."""
    n, least = place.part.n, place.plan.spec.slice_rules.min_rows
    reason = f"{n:,} {'row' if n == 1 else 'rows'}, fewer than the {least:,} of slice_rules.min_rows"
    found = _Found(math.nan, status="insufficient", reason=reason)
    for level in place.sample.levels if entry.average == "none" else (None,):
        yield _estimate(place, entry, found, level=level)


def drawn_of(replicates: Replicates, key: tuple[str, int, int], k: int | None = None) -> Drawn | None:
    """Return the replicates of a metric, of its k-th class where it is taken for each; None where none were drawn."""
    if key not in replicates.metrics:
        return None

    def of(table: Mapping[tuple[str, int, int], Floats]) -> Any:
        found = table.get(key)
        return found if found is None or k is None else found[..., k]

    error, shift = of(replicates.error), of(replicates.shift)
    moved = None if shift is None or (replicates.units is None and not shift) else float(shift)
    return Drawn(of(replicates.metrics), of(replicates.jackknife), of(replicates.errors),
                 None if error is None else float(error), moved)


def _found(
    place: Place, summary: Summary, entry: MetricPlan, value: float, replicates: Drawn | None, *, k: int = 0
) -> _Found:
    """Find the interval of a value, or why there is none; what it is worth, where it does not hold the value."""
    found = _interval(place, summary, entry, value, replicates, k)
    reason = None if found.limits is None or found.status != "ok" else doubtful(value, found.limits, found.method)
    return found if reason is None else replace(found, status="degenerate", reason=reason)


def _interval(
    place: Place, summary: Summary, entry: MetricPlan, value: float, replicates: Drawn | None, k: int
) -> _Found:
    level, params = place.plan.level, entry.of_class[k] if entry.of_class else entry.params
    if math.isnan(value):
        return _Found(value, status="undefined", reason=entry.undefined if place.part.n else NO_ROW)
    if entry.method == "none":
        return _Found(value)
    clusters = None if place.sample.cluster is None else len(np.unique(place.part.of(place.sample.cluster)))
    if clusters == 1:
        return _Found(value, status="degenerate", reason=ONE_CLUSTER)
    if entry.drawn and replicates is not None:
        found = _bootstrapped(entry, params, value, replicates, level)
        few = None if clusters is None or clusters >= CLUSTERS else few_clusters(clusters, level)
        few = few or thin(summary, entry, _units(place, summary) if clusters is None else clusters)
        return found if few is None or found.status != "ok" else replace(found, status="degenerate", reason=few)
    return _closed(place, summary, entry, value, params)


def _closed(place: Place, summary: Summary, entry: MetricPlan, value: float, params: Mapping[str, Any]) -> _Found:
    """Find the limits of a value that are known in closed form."""
    plan, level = place.plan, place.plan.level
    if entry.method == "delong":
        return _delong(summary, value, level)
    if entry.method == "logit":
        return _predictive(summary, entry, value, level)
    if entry.metric.interval in GAPS:
        squared = _squared(summary) if plan.importance else summary
        limits = gap_limits(summary, squared, entry.metric, params, value, level)
        weak = plan.importance and entry.metric.interval == "gaps"
        reason = thin(summary, entry, _units(place, summary)) if weak else None
        return _Found(value, entry.method, limits, "ok" if reason is None else "degenerate", reason)
    successes, trials = summary.proportion(entry.metric, params)
    if plan.importance:
        successes, trials = _effective(summary, entry, params, successes, trials)
    lower, upper = LIMITS[entry.method](successes, trials, level)
    return _Found(value, entry.method, (float(lower), float(upper)))


def _units(place: Place, summary: Summary) -> float:
    """Return the observations, or under importance weights the rows of equal weight that tell as much."""
    return float(kish(summary.weights)) if place.plan.importance else place.part.n


def _squared(summary: Summary) -> Summary:
    """Return the statistics under squared weights, from which errors under importance weights come."""
    return Summary(summary.rows, np.asarray(summary.weights, float) ** 2)


def _effective(
    summary: Summary, entry: MetricPlan, params: Mapping[str, Any], successes: Floats, trials: Floats
) -> tuple[Floats, Floats]:
    """Return successes among so many rows of equal weight as would leave the proportion as uncertain as it is.

    The effective trials are p (1 - p) over the variance of the weighted proportion, sum of w^2 (y - p)^2 over the
    squared total; Kish's (sum of w)^2 / sum of w^2 where p is 0 or 1. Korn & Graubard (1998).
    """
    hits, all_ = _squared(summary).proportion(entry.metric, params)
    share = successes / trials
    spread = (hits * (1 - share) ** 2 + (all_ - hits) * share**2) / trials**2
    effective = share * (1 - share) / spread if 0 < share < 1 else trials**2 / all_
    return share * effective, effective


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


def _bootstrapped(
    entry: MetricPlan, params: Mapping[str, Any], value: float, drawn: Drawn, level: float
) -> _Found:
    """Find the limits of a value from its replicates."""
    limits, gaps = percentile_limits(drawn.values, level), int(np.isnan(drawn.values).sum())
    method = "percentile" if limits else "none"
    other = _other_limits(entry, params, value, drawn, level)
    if other is not None:
        limits, method = other, entry.method
    status: Status = "ok"
    reason = None
    if gaps > TOLERATED * len(drawn.values):
        status = "degenerate"
        reason = f"undefined in {gaps} of {len(drawn.values)} replicates: {entry.undefined}"
    noise = monte_carlo_error(drawn.values, level)
    moved = None if drawn.shift is None else abs(drawn.shift)
    return _Found(value, method, limits, status, reason, gaps, noise, moved=moved)


def _other_limits(
    entry: MetricPlan, params: Mapping[str, Any], value: float, drawn: Drawn, level: float
) -> tuple[float, float] | None:
    """Return the limits of a method other than percentiles, kept within the range of the measure; None without any."""
    limits = None
    if entry.method in ("bootstrap_noncentral", "bootstrap_corrected"):
        limits = drawn_limits(entry.metric, params, value, drawn.values, level)
    elif entry.method == "basic":
        limits = basic_limits(drawn.values, value, level)
    elif entry.method == "bootstrap_logit":
        limits = logit_bootstrap(drawn.values, value, level)
    elif entry.method == "bca" and drawn.left is not None:
        limits = bca_limits(drawn.values, value, drawn.left, level)
    elif entry.method == "studentised" and drawn.errors is not None and drawn.error is not None:
        limits = studentised_limits(drawn.values, drawn.errors, value, drawn.error, level)
    if limits is None:
        return None
    low, high = entry.metric.bounds(entry.params)
    return max(limits[0], low), min(limits[1], high)


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
    place: Place, entry: MetricPlan, found: _Found, *, level: str | None = None, used: int | None = None
) -> Estimate:
    sample, part = place.sample, place.part
    chosen = None if level is None else sample.levels.index(level)
    shown = entry.shown if chosen is None else entry.shown_of(chosen)
    measured = found.status != "insufficient" and place.serves(entry)
    n, events = place.support(entry, chosen) if measured else place.rows(chosen)
    return Estimate(
        dataset=sample.dataset, **sample.named(place.model), slice=None if part.slice is None else dict(part.slice),
        metric=entry.metric.name, params=shown, average=entry.average,
        class_=level, value=None if math.isnan(found.value) else found.value,
        lower=found.limits[0] if found.limits else None, upper=found.limits[1] if found.limits else None,
        level=place.plan.level if found.limits else None, method=found.method, n=n,
        events=events, status=found.status, reason=found.reason, classes_used=used,
        no_information=None if found.blind is None or math.isnan(found.blind) else found.blind,
        skill=None if found.blind is None else skill(entry, found.value, found.blind),
        undefined_replicates=found.undefined, monte_carlo_error=found.noise, error_bound=found.moved,
    )
