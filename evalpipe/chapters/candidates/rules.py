"""Checks of a table of candidates: that goals rank it, and that what it names are goals of these."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.candidates.spec import goal_subject
from evalpipe.metrics import registry
from evalpipe.spec.measures import canonical_name
from evalpipe.spec.spec import ALONE
from evalpipe.words.spelling import choose, closest, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.candidates.spec import CandidateTable
    from evalpipe.chapters.desirability.spec import GoalRule
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft

AXES = 2
"""The goals of the Pareto figure: one for each axis."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of a table of candidates: no goals that rank it, and names of what no goal judges."""
    if draft.spec.candidates is None or not draft.readable("candidates"):
        return
    yield from _needs_predictions(draft)
    table, goals = draft.spec.candidates, [goal for _, goal in draft.entries(draft.spec.desirability, "desirability")]
    if not goals:
        if draft.readable("desirability") and not draft.misspelt((), ["desirability"]):
            message = "candidates are ranked by the goals of 'desirability', and there are none"
            yield draft.tree.problem("no-goals", message, "candidates", key=True, hint="add 'desirability: […]'")
        return
    subjects = list(dict.fromkeys(filter(None, map(goal_subject, goals))))
    yield from _columns_of_no_goal(draft, table, goals, subjects)
    yield from _different_options(draft)
    yield from _wrong_axes(draft, table, subjects)


def _needs_predictions(draft: Draft) -> Iterator[Problem]:
    """Report keys that do nothing in a spec of candidates alone, which has no predictions."""
    if not draft.spec.alone:
        return
    for key in draft.tree.get():
        if key in type(draft.spec).model_fields and key not in ALONE and draft.tree.get(key) is not None:
            message = f"'{key}' has no effect: candidates alone have no predictions"
            hint = "remove it, or add 'outcome', 'datasets' and 'models'"
            yield draft.tree.problem("needs-predictions", message, key, key=True, hint=hint)


def _columns_of_no_goal(
    draft: Draft, table: CandidateTable, goals: list[GoalRule], subjects: list[str]
) -> Iterator[Problem]:
    """Report names of columns and of standard errors that no goal of the spec judges."""
    for part in ("columns", "std_err"):
        for loc, _ in draft.entries(getattr(table, part), "candidates", part):
            name = str(loc[-1])
            by_category = [goal for goal in goals if goal_subject(goal) == name and goal.category is not None]
            if _meant_goal(name, subjects) not in subjects:
                yield _no_goal(draft, loc, name, subjects, key=True)
            elif part == "std_err" and by_category:
                message = f"'{name}' is judged by category, and a level has no standard error"
                yield draft.tree.problem("no-number", message, *loc, key=True, hint="remove it")


def _meant_goal(name: str, subjects: list[str]) -> str:
    """Return the subject of a goal that a name means: the name itself, if a goal has it, else its canonical measure."""
    return name if name in subjects else canonical_name(name)


def _no_goal(draft: Draft, loc: Loc, name: str, subjects: list[str], *, key: bool = False) -> Problem:
    """Return the problem that no goal judges what a name means, with the likeliest goal as hint."""
    guess = closest(name, subjects)
    hint = f"did you mean '{guess}'?" if guess else choose(subjects, "add a goal of it")
    return draft.tree.problem("no-such-goal", f"no goal is of '{name}'", *loc, key=key, hint=hint)


def _different_options(draft: Draft) -> Iterator[Problem]:
    """Report goals that take a measure with different options, while the table has one column of it."""
    first_uses: dict[str, tuple[Loc, object]] = {}
    for loc, goal in draft.entries(draft.spec.desirability, "desirability"):
        if goal.metric is None or goal.metric.metric not in registry:
            continue
        options = (dict(goal.metric.options), goal.metric.averages, goal.metric.prevalences)
        measure = goal_subject(goal)
        earlier, first_options = first_uses.setdefault(measure, (loc, options))
        if first_options != options:
            message = f"two goals take {measure} with different options, but candidates have one column of it"
            hint = "keep one of the two, or make the other a 'characteristic'"
            notes = draft.tree.noted("first declared at", *earlier)
            yield draft.tree.problem("same-column", message, *loc, hint=hint, notes=notes)


def _wrong_axes(draft: Draft, table: CandidateTable, subjects: list[str]) -> Iterator[Problem]:
    """Report axes of the Pareto figure that are no goals, not two, or one goal twice."""
    axes = table.pareto
    if axes is None or not draft.readable("candidates", "pareto"):
        return
    pairs = list(draft.entries(axes, "candidates", "pareto"))
    for loc, name in pairs:
        if _meant_goal(name, subjects) not in subjects:
            yield _no_goal(draft, loc, name, subjects)
    if len(axes) != AXES:
        count = {0: "none is", 1: "1 is"}.get(len(axes), f"{len(axes)} are")
        message = f"the Pareto figure is of two goals, but {count} listed"
        hint = f"name two of {listed(subjects, 'and')}" if len(subjects) >= AXES else "add a goal to 'desirability'"
        yield draft.tree.problem("two-goals", message, "candidates", "pareto", hint=hint)
    elif len({_meant_goal(name, subjects) for _, name in pairs}) < len(pairs):
        message = f"{listed(axes, 'and')} are one goal, and the figure is of two"
        others = [name for name in subjects if name != _meant_goal(axes[0], subjects)]
        yield draft.tree.problem("same-goal", message, "candidates", "pareto", hint=choose(others, "add another goal"))
