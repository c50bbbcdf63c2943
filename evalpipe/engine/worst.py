"""The search for the slices in which a measure is worst: combinations of columns, bounded in depth and number.

Candidates are ranked by how much worse they surely are than all rows: the difference less `CAUTION` of its standard
errors, from a jackknife of groups of rows. The bootstrap is then drawn for those that are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.engine.estimates import Scope, averaged
from evalpipe.engine.replicates import Replicates, draw
from evalpipe.engine.rows import rows_of
from evalpipe.engine.subsets import Subset, subset_of, summaries_of, whole
from evalpipe.intervals.bootstrap import FOLDS
from evalpipe.intervals.resampling import split, stream
from evalpipe.results import Warned, WorstSlice
from evalpipe.statistics import Summary
from evalpipe.statistics.grid import first_rows, joint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.drawn import Drawn
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

CAUTION = 1.96

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


def worst_slices(plan: Plan, one: Evaluated) -> list[WorstSlice]:
    """Return the worst slices of each model, the worst first; its variants are not searched."""
    asked = plan.slices.worst
    if asked is None:
        return []
    entry, sample = asked.entry, one.sample
    candidates = _candidates(plan, sample, asked.depth)
    found: list[WorstSlice] = []
    for name, model in sample.models.items():
        if model.source is not None:
            continue
        alone = replace(sample, models=MappingProxyType({name: model}), slicings=())
        ranked = _ranked(alone, name, entry, candidates, plan.seed)[: asked.top]
        found += _drawn(plan, alone, name, entry, ranked, len(candidates))
    return found


def cut_short(plan: Plan, sample: Sample) -> list[Warned]:
    """Say so where there are more slices than are searched."""
    asked = plan.slices.worst
    if asked is None:
        return []
    all_ = len(_combined(plan, sample, asked.depth))
    if all_ <= CANDIDATES:
        return []
    message = f"{sample.dataset}: only the {CANDIDATES:,} largest of {all_:,} slices were searched for the worst"
    return [Warned(code="search-bounded", message=message)]


def _candidates(plan: Plan, sample: Sample, depth: int) -> list[Candidate]:
    return sorted(_combined(plan, sample, depth), key=lambda c: (-c.n, c.chosen))[:CANDIDATES]


def _combined(plan: Plan, sample: Sample, depth: int) -> list[Candidate]:
    """Return every combination of up to ``depth`` columns that has rows enough, but for those that leave none out."""
    found = []
    each = sample.observations
    for size in range(1, depth + 1):
        for columns in combinations(range(len(sample.searched)), size):
            codes = [sample.searched[column].codes for column in columns]
            cell, count = joint(*codes)
            rows = np.bincount(cell, each, count)
            first = first_rows(cell, count)
            found += [
                Candidate(tuple((c, int(code[first[k]])) for c, code in zip(columns, codes, strict=True)), int(rows[k]))
                for k in range(count)
                if plan.slices.enough(int(rows[k])) and rows[k] < each.sum()
            ]
    return found


def _ranked(
    sample: Sample, name: str, entry: MetricPlan, candidates: Sequence[Candidate], seed: int
) -> list[Candidate]:
    rows = rows_of(sample, sample.models[name])
    weights, sizes = sample.weights, sample.observations
    overall = float(values(Summary(rows, weights), entry))
    sign = 1.0 if entry.metric.direction == "minimize" else -1.0
    scores = []
    for candidate in candidates:
        subset = candidate.subset(sample)
        generator = stream(seed, "worst", sample.dataset, *(code for pair in candidate.chosen for code in pair))
        value, error = _with_error(rows.taken(subset.rows), subset.of(weights), subset.of(sizes), entry, generator)
        if np.isfinite(value):
            scores.append((sign * (value - overall) - CAUTION * error, candidate))
    scores = [pair for pair in scores if np.isfinite(pair[0])]
    return [candidate for _, candidate in sorted(scores, key=lambda pair: (-pair[0], pair[1].chosen))]


def _with_error(
    rows: Any, weights: Floats, sizes: Wholes, entry: MetricPlan, generator: np.random.Generator
) -> tuple[float, float]:
    """Return a value and its standard error, leaving out groups of observations in turn; ``sizes`` [n] of each row.

    The groups are random, for the rows are sorted by value.
    """
    left_out = np.concatenate(list(split(generator, sizes, FOLDS)))
    found = values(Summary(rows, np.concatenate([weights[None], weights * (1 - left_out / sizes)])), entry)
    left = found[1:]
    return float(found[0]), float(np.sqrt((FOLDS - 1) / FOLDS * ((left - left.mean()) ** 2).sum()))


def _drawn(
    plan: Plan, sample: Sample, name: str, entry: MetricPlan, ranked: Sequence[Candidate], searched: int
) -> list[WorstSlice]:
    """Return the slices with limits by the method of the measure, and what tells them from all rows."""
    def divide(_: Plan, drawn: Sample) -> list[Subset]:
        return [whole(drawn), *(candidate.subset(drawn) for candidate in ranked)]

    subsets = divide(plan, sample)
    summaries = summaries_of(plan, sample, subsets)
    narrow = replace(plan, metrics=(entry,), behind=(), bins="none", banded=False, profit_drawn=False)
    replicates = draw(narrow, sample, summaries, divide) if ranked else Replicates()
    scopes = [Scope(narrow, sample, name, k, subset, summaries[name, k]) for k, subset in enumerate(subsets)]
    overall = scopes[0].drawn(entry, replicates)
    return [_row(scope.seen_by(entry), entry, replicates, overall, searched) for scope in scopes[1:]]


def _row(scope: Scope, entry: MetricPlan, replicates: Replicates, overall: Drawn, searched: int) -> WorstSlice:
    """Return the record of a slice, whose rank is the number of its subset; ``overall`` is the measure in all rows."""
    drawn, sample = scope.drawn(entry, replicates), scope.sample
    estimate, _ = averaged(scope, entry, drawn)
    difference = drawn - overall
    p, (n, events) = _p_value(difference, scope.plan.level), scope.rows()
    return WorstSlice(
        dataset=sample.dataset, **sample.named(scope.model), rank=scope.number, slice=dict(scope.subset.slice or {}),
        metric=entry.metric.name, params=entry.shown, average=entry.average, n=n, events=events,
        value=drawn.value, overall=overall.value, difference=difference.value, lower=estimate.lower,
        upper=estimate.upper, level=scope.plan.level if estimate.limits else None, p_value=p,
        p_adjusted=None if p is None else min(1.0, p * searched), searched=searched,
        status=estimate.status, reason=estimate.reason,
    )


def _p_value(difference: Drawn, level: float) -> float | None:
    """Return the two-sided p-value of a difference with the standard error of its replicates; None of few clusters."""
    from scipy.special import ndtr

    if difference.replicates is None or difference.few(level) is not None:
        return None
    drawn = difference.replicates
    error = float(np.nanstd(drawn, ddof=1)) if np.isfinite(drawn).sum() > 1 else 0.0
    return float(2 * ndtr(-abs(difference.value) / error)) if error > 0 else None
