"""The models whose deviance is set beside that of no model, and what they were fitted on."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalpipe.chapters.deviance.spec import FittedOn
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.spec import Spec

MEASURES = frozenset({"deviance", "null_deviance", "deviance_reduction"})
"""The measures any of which asks for the table."""


def deviance_plan(spec: Spec, metrics: Iterable[MetricPlan]) -> Mapping[str, FittedOn] | None:
    """Return how models were fitted, by their names, of those that say so.

    None where there is no table of deviances: no deviance is among the metrics, and no model says how it was fitted.
    """
    if spec.task not in CLASSES:
        return None
    fitted = {name: model.fitted for name, model in spec.models.items() if model.fitted is not None}
    if not fitted and not any(entry.metric.name in MEASURES for entry in metrics):
        return None
    return MappingProxyType(fitted)


PARTS = (deviance_plan,)
