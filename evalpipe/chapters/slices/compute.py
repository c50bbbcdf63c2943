"""Slices in numbers: their sizes and differences from a reference, disparities, and the search for the worst.

The search is over combinations of columns, bounded in depth and number. Slices that no row is in stand at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import chain, combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import log
from evalpipe.chapters.slices.records import Disparity, SliceDifference, SliceSummary, WorstSlice
from evalpipe.engine.averages import values
from evalpipe.engine.differences import Tested, ratio_with_limits, tested, two_proportions_test
from evalpipe.engine.draws import all_rows_number
from evalpipe.engine.estimates import Scope, single_number_with_limits
from evalpipe.engine.replicates import Replicates, draw
from evalpipe.engine.subsets import Subset, all_rows_subset, rows_of, subset_of, summaries_of
from evalpipe.engine.support import Limited, combine_drawn, range_of, smallest_over_largest
from evalpipe.intervals.bootstrap import FOLDS, percentile_limits
from evalpipe.intervals.multiplicity import TrueDifferences, benjamini_hochberg, holm, reach_of_all, true_differences
from evalpipe.intervals.noise import range_limits
from evalpipe.intervals.resampling import split, stream
from evalpipe.results import Warned
from evalpipe.statistics import Summary
from evalpipe.statistics.grid import first_rows, joint
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.slices.plan import DisparityPlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.engine.support import Drawn
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.words.sentences import Sentence


CONSTANT = sentence("same-in-one")


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
    search = plan.slices.worst
    if search is None:
        return
    for dataset in evaluated:
        count = len(_candidate_slices(plan, dataset.sample, search.depth))
        if count > CANDIDATES:
            yield Warned.of("search-bounded", dataset=dataset.sample.dataset, searched=CANDIDATES, slices=count)


def sizes(evaluated: Evaluated) -> Iterator[SliceSummary]:
    """Yield the record of each slice of a dataset: how many rows, and how many of them events, it has."""
    sample = evaluated.sample
    for subset in evaluated.subsets:
        if subset.slice is not None:
            exposed = None if sample.exposure is None else float(subset.of(sample.weights * sample.exposure).sum())
            yield SliceSummary(dataset=sample.dataset, slice=dict(subset.slice), n=subset.n, events=subset.events,
                               total_exposure=exposed)


@dataclass(frozen=True)
class SliceValues:
    """A measure of a model in every subset that has numbers, by the number of the subset.

    ``k`` is the index of the class of the measure; None where it is not computed for each class.
    """

    scopes: Mapping[int, Scope]
    drawn: Mapping[int, Drawn]
    entry: MetricPlan
    k: int | None

    def difference(self, number: int, reference_number: int) -> tuple[Tested, Limited]:
        """Return the difference of a slice from its reference, and its ratio to it, each with limits.

        ``number`` and ``reference_number`` are the numbers of their subsets.
        """
        if number not in self.scopes or reference_number not in self.scopes:
            code = "few-rows-in-slice" if number not in self.scopes else "few-rows-in-reference"
            return Tested(None, status="insufficient", reason=sentence(code)), Limited(None)
        plan, first = self.scopes[number].plan, self.drawn[number]
        second, slicing = self.drawn[reference_number], self.scopes[number].subset.slicing
        if reference_number == 0 and slicing is not None:  # all rows, in the replicates that the slice is drawn in
            second = self.drawn.get(all_rows_number(slicing), second)
        test = None if first.replicates is None else two_proportions_test(
            plan, self.scopes[number], self.scopes[reference_number], self.entry, self.k)
        difference = tested(first, second, plan.level, test, first.undefined, may_differ=lambda: False)
        if test is None and difference.test is not None and (_is_constant(first) or _is_constant(second)):
            difference = Tested(difference.value, status="degenerate", reason=CONSTANT, drawn=difference.drawn)
        return difference, ratio_with_limits(first / second, plan.level)


def _is_constant(value: Drawn) -> bool:
    """Tell whether a value is the same in all bootstrap replicates, so that they tell nothing of its spread."""
    return bool(np.nanmax(value.known) == np.nanmin(value.known))


def differences(evaluated: Evaluated) -> Iterator[SliceDifference]:
    """Yield how each slice differs from its reference, for each model and measure; p-values adjusted over slices."""
    sample = evaluated.sample
    for model in sample.models if sample.slicings else ():
        scopes = {scope.number: scope for scope in evaluated.scopes(model, rest=True)}
        all_rows = _all_rows_by_slicing(evaluated, scopes[0])
        for entry in filter(scopes[0].serves, evaluated.plan.metrics):
            drawn = {
                scope.number: scope.drawn(entry, evaluated.replicates) for scope in (*scopes.values(), *all_rows)}
            if entry.average != "none":
                rows = _differences_of_measure(evaluated, SliceValues(scopes, drawn, entry, None))
                yield from _with_adjusted_p_values(list(rows))
                continue
            for k in range(len(sample.levels)):
                of_class = {number: value.of_class(k) for number, value in drawn.items()}
                rows = _differences_of_measure(evaluated, SliceValues(scopes, of_class, entry, k))
                yield from _with_adjusted_p_values(list(rows))


def _all_rows_by_slicing(evaluated: Evaluated, all_rows: Scope) -> list[Scope]:
    """Return the scope of all rows once for each slicing with replicates of its own, numbered below 0.

    The slices of that slicing and all rows are compared in the same replicates.
    """
    numbers = {subset for model, subset, _ in evaluated.replicates.metrics if model == all_rows.model and subset < 0}
    return [replace(all_rows, number=number) for number in sorted(numbers)]


def _differences_of_measure(evaluated: Evaluated, values: SliceValues) -> Iterator[SliceDifference]:
    """Yield the difference of each slice from its reference, with p-values that are not adjusted yet."""
    plan, sample, entry = evaluated.plan, evaluated.sample, values.entry
    for number, subset in enumerate(evaluated.subsets):
        if subset.slice is None:
            continue
        reference_number, reference = reference_subset(evaluated, number)
        if reference_number == number:
            continue
        difference, ratio = values.difference(number, reference_number)
        yield SliceDifference(
            dataset=sample.dataset, **sample.named(values.scopes[0].model), slice=dict(subset.slice),
            reference=reference, metric=entry.metric.name, params=entry.shown, average=entry.average,
            class_=None if values.k is None else sample.levels[values.k],
            difference=difference.value, method=difference.method, **difference.fields(plan.level),
            ratio=ratio.value, ratio_lower=ratio.lower, ratio_upper=ratio.upper, p_value=difference.p_value,
            test=None if difference.test is None else difference.test.name, p_holm=None, p_benjamini_hochberg=None,
        )


def _with_adjusted_p_values(rows: list[SliceDifference]) -> list[SliceDifference]:
    """Return the rows with p-values adjusted by Holm and by Benjamini & Hochberg, where they have any."""
    p = np.array([np.nan if row.p_value is None else row.p_value for row in rows])
    adjusted = zip(rows, holm(p), benjamini_hochberg(p), strict=True)
    return [
        row if np.isnan(by_holm) else row.model_copy(
            update={"p_holm": float(by_holm), "p_benjamini_hochberg": float(by_share)})
        for row, by_holm, by_share in adjusted
    ]


def reference_subset(evaluated: Evaluated, number: int) -> tuple[int, str | dict[str, str]]:
    """Return (number, name) of the subset that the slice ``number`` is compared with.

    It is the rest of the rows, or the slice of the level that is the reference of its column, or else all rows.
    """
    rules, subsets = evaluated.plan.slices, evaluated.subsets
    if rules.reference == "rest":
        return evaluated.rests[number], "rest"
    labels = rules.reference_labels(tuple(subsets[number].slice or ()))
    level = evaluated.slice_numbers.get(frozenset(labels.items())) if labels else None
    return (level, labels) if labels and level is not None else (0, "overall")


if TYPE_CHECKING:
    BySubset = Mapping[int, Drawn]


def disparities(evaluated: Evaluated) -> Iterator[Disparity]:
    """Yield every disparity of the spec, for each model and each slicing of two slices or more."""
    planned = evaluated.plan.slices.disparities
    for model in evaluated.sample.models if planned else ():
        scopes = list(evaluated.scopes(model))
        for slicing, rows in enumerate(evaluated.sample.slicings):
            for disparity in planned if len(rows.labels) > 1 else ():
                drawn = [{scope.number: scope.drawn(entry, evaluated.replicates) for scope in scopes}
                         for entry in disparity.entries]
                yield _disparity_of_slicing(evaluated, model, slicing, disparity, drawn)


def _disparity_of_slicing(
    evaluated: Evaluated, model: str, slicing: int, disparity: DisparityPlan, drawn: Sequence[BySubset]
) -> Disparity:
    """Return the record of a disparity between the slices of a slicing, by the number of the slicing.

    ``drawn`` are the measures of the disparity, each by the number of the subset.
    """
    subsets, sample, level = evaluated.subsets, evaluated.sample, evaluated.plan.level
    slices = [k for k, subset in enumerate(subsets) if subset.slicing == slicing and subset.slice is not None]
    with_values = [k for k in slices if all(k in values and np.isfinite(values[k].value) for values in drawn)]
    difference = ratio = Limited(None, status="insufficient", reason=sentence("few-slices"))
    if len(with_values) > 1:
        of_slices = [[values[k] for k in with_values] for values in drawn]
        largest, smallest = _range_and_ratio(of_slices, disparity.entries[0].undefined)
        difference, ratio = largest.limited(level, range_limits), smallest.limited(level, _ratio_limits)
        known = np.zeros(0) if largest.replicates is None else largest.known[np.isfinite(largest.known)]
        if known.size and known.min() == known.max():
            difference, ratio = (limited.doubted(sentence("same-in-resamples")) for limited in (difference, ratio))
    entry = disparity.entries[0] if len(disparity.entries) == 1 else None
    # Of two measures the lowest slice of one need not be that of the other, so none is named.
    ranked = sorted(with_values, key=lambda k: drawn[0][k].value) if entry and len(with_values) > 1 else []
    return Disparity(
        dataset=sample.dataset, **sample.named(model), slicing=sample.slicings[slicing].title, disparity=disparity.name,
        params=entry.shown if entry else {}, average=entry.average if entry else None,
        difference=difference.value, **difference.fields(level), ratio=ratio.value, ratio_lower=ratio.lower,
        ratio_upper=ratio.upper, expected=_bias_of_range(difference),
        lowest=dict(subsets[ranked[0]].slice or {}) if ranked else None,
        highest=dict(subsets[ranked[-1]].slice or {}) if ranked else None,
        slices=len(slices), used=len(with_values),
    )


def _range_and_ratio(measures: Sequence[Sequence[Drawn]], undefined: Sentence) -> tuple[Drawn, Drawn]:
    """Return the largest range over slices of any measure, and the least ratio of smallest to largest value."""
    range_ = combine_drawn([range_of(values) for values in measures], lambda ranges: ranges.max(axis=-1))
    ratio = combine_drawn([smallest_over_largest(values) for values in measures], lambda shares: shares.min(axis=-1))
    reason = sentence("undefined-in-slice", because=undefined)
    return replace(range_, undefined=reason), replace(ratio, undefined=reason)


def _bias_of_range(largest_range: Limited) -> float | None:
    """Return the bootstrap's bias of the largest range between slices: the mean of the replicates less the range.

    None where the range is undefined or has no replicates.
    """
    if largest_range.value is None or largest_range.drawn is None or not np.isfinite(largest_range.drawn.known).any():
        return None
    return float(np.nanmean(largest_range.drawn.known) - largest_range.value)


def _ratio_limits(value: float, replicates: Floats, level: float) -> tuple[float, float] | None:
    """Return limits of the ratio of the smallest to the largest value, from the range of their logarithms."""
    if value <= 0:  # it has no logarithm
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
    """A combination of slices of a dataset, with ``n`` observations.

    ``chosen`` has, for each column combined, its index among the searched columns and the index of the slice.
    """

    chosen: tuple[tuple[int, int], ...]
    n: int

    def subset(self, sample: Sample) -> Subset:
        """Return the subset of the rows that are in all slices of the combination."""
        is_inside = np.ones(sample.n, bool)
        labels: dict[str, str] = {}
        for column, code in self.chosen:
            is_inside &= sample.searched[column].codes == code
            labels |= sample.searched[column].labels[code]
        return subset_of(sample, np.flatnonzero(is_inside), MappingProxyType(labels), None)


@dataclass(frozen=True)
class Search:
    """How many slices were ``searched``, and how their ``true`` differences from all rows are distributed."""

    searched: int
    true: TrueDifferences


def worst_slices(plan: Plan, sample: Sample) -> Iterator[WorstSlice]:
    """Yield the worst slices of each model, the worst first; recalibrated variants are not searched."""
    search = plan.slices.worst
    if search is None:
        return
    largest_first = sorted(
        _candidate_slices(plan, sample, search.depth), key=lambda candidate: (-candidate.n, candidate.chosen))
    candidates = largest_first[:CANDIDATES]
    for name, model in sample.models.items():
        if model.source is None:
            of_model = replace(sample, models=MappingProxyType({name: model}), slicings=())
            ranked, true = _rank_candidates(of_model, name, search.entry, candidates, plan.seed)
            searched = Search(len(candidates), true)
            yield from _worst_with_limits(plan, of_model, name, search.entry, ranked[: search.top], searched)


def _candidate_slices(plan: Plan, sample: Sample, depth: int) -> list[Candidate]:
    """Return every slice by up to ``depth`` columns that has enough rows for numbers, but not all rows."""
    candidates, observations = [], sample.observations
    by_depth = (combinations(range(len(sample.searched)), size) for size in range(1, depth + 1))
    for columns in chain.from_iterable(by_depth):
        codes = [sample.searched[column].codes for column in columns]
        # Rows with the same levels of all these columns have one number, of ``count``.
        combination, count = joint(*codes)
        rows, first_row = np.bincount(combination, observations, count), first_rows(combination, count)
        candidates += [
            Candidate(tuple((c, int(code[first_row[k]])) for c, code in zip(columns, codes, strict=True)), int(rows[k]))
            for k in range(count)
            if plan.slices.enough(int(rows[k])) and rows[k] < observations.sum()
        ]
    return candidates


def _rank_candidates(
    sample: Sample, name: str, entry: MetricPlan, candidates: Sequence[Candidate], seed: int
) -> tuple[list[Candidate], TrueDifferences]:
    """Return the candidates, the most surely worse first, and the distribution of their true differences.

    They are ranked by the lower limit of how much worse the measure is there than over all rows. ``name`` is the
    model; candidates without a finite limit are left out.
    """
    summary = Summary(rows_of(sample, sample.models[name]), sample.weights)
    all_rows = subset_of(sample, np.arange(sample.n), None, None)
    overall, error_of_all = _value_and_error(all_rows, sample, summary, entry, stream(seed, "worst", sample.dataset))
    sign = 1.0 if entry.metric.direction == "minimize" else -1.0
    scores, estimates = [], []
    for candidate in candidates:
        # A stream of its own for each combination: its groups do not depend on how many others are searched.
        generator = stream(seed, "worst", sample.dataset, *(code for pair in candidate.chosen for code in pair))
        value, error = _value_and_error(candidate.subset(sample), sample, summary, entry, generator)
        worse = sign * (value - overall)
        error = max(error, error_of_all * math.sqrt(all_rows.n / candidate.n))
        if np.isfinite(worse - CAUTION * error):
            scores.append((worse - CAUTION * error, candidate))
            estimates.append((worse, error))
    scores.sort(key=lambda pair: (-pair[0], pair[1].chosen))
    differences, errors = np.array(estimates).reshape(-1, 2).T
    return [candidate for _, candidate in scores], true_differences(differences, errors)


def _value_and_error(
    subset: Subset, sample: Sample, summary: Summary, entry: MetricPlan, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the value of a measure in a subset, and its jackknife standard error over random groups of observations.

    ``summary`` is of all rows of the sample. The groups are random because the rows are sorted by value.
    """
    weights, sizes = subset.of(sample.weights), subset.of(sample.observations)
    left_out = np.concatenate(list(split(generator, sizes, FOLDS)))
    weights = np.concatenate([weights[None], weights * (1 - left_out / sizes)])
    # The values without each group follow that of all rows, so that the measure is computed in one call.
    value, values_without_group = np.split(values(Summary(summary.rows.at(subset.rows), weights), entry), [1])
    distances = values_without_group - values_without_group.mean()
    return float(value[0]), float(np.sqrt((FOLDS - 1) / FOLDS * (distances**2).sum()))


