"""The goals of desirability, each with its name and its measure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalpipe.levels import level_text
from evalpipe.plan.measures import goals

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.plan.measures import MetricPlan
    from evalpipe.spec.desirability import GoalRule
    from evalpipe.spec.models import Spec


@dataclass(frozen=True, slots=True)
class Aim:
    """A goal with its name in results and the measure it is of, None for a characteristic."""

    name: str
    goal: GoalRule
    entry: MetricPlan | None

    @property
    def shape(self) -> Mapping[str, Any]:
        """The limits, points or levels of the goal."""
        shape = self.goal.shape
        return shape if isinstance(shape, dict) else shape.model_dump()

    @property
    def subject(self) -> dict[str, Any]:
        """What the goal is of, as tables of results tell it."""
        if self.entry is None:
            return {"characteristic": self.goal.characteristic}
        return {"metric": self.entry.metric.name, "params": self.entry.shown, "average": self.entry.average}

    def of_level(self, level: object) -> float:
        """Return the desirability of a level of a goal by category."""
        return float(self.shape[level_text(level)])


def aims(spec: Spec) -> tuple[Aim, ...]:
    """Return the goals of a spec, in order; none where it declares none."""
    if spec.desirability is None:
        return ()
    from evalpipe.spec.desirability import goal_names

    declared = spec.desirability
    return tuple(map(Aim, goal_names(declared), declared, goals(spec)))
