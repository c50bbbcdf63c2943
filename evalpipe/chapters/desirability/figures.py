"""Figures of desirability: the curve of each goal with the models on it, and the overall desirability of each model."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures.canvas import (
    FOOT,
    GRID,
    INK,
    KEY_ROW,
    LEFT,
    MUTED,
    RIGHT,
    TOP,
    WIDTH,
    Drawing,
    KeyEntry,
    Series,
    add_key,
    clip,
    paper,
    series_of,
    style,
    to_svg,
)
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.numbers import plain_axes
from evalpipe.card.names import names_of
from evalpipe.chapters.desirability.card_verdict import goal_title, ranked, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.card.figures.context import Context
    from evalpipe.chapters.desirability.records import Goal, Individual, Overall
    from evalpipe.results import Estimate, Results, Scalar

HEIGHT, GAP = 1.25, 0.62
"""Inches: a panel, and the room between two for the axis of the upper one."""

NAMED = 7
"""The models that are told apart, the most desirable; further ones are grey marks without intervals."""

MARGIN, BESIDE = 1.75, 0.58
"""Inches left of the overall desirabilities for the names, and right of them for the chance to be best."""

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
    key = f"d{context.place}-goals"
    more = len(rows) - len(series)
    level = wording.level(context.results.intervals.level)
    limits = any(row.lower is not None for row in context.results.desirability.individual)
    caption = "What each value is worth, from 0, unacceptable, to 1, with every model at its own value." + (
        f" Bars are {level} intervals of the measure." if limits else "")
    entries = [KeyEntry(line.short, line.colour, "none", line.marker) for line in series.values()]
    entries += [KeyEntry(f"{more} less desirable", MUTED, "none", ".")] if more else []
    measured = _measured(context)
    with style(key):
        figure, panels = _panels(len(goals), len(entries))
        for axes, goal in zip(panels, goals, strict=True):
            _panel(axes, context, goal, series, measured)
        add_key(figure, entries)
        alt = _alt(context, goals)
        return Drawing(key, "Goals", caption, alt, to_svg(figure, key, alt, caption))


def _panels(count: int, key_rows: int) -> tuple[Figure, list[Axes]]:
    """Return panels in two columns, with room for the axis of each and for a key beneath."""
    from matplotlib.figure import Figure

    across = min(count, 2)
    down = ceil(count / across)
    between = 0.5
    wide = (WIDTH - LEFT - RIGHT - between * (across - 1)) / across
    top = TOP + 0.16
    total = top + HEIGHT * down + GAP * (down - 1) + FOOT + KEY_ROW * key_rows
    figure = Figure(figsize=(WIDTH, total))
    boxes = [
        ((LEFT + (i % across) * (wide + between)) / WIDTH,
         (total - top - HEIGHT - (i // across) * (HEIGHT + GAP)) / total, wide / WIDTH, HEIGHT / total)
        for i in range(count)
    ]
    return figure, [figure.add_axes(box) for box in boxes]


def _panel(
    axes: Axes, context: Context, goal: Goal, series: dict[Who, Series], measured: Sequence[Estimate]
) -> None:
    """Draw one goal: the named models over the grey ones, the most desirable on top."""
    title = f"{goal.kind.capitalize()}: {goal_title(names_of(context.results), goal)}"
    axes.set_title(clip(title, 34), fontsize=8.5, loc="left", pad=4)
    rows = {(row.model, row.variant): row for row in context.results.desirability.individual
            if (row.dataset, row.goal) == (context.dataset.name, goal.goal)}
    if goal.kind == "category":
        _levels(axes, goal, rows, series)
    else:
        axes.plot(goal.x, goal.desirability, color=INK, linewidth=1)
        for x, d in filter(None, (_at(row) for who, row in rows.items() if who not in series)):
            axes.plot([x], [d], ".", color=MUTED, markersize=4)
        for who, line in reversed(series.items()):
            _mark(axes, measured, rows[who], line)
        axes.set_xlim(goal.x[0], goal.x[-1])
        plain_axes(axes, 4)
    axes.set(ylim=(-0.09, 1.12))
    axes.set_yticks((0, 0.5, 1), ("0", "0.5", "1"))
    axes.tick_params(labelsize=8)


def _at(row: Individual) -> tuple[float, float] | None:
    """Return where a model lies in a goal by numbers; None where it has no value."""
    if row.desirability is None or not isinstance(row.value, int | float):
        return None
    return float(row.value), row.desirability


def _mark(axes: Axes, measured: Sequence[Estimate], row: Individual, line: Series) -> None:
    """Draw a model at its value, with the interval of its measure."""
    at, limits = _at(row), _interval(measured, row)
    if at is None:
        return
    if limits is not None:
        axes.plot(limits, [at[1]] * 2, color=line.colour, linewidth=1.1, solid_capstyle="butt")
    axes.plot(*([value] for value in at), marker=line.marker, color=line.colour, markersize=4.5, clip_on=False)


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


def _levels(axes: Axes, goal: Goal, rows: dict[Who, Individual], series: dict[Who, Series]) -> None:
    """Draw the desirability of each level as a bar, with the models of that level on top, side by side."""
    levels = list(goal.shape)
    axes.bar(range(len(levels)), [goal.shape[level] for level in levels], width=0.62, color=GRID)
    marks: dict[str, list[Series | None]] = {level: [] for level in levels}
    for who, row in rows.items():
        if row.value is not None:
            marks[_level(row.value)].append(series.get(who))
    for place, level in enumerate(levels):
        for i, line in enumerate(marks[level]):
            x = place + (i - (len(marks[level]) - 1) / 2) * min(0.16, 0.6 / len(marks[level]))
            axes.plot([x], [goal.shape[level]], marker=line.marker if line else ".", markersize=4.5,
                      color=line.colour if line else MUTED, clip_on=False)
    axes.set_xticks(range(len(levels)), [clip(level, 27 // max(len(levels), 2)) for level in levels])
    axes.set_xlim(-0.6, len(levels) - 0.4)
    axes.grid(visible=False, axis="x")


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
        values = ", ".join(f"{names.model(r.model, r.variant)} {numbers.fixed(r.desirability or 0, 3)}" for r in rows)
        sentences.append(f"{goal.kind.capitalize()} {goal_title(names, goal)}: {values}.")
    return f"Desirability in each goal on {context.dataset.name}. {' '.join(sentences)}"


def overall(context: Context, rows: Sequence[Overall]) -> Drawing | None:
    """Draw the overall desirability of each model with its interval, the best on top; None of a single one."""
    shown = [row for row in rows if row.value is not None]
    if len(shown) < 2:
        return None
    names, series, key = names_of(context.results), _series(context, rows), f"d{context.place}-desirability"
    level = wording.level(context.results.intervals.level)
    drawn = any(row.lower is not None for row in shown)
    caption = "The weighted geometric mean over the goals" + (
        f", with {level} intervals; on the right the share of replicates in which the model is the most desirable."
        if drawn else ".")
    alt = f"Overall desirability on {context.dataset.name}. " + " ".join(
        f"{names.model(row.model, row.variant)} {numbers.fixed(row.value or 0, 3)}" + (
            f" ({numbers.fixed(row.lower, 3)} to {numbers.fixed(row.upper, 3)})."
            if row.lower is not None and row.upper is not None else ".") for row in shown)
    with style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = paper(0, (max(0.24 * len(shown), 0.7),), MARGIN)
        axes.set_position(_narrower(axes, BESIDE if drawn else 0.0))
        for place, row in enumerate(shown):
            _row(axes, place, row, names.model(row.model, row.variant), series.get((row.model, row.variant)))
        axes.set(xlim=(-0.02, 1.02), xticks=(0, 0.25, 0.5, 0.75, 1), ylim=(len(shown) - 0.5, -0.5),
                 xlabel="Overall desirability D")
        axes.set_yticks(())
        axes.spines["left"].set_visible(False)
        return Drawing(key, "Overall desirability", caption, alt, to_svg(figure, key, alt, caption))


def _narrower(axes: Axes, inches: float) -> tuple[float, float, float, float]:
    """Return the box of a panel with so much less at its right side."""
    box = axes.get_position()
    return box.x0, box.y0, box.width - inches / WIDTH, box.height


def _row(axes: Axes, place: int, row: Overall, name: str, line: Series | None) -> None:
    """Draw one model of the overall desirability."""
    colour, marker = (line.colour, line.marker) if line is not None else (MUTED, "o")
    side = axes.get_yaxis_transform()
    axes.text(-0.03, place, clip(name, 29), ha="right", va="center_baseline", fontsize=8.5, transform=side)
    if row.lower is not None and row.upper is not None:
        axes.plot([row.lower, row.upper], [place, place], color=colour, linewidth=1.4, solid_capstyle="butt")
    axes.plot([row.value or 0.0], [place], marker=marker, markersize=4.5, color=colour, clip_on=False)
    if row.probability_best is not None:
        axes.text(1.22, place, share(row.probability_best), ha="right", va="center_baseline", fontsize=8.5,
                  transform=side)
