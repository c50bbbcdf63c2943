"""Slices in numbers: how large each is, and how it differs from its reference, as a difference and as a ratio."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.slices.compute_disparities import disparities
from evalpipe.chapters.slices.compute_worst import cut_short, worst_slices
from evalpipe.chapters.slices.records import SliceDifference, SliceSummary
from evalpipe.engine.bootstrap_values import Limited
from evalpipe.engine.differences import Tested, of_subsets, ratio_limited, tested
from evalpipe.engine.draws import beside
from evalpipe.intervals.p_values import benjamini_hochberg, holm

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.engine.bootstrap_values import Drawn
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Warned

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
        test = None if first.replicates is None else of_subsets(
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
