"""Estimates: value, interval, support and status of each measure of a model; and a dataset with all of them.

`Evaluated` is what every table of the results is computed from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.heap import trim
from evalpipe.engine.averages import at_prevalence, by_class
from evalpipe.engine.grid_bounds import error_bound, values_of_scores
from evalpipe.engine.no_information import no_information, skill
from evalpipe.engine.replicates import draw, with_judges
from evalpipe.engine.subsets import reportable_subset, rows_of, subsets, summaries_of
from evalpipe.engine.support import (
    Drawn,
    Limited,
    MethodInputs,
    denominator_counts,
    few_for_curve,
    rare_level,
    support_counts,
    too_few_units_for_bins,
)
from evalpipe.intervals.bootstrap import doubt_about_limits, kish, monte_carlo_error
from evalpipe.intervals.declare import NoLimits, registry
from evalpipe.plan.measures import FALLBACK
from evalpipe.results import Estimate
from evalpipe.statistics import Summary
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.base.arraytypes import Floats
    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Status
    from evalpipe.words.sentences import Sentence


@dataclass(frozen=True)
class Scope:
    """The statistics of a model in one subset of a sample, from which the estimates of all measures are computed."""

    plan: Plan
    sample: Sample
    model: str
    number: int
    subset: Subset
    summary: Summary

    @property
    def streamed(self) -> bool:
        """Whether rows were read part by part, so that the rows of the model are cells that they were counted in."""
        return self.sample.models[self.model].ends is not None

    @property
    def recalibrated(self) -> bool:
        """Whether the model is a recalibrated variant of another."""
        return self.sample.models[self.model].source is not None

    def serves(self, entry: MetricPlan) -> bool:
        """Tell whether the model gives what a measure needs, such as probabilities."""
        return entry.lacking(self.summary.rows.gives) is None

    def drawn(self, entry: MetricPlan, replicates: Replicates) -> Drawn:
        """Return the value of a measure with its replicates; values [K] of all classes where they are not averaged."""
        key = self.model, self.number, self.plan.entries.index(entry)
        value, clusters = replicates.value(key, self.summary, entry), self.subset.clusters
        shift = replicates.shift.get(key)
        if shift is not None and not replicates.gridded:
            shift = np.where(shift == 0, np.nan, shift)  # rows and all their scores were drawn: no grid to report
        return Drawn(
            value if np.ndim(value) else float(value), replicates.metrics.get(key),
            units=self.subset.n if clusters is None else clusters, clustered=clusters is not None,
            undefined=entry.undefined if self.subset.n else sentence("no-reportable-row"),
            jackknife=replicates.jackknife.get(key),
            errors=replicates.errors.get(key), error=replicates.error.get(key),
            shift=shift, rare=() if key not in replicates.metrics else self._why_too_rare(entry),
            alone=replicates.alone[key].replicates if key in replicates.alone else None,
            share=sum(replicates.shares.get(key, ())))

    def _why_too_rare(self, entry: MetricPlan) -> list[Sentence | None]:
        """Return for the measure, or for each class, why rows of the rarer level are too few for limits; else None."""
        sample, pairs = self.sample.of(self.model, self.subset.slicing), [(self.summary, entry.params)]
        if entry.average == "none":
            class_summaries = (against.seen_by(entry.metric) for against in self.summary.classes)
            pairs = list(zip(class_summaries, entry.of_class, strict=True))
        return [rare_level(summary, entry, options, sample, self.subset) for summary, options in pairs]

    def seen_by(self, entry: MetricPlan) -> Scope:
        """Return the scope of the rows that a measure uses: only those with a predicted class, or by their ranks."""
        seen = self.summary.seen_by(entry.metric)
        if seen is self.summary:
            return self
        return self._reportable if entry.metric.of_reportable else replace(self, summary=seen)

    @cached_property
    def _reportable(self) -> Scope:
        """The scope without the rows of the equivocal zone, which have no predicted class."""
        subset = reportable_subset(self.sample, self.sample.models[self.model], self.subset)
        return replace(self, subset=subset, summary=self.summary.reportable)

    def rows(self, k: int | None = None) -> tuple[int, int | None]:
        """Return how many observations the scope has, and how many events, or observations of the k-th class."""
        return self.subset.n, self.subset.events if k is None else self.subset.of_level(self.sample, k)

    def support(self, entry: MetricPlan, k: int | None = None) -> tuple[int, int | None]:
        """Return how many observations a measure, or its k-th class, is computed from, and how many are events.

        A proportion is computed from its denominator: sensitivity from the events, precision from the predicted events.
        Every other measure, and an average over classes, is computed from all rows that it uses.
        """
        if not entry.metric.is_proportion or (k is None and self.sample.task != "binary"):
            return self.rows(k)
        if k not in self._counts:
            rows = self.summary.rows if k is None else self.summary.classes[k].rows
            self._counts[k] = support_counts(self.sample, self.subset, rows)
        return denominator_counts(self._counts[k], entry, entry.params if k is None else entry.of_class[k])

    @cached_property
    def _counts(self) -> dict[int | None, Summary]:
        """The statistics that `support` counts by, computed once for each class, or None for a binary outcome."""
        return {}


def estimates(
    scope: Scope, entry: MetricPlan, replicates: Replicates, uninformed: Floats | None
) -> Iterator[Estimate]:
    """Yield the estimate of one measure for one model; one for each class where they are not averaged.

    ``uninformed`` is its mean if truth and prediction were independent; None where it is not requested.
    """
    scope = scope.seen_by(entry)
    sample, summary = scope.sample, scope.summary
    drawn = scope.drawn(entry, replicates)
    if entry.average != "none":
        estimate, used = single_number_with_limits(scope, entry, drawn)
        exact = (scope.model, scope.number, scope.plan.entries.index(entry)) in replicates.exact
        yield _estimate(scope, entry, estimate, None if uninformed is None else float(uninformed), classes_used=used,
                        exact=exact)
        return
    for k, (level, against_rest) in enumerate(zip(sample.levels, summary.classes, strict=True)):
        estimate = measure_with_limits(scope, against_rest.seen_by(entry.metric), entry, drawn.of_class(k), k)
        yield _estimate(scope, entry, estimate, None if uninformed is None else float(uninformed[k]), level=level)


def estimates_not_served(scope: Scope, entry: MetricPlan) -> Iterator[Estimate]:
    """Yield estimates without a value, on all rows, of a measure that needs what the model does not give."""
    if scope.subset.slice is None:
        lacking = entry.lacking(scope.summary.rows.gives) or entry.metric.needs
        yield from _without_value(scope, entry, "undefined", sentence("not-served", need=lacking))


def insufficient_estimates(scope: Scope, entry: MetricPlan) -> Iterator[Estimate]:
    """Yield estimates without a value of a measure in a slice of too few rows."""
    n, least = scope.subset.n, scope.plan.slices.min_rows
    return _without_value(scope, entry, "insufficient", sentence("few-rows", rows=n, least=least))


def _without_value(scope: Scope, entry: MetricPlan, status: Status, reason: Sentence) -> Iterator[Estimate]:
    """Yield an estimate without a value for a reason, one for each class where they are not averaged."""
    for level in scope.sample.levels if entry.average == "none" else (None,):
        yield _estimate(scope, entry, Limited(None, status=status, reason=reason), level=level)


def single_number_with_limits(scope: Scope, entry: MetricPlan, drawn: Drawn) -> tuple[Limited, int | None]:
    """Return a measure that is one number with its limits, and how many classes it is averaged over, if any."""
    classes_used, lacking = _classes_used(scope.sample, at_prevalence(scope.summary, entry), entry)
    return measure_with_limits(scope, scope.summary, entry, drawn).doubted(lacking), classes_used


def measure_with_limits(scope: Scope, summary: Summary, entry: MetricPlan, drawn: Drawn, k: int = 0) -> Limited:
    """Return a measure, or its k-th class, with limits, and a status and reason if these cannot be relied on.

    Limits are computed by the measure's method; where that finds none in the replicates, they are percentiles.
    """
    value, options = drawn.value, entry.of_class[k] if entry.of_class else entry.params
    low, high = entry.metric.range
    if entry.parts and not math.isnan(value) and not low <= value <= high:
        value_range = [end if math.isfinite(end) else None for end in (low, high)]
        return Limited(value, status="degenerate", reason=sentence("beyond-range", range=value_range))
    if entry.method == "none" and not math.isnan(value):
        doubt: Sentence | None = None
        if entry.metric.doubt is not None and entry.average in (None, "none"):
            doubt = entry.metric.doubt(*summary.inputs(entry.metric, options), **options)
        return Limited(value).doubted(doubt)
    unlimited = drawn.unlimited(needs_replicates=entry.drawn)
    if unlimited is not None:
        return unlimited
    inputs = MethodInputs(entry, summary, options, value, scope.plan.level, scope.plan.importance, drawn)
    try:
        limits, method = registry[entry.method].limits(inputs), entry.method
    except NoLimits as fault:
        return Limited(value, status="degenerate", reason=fault.reason)
    if limits is None and entry.drawn:
        limits, method = registry[FALLBACK].limits(inputs), FALLBACK
    ends, method = None, "none" if limits is None else limits.method or method
    if limits is not None:
        least, most = entry.metric.bounds(options)
        lower, upper = (min(max(float(limit), least), most) for limit in (limits.lower, limits.upper))
        ends = lower, upper
    estimate = Limited(value, ends, method, drawn=drawn if entry.drawn else None)
    # The first doubt is the reason: undefined replicates and few clusters come before thin bins.
    estimate = estimate.doubted(drawn.doubt(scope.plan.level, method) if entry.drawn else None)
    estimate = estimate.doubted(_thin_bins(scope, summary, entry, drawn)).doubted(few_for_curve(entry, inputs))
    return estimate if ends is None else estimate.doubted(doubt_about_limits(value, ends, method))


def _thin_bins(scope: Scope, summary: Summary, entry: MetricPlan, drawn: Drawn) -> Sentence | None:
    """Return why bins have too few units to show the noise of a measure of gaps; None where they have enough."""
    weighted = scope.plan.importance
    if not (entry.drawn or (weighted and entry.metric.interval == "gaps")):
        return None
    units = float(kish(summary.weights)) if weighted and not drawn.clustered else drawn.units
    # Random groups have the noise of all their clusters; how many of these are in a slice is not known.
    grouped = scope.subset.by_cluster if scope.subset.rows is None else None
    return too_few_units_for_bins(summary, entry, units if grouped is None else grouped.known)


def _classes_used(sample: Sample, summary: Summary, entry: MetricPlan) -> tuple[int | None, Sentence | None]:
    """Return how many classes a measure is averaged over, and the reason where some classes have no value.

    Both are None for a measure that is over no classes. An expression of several measures has no such number; its
    reason is that of the first of its measures with such classes.
    """
    for name, part in entry.parts:
        _, reason = _classes_used(sample, at_prevalence(summary, part), part)
        if reason is not None:
            return None, sentence("part-without-value", part=name, because=reason)
    if entry.metric.every_class and len(sample.levels) > 2:  # a measure of all classes at once: of those that occur
        is_defined = summary("occurring") > 0
    elif entry.average in ("macro", "macro_weighted"):
        is_defined = ~np.isnan(by_class(summary, entry))
    else:
        return None, None
    used = int(is_defined.sum())
    lacking = [level for level, defined in zip(sample.levels, is_defined, strict=True) if not defined]
    if not lacking:
        return used, None
    return used, sentence("classes-without-value", used=used, classes=len(sample.levels), lacking=lacking)


def _estimate(
    scope: Scope, entry: MetricPlan, estimate: Limited, uninformed: float | None = None, *, level: str | None = None,
    classes_used: int | None = None, exact: bool = False,
) -> Estimate:
    """Return the record of an estimate, for the class ``level`` if it is of one.

    ``uninformed`` is the measure's mean if truth and prediction were independent; ``exact`` says that the value is of
    every score where rows are cells.
    """
    sample, subset, value, drawn = scope.sample, scope.subset, estimate.value, estimate.drawn
    k = None if level is None else sample.levels.index(level)
    has_rows = estimate.status != "insufficient" and scope.serves(entry)
    n, events = scope.support(entry, k) if has_rows else scope.rows(k)
    error = None if drawn is None or drawn.shift is None else abs(float(drawn.shift))
    if scope.streamed and has_rows and not exact:
        error = error_bound(
            scope.summary, entry, sliced=subset.slicing is not None, recalibrated=scope.recalibrated)
    freedom = math.nan
    if has_rows and entry.metric.freedom is not None and (k is not None or entry.average is None):
        summary, options = ((scope.summary, entry.params) if k is None else
                            (scope.summary.classes[k], entry.of_class[k]))
        freedom = float(entry.metric.freedom(*summary.inputs(entry.metric, options), **options))
    return Estimate(
        dataset=sample.dataset, **sample.named(scope.model), slice=None if subset.slice is None else dict(subset.slice),
        metric=entry.metric.name, params=entry.shown if k is None else entry.shown_of(k), average=entry.average,
        class_=level, value=value, lower=estimate.lower, upper=estimate.upper,
        level=scope.plan.level if estimate.limits else None, method=estimate.method, n=n, events=events,
        status=estimate.status, reason=estimate.reason, classes_used=classes_used,
        no_information=None if uninformed is None or math.isnan(uninformed) else uninformed,
        skill=None if uninformed is None else skill(entry, math.nan if value is None else value, uninformed),
        undefined_replicates=estimate.missing, degrees_of_freedom=None if math.isnan(freedom) else int(freedom),
        error_bound=None if error is None or math.isnan(error) else error,
        monte_carlo_error=None if drawn is None else monte_carlo_error(drawn.known, scope.plan.level),
    )


if TYPE_CHECKING:
    Estimates = dict[tuple[int, int], tuple[Estimate, ...]]


@dataclass(frozen=True)
class Evaluated:
    """One dataset with the statistics of each model in each of its subsets that is large enough, and the replicates.

    ``of_model`` are the same subsets for each model, with other row positions where rows are cells of its scores.
    """

    plan: Plan
    sample: Sample
    subsets: tuple[Subset, ...]
    of_model: dict[str, tuple[Subset, ...]]
    summaries: dict[tuple[str, int], Summary]
    replicates: Replicates
    _estimates: dict[str, Estimates] = field(default_factory=dict, repr=False, compare=False)
    _no_information: dict[str, dict[int, Floats]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def slice_numbers(self) -> dict[frozenset[tuple[str, str]], int]:
        """The number of each slice by its labels."""
        return {frozenset(subset.slice.items()): number for number, subset in enumerate(self.subsets)
                if subset.slice is not None}

    @cached_property
    def rests(self) -> dict[int, int]:
        """The number of the rest of each slice, by the number of the slice; empty without rests."""
        return {subset.rest_of: number for number, subset in enumerate(self.subsets) if subset.rest_of is not None}

    def scopes(self, model: str, *, rest: bool = False) -> Iterator[Scope]:
        """Yield the scopes of a model that have statistics, all rows first; with ``rest`` also the rests of slices."""
        for number, subset in enumerate(self.of_model[model]):
            if (model, number) in self.summaries and (rest or subset.rest_of is None):
                yield self.scope(model, number, self.summaries[model, number])

    def scope(self, model: str, number: int, summary: Summary) -> Scope:
        """Return the scope of a model's subset, by number, with the statistics ``summary``."""
        subset = self.of_model[model][number]
        return Scope(self.plan, self.sample.of(model, subset.slicing), model, number, subset, summary)

    def estimates_of(self, model: str) -> Estimates:
        """Return the estimates of a model, by the number of the subset and the number of the measure in the plan."""
        if model not in self._estimates:
            estimated: Estimates = {}
            for number, subset in enumerate(self.subsets):
                if subset.rest_of is not None:
                    continue
                summary = self.summaries.get((model, number))
                uninformed = self._without_information(model) if number == 0 else {}
                scope = self.scope(model, number, summary or self.summaries[model, 0])
                for k, entry in enumerate(self.plan.metrics):
                    if not scope.serves(entry):
                        estimated[number, k] = tuple(estimates_not_served(scope, entry))
                    elif summary is None:
                        estimated[number, k] = tuple(insufficient_estimates(scope, entry))
                    else:
                        estimated[number, k] = tuple(
                            estimates(scope, entry, self.replicates, uninformed.get(k)))
            self._estimates[model] = estimated
        return self._estimates[model]

    def _without_information(self, model: str) -> dict[int, Floats]:
        """Return the means of a model's measures if truth and prediction were independent, by number of the measure.

        They are of all rows. Measures that only findings use are numbered after `Plan.metrics`.
        """
        if model not in self._no_information:
            scope = self.scope(model, 0, self.summaries[model, 0])
            entries = (*self.plan.metrics, *self.plan.diagnosed) if self.plan.permutations else ()
            possible = {k: entry for k, entry in enumerate(entries) if scope.serves(entry)}
            means = no_information(self.plan, scope.sample, scope.summary, list(possible.values()))
            self._no_information[model] = dict(zip(possible, means, strict=True))
        return self._no_information[model]

    def forget(self, model: str) -> None:
        """Free the large tables of a model's statistics: those of a million rows take a hundred megabytes."""
        for (name, _), summary in self.summaries.items():
            if name == model:
                summary.forget()

    def scope_on_shared_rows(self, scope: Scope) -> Scope:
        """Return the scope in the rows that all models share, for comparisons; unchanged where rows are in memory."""
        if not self.sample.streamed:
            return scope
        subset = self.subsets[scope.number]
        part = self.sample.of(None, subset.slicing)
        rows = rows_of(part, part.models[scope.model])
        rows = rows if subset.rows is None else rows.at(subset.rows)
        return replace(scope, sample=part, subset=subset, summary=Summary(rows, subset.of(part.weights)))

    def diagnosed(self) -> Iterator[Estimate]:
        """Yield the estimates on all rows of the measures that only findings use."""
        for model in self.sample.models:
            scope = self.scope(model, 0, self.summaries[model, 0])
            uninformed = self._without_information(model)
            for k, entry in enumerate(self.plan.diagnosed, len(self.plan.metrics)):
                if scope.serves(entry):
                    yield from estimates(scope, entry, self.replicates, uninformed.get(k))
            self.forget(model)

    def estimate(self, model: str, entry: MetricPlan) -> Estimate:
        """Return the estimate on all rows of a measure that the plan lists and that is one number."""
        return self.estimates_of(model)[0, self.plan.metrics.index(entry)][0]


def evaluate_sample(plan: Plan, sample: Sample, advance: Callable[[int], None] = lambda _: None) -> Evaluated:
    """Return a sample with its statistics and replicates.

    ``advance`` is called after each batch, with the number of replicates that it has drawn.
    """
    divided = subsets(plan, sample)
    of_model = {name: subsets(plan, sample, name) if sample.streamed else divided for name in sample.models}
    summaries = summaries_of(plan, sample, of_model)
    exact = values_of_scores(plan, sample, of_model)
    replicates = draw(plan, sample, summaries, divided, advance, compared=plan.compared, exact=exact)
    if sample.judged is not None:
        replicates = with_judges(plan, sample, replicates, summaries, advance)
    for summary in summaries.values():
        summary.forget()
    if sample.streamed:
        trim()
    return Evaluated(plan, sample, divided, of_model, summaries, replicates)