def _worst_with_limits(
    plan: Plan, sample: Sample, name: str, entry: MetricPlan, ranked: Sequence[Candidate], search: Search
) -> Iterator[WorstSlice]:
    """Yield the records of ranked slices, with limits by the method of the measure, and differences from all rows."""
    subsets = [all_rows_subset(sample), *(candidate.subset(sample) for candidate in ranked)]
    summaries = summaries_of(plan, sample, dict.fromkeys(sample.models, subsets))
    # Only the searched measure is drawn: no bands, bins or other measures of slices that no table lists.
    narrowed = replace(plan, metrics=(entry,), behind=(), diagnosed=(), bins="none", banded=False, profit_drawn=False)
    replicates = draw(narrowed, sample, summaries, subsets) if ranked else Replicates()
    overall, *slices = (
        Scope(narrowed, sample, name, k, subset, summaries[name, k]) for k, subset in enumerate(subsets))
    of_all_rows = overall.drawn(entry, replicates)
    for scope in slices:
        yield _worst_slice(scope.seen_by(entry), entry, replicates, of_all_rows, search)


def _worst_slice(scope: Scope, entry: MetricPlan, replicates: Replicates, overall: Drawn, search: Search) -> WorstSlice:
    """Return the record of a slice; its rank is its subset's number. ``overall`` is the measure over all rows."""
    drawn, sample = scope.drawn(entry, replicates), scope.sample
    difference, level = drawn - overall, scope.plan.level
    estimate = single_number_with_limits(scope, entry, drawn)[0].doubted(difference.few(level))
    (n, events), error = scope.rows(), _standard_error(difference, overall, sample.summary.n / scope.subset.n, level)
    return WorstSlice(
        dataset=sample.dataset, **sample.named(scope.model), rank=scope.number, slice=dict(scope.subset.slice or {}),
        metric=entry.metric.name, params=entry.shown, average=entry.average, n=n, events=events,
        value=drawn.value, overall=overall.value, difference=difference.value, searched=search.searched,
        **_corrected_for_selection(difference.value, error, entry, search, level), **estimate.fields(level),
    )


