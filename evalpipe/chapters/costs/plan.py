"""What wrong predictions cost, and what contacting rows brings."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.levels import level_text
from evalpipe.plan.datasets import levels

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.chapters.costs.spec import ProfitRule
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class CostsPlan:
    """The costs of predictions.

    ``named`` are those that are named, by true and predicted level; ``matrix`` those of all pairs, by true level
    (outer) and predicted level (inner), 0 where none is named.
    """

    named: Mapping[tuple[str, str], float]
    matrix: tuple[tuple[float, ...], ...]


def costs_plan(spec: Spec) -> CostsPlan | None:
    """Return the costs of predictions; None where the spec names none."""
    if spec.costs is None:
        return None
    order = levels(spec)
    cost_of_pair = {(level_text(cost.truth), level_text(cost.predicted)): float(cost.cost) for cost in spec.costs}
    matrix = tuple(tuple(cost_of_pair.get((truth, predicted), 0.0) for predicted in order) for truth in order)
    return CostsPlan(MappingProxyType(cost_of_pair), matrix)


def profit_plan(spec: Spec) -> ProfitRule | None:
    """Return what contacting rows costs and brings; None where the spec declares no profit."""
    return spec.profit


PARTS = (costs_plan, profit_plan)
