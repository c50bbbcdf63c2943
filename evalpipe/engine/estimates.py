"""Estimates: value, interval, support and status of each measure of a model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe import constants
from evalpipe.engine.averages import by_class, values, weighed
from evalpipe.engine.given import Given
from evalpipe.engine.no_information import no_information, skill
from evalpipe.engine.noise import thin
from evalpipe.engine.parts import reported
from evalpipe.engine.support import counts, own_denominator
from evalpipe.intervals.bootstrap import doubtful, kish, monte_carlo_error
from evalpipe.intervals.declare import NoLimits, registry
from evalpipe.plan.measures import LACKING
from evalpipe.results import Estimate, Status

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.arraytypes import Floats
    from evalpipe.data.sample import Sample
    from evalpipe.engine.parts import Part
    from evalpipe.engine.replicates import Replicates
    from evalpipe.intervals.declare import Limits
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary

CLUSTERS = 20
"""The clusters from which on their bootstrap is trusted; of fewer it covers too seldom, as the between-cluster variance
is known too badly: Cameron & Miller (2015), section VI, who call fewer than 20 to 50 few."""

ONE_CLUSTER = "all rows are of one cluster, so nothing tells how uncertain it is"

NO_ROW = "no row is reportable: all lie in the equivocal zone"


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

    replicates: Floats
    jackknife: Floats | None = None
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
    n, least = place.part.n, place.plan.slices.min_rows
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
    level = place.plan.level
    if math.isnan(value):
        return _Found(value, status="undefined", reason=entry.undefined if place.part.n else NO_ROW)
    if entry.method == "none":
        return _Found(value)
    clusters = None if place.sample.cluster is None else len(np.unique(place.part.of(place.sample.cluster)))
    if clusters == 1:
        return _Found(value, status="degenerate", reason=ONE_CLUSTER)
    found = _limited(place, summary, entry, value, replicates, k)
    few = None if not entry.drawn or clusters is None or clusters >= CLUSTERS else few_clusters(clusters, level)
    if few is None and (entry.drawn or (place.plan.importance and entry.metric.interval == "gaps")):
        few = thin(summary, entry, _units(place, summary) if clusters is None else clusters)
    return found if few is None or found.status != "ok" else replace(found, status="degenerate", reason=few)


def _limited(
    place: Place, summary: Summary, entry: MetricPlan, value: float, drawn: Drawn | None, k: int
) -> _Found:
    """Return the limits of a value by its method, within the range of the measure; percentiles where that has none."""
    options = entry.of_class[k] if entry.of_class else entry.params
    given = Given(entry, summary, options, value, place.plan.level, place.plan.importance, drawn)
    try:
        limits, name = registry[entry.method].limits(given), entry.method
    except NoLimits as fault:
        return _Found(value, status="degenerate", reason=str(fault))
    if limits is None and entry.drawn:
        limits, name = registry["percentile"].limits(given), "percentile"
    found = _Found(value) if limits is None else _Found(value, limits.method or name, _within(limits, entry, options))
    return _drawn_from(found, entry, drawn, place.plan.level) if entry.drawn and drawn is not None else found


def _within(limits: Limits, entry: MetricPlan, options: Mapping[str, Any]) -> tuple[float, float]:
    """Return limits within the range of a measure."""
    low, high = entry.metric.bounds(options)
    return max(float(limits.lower), low), min(float(limits.upper), high)


def _units(place: Place, summary: Summary) -> float:
    """Return the observations, or under importance weights the rows of equal weight that tell as much."""
    return float(kish(summary.weights)) if place.plan.importance else place.part.n


def _drawn_from(found: _Found, entry: MetricPlan, drawn: Drawn, level: float) -> _Found:
    """Return limits with what is known of the replicates that they were made of."""
    gaps = int(np.isnan(drawn.replicates).sum())
    found = replace(found, undefined=gaps, noise=monte_carlo_error(drawn.replicates, level),
                    moved=None if drawn.shift is None else abs(drawn.shift))
    if gaps <= constants.TOLERATED * len(drawn.replicates):
        return found
    reason = f"undefined in {gaps} of {len(drawn.replicates)} replicates: {entry.undefined}"
    return replace(found, status="degenerate", reason=reason)


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
