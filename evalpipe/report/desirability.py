"""What the card says of desirability: the goals, each model in each goal and overall, and the weights."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.desirability_verdict import goal_title, verdict
from evalpipe.report.names import Names, names_of
from evalpipe.report.tables import Number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.chapters.desirability.records import Goal, Individual, Overall
    from evalpipe.results import Results

GOALS_ABREAST = 5
"""Goals side by side in one table; more are shared out evenly among further tables."""


@dataclass(frozen=True, slots=True)
class GoalRow:
    """One goal: what it is of, what is desirable, and how much it counts."""

    title: str
    form: str
    weight: str
    missing: str


@dataclass(frozen=True, slots=True)
class OverallRow:
    """One model or variant: its overall desirability, and how sure its place is."""

    rank: str
    model: str
    value: Number
    best: str
    weightings: str
    held: str
    pareto: str


@dataclass(frozen=True, slots=True)
class IndividualTable:
    """Models down, goals across: desirabilities, and the values that they are of."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Number, str], ...]], ...]


@dataclass(frozen=True, slots=True)
class WeightRow:
    """A goal, and who is first when its weight is halved and doubled."""

    title: str
    weight: str
    firsts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class JudgedView:
    """What is known of one dataset."""

    dataset: str
    anchor: str
    sentences: tuple[str, ...]
    overall: tuple[OverallRow, ...]
    individual: tuple[IndividualTable, ...]
    weights: tuple[WeightRow, ...]


@dataclass(frozen=True, slots=True)
class DesirabilityView:
    """The section of the card."""

    goals: tuple[GoalRow, ...]
    missing: bool
    """Whether a goal says what a missing value counts."""
    several: bool
    """Whether there is a ranking: more than one model or variant."""
    drawn: bool
    """Whether replicates tell how sure the ranking is."""
    datasets: tuple[JudgedView, ...]


def desirability_view(results: Results) -> DesirabilityView | None:
    """Write the section; None without goals."""
    found = results.desirability
    if not found.goals:
        return None
    names = names_of(results)
    candidates = {(row.model, row.variant) for row in found.overall}
    return DesirabilityView(
        goals=tuple(
            GoalRow(goal_title(names, goal), form(goal), numbers.plain(goal.weight),
                    "–" if goal.missing is None else numbers.plain(goal.missing)) for goal in found.goals
        ),
        missing=any(goal.missing is not None for goal in found.goals),
        several=len(candidates) > 1,
        drawn=any(row.probability_best is not None for row in found.overall),
        datasets=tuple(
            _judged(results, names, dataset.name, place) for place, dataset in enumerate(results.datasets, 1)
            if any(row.dataset == dataset.name for row in found.overall)
        ),
    )


def form(goal: Goal) -> str:
    """Say what is desirable: "Minimize: 1 up to 0, 0 from 0.1"."""
    return f"{goal.kind.capitalize()}: {_said(goal)}"


def _said(goal: Goal) -> str:
    shape = goal.shape
    if goal.kind == "category":
        return ", ".join(f"{level} {numbers.plain(d)}" for level, d in shape.items())
    if goal.kind == "custom":
        points = zip(shape["values"], shape["desirability"], strict=True)
        beyond = {"clamp": "level beyond", "zero": "0 beyond", "error": "nothing may lie beyond"}[shape["extrapolate"]]
        return f"{', '.join(f'{numbers.plain(d)} at {numbers.plain(x)}' for x, d in points)}; {beyond}"
    low, high = numbers.plain(shape["low"]), numbers.plain(shape["high"])
    scales = [f"{key.replace('_', ' ')} {numbers.plain(value)}" for key, value in shape.items()
              if key.startswith("scale") and value != 1]
    said = {
        "minimize": f"1 up to {low}, 0 from {high}", "maximize": f"0 up to {low}, 1 from {high}",
        "box": f"1 from {low} to {high}, 0 outside",
    }.get(goal.kind) or f"1 at {numbers.plain(shape['target'])}, 0 at {low} and {high}"
    return ", ".join([said, *scales])


