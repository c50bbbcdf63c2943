"""Slices in numbers: their sizes and differences from a reference, disparities, and the search for the worst.

The search is over combinations of columns, bounded in depth and number. Slices that no row is in stand at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.card.wording import slice_name
from evalpipe.chapters.slices.records import Disparity, SliceDifference, SliceSummary, WorstSlice
from evalpipe.engine.averages import values
from evalpipe.engine.bootstrap_values import Limited, range_of, smallest_over_largest, together
from evalpipe.engine.differences import Tested, ratio_limited, tested, two_proportions_test
from evalpipe.engine.draws import beside
from evalpipe.engine.estimates import Scope, averaged
from evalpipe.engine.replicates import Replicates, draw
from evalpipe.engine.subsets import Subset, rows_of, subset_of, summaries_of, whole
from evalpipe.intervals.bootstrap import FOLDS, percentile_limits
from evalpipe.intervals.noise import range_limits
from evalpipe.intervals.p_values import benjamini_hochberg, holm
from evalpipe.intervals.resampling import split, stream
from evalpipe.intervals.selection import TrueDifferences, reach_of_all, true_differences
from evalpipe.results import Warned
from evalpipe.statistics import Summary
from evalpipe.statistics.grid import first_rows, joint
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.slices.plan import DisparityPlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.bootstrap_values import Drawn
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


CONSTANT = "one of the two is the same in every resample, so its uncertainty is unknown"


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the tables of slices over all datasets, by their names in `Results`."""
    return {
        "slices": [row for dataset in evaluated for row in sizes(dataset)],
        "slice_differences": [row for dataset in evaluated for row in differences(dataset)],
        "disparities": [row for dataset in evaluated for row in disparities(dataset)],
        "worst_slices": [row for dataset in evaluated for row in worst_slices(plan, dataset.sample)],
    }


