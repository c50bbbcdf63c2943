"""The fixed rates that models are compared with, each with its measure, and the checks of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.rules_measures import check_known_value, effective

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of reference rates: of the measure of each, and two of one name and measure."""
    names: set[tuple[str, ...]] = set()
    for loc, rate in draft.entries(draft.spec.reference_rates, "reference_rates"):
        entry, faults = check_known_value(draft, loc, rate, "a reference rate is one value of each model")
        yield from faults
        if entry is not None and rate.name:
            name = rate.name, entry.metric.name, effective(draft, entry)
            if name in names:
                message = f"{draft.tree.show(*loc, 'name')} has two rates of {entry.metric.name}"
                yield draft.tree.problem("duplicate-rate", message, *loc, "name", hint="rename or remove one of them")
            names.add(name)


@dataclass(frozen=True, slots=True)
class RatePlan:
    """A value that a rival reached by a measure; without limits it counts as known without error."""

    rival: str
    entry: MetricPlan
    value: float
    limits: tuple[float, float] | None


def rates_plan(spec: Spec) -> tuple[RatePlan, ...]:
    """Return the reference rates of the spec, in order: who reached which value of which measure."""
    rates = []
    for rate in spec.reference_rates or ():
        limits = None if rate.lower is None or rate.upper is None else (rate.lower, rate.upper)
        rates.append(RatePlan(rate.name, next(entries(spec, rate.metric)), rate.value, limits))
    return tuple(rates)


def lines(plan: Plan) -> Iterator[str]:
    """Yield lines on the rates that models are compared with."""
    for rate in plan.part(rates_plan):
        yield f"every model minus {rate.rival}: {rate.entry.label} {rate.value:g}"


def document(plan: Plan) -> dict[str, object]:
    """Return the rates that models are compared with, as JSON values."""
    rates = []
    for rate in plan.part(rates_plan):
        measure = {"metric": rate.entry.metric.name, "params": rate.entry.shown, "average": rate.entry.average}
        rates.append({"name": rate.rival, **measure, "value": rate.value, "limits": rate.limits})
    return {"reference_rates": rates}


PARTS = (rates_plan,)
