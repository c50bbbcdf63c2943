"""The table of candidates that goals rank: the checks of it, what tells candidates apart, where values stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.chapters.desirability.plan_goals import GoalPlan, goal_rules, goals_plan
from evalpipe.chapters.desirability.spec import goal_subject
from evalpipe.errors import Problem
from evalpipe.metrics import registry
from evalpipe.plan.datasets import DatasetPlan
from evalpipe.plan.sources import candidates_source
from evalpipe.spec.measures import canonical_name
from evalpipe.spec.spec import ALONE
from evalpipe.words.spelling import choose, closest, counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.chapters.desirability.spec import CandidateTable, GoalRule, LongTable
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import Catalog, DataTable
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


AXES = 2
"""The goals of the Pareto figure: one for each axis."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of goals, and of candidates: no goals that rank them, and names of what no goal judges."""
    yield from goal_rules(draft)
    if draft.spec.candidates is None or not draft.readable("candidates"):
        return
    for key in draft.tree.get() if draft.spec.alone else ():
        if key in type(draft.spec).model_fields and key not in ALONE and draft.tree.get(key) is not None:
            message = f"'{key}' has no effect: candidates alone have no predictions"
            hint = "remove it, or add 'outcome', 'datasets' and 'models'"
            yield draft.tree.problem("needs-predictions", message, key, key=True, hint=hint)
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


HERE: Loc = ("candidates",)


@dataclass(frozen=True, slots=True)
class GoalColumn:
    """Where the table has the values of a goal.

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

    ``axes`` are the indices of the two goals of the Pareto figure; None of a single goal.
    """

    rows: DatasetPlan
    ids: tuple[str, ...]
    goals: tuple[GoalColumn, ...]
    long: LongTable | None
    axes: tuple[int, int] | None

    def std_err_column(self, goal: GoalColumn) -> str | None:
        """Return the column of standard errors of a goal's values; None without one."""
        return goal.std_err or (self.long.std_err if self.long and not goal.column else None)


def candidates_plan(spec: Spec, catalog: Catalog) -> CandidatesPlan | None:
    """Return how the table of candidates is read: its rows, ids and goals; None where the spec has none."""
    declared, source, table = spec.candidates, candidates_source(spec), catalog.candidates
    if declared is None or source is None or table is None:
        return None
    goals = tuple(_goal_column(declared, goal, index, table) for index, goal in enumerate(goals_plan(spec)))
    columns = [*_columns_beside_goals(declared)]
    for goal in goals:
        columns += [column for column in (goal.column, goal.std_err) if column is not None]
    rows = DatasetPlan("candidates", "candidates", table, tuple(dict.fromkeys(columns)), conditions=source.conditions)
    return CandidatesPlan(rows, declared.id, goals, declared.long, _axes(spec, goals))


def problems(spec: Spec, catalog: Catalog) -> Iterator[Problem]:
    """Yield a problem for each column that the table of candidates does not have, or has under two names."""
    declared, table = spec.candidates, catalog.candidates
    if declared is None or table is None:
        return
    for column, loc in _columns_beside_goals(declared).items():
        if column not in table.columns:
            yield _missing_column(spec, table, column, loc)
    for number, goal in enumerate(goals_plan(spec)):
        yield from _goal_problems(spec, declared, table, _goal_column(declared, goal, number, table))


def _goal_problems(spec: Spec, declared: CandidateTable, table: DataTable, goal: GoalColumn) -> Iterator[Problem]:
    """Report columns of a goal that the table lacks, and several columns that may each be its values."""
    present, subject = [name for name in goal.names if name in table.columns], goal_subject(goal.goal.rule)
    if goal.std_err is not None and goal.std_err not in table.columns:
        yield _missing_column(spec, table, goal.std_err, (*HERE, "std_err", *_goal_key(declared.std_err, goal.goal)))
    if len(present) > 1:
        message = f"the columns {listed(present, 'and')} of {_table_name(table)} are both {subject}"
        hint = f"say which under 'candidates': columns: {{{subject}: {present[0]}}}"
        yield Problem("two-columns", message, spec.origin.place(*goal.loc), hint)
    elif not present and declared.long is None:
        if goal.loc[0] == "candidates":
            yield _missing_column(spec, table, goal.names[0], goal.loc)
            return
        message = f"{_table_name(table)} has no column of {subject}"
        hint = f"name its column under 'candidates': columns: {{{subject}: …}}"
        place = spec.origin.place(*goal.loc) or spec.origin.place(*goal.loc[:-1])
        notes = (f"looked for {listed(goal.names)}", _columns_note(table))
        yield Problem("missing-column", message, place, hint, notes=notes)


def _missing_column(spec: Spec, table: DataTable, column: str, loc: Loc) -> Problem:
    """Return the problem of a column that the spec names and the table does not have."""
    close = closest(column, table.columns)
    hint = f"did you mean '{close}'?" if close else f"name one of the columns of {_table_name(table)}"
    message = f"{_table_name(table)} has no column '{column}'"
    place = spec.origin.place(*loc) or spec.origin.place(*loc[:-1]) or spec.origin.place(*HERE)
    return Problem("missing-column", message, place, hint, notes=(_columns_note(table),))


def _table_name(table: DataTable) -> str:
    return f"{table.named.called} ({table.files[0][1]})"


