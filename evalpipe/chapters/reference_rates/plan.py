"""The fixed rates that models are compared with, each with its measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.plan.measures import known

if TYPE_CHECKING:
    from evalpipe.plan.measures import KnownPlan
    from evalpipe.spec.spec import Spec


def rates_plan(spec: Spec) -> tuple[tuple[str, KnownPlan], ...]:
    """Return the names of rivals with what each reached, in order; none where the spec gives none."""
    return tuple((rate.name, known(spec, rate)) for rate in spec.reference_rates or ())
