"""Slices against their reference: differences and ratios, drawn together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.contrasts import of_parts
from evalpipe.engine.differences import Tested, ratio_limited, tested
from evalpipe.engine.drawn import Limited
from evalpipe.intervals.multiplicity import benjamini_hochberg, holm
from evalpipe.results import SliceDifference, SliceSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.engine.differences import Test
    from evalpipe.engine.drawn import Drawn
    from evalpipe.engine.estimates import Place
    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

CONSTANT_PART = "one of the two is the same in every resample, which tells nothing of other rows"


def of_parts_drawn(one: Evaluated, places: Mapping[int, Place], entry: MetricPlan) -> dict[int, Drawn]:
    """Return one measure of one model, with its replicates, by part that has numbers."""
    return {number: place.drawn(entry, one.replicates) for number, place in places.items()}


def _tested(first: Drawn, second: Drawn, level: float, test: Test | None) -> Tested:
    """Return the first part's value less the second's; without a test of its own, none where one does not vary."""
    difference = tested(first, second, level, test, first.undefined)
    if test is None and difference.test is not None and (_constant(first) or _constant(second)):
        return Tested(difference.value, status="degenerate", reason=CONSTANT_PART, drawn=difference.drawn)
    return difference


def _constant(part: Drawn) -> bool:
    return bool(np.nanmax(part.known) == np.nanmin(part.known))


def slice_summaries(one: Evaluated) -> Iterator[SliceSummary]:
    """Yield how many rows each slice of a dataset has, and how many of them are events."""
    sample = one.sample
    for part in one.parts:
        if part.slice is not None and part.beside is None:
            exposed = None if sample.exposure is None else float(part.of(sample.weights * sample.exposure).sum())
            yield SliceSummary(dataset=sample.dataset, slice=dict(part.slice), n=part.n, events=part.events,
                               total_exposure=exposed)


def slice_differences(plan: Plan, one: Evaluated) -> Iterator[SliceDifference]:
    """Yield, for each model, measure and slice, how it differs from its reference; p-values adjusted over slices."""
    for model in one.sample.models:
        places = {place.number: place for place in one.places(model, rest=True)}
        served = [entry for entry in plan.metrics if places[0].serves(entry)]
        for entry in served if len(places) > 1 or len(one.parts) > 1 else ():
            drawn = of_parts_drawn(one, places, entry)
            for k, level in enumerate(one.sample.levels) if entry.average == "none" else ((None, None),):
                of_class = drawn if k is None else {number: part.of_class(k) for number, part in drawn.items()}
                yield from _adjusted(list(_differences(one, places, of_class, entry, k, level)))


def _differences(
    one: Evaluated, places: Mapping[int, Place], drawn: Mapping[int, Drawn], entry: MetricPlan, k: int | None,
    class_: str | None,
) -> Iterator[SliceDifference]:
    plan, model, level = one.plan, places[0].model, one.plan.level
    for number, part in enumerate(one.parts):
        if part.slice is None or part.beside is not None:
            continue
        base, named = reference(plan, one, number)
        if base == number:
            continue
        if number not in places or base not in places:
            short = "too few rows" if number not in places else "the reference has too few rows"
            difference, share = Tested(None, status="insufficient", reason=short), Limited(None)
        else:
            first, second = drawn[number], drawn[base]
            test = None if first.replicates is None else of_parts(plan, places[number], places[base], entry, k)
            difference = _tested(first, second, level, test)
            share = ratio_limited(first / second, level)
        yield SliceDifference(
            dataset=one.sample.dataset, **one.sample.named(model), slice=dict(part.slice), reference=named,
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
    """Return the part that a slice is compared with, and what it is called."""
    asked, part = plan.slices.reference, one.parts[number]
    if asked == "rest":
        return next(k for k, other in enumerate(one.parts) if other.beside == number), "rest"
    labels = plan.slices.reference_labels(tuple(part.slice or ()))
    found = [k for k, other in enumerate(one.parts) if labels and other.slice == labels and other.beside is None]
    return (found[0], labels) if labels and found else (0, "overall")
