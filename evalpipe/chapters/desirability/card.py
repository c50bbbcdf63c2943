"""The card's section on desirability: the goals, each model in each goal and overall, and the weights."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.page import Aside, Cell, Column, Figures, Heading, Number, Row, Section, Table, Text
from evalpipe.card.tables import ranged
from evalpipe.card.wording import Names, names_of
from evalpipe.chapters.desirability.card_verdict import goal_title, ranked, share, verdict
from evalpipe.chapters.desirability.figures import desirability_figures
from evalpipe.chapters.desirability.records import FACTORS
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.page import Block
    from evalpipe.chapters.desirability.records import Goal, Individual, Overall
    from evalpipe.results import Results

GOALS_ABREAST = 5
"""Goals side by side in one table; more are shared out evenly among further tables."""

LEAD = (
    "Each goal turns a value into a desirability from 0 (unacceptable) to 1 (ideal). The overall desirability D is "
    "the weighted geometric mean over the goals: if one of them is 0, D is 0."
)
DRAWN = (
    "Limits are percentiles over the bootstrap replicates. Each replicate judges all models on the same rows; "
    "characteristics are constant. “Best in replicates” is the share of replicates in which a model has the highest "
    "D; ties are shared."
)
SEVERAL = (
    "“Pareto” marks a model if no other is at least as good in every goal and better in one, whatever the weights."
)
CAVEAT = "D depends on the limits chosen: compare it only between {what} under the same goals."
SOURCES = (
    "The forms: Harrington, E. "
    "C. (1965). The desirability function. Industrial Quality Control 21(10), 494–498; Derringer, G. & Suich, R. "
    "(1980). Simultaneous optimization of several response variables. Journal of Quality Technology 12(4), 214–219. "
    "The weights: Derringer, G. (1994). A balancing act: optimizing a product’s properties. Quality Progress 27(6), "
    "51–58."
)


class Known(NamedTuple):
    """What the results tell of a ranking."""

    several: bool
    """Whether there is one: more than one model or variant."""
    drawn: bool
    """Whether replicates tell how sure it is."""
    weighed: bool
    """Whether it may hang on weights: there is more than one goal too."""


def sections(results: Results) -> Iterator[Section]:
    """Write the section; none without goals."""
    if not results.desirability.goals:
        return
    names, known = names_of(results), _known(results)
    blocks: list[Block] = [Text(LEAD, "lead"), _goals(results, names)]
    for dataset, anchor in _judged(results):
        blocks += [Heading(dataset, anchor=anchor), Text(" ".join(verdict(results, dataset)))]
        blocks += _tables(results, names, dataset, known)
        blocks.append(Figures(partial(desirability_figures, results, dataset)))
    yield Section("desirability", "Desirability", (*blocks, Text(foot(known), "small")), part="comparison")


def _judged(results: Results) -> Iterator[tuple[str, str]]:
    """Yield the datasets with a desirability, each with the anchor of its part of the section."""
    for place, dataset in enumerate(results.datasets, 1):
        if any(row.dataset == dataset.name for row in results.desirability.overall):
            yield dataset.name, f"desirability-{place}"


def _known(results: Results) -> Known:
    several = len({(row.model, row.variant) for row in results.desirability.overall}) > 1
    drawn = any(row.probability_best is not None for row in results.desirability.overall)
    return Known(several, drawn, weighed=several and len(results.desirability.goals) > 1)


def foot(known: Known) -> str:
    """Say how to read the tables, and who says so."""
    weighed = (
        f"“Best under random weights” is the share of {numbers.count(constants.WEIGHTINGS)} random sets of weights "
        "under which a model has the highest D. “First by changed weights” counts how often a model is first when "
        f"the weight of one goal is {' or '.join(FACTORS.values())}."
    )
    parts = ((known.drawn, DRAWN), (known.weighed, weighed), (known.several, SEVERAL),
             (True, CAVEAT.format(what="models")), (True, SOURCES))
    return " ".join(text for shown, text in parts if shown)


def _goals(results: Results, names: Names) -> Table:
    goals = results.desirability.goals
    missing = any(goal.missing is not None for goal in goals)
    columns = (
        Column("Goal"), Column("Desirability"), Column("Weight", "num"), Column("If missing", "num", shown=missing))
    return Table("Goals", columns, tuple(
        Row((goal_title(names, goal), form(goal), numbers.plain(goal.weight),
             "–" if goal.missing is None else numbers.plain(goal.missing)))
        for goal in goals))


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
    text = {
        "minimize": f"1 up to {low}, 0 from {high}", "maximize": f"0 up to {low}, 1 from {high}",
        "box": f"1 from {low} to {high}, 0 outside",
    }.get(goal.kind) or f"1 at {numbers.plain(shape['target'])}, 0 at {low} and {high}"
    return ", ".join([text, *scales])


def _tables(results: Results, names: Names, dataset: str, known: Known) -> Iterator[Table]:
    rows = ranked(results, dataset)
    yield _overall(results, names, rows, known)
    yield from _individual(results, names, rows)
    if known.weighed:
        yield _weights(results, names, dataset)


def _overall(results: Results, names: Names, rows: Sequence[Overall], known: Known) -> Table:
    limits = f", with {wording.level(results.intervals.level)} intervals" if known.drawn else ""
    columns = (
        Column("Model"), Column("Rank", "num", shown=known.several), Column("D", "num"),
        Column("Best in replicates", "num", shown=known.several and known.drawn),
        Column("Best under random weights", "num", shown=known.weighed),
        Column("First by changed weights", "num", shown=known.weighed), Column("Pareto", shown=known.several),
    )
    return Table(f"Overall desirability on {rows[0].dataset}{limits}", columns, tuple(
        _overall_row(results, names, row) for row in rows))


def _overall_row(results: Results, names: Names, row: Overall) -> Row:
    changes = [c for c in results.desirability.sensitivity
               if (c.dataset, c.model, c.variant) == (row.dataset, row.model, row.variant)]
    return Row((
        names.model(row.model, row.variant), "–" if row.rank is None else str(row.rank), score(row.value, row),
        share(row.probability_best), share(row.weights_best),
        f"{sum(c.first for c in changes)} of {len(changes)}" if row.value is not None else "–",
        "–" if row.pareto is None else "yes" if row.pareto else "no",
    ))


def score(value: float | None, row: Overall | Individual) -> Number:
    """Write a desirability with its interval; one that does not exist says why."""
    if value is None:
        return Number(f"{row.status}: {row.reason}" if row.reason else row.status)
    note = None if row.status == "ok" else f"{row.status}: {row.reason}"
    return ranged(value, row.lower, row.upper, note)


def _individual(results: Results, names: Names, rows: Sequence[Overall]) -> Iterator[Table]:
    """Yield models down and goals across: desirabilities, and the values that they are of."""
    goals = results.desirability.goals
    tables = -(-len(goals) // GOALS_ABREAST)
    ends = [len(goals) * place // tables for place in range(tables + 1)]
    known = {(row.dataset, row.model, row.variant, row.goal): row for row in results.desirability.individual}
    for start, end in pairwise(ends):
        columns = (Column("Model"), *(Column(goal_title(names, goal), "num") for goal in goals[start:end]))
        yield Table(f"Individual desirabilities on {rows[0].dataset}", columns, tuple(
            Row((names.model(row.model, row.variant), *(
                _cell(known[row.dataset, row.model, row.variant, goal.goal]) for goal in goals[start:end])))
            for row in rows))


def _cell(row: Individual) -> Cell:
    value = row.value
    if value is None:
        return score(row.desirability, row), Aside("no value", "definition")
    measured = isinstance(value, float) and row.metric is not None
    written = (numbers.with_limits(float(value), row.value_lower, row.value_upper) if measured
               else wording.scalar(value))
    return score(row.desirability, row), Aside(f"at {written}", "definition")


def _weights(results: Results, names: Names, dataset: str) -> Table:
    when = (Column(f"First when {change}") for change in FACTORS.values())
    columns = (Column("Goal"), Column("Weight", "num"), *when)
    changes = [change for change in results.desirability.sensitivity if change.dataset == dataset and change.first]

    def first(goal: Goal, factor: float) -> str:
        return _first([names.model(change.model, change.variant) for change in changes
                       if (change.goal, change.factor) == (goal.goal, factor)])

    return Table(f"First place on {dataset} when the weight of one goal changes", columns, tuple(
        Row((goal_title(names, goal), numbers.plain(goal.weight), *(first(goal, factor) for factor in FACTORS)))
        for goal in results.desirability.goals))


def _first(first: list[str]) -> str:
    """Name those that are first, at most three of them."""
    if len(first) > 3:
        return f"{len(first)} models tied"
    return " and ".join(first) or "nobody"
