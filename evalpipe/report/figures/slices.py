"""Forest plots: a measure in every slice, with its interval, beside its value over all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.figures.canvas import (
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
from evalpipe.report.figures.numbers import plain_axes
from evalpipe.report.names import Names, names_of
from evalpipe.report.slices import Measure, Sliced, key, sliced
from evalpipe.report.tables import is_whole, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes

    from evalpipe.report.figures.context import Context
    from evalpipe.results import Estimate, Slice

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


def slice_forests(context: Context) -> tuple[Drawing, ...]:
    """Draw the first measures of a dataset by slice."""
    held = sliced(context.results, context.dataset.name)
    if not held.slicings:
        return ()
    lines, left_out = _lines(held, names_of(context.results), _step(len(context.series)))
    measures = held.measures[:MOST_FORESTS]
    return tuple(_forest(context, held, place, lines, left_out) for place in range(len(measures)))


def _step(models: int) -> float:
    """Return the inches of a line."""
    return max(0.17, 0.085 * models + 0.06)


def _lines(held: Sliced, names: Names, step: float) -> tuple[list[SliceLine], int]:
    """Return the lines that fit a figure, and the number of slices that do not."""
    lines = [SliceLine("All rows")]
    for title, slices in held.slicings.items():
        lines.append(SliceLine(title, None, heading=True))
        lines += [SliceLine(names.label(labels), labels) for labels in slices]
    kept = lines[: round(TALLEST / step)]
    while kept[-1].heading:
        kept.pop()
    return kept, sum(not line.heading for line in lines[len(kept) :])


def _forest(context: Context, held: Sliced, place: int, lines: list[SliceLine], left_out: int) -> Drawing:
    measure, series = held.measures[place], context.series
    key, step = f"d{context.place}-slices-{place + 1}", _step(len(series))
    title = f"{measure.name} by slice"
    caption = _caption(context, held, measure, lines, left_out)
    alt = f"{title} on {context.dataset.name}. " + " ".join(
        f"{one.label}: {_finding(context, held, one.name, measure)}." for one in series
    )
    with style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = paper(len(series), (step * len(lines),), LEFT)
        axes.set(ylim=(len(lines) - 0.5, -0.5), yticks=(), xlabel=clip(measure.name, 48))
        _limits(axes, context, measure, _shown(held, lines, series, measure))
        for one in series:
            whole = held.at(one.name, None, measure)
            if whole is not None and whole.value is not None:
                axes.axvline(whole.value, color=one.colour, linestyle=one.dash, linewidth=0.8, alpha=0.6)
        for row, line in enumerate(lines):
            _line(axes, held, (series, measure), row, line)
        axes.spines["left"].set_visible(False)
        add_key(figure, [KeyEntry(clip(one.label, 40), one.colour, "solid", one.marker) for one in series], left=0.3)
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _caption(context: Context, held: Sliced, measure: Measure, lines: list[SliceLine], left_out: int) -> str:
    better = {m.name: m.direction for m in context.results.metrics}[measure.metric]
    level = wording.level(context.results.intervals.level)
    limited = any(e.lower is not None for e in _shown(held, lines, context.series, measure))
    told = f", with {level} intervals" if limited else ""
    rest = f" The first {sum(line.labels is not None for line in lines)} slices are drawn; the other {left_out} are in "
    return (
        f"{measure.name} in each slice{told}; the vertical line is its value over all rows. "
        f"{wording.BETTER_SENTENCES[better]}{f'{rest}estimates.csv.' if left_out else ''}"
    )


def _shown(held: Sliced, lines: list[SliceLine], series: Iterable[Series], measure: Measure) -> list[Estimate]:
    places = [(one.name, line.labels) for line in lines if not line.heading for one in series]
    found = (held.at(model, labels, measure) for model, labels in places)
    return [e for e in found if e is not None and e.value is not None]


def _limits(axes: Axes, context: Context, measure: Measure, found: list[Estimate]) -> None:
    """Let the axis reach from the lowest to the highest limit; it is cut where a measure cannot be."""
    low, high = next(m.range for m in context.results.metrics if m.name == measure.metric)
    ends = [end for e in found for end in (e.lower, e.value, e.upper) if end is not None] or [0.0, 1.0]
    room = 0.04 * (max(ends) - min(ends)) or 0.05 * abs(ends[0]) or 0.05
    left, right = min(ends) - room, max(ends) + room
    edge = 0.015 * (right - left)
    axes.set_xlim(left if low is None else max(left, low - edge), right if high is None else min(right, high + edge))
    plain_axes(axes, 5)
    axes.set_yticks(())


def _line(axes: Axes, held: Sliced, drawn: tuple[tuple[Series, ...], Measure], row: int, line: SliceLine) -> None:
    series, measure = drawn
    side = axes.get_yaxis_transform()
    inset = 0.0 if line.labels is None else 0.06
    start = (0.06 + inset - LEFT) / (4.4 - LEFT - 0.14)
    found = [] if line.heading else [(one, held.at(one.name, line.labels, measure)) for one in series]
    numb = bool(found) and all(e is None or e.value is None for _, e in found)
    axes.text(
        start, row, clip(line.text, 26 if line.labels is None else 25), va="center_baseline", transform=side,
        fontsize=8.5, fontweight="bold" if line.labels is None else "normal", color=MUTED if numb else INK,
    )
    if line.labels is None and row:
        axes.axhline(row - 0.5, color=GRID, linewidth=0.6)
    if numb:
        ground = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
        axes.text(
            0.02, row, _absent(held, line, found), fontsize=8, va="center_baseline", color=MUTED, transform=side,
            bbox=ground,
        )
        return
    for place, (one, e) in enumerate(found):
        _dot(axes, one, e, row + (place - (len(series) - 1) / 2) * 0.085 / _step(len(series)))


def _absent(held: Sliced, line: SliceLine, found: list[tuple[Series, Estimate | None]]) -> str:
    """Say why no model has a value in a slice, and how many rows it has."""
    known = next((e for _, e in found if e is not None), None)
    if known is None:
        return "not evaluated"
    why = "too few" if known.status == "insufficient" else "undefined"
    size = held.sizes.get(key(line.labels))
    return why if size is None else f"n = {numbers.count(size.n)}, {why}"


def _dot(axes: Axes, series: Series, e: Estimate | None, y: float) -> None:
    if e is None or e.value is None:
        return
    if e.lower is not None and e.upper is not None:
        axes.plot([e.lower, e.upper], [y, y], color=series.colour, linewidth=1.2, solid_capstyle="butt")
    axes.plot([e.value], [y], marker=series.marker, markersize=4, color=series.colour, clip_on=False)


def _finding(context: Context, held: Sliced, model: str, measure: Measure) -> str:
    """Say the value over all rows, the lowest and the highest slice, and how many have none."""
    names, metric = names_of(context.results), next(m for m in context.results.metrics if m.name == measure.metric)
    whole = held.at(model, None, measure)
    each = [held.at(model, labels, measure) for slices in held.slicings.values() for labels in slices]
    known = [(e.value, e) for e in each if e is not None and e.value is not None]
    said = [f"over all rows {shown(whole, whole=is_whole(metric)).text}"] if whole is not None else []
    for word, choose in (("lowest", min), ("highest", max)):
        if known:
            _, e = choose(known, key=lambda pair: pair[0])
            where = names.slice(e.slice or {})
            said.append(f"{word} {shown(e, whole=is_whole(metric)).text} where {where}")
    few = len(each) - len(known)
    if few:
        said.append(f"{few} of {len(each)} slices have no value")
    return "; ".join(said) or "no values"
