"""Comparison: each model less the baseline on the same rows, and each dataset less an earlier one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.engine.contrasts import of_models, of_subsets
from evalpipe.engine.differences import Tested, tested
from evalpipe.intervals.contrasts import p_of_verdict, verdict
from evalpipe.intervals.multiplicity import holm
from evalpipe.results import Comparison

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.engine.estimates import Scope
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.intervals.contrasts import Verdict
    from evalpipe.metrics.declare import Direction
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


@dataclass(frozen=True)
class _Pair:
    """Two scopes whose numbers are compared: the first less the second; ``same_rows`` if both are of the same rows."""

    one: Evaluated
    first: Scope
    other: Evaluated
    second: Scope

    @property
    def same_rows(self) -> bool:
        return self.one is self.other


def comparisons(plan: Plan, evaluated: Sequence[Evaluated]) -> list[Comparison]:
    """Return every difference that the spec asks for, with a verdict that allows for all that stand in its table.

    p-values are adjusted in families, one for each table of the card: on one dataset, on all rows or in slices, all
    models against the baseline, or all variants of a model against their original, or the dataset against the earlier
    one. The verdict's p-value is adjusted: with a margin it is that of the margin.
    """
    found = [
        row
        for pair in _pairs(plan, evaluated)
        for entry in plan.metrics
        if pair.first.serves(entry) and pair.second.serves(entry)
        for row in _compared(plan, pair, entry)
    ]
    families: dict[tuple[object, ...], list[int]] = {}
    for i, one in enumerate(found):
        families.setdefault(one.family, []).append(i)
    rows = [one.row for one in found]
    for members in families.values():
        for i, p in zip(members, holm([found[i].p for i in members]), strict=True):
            rows[i] = found[i].judged(float(p), plan.level)
    return rows


def _pairs(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[_Pair]:
    compare = plan.compare
    for one in evaluated:
        for name, model in one.sample.models.items():
            baseline = model.source or (compare.baseline if compare is not None else None)
            if baseline not in (None, name):
                known = {scope.number: scope for scope in one.scopes(baseline or "")}
                yield from (_Pair(one, scope, one, known[scope.number]) for scope in one.scopes(name))
    earlier_name = None if compare is None else compare.baseline_dataset
    for earlier in (one for one in evaluated if one.sample.dataset == earlier_name):
        for one in evaluated:
            for name in one.sample.models if one is not earlier else ():
                yield _Pair(one, next(one.scopes(name)), earlier, next(earlier.scopes(name)))


@dataclass(frozen=True)
class _Compared:
    """A difference without its verdict, the p-value that the verdict goes by, and the direction of its measure."""

    row: Comparison
    gap: Tested
    p: float
    direction: Direction

    @property
    def family(self) -> tuple[object, ...]:
        """What the differences of one table have in common."""
        row = self.row
        variant = row.model if row.variant != row.baseline_variant else None
        return row.dataset, row.baseline_dataset, variant, row.slice is None

    def judged(self, p: float, level: float) -> Comparison:
        """Return the difference with its verdict, by its p-value after adjustment."""
        said: Verdict = "same" if self.gap.same else verdict(
            self.gap.value or 0.0, p, level, self.row.margin or 0.0, self.direction)
        return self.row.model_copy(update={"p_adjusted": None if math.isnan(p) else p, "verdict": said})


def _compared(plan: Plan, pair: _Pair, entry: MetricPlan) -> Iterator[_Compared]:
    """Yield the differences of one measure: one, or one for each class."""
    now, then = pair.first.drawn(entry, pair.one.replicates), pair.second.drawn(entry, pair.other.replicates)
    undefined = f"undefined for one of the two: {entry.undefined}"
    made = of_models if pair.same_rows else of_subsets
    classes = [(None, None)] if entry.average != "none" else list(enumerate(pair.one.sample.levels))
    for k, name in classes:
        both = (now, then) if k is None else (now.of_class(k), then.of_class(k))
        test = None if now.replicates is None else made(plan, pair.first, pair.second, entry, k)
        difference = tested(*both, plan.level, test, undefined)
        margin = plan.margin(entry) or 0.0
        p = math.nan if difference.test is None else p_of_verdict(difference.test.contrast, margin)
        yield _Compared(_row(plan, pair, entry, difference, name), difference, p, entry.metric.direction)


def _row(plan: Plan, pair: _Pair, entry: MetricPlan, found: Tested, level: str | None = None) -> Comparison:
    scope = pair.first
    baseline = pair.second.sample.named(pair.second.model)
    return Comparison(
        dataset=scope.sample.dataset, **scope.sample.named(scope.model),
        slice=None if scope.subset.slice is None else dict(scope.subset.slice),
        metric=entry.metric.name, params=entry.shown, average=entry.average, class_=level,
        baseline=baseline["model"], baseline_variant=baseline["variant"],
        baseline_dataset=None if pair.same_rows else pair.second.sample.dataset,
        difference=found.value, lower=found.lower, upper=found.upper,
        level=plan.level if found.limits else None,
        method=found.method, p_value=found.p_value, test=None if found.test is None else found.test.name,
        margin=plan.margin(entry), verdict="untested", n=scope.seen_by(entry).subset.n,
        status=found.status, reason=found.reason, undefined_replicates=found.missing,
        details={} if found.test is None else dict(found.test.details),
    )
