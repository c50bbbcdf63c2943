"""Forest plots: a measure in every slice, with its interval, beside its value over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures.canvas import (
    GRID,
    INK,
    MUTED,
    Drawing,
    KeyEntry,
    Series,
    add_key,
    clip,
    paper,
    style,
    to_svg,
)
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.numbers import plain_axes
from evalpipe.card.names import Names, names_of
from evalpipe.card.tables import shown
from evalpipe.chapters.slices.card_sliced import sliced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from evalpipe.card.figures.context import Context
    from evalpipe.chapters.slices.card_sliced import Measure, Sliced
    from evalpipe.results import Estimate, Results, Slice

MOST_FORESTS = 6
"""Measures that have a figure."""

TALLEST = 10.2
"""Inches of the rows of a figure: with its key and its caption it fits a page."""

LEFT = 1.55


@dataclass(frozen=True, slots=True)
class SliceLine:
    """A line of a forest plot: all rows, a slice, or the heading of a slicing, which has neither labels nor numbers."""

    text: str
    labels: Slice | None = None
    heading: bool = False


@dataclass(frozen=True, slots=True)
class Forest:
    """What a forest plot shows: a measure of every model on each line, as far as slices fit a page."""

    context: Context
    by_slice: Sliced
    measure: Measure
    lines: Sequence[SliceLine]
    left_out: int

    @property
    def series(self) -> tuple[Series, ...]:
        """The models as they are drawn."""
        return self.context.series

    def at(self, line: SliceLine) -> list[tuple[Series, Estimate | None]]:
        """Return the estimate of each model on a line; none on a heading."""
        if line.heading:
            return []
        return [(model, self.by_slice.at(model.name, line.labels, self.measure)) for model in self.series]

    @property
    def shown(self) -> list[Estimate]:
        """The estimates that are drawn."""
        pairs = (pair for line in self.lines for pair in self.at(line))
        return [e for _, e in pairs if e is not None and e.value is not None]


def slice_forests(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Draw the first measures of a dataset by slice; nothing without slices."""
    context, by_slice = context_of(results, dataset), sliced(results, dataset)
    if not by_slice.slicings:
        return ()
    lines, left_out = _lines(by_slice, names_of(results), _step(len(context.series)))
    forests = (Forest(context, by_slice, measure, lines, left_out) for measure in by_slice.measures[:MOST_FORESTS])
    return tuple(_drawing(forest, place) for place, forest in enumerate(forests, 1))


def _step(models: int) -> float:
    """Return the inches of a line."""
    return max(0.17, 0.085 * models + 0.06)


def _lines(by_slice: Sliced, names: Names, step: float) -> tuple[list[SliceLine], int]:
    """Return the lines that fit a figure, and the number of slices that do not."""
    lines = [SliceLine("All rows")]
    for title, slices in by_slice.slicings.items():
        lines.append(SliceLine(title, heading=True))
        lines += [SliceLine(names.label(labels), labels) for labels in slices]
    kept = lines[: round(TALLEST / step)]
    while kept[-1].heading:
        kept.pop()
    return kept, sum(not line.heading for line in lines[len(kept) :])


def _drawing(forest: Forest, place: int) -> Drawing:
    name, series, step = forest.measure.name, forest.series, _step(len(forest.series))
    key, title, caption = f"d{forest.context.place}-slices-{place}", f"{name} by slice", _caption(forest)
    alt = f"{title} on {forest.context.dataset.name}. " + " ".join(
        f"{model.label}: {_summary(forest, model.name)}." for model in series)
    with style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = paper(len(series), (step * len(forest.lines),), LEFT)
        axes.set(ylim=(len(forest.lines) - 0.5, -0.5), yticks=(), xlabel=clip(name, 48))
        _limits(axes, forest)
        for model in series:
            whole = forest.by_slice.at(model.name, None, forest.measure)
            if whole is not None and whole.value is not None:
                axes.axvline(whole.value, color=model.colour, linestyle=model.dash, linewidth=0.8, alpha=0.6)
        for row, line in enumerate(forest.lines):
            _line(axes, forest, row, line)
        axes.spines["left"].set_visible(False)
        entries = [KeyEntry(clip(model.label, 40), model.colour, "solid", model.marker) for model in series]
        add_key(figure, entries, left=0.3)
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _caption(forest: Forest) -> str:
    results, measure = forest.context.results, forest.measure
    better = {metric.name: metric.direction for metric in results.metrics}[measure.metric]
    limited = any(e.lower is not None for e in forest.shown)
    limits = f", with {wording.level(results.intervals.level)} intervals" if limited else ""
    drawn = sum(line.labels is not None for line in forest.lines)
    rest = f" The first {drawn} slices are drawn; the other {forest.left_out} are in estimates.csv."
    return (
        f"{measure.name} in each slice{limits}; the vertical line is its value over all rows. "
        f"{wording.BETTER_SENTENCES[better]}{rest if forest.left_out else ''}"
    )


