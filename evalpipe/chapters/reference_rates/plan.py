"""The fixed rates that models are compared with, each with its measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.plan.measures import known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.plan.measures import KnownPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.spec import Spec


def rates_plan(spec: Spec) -> tuple[tuple[str, KnownPlan], ...]:
    """Return the names of rivals with what each reached, in order; none where the spec gives none."""
    return tuple((rate.name, known(spec, rate)) for rate in spec.reference_rates or ())


def lines(plan: Plan) -> Iterator[str]:
    """Say which rates models are compared with."""
    for rival, rate in plan.part(rates_plan):
        yield f"every model minus {rival}: {rate.entry.label} {rate.value:g}"


def document(plan: Plan) -> dict[str, object]:
    """Return the rates that models are compared with, as JSON values."""
    rates = []
    for rival, rate in plan.part(rates_plan):
        measure = {"metric": rate.entry.metric.name, "params": rate.entry.shown, "average": rate.entry.average}
        rates.append({"name": rival, **measure, "value": rate.value, "limits": rate.limits})
    return {"reference_rates": rates}


PARTS = (rates_plan,)
