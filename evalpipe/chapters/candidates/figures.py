"""The Pareto figure: candidates in the two goals that matter most, and those that no other one beats there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import Axis, number_axis, unit_axis
from evalpipe.card.figures.panel import panel
from evalpipe.card.figures.svg import Drawing, KeyEntry, Sheet, drawing
from evalpipe.chapters.candidates.words import (
    best_of,
    candidate_name,
    first_said,
    front_said,
    goal_titles,
    id_texts,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.chapters.candidates.records import CandidateGoal, RankedCandidate
    from evalpipe.results import Results

HEIGHT = 260.0
"""Pixels of the panel."""

Point = tuple[float, float]


def candidate_figures(results: Results) -> tuple[Drawing, ...]:
    """Draw the candidates in two goals; nothing of a single goal, and nothing where no candidate has both values."""
    candidates = results.candidates
    goals = {goal.goal: goal for goal in candidates.goals}
    across, up = (goals[name] for name in candidates.axes) if candidates.axes else (None, None)
    if across is None or up is None:
        return ()
    points = [(candidate, (x, y)) for candidate in candidates.ranking
              if (x := _at(across, candidate)) is not None and (y := _at(up, candidate)) is not None]
    if not points:
        return ()
    return (_drawn(results, (across, up), points),)


def _at(goal: CandidateGoal, candidate: RankedCandidate) -> float | None:
    """Return where a candidate lies along a goal: its value, or its desirability where values have no direction."""
    value = candidate.values[goal.goal] if goal.kind in ("minimize", "maximize") else candidate.desirability[goal.goal]
    return float(value) if isinstance(value, int | float) else None


def _drawn(results: Results, goals: tuple[CandidateGoal, CandidateGoal],
           points: Sequence[tuple[RankedCandidate, Point]]) -> Drawing:
    titles, sheet = goal_titles(results), Sheet()
    front = sorted(place for candidate, place in points if candidate.front)
    best = [(candidate, place) for candidate, place in points if candidate.rank == 1]
    x, y = (_axis(goal, titles[goal.goal], [place[n] for _, place in points]) for n, goal in enumerate(goals))
    drawn = panel(sheet, x, y, HEIGHT)
    rest = [place for candidate, place in points if not candidate.front]
    drawn.dots(*_columns(rest), "pale", name="Other candidates")
    # A step holds the value of the candidate that is at least as good across as the place where it is drawn.
    drawn.line(*_columns(front if goals[0].kind == "minimize" else front[::-1]), "m0", kind="thin", steps=True)
    drawn.marks(*_columns(front), "m0", "o", name="Not dominated in the two", size=3.4)
    drawn.marks(*_columns([place for _, place in best]), "m1", "D", name="Most desirable", size=6)
    named = f": {candidate_name(id_texts(results.candidates), best[0][0])}" if len(best) == 1 else ""
    sheet.key((
        KeyEntry(f"most desirable{named}", "m1", "mark", "D"), KeyEntry("not dominated in the two", "m0", "thin", "o"),
        *([KeyEntry("other candidates", "pale", "mark", "o")] if rest else [])))
    ways = " and ".join(f"{titles[goal.goal]} {_better(goal)}" for goal in goals)
    caption = (f"Every candidate by two goals: {ways}. The line is the best that any of them reaches in one goal "
               "at each value of the other; other goals, and the weights, may prefer a candidate off it.")
    finding = ". ".join(filter(None, (first_said(results), front_said(results)))) + "."
    alt = f"Candidates by {titles[goals[0].goal]} and {titles[goals[1].goal]}. {finding} {_told(results, goals, best)}"
    return drawing("candidates-pareto", "Pareto front of the candidates", (finding, caption, alt.strip()), [sheet])


def _columns(places: Sequence[Point]) -> tuple[list[float], list[float]]:
    return [x for x, _ in places], [y for _, y in places]


def _axis(goal: CandidateGoal, title: str, values: Sequence[float]) -> Axis:
    """Return the axis of a goal, named with the direction that is better."""
    if goal.kind not in ("minimize", "maximize"):
        return unit_axis(f"Desirability of {title}")
    return number_axis(f"{title} ({_better(goal)})", values, room=0.06)


def _better(goal: CandidateGoal) -> str:
    """Say where the better candidates lie."""
    if goal.kind in ("minimize", "maximize"):
        return f"{'lower' if goal.kind == 'minimize' else 'higher'} is better"
    return "by its desirability"


def _told(results: Results, goals: Sequence[CandidateGoal], best: Sequence[tuple[RankedCandidate, Point]]) -> str:
    """Say where the most desirable candidate lies."""
    if len(best) != 1 or len(best_of(results.candidates)) != 1:
        return ""
    titles = goal_titles(results)
    parts = [f"{titles[goal.goal]} {numbers.number(value)}" for goal, value in zip(goals, best[0][1], strict=True)]
    return f"The most desirable lies at {' and '.join(parts)}."