def _judged(results: Results, names: Names, dataset: str, place: int) -> JudgedView:
    rows = ranked(results, dataset)
    return JudgedView(
        dataset=dataset, anchor=f"desirability-{place}", sentences=verdict(results, dataset),
        overall=tuple(_overall(results, names, row) for row in rows),
        individual=_individual(results, names, rows), weights=_weights(results, names, dataset),
    )


def ranked(results: Results, dataset: str) -> list[Overall]:
    """Return the models and variants of a dataset, the most desirable first, those without a value last."""
    rows = [row for row in results.desirability.overall if row.dataset == dataset]
    return sorted(rows, key=lambda row: row.rank or len(rows) + 1)


def _overall(results: Results, names: Names, row: Overall) -> OverallRow:
    changes = [c for c in results.desirability.sensitivity
               if (c.dataset, c.model, c.variant) == (row.dataset, row.model, row.variant)]
    return OverallRow(
        rank="–" if row.rank is None else str(row.rank), model=names.model(row.model, row.variant),
        value=score(row.value, row), best=share(row.probability_best), weightings=share(row.weights_best),
        held=f"{sum(c.first for c in changes)} of {len(changes)}" if row.value is not None else "–",
        pareto="–" if row.pareto is None else "yes" if row.pareto else "no",
    )


def share(value: float | None) -> str:
    """Write a share in per cent; a dash where there is none."""
    return "–" if value is None else numbers.percent(value, 1)


def score(value: float | None, row: Overall | Individual) -> Number:
    """Write a desirability with its interval; one that does not exist says why."""
    if value is None:
        return Number(f"{row.status}: {row.reason}" if row.reason else row.status)
    note = None if row.status == "ok" else f"{row.status}: {row.reason}"
    if row.lower is None or row.upper is None:
        return Number(numbers.fixed(value, 3), None, note, numbers.exact(value))
    limits = f"{numbers.fixed(row.lower, 3)} to {numbers.fixed(row.upper, 3)}"
    return Number(numbers.fixed(value, 3), limits, note, numbers.exact(value))


def _individual(results: Results, names: Names, rows: Sequence[Overall]) -> tuple[IndividualTable, ...]:
    goals = results.desirability.goals
    tables = -(-len(goals) // GOALS_ABREAST)
    ends = [len(goals) * place // tables for place in range(tables + 1)]
    found = {(row.dataset, row.model, row.variant, row.goal): row for row in results.desirability.individual}
    return tuple(
        IndividualTable(
            tuple(goal_title(names, goal) for goal in goals[start:end]),
            tuple((names.model(row.model, row.variant), tuple(
                _cell(found[row.dataset, row.model, row.variant, goal.goal]) for goal in goals[start:end]
            )) for row in rows),
        )
        for start, end in pairwise(ends)
    )


def _cell(row: Individual) -> tuple[Number, str]:
    value = row.value
    if value is None:
        return score(row.desirability, row), "no value"
    measured = isinstance(value, float) and row.metric is not None
    return score(row.desirability, row), f"at {numbers.number(float(value)) if measured else wording.scalar(value)}"


def _weights(results: Results, names: Names, dataset: str) -> tuple[WeightRow, ...]:
    goals, changes = results.desirability.goals, results.desirability.sensitivity
    factors = list(dict.fromkeys(c.factor for c in changes))
    return tuple(
        WeightRow(goal_title(names, goal), numbers.plain(goal.weight), tuple(
            _first([names.model(c.model, c.variant) for c in changes if c.first and (
                c.dataset, c.goal, c.factor) == (dataset, goal.goal, factor)])
            for factor in factors
        ))
        for goal in goals
    )


def _first(first: list[str]) -> str:
    """Name those that are first, at most three of them."""
    if len(first) > 3:
        return f"{len(first)} models alike"
    return " and ".join(first) or "nobody"
