"""Figures of desirability: the curve of each goal with the models on it, and the overall desirability of each model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.context import context_of, listed
from evalpipe.card.figures.panel import Panel, RowLabel, grid
from evalpipe.card.figures.panel import rows as rows_of
from evalpipe.card.figures.svg import Drawing, KeyEntry, Series, Sheet, drawing, series_of
from evalpipe.card.tables import ranged
from evalpipe.card.wording import names_of
from evalpipe.chapters.desirability.card_verdict import goal_title, ranked, share
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.chapters.desirability.records import Goal, Individual, Overall
    from evalpipe.results import Estimate, Results, Scalar

HEIGHT = 96.0
"""Pixels of a panel."""

NAMED = 7
"""The models that are told apart, the most desirable; further ones are grey marks without intervals."""

Who = tuple[str, str]
"""A model and its variant."""


def desirability_figures(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Draw the goals of desirability and the models' overall desirability on a dataset."""
    context, rows = context_of(results, dataset), ranked(results, dataset)
    drawings = (curves(context, rows), overall(context, rows))
    return tuple(drawing for drawing in drawings if drawing is not None)


def _series(context: Context, rows: Sequence[Overall]) -> dict[Who, Series]:
    """Return how each model that is told apart is drawn: as everywhere, where all of them are."""
    names = names_of(context.results)
    if len(rows) <= NAMED:
        known = [(row.model, row.variant) for row in context.results.desirability.overall
                 if row.dataset == context.dataset.name]
    else:
        known = [(row.model, row.variant) for row in rows[:NAMED]]
    return dict(zip(known, series_of([("/".join(who), names.model(*who)) for who in known]), strict=True))


def curves(context: Context, rows: Sequence[Overall]) -> Drawing:
    """Draw the curve of each goal with every model at its value; categories as bars."""
    goals, series = context.results.desirability.goals, _series(context, rows)
    more = len(rows) - len(series)
    level = wording.level(context.results.intervals.level)
    limits = any(row.lower is not None for row in context.results.desirability.individual)
    caption = "Desirability of each value, from 0 (unacceptable) to 1 (ideal), with every model at its own value." + (
        f" Bars are {level} intervals of the measure." if limits else "")
    names, measured, sheet = names_of(context.results), _measured(context), Sheet()
    titles = [(f"{goal.kind.capitalize()}: {goal_title(names, goal)}", "ink") for goal in goals]
    panels = grid(sheet, [(_across(goal), unit_axis("", HALVES, 1.08)) for goal in goals], titles, height=HEIGHT)
    for drawn, goal in zip(panels, goals, strict=True):
        _goal(drawn, context, goal, series, measured)
    entries = [KeyEntry(line.label, line.ink, "mark", line.marker) for line in series.values()]
    sheet.key([*entries, *([KeyEntry(f"{more} less desirable", "pale", "mark", "o")] if more else [])])
    best = [names.model(row.model, row.variant) for row in rows if row.value is not None][:1]
    finding = f"{best[0]} is the most desirable over all goals." if best else ""
    texts = finding, caption, _alt(context, goals)
    return drawing(f"d{context.place}-goals", "Goals", texts, [sheet])


def _across(goal: Goal) -> Axis:
    """Return the horizontal axis of a goal: its numbers, or its levels side by side."""
    if goal.kind == "category":
        levels = list(goal.shape)
        return Axis("", -0.6, len(levels) - 0.4, tuple((float(at), level) for at, level in enumerate(levels)))
    low, high = float(goal.x[0]), float(goal.x[-1])
    return Axis("", low, high, ticks_between(low, high, 3))


def _goal(
    drawn: Panel, context: Context, goal: Goal, series: dict[Who, Series], measured: Sequence[Estimate]
) -> None:
    """Draw one goal: the named models over the grey ones, the most desirable on top."""
    rows = {(row.model, row.variant): row for row in context.results.desirability.individual
            if (row.dataset, row.goal) == (context.dataset.name, goal.goal)}
    if goal.kind == "category":
        _levels(drawn, goal, rows, series)
        return
    drawn.line(goal.x, goal.desirability, "ink", kind="thin")
    grey = list(filter(None, (_at(row) for who, row in rows.items() if who not in series)))
    drawn.marks([x for x, _ in grey], [d for _, d in grey], "pale", "o", size=2.5)
    for who, line in reversed(series.items()):
        _mark(drawn, measured, rows[who], line)


def _at(row: Individual) -> tuple[float, float] | None:
    """Return where a model lies in a goal by numbers; None where it has no value."""
    if row.desirability is None or not isinstance(row.value, int | float):
        return None
    return float(row.value), row.desirability