def _corrected_for_selection(
    value: float, error: float | None, entry: MetricPlan, search: Search, level: float
) -> dict[str, float | None]:
    """Return fields of a record on a difference chosen as the worst of many: p-values, limits and the corrected value.

    They are those of a normal distribution with its standard error; without ``error`` p-values are None.
    """
    from scipy.special import ndtr

    if error is None:
        return {"p_value": None, "p_adjusted": None}
    sign = 1.0 if entry.metric.direction == "minimize" else -1.0
    p, half_width = float(2 * ndtr(-abs(value) / error)), reach_of_all(search.searched, level) * error
    corrected = sign * search.true.corrected(sign * value, error, search.searched)
    return {"p_value": p, "p_adjusted": min(1.0, p * search.searched), "difference_lower": value - half_width,
            "difference_upper": value + half_width, "difference_corrected": corrected}


def _standard_error(difference: Drawn, overall: Drawn, times: float, level: float) -> float | None:
    """Return the bootstrap standard error of a difference; None where it is unknown, or of few clusters.

    It is at least that of all rows times the root of ``times``, the rows of the dataset for each row of the slice:
    a slice that was chosen as the worst may look more certain than it is.
    """
    if difference.replicates is None or overall.replicates is None or difference.few(level) is not None:
        return None
    drawn = (replicates[~np.isnan(replicates)] for replicates in (difference.replicates, overall.replicates))
    errors = [float(defined.std(ddof=1)) if len(defined) > 1 else 0.0 for defined in drawn]
    error = max(errors[0], errors[1] * math.sqrt(times))
    return error if error > 0 else None
