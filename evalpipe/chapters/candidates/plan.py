"""What is read of a table of candidates: what tells them apart, and where the values of each goal stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc
    from evalpipe.chapters.candidates.spec import LongTable
    from evalpipe.chapters.desirability.plan import GoalPlan
    from evalpipe.plan.datasets import DatasetPlan


@dataclass(frozen=True, slots=True)
class GoalColumn:
    """Where the values of a goal stand.

    ``names`` are what they may be called: columns of the table, or with a ``long`` table values of its column of
    measures. ``column`` is the one of these that the table has, None where rows name the measure. ``std_err`` is the
    column of standard errors, if any; ``loc`` the place in the spec that names the values.
    """

    goal: GoalPlan
    names: tuple[str, ...]
    column: str | None
    std_err: str | None
    loc: Loc


@dataclass(frozen=True, slots=True)
class CandidatesPlan:
    """A table of candidates: its rows, the columns ``ids`` that tell them apart, and the goals.

    ``axes`` are the places of the two goals of the Pareto figure; None of a single goal.
    """

    rows: DatasetPlan
    ids: tuple[str, ...]
    goals: tuple[GoalColumn, ...]
    long: LongTable | None
    axes: tuple[int, int] | None
