"""Every measure of predicted classes against the threshold, as small panels, with the chosen threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import HALVES, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import column, context_of, known
from evalpipe.card.figures.labels import rules
from evalpipe.card.figures.panel import DASHES, DOTS, grid
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing
from evalpipe.results.curves.events import MarkedMeasures, Sweep
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.chapters.thresholds.records import Threshold
    from evalpipe.results import Results
    from evalpipe.results.curves import Column

MOST_PANELS = 10
"""Panels of a figure, two side by side; more measures are shared among several figures."""

MARKED = " Dots: the thresholds that the spec marks."

HEIGHT, ABREAST = 86, 2
"""Pixels of a panel's height, and panels side by side."""


def sweeps(results: Results, dataset: str) -> Iterator[Drawing]:
    """Draw every measure of predicted classes on a dataset against the threshold, a figure or more for each model."""
    context = context_of(results, dataset)
    marked = {series.name: curve for series, curve in context.curves(MarkedMeasures)}
    for number, (series, curve) in enumerate(context.curves(Sweep), 1):
        measures = list(curve.points.measures)
        figures = math.ceil(len(measures) / MOST_PANELS)
        panels = math.ceil(len(measures) / (figures * ABREAST)) * ABREAST
        for first in range(0, len(measures), panels):
            key = f"d{context.place}-sweep-{number}-{first}"
            yield _drawing(context, key, (series, curve, marked.get(series.name)), measures[first : first + panels])


def _drawing(
    context: Context, key: str, swept: tuple[Series, Sweep, MarkedMeasures | None], measures: Sequence[str]
) -> Drawing:
    """Draw a panel for each measure of a model; its threshold is a line in all of them."""
    series, curve, marked = swept
    chosen = context.threshold(series.name)
    title = f"Measures by threshold: {series.label}"
    caption = (f"Each measure at every threshold, on {context.dataset.name}.{_line(chosen)}{MARKED if marked else ''}")
    alt = f"Measures by threshold on {context.dataset.name}, {series.label}. " + " ".join(
        f"{_title(context, name)}: {_range(curve.points.measures[name])}." for name in measures)
    cuts, sheet = known(curve.points.threshold), Sheet()
    unit = not cuts or (min(cuts) >= 0 and max(cuts) <= 1)
    x = unit_axis("", HALVES) if unit else number_axis("", cuts, most=3)
    axes = [(x, _heights(curve.points.measures[name])) for name in measures]
    panels = grid(sheet, axes, [(_title(context, name), "ink") for name in measures], height=HEIGHT)
    for drawn, name in zip(panels, measures, strict=True):
        _panel(drawn, context, swept, name)
    sheet.key(_key(chosen, marked))
    finding = f"{_title(context, measures[0])} moves {_range(curve.points.measures[measures[0]])}."
    return drawing(key, title, (finding, caption, alt), [sheet])


def _panel(drawn: Panel, context: Context, swept: tuple[Series, Sweep, MarkedMeasures | None], name: str) -> None:
    """Draw one measure of a model against the threshold."""
    series, curve, marked = swept
    chosen = context.threshold(series.name)
    if chosen is not None and chosen.lower is not None and chosen.upper is not None:
        drawn.span(chosen.lower, chosen.upper)
    rules(drawn, context, series)
    drawn.line(column(curve.points.threshold), column(curve.points.measures[name]), series.ink,
               name=_title(context, name))
    if chosen is not None:
        drawn.rule("ink", x=chosen.value, dash=DASHES)
    if marked is not None:
        drawn.marks(column(marked.points.threshold), column(marked.points.measures[name]), series.ink, series.marker,
                    size=3, name=f"{_title(context, name)}, marked")


def _key(chosen: Threshold | None, marked: MarkedMeasures | None) -> list[KeyEntry]:
    """Return the key of the lines at thresholds."""
    used = [] if chosen is None else [
        KeyEntry(f"Threshold {numbers.given(chosen.value)}", "ink", "thin", dash=DASHES)]
    if marked is None:
        return used
    cuts = ", ".join(map(numbers.given, known(marked.points.threshold)))
    return [*used, KeyEntry(f"Marked: {cuts}", "muted", "thin", dash=DOTS)]


def _heights(measure: Column) -> Axis:
    """Return the axis of a measure."""
    axis = number_axis("", known(measure) or [0.0, 1.0], room=0.06)
    return Axis("", axis.low, axis.high, ticks_between(axis.low, axis.high, 3))


def _line(chosen: Threshold | None) -> str:
    """Say what the line of a threshold is, and whether its interval is drawn; empty without a threshold."""
    if chosen is None:
        return ""
    what = "the threshold in use" if chosen.folds is None else "the threshold chosen on all rows"
    return f" The dashed line is {what}{', shaded its interval' if chosen.lower is not None else ''}."


def _title(context: Context, name: str) -> str:
    """Return the title of a coordinate: that of its measure, with its options."""
    metric, _, options = name.partition("(")
    titles = {summary.name: summary.title for summary in context.results.metrics}
    return titles.get(metric, metric) + (f" ({options.replace('=', ' = ')}" if options else "")


def _range(measure: Column) -> str:
    """Say between which values a measure moves."""
    values = known(measure)
    return f"from {numbers.number(min(values))} to {numbers.number(max(values))}" if values else "undefined everywhere"
