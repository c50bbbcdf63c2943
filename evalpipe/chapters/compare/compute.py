"""Comparison: each model less the baseline on the same rows, and each dataset less an earlier one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.chapters.compare.compute_paired import of_cells, paired_test, ranked_alike
from evalpipe.chapters.compare.records import Comparison
from evalpipe.engine.differences import Tested, of_subsets, tested
from evalpipe.intervals.contrasts import margin_verdict, p_of_verdict, verdict
from evalpipe.intervals.p_values import holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.intervals.contrasts import Verdict
    from evalpipe.metrics.declare import Direction
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


@dataclass(frozen=True)
class _Pair:
    """Two scopes whose numbers are compared, the first less the second, and the datasets that they are of."""

    first: Scope
    second: Scope
    dataset: Evaluated
    other: Evaluated

    @property
    def tested(self) -> tuple[Scope, Scope]:
        """The two scopes, with the same rows where they can have them."""
        if not self.same_rows:
            return self.first, self.second
        return self.dataset.beside_others(self.first), self.dataset.beside_others(self.second)

    @property
    def same_rows(self) -> bool:
        """Whether both are of the same rows."""
        return self.dataset is self.other


@dataclass(frozen=True)
class _Compared:
    """A difference without its verdict, the p-values that the verdict goes by, and the direction of its measure.

    ``p`` is `p_of_verdict`, ``p_zero`` that of no difference.
    """

    row: Comparison
    difference: Tested
    p: float
    p_zero: float
    direction: Direction

    @property
    def family(self) -> tuple[object, ...]:
        """What the differences of one table have in common."""
        row = self.row
        model = row.model if row.variant != row.baseline_variant else None
        return row.dataset, row.baseline_dataset, model, row.slice is None

    def judged(self, p: float, p_zero: float, level: float) -> Comparison:
        """Return the difference with its verdict, by its p-values after adjustment."""
        value, margin = self.difference.value or 0.0, self.row.margin or 0.0
        decided: Verdict = "same" if self.difference.same else verdict(
            value, p, p_zero, level, margin, self.direction)
        side = margin_verdict(decided, p, level, margin)
        p = p_zero if side == "open" else p
        return self.row.model_copy(update={
            "p_adjusted": None if math.isnan(p) else p, "verdict": decided, "margin_verdict": side})


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return every difference that the spec asks for, with a verdict that allows for all that stand in its table.

    p-values are adjusted in families, one for each table of the card: on one dataset, on all rows or in slices, all
    models against the baseline, or all variants of a model against their original, or the dataset against the earlier
    one. Those of the verdicts are adjusted together: with a margin they are of the margin. Those of no difference are
    so too, which tell better from worse where the margin leaves it open.
    """
    differences = [
        difference
        for pair in _pairs(plan, evaluated)
        for entry in plan.metrics
        if pair.first.serves(entry) and pair.second.serves(entry)
        for difference in _differences(plan, pair, entry)
    ]
    families: dict[tuple[object, ...], list[int]] = {}
    for i, difference in enumerate(differences):
        families.setdefault(difference.family, []).append(i)
    rows = [difference.row for difference in differences]
    for members in families.values():
        of_verdict, of_zero = (holm([getattr(differences[i], name) for i in members]) for name in ("p", "p_zero"))
        for i, p, p_zero in zip(members, of_verdict.tolist(), of_zero.tolist(), strict=True):
            rows[i] = differences[i].judged(p, p_zero, plan.level)
    return {"comparisons": rows}


def _pairs(plan: Plan, evaluated: Sequence[Evaluated]) -> Iterator[_Pair]:
    """Yield variants with their originals and models with the baseline, then datasets with the earlier one."""
    compare = plan.compare
    for dataset in evaluated:
        for name, model in dataset.sample.models.items():
            baseline = model.source or (compare.baseline if compare is not None else None)
            if baseline not in (None, name):
                known = {scope.number: scope for scope in dataset.scopes(baseline or "")}
                yield from (_Pair(scope, known[scope.number], dataset, dataset) for scope in dataset.scopes(name))
    earlier_name = None if compare is None else compare.baseline_dataset
    for earlier in (dataset for dataset in evaluated if dataset.sample.dataset == earlier_name):
        for dataset in evaluated:
            for name in dataset.sample.models if dataset is not earlier else ():
                yield _Pair(next(dataset.scopes(name)), next(earlier.scopes(name)), dataset, earlier)


def _differences(plan: Plan, pair: _Pair, entry: MetricPlan) -> Iterator[_Compared]:
    """Yield the differences of one measure: one, or one for each class."""
    first = pair.first.drawn(entry, pair.dataset.replicates)
    second = pair.second.drawn(entry, pair.other.replicates)
    if pair.same_rows and ranked_alike(pair.first, pair.second, entry):
        second = first
    undefined = f"undefined for one of the two: {entry.undefined}"
    test_for = paired_test if pair.same_rows else of_subsets
    classes = [(None, None)] if entry.average != "none" else list(enumerate(pair.dataset.sample.levels))
    for k, level in classes:
        both = (first, second) if k is None else (first.of_class(k), second.of_class(k))
        test = None if first.replicates is None else test_for(plan, *pair.tested, entry, k)
        if test is not None and pair.same_rows and pair.dataset.sample.streamed:
            test = of_cells(plan, test, pair.first, pair.second, float(both[0].value - both[1].value))
        difference = tested(*both, plan.level, test, undefined)
        margin = plan.margin(entry) or 0.0
        p, p_zero = (math.nan if difference.test is None else p_of_verdict(difference.test.contrast, bound)
                     for bound in (margin, 0.0))
        yield _Compared(_row(plan, pair, entry, difference, level), difference, p, p_zero, entry.metric.direction)


def _row(plan: Plan, pair: _Pair, entry: MetricPlan, difference: Tested, level: str | None) -> Comparison:
    scope, test = pair.first, difference.test
    baseline = pair.second.sample.named(pair.second.model)
    return Comparison(
        dataset=scope.sample.dataset, **scope.sample.named(scope.model),
        slice=None if scope.subset.slice is None else dict(scope.subset.slice),
        metric=entry.metric.name, params=entry.shown, average=entry.average, class_=level,
        baseline=baseline["model"], baseline_variant=baseline["variant"],
        baseline_dataset=None if pair.same_rows else pair.second.sample.dataset,
        difference=difference.value, method=difference.method, p_value=difference.p_value,
        test=None if test is None else test.name, margin=plan.margin(entry), verdict="untested",
        n=scope.seen_by(entry).subset.n, **difference.fields(plan.level),
        undefined_replicates=difference.missing, details={} if test is None else dict(test.details),
    )
