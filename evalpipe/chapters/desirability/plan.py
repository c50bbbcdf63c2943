"""The goals of desirability, each with its name and its measure."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evalpipe.base.levels import level_text
from evalpipe.plan.measures import goal_entries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.chapters.desirability.spec import GoalRule
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.spec import Spec


@dataclass(frozen=True, slots=True)
class GoalPlan:
    """A goal with its name in results: its ``rule`` as it is written, and the measure that it is of, if any.

    ``shape`` are the limits, points or levels of its form.
    """

    name: str
    rule: GoalRule
    entry: MetricPlan | None
    shape: Mapping[str, Any]

    @property
    def document(self) -> dict[str, object]:
        """The goal as JSON values."""
        return {"goal": self.name, "kind": self.rule.kind, **self.subject, "shape": dict(self.shape),
                "weight": self.rule.weight, "missing": self.rule.missing}

    @property
    def subject(self) -> dict[str, object]:
        """What the goal is of, as tables of results tell it."""
        if self.entry is None:
            return {"characteristic": self.rule.characteristic}
        return {"metric": self.entry.metric.name, "params": self.entry.shown, "average": self.entry.average}

    def of_level(self, level: object) -> float:
        """Return the desirability of a level of a goal by category."""
        return float(self.shape[level_text(level)])


def goals_plan(spec: Spec) -> tuple[GoalPlan, ...]:
    """Return the plans of the goals of a spec, in order; none where it declares none."""
    from evalpipe.chapters.desirability.spec import goal_names

    rules = spec.desirability or ()
    goals = []
    for name, rule, entry in zip(goal_names(rules), rules, goal_entries(spec), strict=True):
        shape = rule.shape if isinstance(rule.shape, dict) else rule.shape.model_dump()
        goals.append(GoalPlan(name, rule, entry, MappingProxyType(dict(shape))))
    return tuple(goals)


PLANNED = {"goals": goals_plan}
