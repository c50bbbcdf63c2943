"""The models whose deviance is set beside that of no model, and what they were fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.spec import Spec

MEASURES = frozenset({"deviance", "null_deviance", "deviance_reduction"})
"""The measures any of which asks for the table."""


@dataclass(frozen=True, slots=True)
class FittedPlan:
    """The evaluated dataset that a model was fitted on by maximum likelihood, and its coefficients but intercepts."""

    dataset: str
    parameters: int


@dataclass(frozen=True, slots=True)
class DeviancePlan:
    """What is known of how models were fitted, by their names; of the others nothing is."""

    fitted: Mapping[str, FittedPlan]


def deviance_plan(spec: Spec, metrics: Iterable[MetricPlan]) -> DeviancePlan | None:
    """Return the plan of the table; None where no deviance is asked for and no model says how it was fitted."""
    if spec.task not in CLASSES:
        return None
    fitted = {name: FittedPlan(model.fitted.on, model.fitted.parameters)
              for name, model in spec.models.items() if model.fitted is not None}
    if not fitted and not any(entry.metric.name in MEASURES for entry in metrics):
        return None
    return DeviancePlan(MappingProxyType(fitted))