def _columns_note(table: DataTable) -> str:
    return "its columns: " + ", ".join(list(table.columns)[:12]) + (", …" if len(table.columns) > 12 else "")


def _columns_beside_goals(declared: CandidateTable) -> dict[str, Loc]:
    """Return the columns that are read for any goals, each with the place in the spec that names it.

    These are the ids and, of a table with a row for each measure, its columns of measure, value and standard error.
    """
    loc_of_column: dict[str, Loc] = {column: (*HERE, "id", index) for index, column in enumerate(declared.id)}
    long = declared.long
    for key in ("metric", "value", "std_err") if long is not None else ():
        if getattr(long, key) is not None:
            loc_of_column.setdefault(getattr(long, key), (*HERE, "long", key))
    return loc_of_column


def _goal_column(declared: CandidateTable, goal: GoalPlan, index: int, table: DataTable) -> GoalColumn:
    """Return where a goal's values are: the column that the spec names for it, else a column called as what it judges.

    ``index`` is the place of the goal among those of the spec.
    """
    subject, key = goal_subject(goal.rule), _goal_key(declared.columns, goal)
    names = (declared.columns[key[0]],) if key else (
        (subject,) if goal.entry is None else (subject, *goal.entry.metric.aliases))
    subject_key = "characteristic" if goal.entry is None else "metric"
    loc = (*HERE, "columns", *key) if key else ("desirability", index, subject_key)
    column = next((name for name in names if name in table.columns), None)
    error_key = _goal_key(declared.std_err, goal)
    return GoalColumn(goal, names, column, declared.std_err[error_key[0]] if error_key else None, loc)


def _goal_key(mapping: Mapping[str, str], goal: GoalPlan) -> tuple[str, ...]:
    """Return the key of ``mapping`` that stands for a goal's metric or characteristic, in a tuple; () without one.

    Keys are names of metrics, aliases of them, or names of characteristics. A characteristic may be called as a metric
    is, so the name as in the spec comes first. The tuple is appended to a place in the spec.
    """
    subject = goal_subject(goal.rule)
    if subject in mapping:
        return (subject,)
    aliases = () if goal.entry is None else goal.entry.metric.aliases
    return tuple(name for name in aliases if name in mapping)[:1]


def _axes(spec: Spec, goals: tuple[GoalColumn, ...]) -> tuple[int, int] | None:
    """Return the indices of the two goals of the figure: those that the spec names, or the two of largest weight."""
    declared = spec.candidates and spec.candidates.pareto
    # Reversed, so that the first of several goals of one subject stands for it.
    by_subject = {goal_subject(goal.goal.rule): index for index, goal in reversed(list(enumerate(goals)))}
    if declared:  # a measure may be named by an alias
        names = [registry[name].name if name in registry and name not in by_subject else name for name in declared]
        return by_subject[names[0]], by_subject[names[1]]
    by_weight = sorted(by_subject.values(), key=lambda index: (-goals[index].goal.rule.weight, index))
    return None if len(by_weight) < 2 else (by_weight[0], by_weight[1])


def lines(plan: Plan) -> Iterator[str]:
    """Yield the lines of `evalpipe plan` on the goals and the table of candidates: its files, ids and columns."""
    goals, candidates = plan.part(goals_plan), plan.part(candidates_plan)
    if goals:
        yield f"desirability by {counted(len(goals), 'goal')}: {', '.join(goal.name for goal in goals)}"
    if candidates is None:
        return
    table = candidates.rows.table
    rows = "rows unknown" if table.rows is None else counted(table.rows, "row")
    yield f"candidates: {', '.join(table.shown_files)}, {rows}, told apart by {', '.join(candidates.ids)}"
    if candidates.rows.where:
        yield f"  where {candidates.rows.where}"
    for goal in candidates.goals:
        std_err = candidates.std_err_column(goal)
        error = f", with the standard errors in {std_err}" if std_err else ""
        yield f"  {goal.goal.name}: {goal.column or 'rows of ' + ' or '.join(goal.names)}{error}"
    if candidates.axes:
        yield f"  Pareto figure of {' and '.join(candidates.goals[index].goal.name for index in candidates.axes)}"


def document(plan: Plan) -> dict[str, object]:
    """Return the goals, and of the table of candidates its files and the columns of ids and goals, as JSON values."""
    candidates = plan.part(candidates_plan)
    return {"goals": [goal.document for goal in plan.part(goals_plan)], "candidates": None if candidates is None else {
        "files": candidates.rows.table.shown_files, "rows": candidates.rows.table.rows, "where": candidates.rows.where,
        "id": list(candidates.ids),
        "columns": [
            {"goal": goal.goal.name, "column": goal.column, "measure": None if goal.column else list(goal.names),
             "std_err": candidates.std_err_column(goal)}
            for goal in candidates.goals],
        "pareto": [candidates.goals[index].goal.name for index in candidates.axes or ()],
    }}


def goal_measures(spec: Spec) -> tuple[MetricPlan, ...]:
    """Return the measures that goals judge, in their order."""
    return tuple(goal.entry for goal in goals_plan(spec) if goal.entry is not None)


def ranked(spec: Spec) -> bool:
    """Tell whether goals rank models."""
    return bool(spec.desirability)


PARTS = (goals_plan, candidates_plan)
PLANNED = {"goal_measures": goal_measures, "ranked": ranked}
