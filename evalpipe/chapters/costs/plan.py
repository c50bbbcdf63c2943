"""What wrong predictions cost, and what contacting rows brings: the rules, and what they come to."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.levels import level_text
from evalpipe.plan.datasets import levels
from evalpipe.spec.core_keys import gives
from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.chapters.costs.spec import ProfitRule
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of named costs, and of a profit that no model ranks rows for."""
    spec, problem = draft.spec, draft.tree.problem
    if spec.costs is not None and draft.readable("costs") and spec.outcome.levels is None and spec.task == "binary":
        yield problem("missing-key", "costs name levels, but 'outcome.levels' is missing", "costs", key=True,
                      hint="add 'levels: […, …]' to the outcome")
    pairs_so_far: set[tuple[str, str]] = set()
    for loc, cost in draft.entries(spec.costs, "costs") if draft.levels and spec.task in CLASSES else ():
        if not (draft.readable(*loc, "truth") and draft.readable(*loc, "predicted")):
            continue
        truth, predicted = level_text(cost.truth), level_text(cost.predicted)
        if (truth, predicted) in pairs_so_far:
            message = f"the cost of '{truth}' predicted as '{predicted}' is given twice"
            yield problem("duplicate-cost", message, *loc, hint="remove one of the two")
        pairs_so_far.add((truth, predicted))
    model_outputs = [gives(model) for model in draft.models.values()]
    without_scores = [outputs for outputs in model_outputs if "labels" in outputs and "scores" not in outputs]
    if spec.profit is not None and spec.task == "binary" and without_scores and len(without_scores) == len(spec.models):
        message = "'profit' takes rows from the highest score down, but no model gives scores"
        hint = "add 'probability: …' or 'score: …' to a model"
        yield draft.tree.idle("nothing-to-rank", message, "profit", key=True, hint=hint)


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
    """Return the benefit and the costs of contacting rows, as the spec has them; None without `profit`."""
    return spec.profit


PARTS = (costs_plan, profit_plan)
