"""Candidates as they were read, and their ranking by the functions of desirability, from values that are finished."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.candidates.plan import candidates_plan
from evalpipe.chapters.candidates.records import CandidateGoal, Candidates, RankedCandidate
from evalpipe.chapters.desirability import compute_scale as scale
from evalpipe.chapters.desirability.compute import described, desirability_of, desirability_of_values, scores
from evalpipe.results import Warned
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.candidates.plan import CandidatesPlan, GoalColumn
    from evalpipe.chapters.desirability.plan import GoalPlan
    from evalpipe.data.sample import CandidateRows
    from evalpipe.plan.plan import Plan


def ranked(plan: Plan, rows: CandidateRows) -> Candidates:
    """Return the candidates by their rank; those that tie, and those without a rank, in the order of their ids."""
    table_plan = plan.part(candidates_plan)
    assert table_plan is not None  # noqa: S101 - there are rows
    goals = [column.goal for column in table_plan.goals]
    d = np.array([[desirability_of(goal, x) for goal, x in zip(goals, values, strict=True)] for values in rows.values])
    weights = np.array([goal.rule.weight for goal in goals])
    overall = scale.overall(d, weights)
    least_within_error = _one_error_below_best(goals, rows, d, weights, overall)
    candidates = list(_ranked_candidates(table_plan, rows, d, overall, least_within_error))
    return Candidates(
        id=list(table_plan.ids), goals=[_goal_record(column, rows, k) for k, column in enumerate(table_plan.goals)],
        axes=[goals[k].name for k in table_plan.axes or ()], within=least_within_error,
        ranking=sorted(candidates, key=lambda candidate: candidate.rank or len(candidates) + 1),
    )


def _ranked_candidates(
    table_plan: CandidatesPlan, rows: CandidateRows, d: Floats, overall: Floats, within: float | None
) -> Iterator[RankedCandidate]:
    """Yield the records of the candidates in the order of their ids, with their desirabilities ``d`` [n, k].

    ``within`` is the least ``overall`` desirability that counts as near the best.
    """
    goals = [column.goal for column in table_plan.goals]
    names, compared = [goal.name for goal in goals], scores(goals, rows.values, d)
    on_front = [None] * len(d) if table_plan.axes is None else scale.pareto(compared[:, list(table_plan.axes)])
    ranks, pareto = scale.ranks(overall), scale.pareto(compared)
    for n, value in enumerate(overall.tolist()):
        defined = not np.isnan(value)
        undefined_goals = [name for name, x in zip(names, d[n], strict=True) if np.isnan(x)]
        errors = zip(names, rows.std_err[n].tolist(), strict=True)
        yield RankedCandidate(
            id=dict(rows.ids[n]), value=value if defined else None, rank=ranks[n], pareto=pareto[n], front=on_front[n],
            near=None if within is None or not defined else value >= within - scale.TIE,
            values=dict(zip(names, rows.values[n], strict=True)),
            desirability={name: None if np.isnan(x) else float(x) for name, x in zip(names, d[n], strict=True)},
            std_err={name: error for name, error in errors if not np.isnan(error)},
            status="ok" if defined else "undefined",
            reason=None if defined else sentence("goals-without-value", goals=undefined_goals),
        )


def _one_error_below_best(
    goals: list[GoalPlan], rows: CandidateRows, d: Floats, weights: Floats, overall: Floats
) -> float | None:
    """Return the overall desirability of the best if each value were one standard error worse; None without any error.

    Of several that tie, the least. This is the rule of one standard error of Breiman et al. (1984), for desirability.
    """
    best_indices = [n for n, rank in enumerate(scale.ranks(overall)) if rank == 1]
    if not best_indices or np.isnan(rows.std_err[best_indices]).all(axis=1).any():
        return None
    worse = np.array([[_least_within_error(goal, rows.values[n][k], float(rows.std_err[n, k]), float(d[n, k]))
                       for k, goal in enumerate(goals)] for n in best_indices])
    return float(scale.overall(worse, weights).min())


def _least_within_error(goal: GoalPlan, value: object, error: float, d: float) -> float:
    """Return the least desirability within one standard error of a value; ``d``, its own, where it has no error."""
    if np.isnan(error) or not isinstance(value, int | float) or goal.rule.kind == "category":
        return d
    ends = (value - error, value + error)
    # Between its points a custom curve is straight, so it is least at a point or at an end.
    inside = [point for point in goal.shape.get("values", ()) if ends[0] < point < ends[1]]
    return float(np.nanmin(desirability_of_values(goal, [value, *ends, *inside])))


def _goal_record(column: GoalColumn, rows: CandidateRows, k: int) -> CandidateGoal:
    """Return the record of the k-th goal with its curve, over its limits and the values of all candidates."""
    spread = [] if column.goal.rule.kind == "category" else [
        float(values[k]) for values in rows.values if values[k] is not None]  # type: ignore[arg-type]
    goal = described(column.goal, spread)
    return CandidateGoal(**goal.model_dump(), column=column.column or column.names[0],
                         std_err=bool((~np.isnan(rows.std_err[:, k])).any()))


def candidate_warnings(candidates: Candidates) -> Iterator[Warned]:
    """Yield a warning for each goal that tells no two candidates apart."""
    for goal in candidates.goals:
        reached = {candidate.desirability[goal.goal] for candidate in candidates.ranking}
        if len(reached) == 1 and len(candidates.ranking) > 1 and None not in reached:
            yield Warned.of("goal-without-effect", goal=goal.goal, desirability=reached.pop())
