"""The search for the slices in which a measure is worst: combinations of columns, bounded in depth and number.

Candidates are ranked by how much worse they surely are than all rows: the difference less `CAUTION` of its standard
errors, from a jackknife of groups of rows. No error counts as less than that of as many rows drawn from all, for a few
rows that all are right would seem to have none. The bootstrap is then drawn for those that are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.slices.records import WorstSlice
from evalpipe.engine.averages import values
from evalpipe.engine.estimates import Scope, averaged
from evalpipe.engine.replicates import Replicates, draw
from evalpipe.engine.subsets import Subset, rows_of, subset_of, summaries_of, whole
from evalpipe.intervals.bootstrap import FOLDS
from evalpipe.intervals.resampling import split, stream
from evalpipe.intervals.selection import TrueDifferences, reach_of_all, true_differences
from evalpipe.results import Warned
from evalpipe.statistics import Summary
from evalpipe.statistics.grid import first_rows, joint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.engine.bootstrap_values import Drawn
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

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
