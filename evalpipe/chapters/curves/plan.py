"""The thresholds that are marked on curves, the groups of a gain table, and whether probabilities have residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.plan.measures import MetricPlan, entries
from evalpipe.spec.choices import MetricChoice
from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from evalpipe.spec.models import Spec

GROUPS = 10
"""The groups of a gain table where the spec says nothing: tenths."""


def marks_plan(spec: Spec) -> tuple[float, ...]:
    """Return the marked thresholds, ascending; none where the spec marks none."""
    if spec.task != "binary" or spec.curves is None:
        return ()
    return tuple(sorted(map(float, spec.curves.marks or ())))


def residuals_planned(spec: Spec) -> bool:
    """Tell whether residuals of probabilities are asked for."""
    return spec.task in CLASSES and spec.curves is not None and bool(spec.curves.residuals)


def groups_plan(spec: Spec) -> int:
    """Return the number of groups of a gain table."""
    return GROUPS if spec.curves is None or spec.curves.groups is None else spec.curves.groups


@dataclass(frozen=True, slots=True)
class RelationsPlan:
    """Measures that are set against the prevalence and against each other, the latter at ``prevalences``."""

    measures: tuple[MetricPlan, ...]
    prevalences: tuple[float, ...]


def relations_plan(spec: Spec) -> RelationsPlan | None:
    """Return what is set against each other; None where nothing is asked for."""
    asked = None if spec.curves is None else spec.curves.relations
    if spec.task != "binary" or asked is None:
        return None
    return RelationsPlan(tuple(next(entries(spec, MetricChoice(name))) for name in asked.measures),
                         tuple(map(float, asked.prevalences)))
