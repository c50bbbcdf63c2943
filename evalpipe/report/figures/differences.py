"""The forest plot of differences from a baseline, with the zones in which they do not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.comparisons import baseline_of, compared
from evalpipe.report.figures.canvas import GRID, INK, Drawing, KeyEntry, add_key, clip, paper, style, to_svg
from evalpipe.report.figures.numbers import plain_axes
from evalpipe.report.names import names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.report.figures.canvas import Series
    from evalpipe.report.figures.context import Context
    from evalpipe.results import Comparison

LEFT = 2.05
ZONE = "#e3e8ec"
ARROWS = {"maximize": " →", "minimize": " ←", "none": ""}
"""To which side a model is better, by the direction of the measure."""


def difference_forest(context: Context, baseline: tuple[bool, str], place: int) -> Drawing | None:
    """Draw the differences from a baseline of measures whose values lie between -1 and 1; None without any."""
    groups = _grouped(context, baseline)
    if not groups:
        return None
    models = [one for one in context.series if any(one.name in found for found in groups.values())]
    key, title = f"d{context.place}-differences-{place}", f"Differences from {baseline[1]}"
    caption, alt = _caption(context, groups), _alt(context, title, groups, models)
    step = max(0.22, 0.1 * len(models) + 0.12)
    directions = {m.name: m.direction for m in context.results.metrics}
    with style(key, **{"axes.grid.axis": "x"}):
        zoned = any(c.margin is not None for found in groups.values() for c in found.values())
        entries = [KeyEntry(clip(one.label, 40), one.colour, "solid", one.marker) for one in models]
        entries += [KeyEntry("Within the margin: equivalent", ZONE, width=7)] if zoned else []
        figure, (axes,) = paper(len(entries), (step * len(groups),), LEFT)
        _limits(axes, groups)
        axes.axvline(0, color=INK, linewidth=0.8)
        for row, (name, found) in enumerate(groups.items()):
            arrow = ARROWS[directions[next(iter(found.values())).metric]]
            label = clip(name, 34) + arrow
            side = axes.get_yaxis_transform()
            axes.text(-0.02, row, label, ha="right", va="center_baseline", fontsize=8.5, transform=side)
            axes.axhline(row + 0.5, color=GRID, linewidth=0.6)
            _row(axes, models, found, row, 0.1 / step)
        axes.set(ylim=(len(groups) - 0.5, -0.5), xlabel="Difference")
        axes.set_yticks(())
        axes.spines["left"].set_visible(False)
        add_key(figure, entries, left=0.3)
        return Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _grouped(context: Context, baseline: tuple[bool, str]) -> dict[str, dict[str, Comparison]]:
    """Return the differences that share an axis, by measure and model."""
    scale = {
        m.name for m in context.results.metrics
        if m.range[0] is not None and m.range[1] is not None and m.range[0] >= -1 and m.range[1] <= 1
    }
    names = names_of(context.results)
    found: dict[str, dict[str, Comparison]] = {}
    for c in context.results.comparisons:
        here = c.dataset == context.dataset.name and c.slice is None and c.class_ is None and c.variant == "original"
        if here and c.metric in scale and c.difference is not None and baseline_of(names, c) == baseline:
            found.setdefault(compared(names, c), {})[c.model] = c
    return found


def _caption(context: Context, groups: dict[str, dict[str, Comparison]]) -> str:
    level = wording.level(context.results.intervals.level)
    margins = any(c.margin is not None for found in groups.values() for c in found.values())
    zone = " The shaded zone of a measure is its margin: differences within it do not matter." if margins else ""
    limited = any(c.lower is not None for found in groups.values() for c in found.values())
    told = f", with {level} intervals," if limited else ""
    return (
        f"Model less baseline{told} of measures that lie between −1 and 1. An arrow beside a "
        f"measure points to where the model is better than the baseline.{zone}"
    )


def _alt(context: Context, title: str, groups: dict[str, dict[str, Comparison]], models: list[Series]) -> str:
    said = []
    for name, found in groups.items():
        parts = [f"{one.label} {_said(found[one.name])}" for one in models if one.name in found]
        said.append(f"{name}: {', '.join(parts)}.")
    return f"{title} on {context.dataset.name}. {' '.join(said)}"


def _said(found: Comparison) -> str:
    value, interval = numbers.signed_interval(found.difference or 0.0, found.lower, found.upper)
    said = found.verdict.replace("_", " ")
    return f"{value} ({interval}), {said}" if interval else f"{value}, {said}"


def _limits(axes: Axes, groups: dict[str, dict[str, Comparison]]) -> None:
    """Let the axis reach the furthest limit or margin, and zero."""
    each = [c for found in groups.values() for c in found.values()]
    ends = [end for c in each for end in (c.difference, c.lower, c.upper) if end is not None]
    widest = max(map(abs, ends))
    # A margin far beyond every difference would press them all to the middle; its zone then fills the row.
    ends += [side * min(c.margin, 1.5 * widest) for c in each if c.margin is not None for side in (-1, 1)]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    room = 0.05 * (high - low) or 0.01
    axes.set_xlim(low - room, high + room)
    plain_axes(axes, 5)


def _row(axes: Axes, models: list[Series], found: dict[str, Comparison], row: int, apart: float) -> None:
    margin = next((c.margin for c in found.values() if c.margin is not None), None)
    if margin is not None:
        axes.fill_betweenx([row - 0.42, row + 0.42], -margin, margin, color=ZONE, linewidth=0, zorder=0.5)
    for place, one in enumerate(models):
        c, y = found.get(one.name), row + (place - (len(models) - 1) / 2) * apart
        if c is None or c.difference is None:
            continue
        if c.lower is not None and c.upper is not None:
            axes.plot([c.lower, c.upper], [y, y], color=one.colour, linewidth=1.4, solid_capstyle="butt")
        axes.plot([c.difference], [y], marker=one.marker, markersize=4.5, color=one.colour, clip_on=False)