def _limits(axes: Axes, forest: Forest) -> None:
    """Let the axis reach from the lowest to the highest limit; it is cut where a measure cannot be."""
    low, high = next(m.range for m in forest.context.results.metrics if m.name == forest.measure.metric)
    ends = [end for e in forest.shown for end in (e.lower, e.value, e.upper) if end is not None] or [0.0, 1.0]
    room = 0.04 * (max(ends) - min(ends)) or 0.05 * abs(ends[0]) or 0.05
    left, right = min(ends) - room, max(ends) + room
    edge = 0.015 * (right - left)
    axes.set_xlim(left if low is None else max(left, low - edge), right if high is None else min(right, high + edge))
    plain_axes(axes, 5)
    axes.set_yticks(())


def _line(axes: Axes, forest: Forest, row: int, line: SliceLine) -> None:
    """Draw a line: its text, and a mark for each model, or why there is none."""
    side, pairs = axes.get_yaxis_transform(), forest.at(line)
    start = ((0.06 if line.labels is None else 0.12) - LEFT) / (4.4 - LEFT - 0.14)
    absent = bool(pairs) and all(e is None or e.value is None for _, e in pairs)
    axes.text(
        start, row, clip(line.text, 26 if line.labels is None else 25), va="center_baseline", transform=side,
        fontsize=8.5, fontweight="bold" if line.labels is None else "normal", color=MUTED if absent else INK,
    )
    if line.labels is None and row:
        axes.axhline(row - 0.5, color=GRID, linewidth=0.6)
    if absent:
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
        axes.text(0.02, row, _absent(forest, line), fontsize=8, va="center_baseline", color=MUTED, transform=side,
                  bbox=ground)
        return
    for place, (model, e) in enumerate(pairs):
        _mark(axes, model, e, row + (place - (len(pairs) - 1) / 2) * 0.085 / _step(len(pairs)))


def _absent(forest: Forest, line: SliceLine) -> str:
    """Say why no model has a value in a slice, and how many rows it has."""
    known = next((e for _, e in forest.at(line) if e is not None), None)
    if known is None:
        return "not evaluated"
    why = "too few" if known.status == "insufficient" else "undefined"
    size = forest.by_slice.size(line.labels)
    return why if size is None else f"n = {numbers.count(size.n)}, {why}"


def _mark(axes: Axes, model: Series, e: Estimate | None, y: float) -> None:
    if e is None or e.value is None:
        return
    if e.lower is not None and e.upper is not None:
        axes.plot([e.lower, e.upper], [y, y], color=model.colour, linewidth=1.2, solid_capstyle="butt")
    axes.plot([e.value], [y], marker=model.marker, markersize=4, color=model.colour, clip_on=False)


def _summary(forest: Forest, model: str) -> str:
    """Say the value over all rows, the lowest and the highest slice, and how many have none."""
    results, by_slice, measure = forest.context.results, forest.by_slice, forest.measure
    names, metric = names_of(results), next(m for m in results.metrics if m.name == measure.metric)
    whole = by_slice.at(model, None, measure)
    estimates = [by_slice.at(model, labels, measure) for slices in by_slice.slicings.values() for labels in slices]
    known = [(e.value, e) for e in estimates if e is not None and e.value is not None]
    parts = [f"over all rows {shown(whole, whole=metric.is_whole).text}"] if whole is not None else []
    for word, choose in (("lowest", min), ("highest", max)) if known else ():
        _, e = choose(known, key=lambda pair: pair[0])
        parts.append(f"{word} {shown(e, whole=metric.is_whole).text} where {names.slice(e.slice or {})}")
    few = len(estimates) - len(known)
    if few:
        parts.append(f"{few} of {len(estimates)} slices have no value")
    return "; ".join(parts) or "no values"