def warnings(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[Warned]:
    """Yield a warning for each dataset that has more slices than are searched for the worst."""
    for dataset in evaluated:
        yield from cut_short(plan, dataset.sample)


def sizes(evaluated: Evaluated) -> Iterator[SliceSummary]:
    """Yield how many rows each slice of a dataset has, and how many of them are events."""
    sample = evaluated.sample
    for subset in evaluated.subsets:
        if subset.slice is not None:
            exposed = None if sample.exposure is None else float(subset.of(sample.weights * sample.exposure).sum())
            yield SliceSummary(dataset=sample.dataset, slice=dict(subset.slice), n=subset.n, events=subset.events,
                               total_exposure=exposed)


@dataclass(frozen=True)
class SliceValues:
    """A measure of a model in every subset that has numbers, by the number of the subset.

    ``k`` is the number of the class that it is of; None where it is not taken for each class.
    """

    scopes: Mapping[int, Scope]
    drawn: Mapping[int, Drawn]
    entry: MetricPlan
    k: int | None

    def difference(self, number: int, base: int) -> tuple[Tested, Limited]:
        """Return what a slice has more than its reference, and its share of it, each with limits."""
        if number not in self.scopes or base not in self.scopes:
            reason = "too few rows" if number not in self.scopes else "the reference has too few rows"
            return Tested(None, status="insufficient", reason=reason), Limited(None)
        plan, first, second = self.scopes[number].plan, self.drawn[number], self._base(number, base)
        test = None if first.replicates is None else two_proportions_test(
            plan, self.scopes[number], self.scopes[base], self.entry, self.k)
        difference = tested(first, second, plan.level, test, first.undefined)
        if test is None and difference.test is not None and (_constant(first) or _constant(second)):
            difference = Tested(difference.value, status="degenerate", reason=CONSTANT, drawn=difference.drawn)
        return difference, ratio_limited(first / second, plan.level)


    def _base(self, number: int, base: int) -> Drawn:
        """Return what a slice is compared with; all rows as they were drawn together with it."""
        slicing = self.scopes[number].subset.slicing
        return self.drawn[base] if base or slicing is None else self.drawn.get(beside(slicing), self.drawn[base])


def _constant(value: Drawn) -> bool:
    return bool(np.nanmax(value.known) == np.nanmin(value.known))


def differences(evaluated: Evaluated) -> Iterator[SliceDifference]:
    """Yield, for each model, measure and slice, how it differs from its reference; p-values adjusted over slices."""
    sample = evaluated.sample
    for model in sample.models if sample.slicings else ():
        scopes = {scope.number: scope for scope in evaluated.scopes(model, rest=True)}
        besides = _besides(evaluated, scopes[0])
        for entry in filter(scopes[0].serves, evaluated.plan.metrics):
            drawn = {
                scope.number: scope.drawn(entry, evaluated.replicates) for scope in (*scopes.values(), *besides)}
            if entry.average != "none":
                yield from _adjusted(list(_of_measure(evaluated, SliceValues(scopes, drawn, entry, None))))
                continue
            for k in range(len(sample.levels)):
                of_class = {number: value.of_class(k) for number, value in drawn.items()}
                yield from _adjusted(list(_of_measure(evaluated, SliceValues(scopes, of_class, entry, k))))


def _besides(evaluated: Evaluated, whole: Scope) -> list[Scope]:
    """Return all rows as they were drawn together with each slicing, where slicings were drawn apart."""
    apart = {subset for model, subset, _ in evaluated.replicates.metrics if model == whole.model and subset < 0}
    return [replace(whole, number=number) for number in sorted(apart)]


def _of_measure(evaluated: Evaluated, values: SliceValues) -> Iterator[SliceDifference]:
    """Yield how a measure differs in each slice that is not its own reference; p-values are not adjusted yet."""
    plan, sample, entry = evaluated.plan, evaluated.sample, values.entry
    for number, subset in enumerate(evaluated.subsets):
        if subset.slice is None:
            continue
        base, reference = reference_of(evaluated, number)
        if base == number:
            continue
        difference, ratio = values.difference(number, base)
        yield SliceDifference(
            dataset=sample.dataset, **sample.named(values.scopes[0].model), slice=dict(subset.slice),
            reference=reference, metric=entry.metric.name, params=entry.shown, average=entry.average,
            class_=None if values.k is None else sample.levels[values.k],
            difference=difference.value, method=difference.method, **difference.fields(plan.level),
            ratio=ratio.value, ratio_lower=ratio.lower, ratio_upper=ratio.upper, p_value=difference.p_value,
            test=None if difference.test is None else difference.test.name, p_holm=None, p_benjamini_hochberg=None,
        )


def _adjusted(rows: list[SliceDifference]) -> list[SliceDifference]:
    """Return the rows with their p-values adjusted for each other, where there are any."""
    p = np.array([np.nan if row.p_value is None else row.p_value for row in rows])
    adjusted = zip(rows, holm(p), benjamini_hochberg(p), strict=True)
    return [
        row if np.isnan(by_holm) else row.model_copy(
            update={"p_holm": float(by_holm), "p_benjamini_hochberg": float(by_share)})
        for row, by_holm, by_share in adjusted
    ]


def reference_of(evaluated: Evaluated, number: int) -> tuple[int, str | dict[str, str]]:
    """Return the number of the subset that a slice is compared with, and what that is called.

    It is the rest of the rows, or the slice of the level that is the reference of its column, or else all rows.
    """
    rules, subsets = evaluated.plan.slices, evaluated.subsets
    if rules.reference == "rest":
        return next(k for k, other in enumerate(subsets) if other.beside == number), "rest"
    labels = rules.reference_labels(tuple(subsets[number].slice or ()))
    levels = [k for k, other in enumerate(subsets) if labels and other.slice == labels]
    return (levels[0], labels) if labels and levels else (0, "overall")


if TYPE_CHECKING:
    BySubset = Mapping[int, Drawn]


def disparities(evaluated: Evaluated) -> Iterator[Disparity]:
    """Yield every disparity that the spec asks for, of each model and each slicing of two slices or more."""
    asked = evaluated.plan.slices.disparities
    for model in evaluated.sample.models if asked else ():
        scopes = list(evaluated.scopes(model))
        for slicing, rows in enumerate(evaluated.sample.slicings):
            for disparity in asked if len(rows.labels) > 1 else ():
                drawn = [{scope.number: scope.drawn(entry, evaluated.replicates) for scope in scopes}
                         for entry in disparity.entries]
                yield _disparity(evaluated, model, slicing, disparity, drawn)


def _disparity(
    evaluated: Evaluated, model: str, slicing: int, asked: DisparityPlan, drawn: Sequence[BySubset]
) -> Disparity:
    """Return a disparity between the slices of a slicing; ``drawn`` are its measures, each by subset."""
    subsets, sample, level = evaluated.subsets, evaluated.sample, evaluated.plan.level
    slices = [k for k, subset in enumerate(subsets) if subset.slicing == slicing and subset.slice is not None]
    used = [k for k in slices if all(k in values and np.isfinite(values[k].value) for values in drawn)]
    difference = ratio = Limited(None, status="insufficient", reason="fewer than two slices have a value")
    if len(used) > 1:
        largest, smallest = _extremes([[values[k] for k in used] for values in drawn], asked.entries[0].undefined)
        difference, ratio = largest.limited(level, range_limits), smallest.limited(level, _share_limits)
    entry = asked.entries[0] if len(asked.entries) == 1 else None
    # Of two measures the lowest slice of one need not be that of the other, so none is named.
    ranked = sorted(used, key=lambda k: drawn[0][k].value) if entry and len(used) > 1 else []
    return Disparity(
        dataset=sample.dataset, **sample.named(model), slicing=sample.slicings[slicing].title, disparity=asked.name,
        params=entry.shown if entry else {}, average=entry.average if entry else None,
        difference=difference.value, **difference.fields(level), ratio=ratio.value, ratio_lower=ratio.lower,
        ratio_upper=ratio.upper, expected=_by_chance(difference),
        lowest=dict(subsets[ranked[0]].slice or {}) if ranked else None,
        highest=dict(subsets[ranked[-1]].slice or {}) if ranked else None,
        slices=len(slices), used=len(used),
    )


def _extremes(measures: Sequence[Sequence[Drawn]], undefined: str) -> tuple[Drawn, Drawn]:
    """Return the largest range of any measure over slices, and the least ratio of its smallest to its largest value."""
    largest = together([range_of(values) for values in measures], lambda ranges: ranges.max(axis=-1))
    smallest = together([smallest_over_largest(values) for values in measures], lambda shares: shares.min(axis=-1))
    reason = f"undefined in a slice: {undefined}"
    return replace(largest, undefined=reason), replace(smallest, undefined=reason)


def _by_chance(difference: Limited) -> float | None:
    """Return how much larger a range is in replicates, on average; None where these tell nothing or there are none."""
    if difference.value is None or difference.drawn is None or not np.isfinite(difference.drawn.known).any():
        return None
    return float(np.nanmean(difference.drawn.known) - difference.value)


def _share_limits(value: float, replicates: Floats, level: float) -> tuple[float, float] | None:
    """Return limits of the ratio of the smallest to the largest, from the range of the logarithms."""
    if value <= 0:
        limits = percentile_limits(replicates, level)
        return None if limits is None else (0.0, max(limits[1], 0.0))
    # The range of the logarithms is minus the logarithm of that ratio, so its limits turn round on the way back.
    logs = -log(np.where(replicates > 0, replicates, np.nan))
    limits = range_limits(-math.log(value), logs, level)
    return None if limits is None else (math.exp(-limits[1]), math.exp(-limits[0]))


CAUTION = 1.96
"""Standard errors: the 97.5th percentile of a normal distribution, as of the limit of a 95% interval."""

CANDIDATES = 2000
"""The most slices that are searched; of more, the largest."""


@dataclass(frozen=True)
class Candidate:
    """A combination of slices: for each column its number among the searched ones and the number of the slice."""

    chosen: tuple[tuple[int, int], ...]
    n: int

    def subset(self, sample: Sample) -> Subset:
        """Return the rows that are in all of its slices."""
        inside = np.ones(sample.n, bool)
        labels: dict[str, str] = {}
        for column, code in self.chosen:
            inside &= sample.searched[column].codes == code
            labels |= sample.searched[column].labels[code]
        return subset_of(sample, np.flatnonzero(inside), MappingProxyType(labels), None)


@dataclass(frozen=True)
class Search:
    """How many slices were ``searched``, and how their ``true`` differences from all rows are distributed."""

    searched: int
    true: TrueDifferences


def worst_slices(plan: Plan, sample: Sample) -> Iterator[WorstSlice]:
    """Yield the worst slices of each model, the worst first; its variants are not searched."""
    asked = plan.slices.worst
    if asked is None:
        return
    candidates = sorted(_candidates(plan, sample, asked.depth), key=lambda c: (-c.n, c.chosen))[:CANDIDATES]
    for name, model in sample.models.items():
        if model.source is None:
            alone = replace(sample, models=MappingProxyType({name: model}), slicings=())
            ranked, spread = _ranked(alone, name, asked.entry, candidates, plan.seed)
            yield from _drawn(plan, alone, name, asked.entry, ranked[: asked.top], Search(len(candidates), spread))


def cut_short(plan: Plan, sample: Sample) -> Iterator[Warned]:
    """Yield a warning where there are more slices than are searched."""
    asked = plan.slices.worst
    count = 0 if asked is None else len(_candidates(plan, sample, asked.depth))
    if count > CANDIDATES:
        message = f"{sample.dataset}: only the {CANDIDATES:,} largest of {count:,} slices were searched for the worst"
        yield Warned(code="search-bounded", message=message)


def _candidates(plan: Plan, sample: Sample, depth: int) -> list[Candidate]:
    """Return every combination of up to ``depth`` columns that has rows enough, but for those that leave none out."""
    candidates, sizes = [], sample.observations
    numbers = range(len(sample.searched))
    for columns in (chosen for size in range(1, depth + 1) for chosen in combinations(numbers, size)):
        codes = [sample.searched[column].codes for column in columns]
        cell, count = joint(*codes)
        rows, first = np.bincount(cell, sizes, count), first_rows(cell, count)
        candidates += [
            Candidate(tuple((c, int(code[first[k]])) for c, code in zip(columns, codes, strict=True)), int(rows[k]))
            for k in range(count)
            if plan.slices.enough(int(rows[k])) and rows[k] < sizes.sum()
        ]
    return candidates


def _ranked(
    sample: Sample, name: str, entry: MetricPlan, candidates: Sequence[Candidate], seed: int
) -> tuple[list[Candidate], TrueDifferences]:
    """Return the candidates in which the measure has a value, the one that is surely worst first, and their spread."""
    summary = Summary(rows_of(sample, sample.models[name]), sample.weights)
    all_rows = subset_of(sample, np.arange(sample.n), None, None)
    overall, error_of_all = _with_error(all_rows, sample, summary, entry, stream(seed, "worst", sample.dataset))
    sign = 1.0 if entry.metric.direction == "minimize" else -1.0
    scores, estimates = [], []
    for candidate in candidates:
        # A stream of its own for each combination: its groups do not depend on how many others are searched.
        generator = stream(seed, "worst", sample.dataset, *(code for pair in candidate.chosen for code in pair))
        value, error = _with_error(candidate.subset(sample), sample, summary, entry, generator)
        worse = sign * (value - overall)
        error = max(error, error_of_all * math.sqrt(all_rows.n / candidate.n))
        if np.isfinite(worse - CAUTION * error):
            scores.append((worse - CAUTION * error, candidate))
            estimates.append((worse, error))
    scores.sort(key=lambda pair: (-pair[0], pair[1].chosen))
    differences, errors = np.array(estimates).reshape(-1, 2).T
    return [candidate for _, candidate in scores], true_differences(differences, errors)


def _with_error(
    subset: Subset, sample: Sample, summary: Summary, entry: MetricPlan, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the value in a subset and its standard error, leaving out groups of observations in turn.

    The groups are random, for the rows are sorted by value.
    """
    weights, sizes = subset.of(sample.weights), subset.of(sample.observations)
    left_out = np.concatenate(list(split(generator, sizes, FOLDS)))
    weights = np.concatenate([weights[None], weights * (1 - left_out / sizes)])
    # The values without each group follow that of all rows, so that the measure is computed in one call.
    value, without = np.split(values(Summary(summary.rows.taken(subset.rows), weights), entry), [1])
    return float(value[0]), float(np.sqrt((FOLDS - 1) / FOLDS * ((without - without.mean()) ** 2).sum()))


def _drawn(
    plan: Plan, sample: Sample, name: str, entry: MetricPlan, ranked: Sequence[Candidate], search: Search
) -> Iterator[WorstSlice]:
    """Yield the slices with limits by the method of the measure, and what tells them from all rows."""
    subsets = [whole(sample), *(candidate.subset(sample) for candidate in ranked)]
    summaries = summaries_of(plan, sample, dict.fromkeys(sample.models, subsets))
    # Only the searched measure is drawn: no bands, bins or other measures of slices that no table lists.
    narrow = replace(plan, metrics=(entry,), behind=(), diagnosed=(), bins="none", banded=False, profit_drawn=False)
    replicates = draw(narrow, sample, summaries, subsets) if ranked else Replicates()
    overall, *slices = (
        Scope(narrow, sample, name, k, subset, summaries[name, k]) for k, subset in enumerate(subsets))
    of_all_rows = overall.drawn(entry, replicates)
    for scope in slices:
        yield _row(scope.seen_by(entry), entry, replicates, of_all_rows, search)


def _row(scope: Scope, entry: MetricPlan, replicates: Replicates, overall: Drawn, search: Search) -> WorstSlice:
    """Return the record of a slice, whose rank is the number of its subset; ``overall`` is the measure in all rows."""
    drawn, sample = scope.drawn(entry, replicates), scope.sample
    difference, level = drawn - overall, scope.plan.level
    estimate = averaged(scope, entry, drawn)[0].doubted(difference.few(level))
    (n, events), error = scope.rows(), _error(difference, overall, sample.summary.n / scope.subset.n, level)
    return WorstSlice(
        dataset=sample.dataset, **sample.named(scope.model), rank=scope.number, slice=dict(scope.subset.slice or {}),
        metric=entry.metric.name, params=entry.shown, average=entry.average, n=n, events=events,
        value=drawn.value, overall=overall.value, difference=difference.value, searched=search.searched,
        **_of_selection(difference.value, error, entry, search, level), **estimate.fields(level),
    )


def _of_selection(
    value: float, error: float | None, entry: MetricPlan, search: Search, level: float
) -> dict[str, float | None]:
    """Return what is said of a difference that was chosen out of many; None for all of it where it has no error.

    Its p-value and limits are those of a normal distribution with its standard error.
    """
    from scipy.special import ndtr

    if error is None:
        return {"p_value": None, "p_adjusted": None}
    sign = 1.0 if entry.metric.direction == "minimize" else -1.0
    p, reach = float(2 * ndtr(-abs(value) / error)), reach_of_all(search.searched, level) * error
    corrected = sign * search.true.corrected(sign * value, error, search.searched)
    return {"p_value": p, "p_adjusted": min(1.0, p * search.searched), "difference_lower": value - reach,
            "difference_upper": value + reach, "difference_corrected": corrected}


def _error(difference: Drawn, overall: Drawn, times: float, level: float) -> float | None:
    """Return the standard error of a difference by its replicates; None where they tell none, or of few clusters.

    It is no less than that of as many rows drawn from all, of which there are so many ``times`` as many.
    """
    if difference.replicates is None or overall.replicates is None or difference.few(level) is not None:
        return None
    drawn = (replicates[~np.isnan(replicates)] for replicates in (difference.replicates, overall.replicates))
    errors = [float(known.std(ddof=1)) if len(known) > 1 else 0.0 for known in drawn]
    error = max(errors[0], errors[1] * math.sqrt(times))
    return error if error > 0 else None


MOST_SLICES = 8
"""Slices that an error about one that does not exist lists at most."""


def absent_slice(sample: Sample, labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Return that no row of a dataset is in a slice, and the slices that it has; None where a row is."""
    wanted = dict(labels)
    known = [dict(labels) for slicing in sample.slicings for labels in slicing.labels if set(labels) == set(wanted)]
    if wanted in known:
        return None
    more = ", …" if len(known) > MOST_SLICES else ""
    return (f"no row of dataset '{sample.dataset}' is in the slice {slice_name(wanted)}",
            f"its slices are {listed([slice_name(labels) for labels in known[:MOST_SLICES]], 'and')}{more}")
