"""The models whose deviance is set beside that of no model, and what they were fitted on."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.chapters.deviance.spec import FittedOn
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.spec.spec import Spec

MEASURES = frozenset({"deviance", "null_deviance", "deviance_reduction"})
"""The measures any of which asks for the table."""


def deviance_plan(spec: Spec, metrics: Iterable[MetricPlan]) -> Mapping[str, FittedOn] | None:
    """Return how models were fitted, by name, for those whose fit the spec describes.

    None where there is no table of deviances: no deviance is among the metrics, and no model says how it was fitted.
    """
    if spec.task not in CLASSES:
        return None
    fitted = {name: model.fitted for name, model in spec.models.items() if model.fitted is not None}
    if not fitted and not any(entry.metric.name in MEASURES for entry in metrics):
        return None
    return MappingProxyType(fitted)


def lines(plan: Plan) -> Iterator[str]:
    """Yield lines on deviances compared with the null model, and on the datasets of their tests."""
    by_model = plan.part(deviance_plan)
    if by_model is not None:
        yield "deviance of each model beside that of no model"
        for name, fitted in by_model.items():
            yield (f"  {name}: chi-squared test on {fitted.on}, which it was fitted on, with "
                   f"{fitted.parameters} parameters")


def document(plan: Plan) -> dict[str, object]:
    """Return the dataset that each model was fitted on and its number of coefficients, by model, as JSON values."""
    by_model = plan.part(deviance_plan) or {}
    return {"fitted": {name: {"on": fitted.on, "parameters": fitted.parameters} for name, fitted in by_model.items()}}


PARTS = (deviance_plan,)
