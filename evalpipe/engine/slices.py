"""Slices against their reference: differences and ratios, drawn together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.engine.contrasts import of_parts
from evalpipe.engine.differences import Gap, TestedGap, quotient, ratio_gap, tested_gap
from evalpipe.intervals.multiplicity import benjamini_hochberg, holm
from evalpipe.results import SliceDifference, SliceSummary

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.arraytypes import Floats
    from evalpipe.engine.differences import Test
    from evalpipe.engine.estimates import Place
    from evalpipe.engine.evaluate import Evaluated
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

CONSTANT_PART = "one of the two is the same in every resample, which tells nothing of other rows"


@dataclass(frozen=True)
class Measured:
    """One measure of one model in every part that has numbers: ``value`` and ``drawn`` replicates by part."""

    value: Mapping[int, float]
    drawn: Mapping[int, Floats | None]
    undefined: str

    @classmethod
    def of(cls, one: Evaluated, places: Mapping[int, Place], entry: MetricPlan, k: int | None = None) -> Measured:
        """Collect a measure, of its k-th class where it is taken for each."""
        index = one.plan.entries.index(entry)
        value, drawn = {}, {}
        for number, place in places.items():
            found = values(place.summary, entry)
            value[number] = float(found if k is None else found[k])
            table = one.replicates.metrics.get((place.model, number, index))
            drawn[number] = table if table is None or k is None else table[:, k]
        return cls(value, drawn, entry.undefined)

    def difference(self, first: int, second: int, level: float, test: Test | None, units: int) -> TestedGap:
        """Return the first part's value less the second's; without a test of its own, none where one does not vary."""
        drawn, base = self.drawn[first], self.drawn[second]
        gaps = None if drawn is None or base is None else drawn - base
        found = tested_gap((self.value[first], self.value[second]), gaps, level, self.undefined, test, units)
        if test is None and found.test is not None and (_constant(drawn) or _constant(base)):
            return TestedGap(found.value, undefined=found.undefined, status="degenerate", reason=CONSTANT_PART)
        return found

    def ratio(self, first: int, second: int, level: float) -> Gap:
        """Return the first part's value over the second's."""
        drawn, base = self.drawn[first], self.drawn[second]
        shares = None if drawn is None or base is None else quotient(drawn, base)
        return ratio_gap(float(quotient(self.value[first], self.value[second])), shares, level, self.undefined)


def _constant(drawn: Floats | None) -> bool:
    return drawn is not None and bool(np.nanmax(drawn) == np.nanmin(drawn))


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
            for k, level in enumerate(one.sample.levels) if entry.average == "none" else ((None, None),):
                yield from _adjusted(list(_differences(one, places, entry, k, level)))


def _differences(
    one: Evaluated, places: Mapping[int, Place], entry: MetricPlan, k: int | None, class_: str | None
) -> Iterator[SliceDifference]:
    plan, model, measured = one.plan, places[0].model, Measured.of(one, places, entry, k)
    level = plan.level
    for number, part in enumerate(one.parts):
        if part.slice is None or part.beside is not None:
            continue
        base, named = reference(plan, one, number)
        if base == number:
            continue
        if number not in places or base not in places:
            short = "too few rows" if number not in places else "the reference has too few rows"
            difference = TestedGap(None, status="insufficient", reason=short)
            share = Gap(None, status="insufficient", reason=short)
        else:
            units = min(places[number].units, places[base].units)
            test = None if measured.drawn[number] is None else of_parts(plan, places[number], places[base], entry, k)
            difference = measured.difference(number, base, level, test, units)
            share = measured.ratio(number, base, level)
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
