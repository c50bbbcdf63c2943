"""Every measure of predicted classes against the threshold, as small panels, with the chosen threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures.canvas import (
    FOOT,
    INK,
    KEY_ROW,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Drawing,
    KeyEntry,
    Series,
    add_key,
    clip,
    style,
    to_svg,
)
from evalpipe.card.figures.context import column, context_of, known
from evalpipe.results.curves.events import Sweep

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from evalpipe.card.figures.context import Context
    from evalpipe.chapters.thresholds.records import Threshold
    from evalpipe.results import Results
    from evalpipe.results.curves import Column

MOST_PANELS, ABREAST = 10, 2
"""Panels of a figure, and side by side; more measures are shared among several figures."""

NAME, HEIGHT, APART, BETWEEN = 0.2, 0.92, 0.46, 0.2
"""Inches of the name above a panel, its height, and the gaps beside and below it."""

CHOSEN = (0, (4, 2))


def sweeps(results: Results, dataset: str) -> Iterator[Drawing]:
    """Draw every measure of predicted classes on a dataset against the threshold, a figure or more for each model."""
    context = context_of(results, dataset)
    for number, (series, curve) in enumerate(context.curves(Sweep), 1):
        measures = list(curve.points.measures)
        figures = math.ceil(len(measures) / MOST_PANELS)
        panels = math.ceil(len(measures) / (figures * ABREAST)) * ABREAST
        for first in range(0, len(measures), panels):
            key = f"d{context.place}-sweep-{number}-{first}"
            yield _drawing(context, key, series, curve, measures[first : first + panels])


def _drawing(context: Context, key: str, series: Series, curve: Sweep, measures: Sequence[str]) -> Drawing:
    """Draw a panel for each measure of a model; its threshold is a line in all of them."""
    chosen = context.threshold(series.name)
    title = f"Measures by threshold: {clip(series.label, 40)}"
    caption = ("What each measure would be if rows were predicted as events from each threshold upwards, on "
               f"{context.dataset.name}.{_line(chosen)}")
    entries = [KeyEntry(series.short, series.colour)]
    if chosen is not None:
        entries.append(KeyEntry(f"Threshold {numbers.number(chosen.value)}", INK, CHOSEN))
    alt = f"Measures by threshold on {context.dataset.name}, {series.label}. " + " ".join(
        f"{_title(context, name)}: {_range(curve.points.measures[name])}." for name in measures)
    with style(key):
        figure, panels = _panels(len(measures), len(entries))
        for place, (axes, name) in enumerate(zip(panels, measures, strict=True)):
            _panel(axes, series, curve, name, chosen)
            axes.set_title(clip(_title(context, name), 30), fontsize=8.5, loc="left", pad=3)
            if place + ABREAST >= len(measures):
                axes.set_xlabel("Threshold", fontsize=8.5)
            else:
                axes.tick_params(labelbottom=False)
        add_key(figure, entries)
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _line(chosen: Threshold | None) -> str:
    """Say what the line of a threshold is, and whether its interval is drawn; empty without a threshold."""
    if chosen is None:
        return ""
    what = "the threshold in use" if chosen.folds is None else "the threshold that all rows choose"
    return f" The dashed line is {what}{', shaded its interval' if chosen.lower is not None else ''}."


def _panels(count: int, rows_of_key: int) -> tuple[Figure, list[Axes]]:
    """Return a figure with so many panels, two abreast, that share their range of thresholds."""
    from matplotlib.figure import Figure

    lines = math.ceil(count / ABREAST)
    total = TOP + lines * (NAME + HEIGHT) + (lines - 1) * BETWEEN + FOOT + KEY_ROW * rows_of_key
    width = (WIDTH - LEFT - RIGHT - APART * (ABREAST - 1)) / ABREAST
    figure = Figure(figsize=(WIDTH, total))
    panels: list[Axes] = []
    for place in range(count):
        line, side = divmod(place, ABREAST)
        left = LEFT + side * (width + APART)
        bottom = total - TOP - (line + 1) * (NAME + HEIGHT) - line * BETWEEN
        panels.append(figure.add_axes((left / WIDTH, bottom / total, width / WIDTH, HEIGHT / total)))
    return figure, panels


def _panel(axes: Axes, series: Series, curve: Sweep, name: str, chosen: Threshold | None) -> None:
    from matplotlib.ticker import MaxNLocator

    if chosen is not None and chosen.lower is not None and chosen.upper is not None:
        axes.axvspan(chosen.lower, chosen.upper, color=INK, alpha=0.1, linewidth=0)
    axes.plot(column(curve.points.threshold), column(curve.points.measures[name]), color=series.colour, linewidth=1.3)
    if chosen is not None:
        axes.axvline(chosen.value, color=INK, linestyle=CHOSEN, linewidth=0.9)
    cuts = known(curve.points.threshold)
    if cuts and min(cuts) >= 0 and max(cuts) <= 1:
        axes.set(xlim=(-0.02, 1.02), xticks=(0, 0.5, 1))
    else:
        axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.yaxis.set_major_locator(MaxNLocator(3))
    axes.tick_params(labelsize=8)


def _title(context: Context, name: str) -> str:
    """Return the title of a coordinate: that of its measure, with its options."""
    metric, _, options = name.partition("(")
    titles = {summary.name: summary.title for summary in context.results.metrics}
    return titles.get(metric, metric) + (f" ({options.replace('=', ' = ')}" if options else "")


def _range(measure: Column) -> str:
    """Say between which values a measure moves."""
    values = known(measure)
    return f"from {numbers.number(min(values))} to {numbers.number(max(values))}" if values else "undefined everywhere"