def _mark(drawn: Panel, measured: Sequence[Estimate], row: Individual, line: Series) -> None:
    """Draw a model at its value, with the interval of its measure."""
    at, limits = _at(row), _interval(measured, row)
    if at is None:
        return
    if limits is not None:
        drawn.ranges([at[1]], [limits[0]], [limits[1]], line.ink, upright=False)
    x = min(max(at[0], drawn.x.low), drawn.x.high)
    drawn.marks([x], [at[1]], line.ink, line.marker)
    drawn.record_values(line.label, value=[at[0]], desirability=[at[1]])


def _measured(context: Context) -> list[Estimate]:
    """Return the estimates over all rows of the dataset that have an interval."""
    return [e for e in context.results.rows if e.dataset == context.dataset.name and e.slice is None
            and e.class_ is None and e.lower is not None and e.upper is not None]


def _interval(measured: Sequence[Estimate], row: Individual) -> tuple[float, float] | None:
    """Return the interval of the measure that a desirability is of."""
    for e in measured:
        if (e.model, e.variant, e.metric, e.params, e.average) == (
            row.model, row.variant, row.metric, row.params, row.average
        ) and e.lower is not None and e.upper is not None:
            return e.lower, e.upper
    return None


def _levels(drawn: Panel, goal: Goal, rows: dict[Who, Individual], series: dict[Who, Series]) -> None:
    """Draw the desirability of each level as a bar, with the models of that level on top, side by side."""
    levels = list(goal.shape)
    for at, level in enumerate(levels):
        drawn.bars((at - 0.31, at + 0.31), (goal.shape[level],), "zone", kind="solid")
    marks: dict[str, list[Series | None]] = {level: [] for level in levels}
    for who, row in rows.items():
        if row.value is not None:
            marks[_level(row.value)].append(series.get(who))
    for place, level in enumerate(levels):
        for i, line in enumerate(marks[level]):
            x = place + (i - (len(marks[level]) - 1) / 2) * min(0.16, 0.6 / len(marks[level]))
            drawn.marks([x], [goal.shape[level]], line.ink if line else "pale", line.marker if line else "o",
                        size=4 if line else 2.5)


def _level(value: Scalar) -> str:
    """Write a characteristic as the level of a goal that it is."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _alt(context: Context, goals: Sequence[Goal]) -> str:
    """Say what every model's desirability is in each goal."""
    names = names_of(context.results)
    sentences = []
    for goal in goals:
        rows = [row for row in context.results.desirability.individual
                if (row.dataset, row.goal) == (context.dataset.name, goal.goal) and row.desirability is not None]
        values = ", ".join(f"{names.model(r.model, r.variant)} {numbers.number(r.desirability or 0)}" for r in rows)
        sentences.append(f"{goal.kind.capitalize()} {goal_title(names, goal)}: {values}.")
    return f"Desirability in each goal on {context.dataset.name}. {' '.join(sentences)}"


def overall(context: Context, rows: Sequence[Overall]) -> Drawing | None:
    """Draw the overall desirability of each model with its interval, the best on top; None of a single one."""
    shown = [row for row in rows if row.value is not None]
    if len(shown) < 2:
        return None
    names, series = names_of(context.results), _series(context, rows)
    level = wording.level(context.results.intervals.level)
    drawn = any(row.lower is not None for row in shown)
    caption = "The weighted geometric mean over the goals" + (
        f", with {level} intervals; on the right the share of replicates in which the model is the most desirable."
        if drawn else ".")
    alt = f"Overall desirability on {context.dataset.name}. " + " ".join(
        f"{names.model(row.model, row.variant)} {ranged(row.value, row.lower, row.upper).text}." for row in shown)
    sheet = Sheet()
    labels = [RowLabel(names.model(row.model, row.variant)) for row in shown]
    placed = rows_of(sheet, labels, unit_axis("Overall desirability D"), beside=44 if drawn else 0)
    for middle, row, label in zip(placed.middles, shown, labels, strict=True):
        line = series.get((row.model, row.variant))
        ink, marker = (line.ink, line.marker) if line is not None else ("muted", "o")
        if row.lower is not None and row.upper is not None:
            placed.panel.ranges([middle], [row.lower], [row.upper], ink, upright=False)
        placed.panel.marks([row.value or 0.0], [middle], ink, marker)
        columns = {"D": row.value, "lower": row.lower, "upper": row.upper, "best": row.probability_best}
        placed.panel.record_values(label.text, **{n: [v] for n, v in columns.items() if v is not None})
        if row.probability_best is not None:
            sheet.write(sheet.width, placed.panel.top + middle + 4.5, share(row.probability_best), "ink", "end")
    finding = listed([
        f"{names.model(row.model, row.variant)} {ranged(row.value, row.lower, row.upper).value}" for row in shown])
    return drawing(f"d{context.place}-desirability", "Overall desirability", (finding, caption, alt), [sheet])
