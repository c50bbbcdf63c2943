"""Slices against their reference: differences and ratios, drawn together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.contrasts import of_subsets
from evalpipe.engine.differences import Tested, ratio_limited, tested
from evalpipe.engine.drawn import Limited
from evalpipe.intervals.multiplicity import benjamini_hochberg, holm
from evalpipe.results import SliceDifference, SliceSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.engine.differences import Test
    from evalpipe.engine.drawn import Drawn
    from evalpipe.engine.estimates import Scope
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

CONSTANT_SUBSET = "one of the two is the same in every resample, which tells nothing of other rows"


def drawn_by_subset(one: Evaluated, scopes: Mapping[int, Scope], entry: MetricPlan) -> dict[int, Drawn]:
    """Return one measure of one model, with its replicates, by subset that has numbers."""
    return {number: scope.drawn(entry, one.replicates) for number, scope in scopes.items()}


def _tested(first: Drawn, second: Drawn, level: float, test: Test | None) -> Tested:
    """Return the first subset's value less the second's; without a test of its own, none where one does not vary."""
    difference = tested(first, second, level, test, first.undefined)
    if test is None and difference.test is not None and (_constant(first) or _constant(second)):
        return Tested(difference.value, status="degenerate", reason=CONSTANT_SUBSET, drawn=difference.drawn)
    return difference


def _constant(subset: Drawn) -> bool:
    return bool(np.nanmax(subset.known) == np.nanmin(subset.known))


def slice_summaries(one: Evaluated) -> Iterator[SliceSummary]:
    """Yield how many rows each slice of a dataset has, and how many of them are events."""
    sample = one.sample
    for subset in one.subsets:
        if subset.slice is not None:
            exposed = None if sample.exposure is None else float(subset.of(sample.weights * sample.exposure).sum())
            yield SliceSummary(dataset=sample.dataset, slice=dict(subset.slice), n=subset.n, events=subset.events,
                               total_exposure=exposed)


def slice_differences(plan: Plan, one: Evaluated) -> Iterator[SliceDifference]:
    """Yield, for each model, measure and slice, how it differs from its reference; p-values adjusted over slices."""
    for model in one.sample.models:
        scopes = {scope.number: scope for scope in one.scopes(model, rest=True)}
        served = [entry for entry in plan.metrics if scopes[0].serves(entry)]
        for entry in served if len(scopes) > 1 or len(one.subsets) > 1 else ():
            drawn = drawn_by_subset(one, scopes, entry)
            for k, level in enumerate(one.sample.levels) if entry.average == "none" else ((None, None),):
                of_class = drawn if k is None else {number: subset.of_class(k) for number, subset in drawn.items()}
                yield from _adjusted(list(_differences(one, scopes, of_class, entry, k, level)))


def _differences(
    one: Evaluated, scopes: Mapping[int, Scope], drawn: Mapping[int, Drawn], entry: MetricPlan, k: int | None,
    class_: str | None,
) -> Iterator[SliceDifference]:
    plan, model, level = one.plan, scopes[0].model, one.plan.level
    for number, subset in enumerate(one.subsets):
        if subset.slice is None:
            continue
        base, named = reference(plan, one, number)
        if base == number:
            continue
        if number not in scopes or base not in scopes:
            short = "too few rows" if number not in scopes else "the reference has too few rows"
            difference, share = Tested(None, status="insufficient", reason=short), Limited(None)
        else:
            first, second = drawn[number], drawn[base]
            test = None if first.replicates is None else of_subsets(plan, scopes[number], scopes[base], entry, k)
            difference = _tested(first, second, level, test)
            share = ratio_limited(first / second, level)
        yield SliceDifference(
            dataset=one.sample.dataset, **one.sample.named(model), slice=dict(subset.slice), reference=named,
            metric=entry.metric.name, params=entry.shown, average=entry.average, class_=class_,
            difference=difference.value, lower=difference.lower, upper=difference.upper, method=difference.method,
            ratio=share.value, ratio_lower=share.lower, ratio_upper=share.upper,
            level=level if difference.limits else None, p_value=difference.p_value,
            test=None if difference.test is None else difference.test.name, p_holm=None, p_benjamini_hochberg=None,
            status=difference.status, reason=difference.reason,
        )


def _adjusted(rows: list[SliceDifference]) -> list[SliceDifference]:
    p = np.array([np.nan if row.p_value is None else row.p_value for row in rows])
    if np.isnan(p).all():
        return rows
    tables = zip(rows, holm(p), benjamini_hochberg(p), strict=True)
    return [
        row if np.isnan(a) else row.model_copy(update={"p_holm": float(a), "p_benjamini_hochberg": float(b)})
        for row, a, b in tables
    ]


def reference(plan: Plan, one: Evaluated, number: int) -> tuple[int, str | dict[str, str]]:
    """Return the subset that a slice is compared with, and what it is called."""
    asked, subset = plan.slices.reference, one.subsets[number]
    if asked == "rest":
        return next(k for k, other in enumerate(one.subsets) if other.beside == number), "rest"
    labels = plan.slices.reference_labels(tuple(subset.slice or ()))
    found = [k for k, other in enumerate(one.subsets) if labels and other.slice == labels and other.beside is None]
    return (found[0], labels) if labels and found else (0, "overall")
