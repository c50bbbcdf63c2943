"""Measures against the step, a panel for each measure, with the best step of each model marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import Axis, number_axis
from evalpipe.card.figures.context import context_of, or_nan
from evalpipe.card.figures.panel import columns
from evalpipe.card.figures.svg import KeyEntry, drawing
from evalpipe.chapters.steps.words import best_said, by_measure, end_of, histories, title_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.chapters.steps.records import StepHistory
    from evalpipe.results import Results

ABREAST = 3
"""Sheets of a figure, side by side where there is room."""

MOST_PANELS = 2 * ABREAST
"""Panels of a figure; further measures have a figure of their own."""

HEIGHT = 150.0
"""Pixels of a panel."""


def step_figures(results: Results, dataset: str) -> Iterator[Drawing]:
    """Draw every measure of a dataset against the step, the models together."""
    measures = by_measure(histories(results, dataset))
    for start in range(0, len(measures), MOST_PANELS):
        yield _drawing(context_of(results, dataset), measures[start : start + MOST_PANELS], start)


def _drawing(context: Context, measures: Sequence[Sequence[StepHistory]], start: int) -> Drawing:
    results = context.results
    sheets = columns(
        _steps_axis([step for rows in measures for row in rows for step in row.steps]),
        [_value_axis(results, rows) for rows in measures], HEIGHT, ABREAST,
        lambda drawn, place: _lines(drawn, context, measures[place]),
        lambda places: _key(context, [row for place in places for row in measures[place]]))
    said = [f"{best_said(results, rows)}." for rows in measures]
    title = "Measures per step"
    rings = " A ring is the step that the rest of the card shows." if _apart(measures) else ""
    caption = (f"Each measure at every step, on {context.dataset.name}; no intervals. A marker is the first step with "
               f"the best value.{rings}")
    alt = f"{title} on {context.dataset.name}. {' '.join(said)}"
    return drawing(f"d{context.place}-steps-{start}", title, (" ".join(said[:2]), caption, alt), sheets)


def _lines(drawn: Panel, context: Context, rows: Sequence[StepHistory]) -> None:
    """Draw a measure of each model, its best step, and the shown step where it is not the last."""
    for series, row in _of_models(context, rows):
        steps, values = list(map(float, row.steps)), list(map(or_nan, row.values))
        drawn.line(steps, values, series.ink, name=series.label)
        if row.shown != row.steps[-1]:
            drawn.marks([float(row.shown)], [or_nan(row.at(row.shown))], series.ink, "o", size=6, kind="ring")
    for series, row in _of_models(context, rows):  # above all lines
        if row.best is not None:
            drawn.marks([float(row.best)], [or_nan(row.best_value)], series.ink, series.marker, size=5,
                        name=f"{series.label}, best step")


def _of_models(context: Context, rows: Sequence[StepHistory]) -> list[tuple[Series, StepHistory]]:
    known = {row.model: row for row in rows}
    return [(series, known[series.name]) for series in context.series if series.name in known]


def _key(context: Context, rows: Sequence[StepHistory]) -> list[KeyEntry]:
    """Return the key: each model with the marker of its best step."""
    return [KeyEntry(series.label, series.ink, "line", series.marker) for series, _ in _of_models(context, rows)]


def _apart(measures: Sequence[Sequence[StepHistory]]) -> bool:
    return any(row.shown != row.steps[-1] for rows in measures for row in rows)


def _steps_axis(steps: Sequence[int]) -> Axis:
    """Return the axis of steps, whose ticks are whole numbers."""
    if len(set(steps)) == 1:
        return Axis("Step", steps[0] - 1, steps[0] + 1, ((steps[0], f"{steps[0]}"),))
    axis = number_axis("Step", map(float, steps), most=6)
    return Axis(axis.name, axis.low, axis.high, tuple(tick for tick in axis.ticks if float(tick[0]).is_integer()))


def _value_axis(results: Results, rows: Sequence[StepHistory]) -> Axis:
    """Return the axis of a measure, named with the side on which it is better."""
    end = end_of(results, rows[0])
    better = f" ({'lower' if end == 'lowest' else 'higher'} is better)" if end else ""
    values = [or_nan(value) for row in rows for value in row.values]
    return number_axis(f"{title_of(results, rows[0])}{better}", values, most=4, room=0.08)
