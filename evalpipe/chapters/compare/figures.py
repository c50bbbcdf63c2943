"""The forest plot of differences from a baseline, with the zones in which they do not matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures.canvas import GRID, INK, Drawing, KeyEntry, add_key, clip, paper, style, to_svg
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.numbers import plain_axes
from evalpipe.card.names import names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from matplotlib.axes import Axes

    from evalpipe.card.figures.canvas import Series
    from evalpipe.results import Comparison, MetricSummary, Results

    Groups = dict[str, dict[str, Comparison]]

LEFT = 2.05
"""Inches left of the axis for the names of measures."""

ZONE = "#e3e8ec"
ARROWS = {"maximize": " →", "minimize": " ←", "none": ""}
"""To which side a model is better, by the direction of the measure."""

WIDEST_ZONE = 1.5
"""How many times the furthest limit the axis reaches for a margin; one further out would press all to the middle."""


def forests(
    results: Results, baseline: str, comparisons: Sequence[Comparison], place: int
) -> Iterator[Drawing]:
    """Draw the differences on a dataset from a baseline, of measures whose values lie between -1 and 1, if any.

    ``place`` is that of the baseline among all, from 1; it keeps the ids of figures apart.
    """
    groups = _grouped(results, comparisons)
    if not groups:
        return
    context = context_of(results, comparisons[0].dataset)
    models = [model for model in context.series if any(model.name in by_model for by_model in groups.values())]
    key, title = f"d{context.place}-differences-{place}", f"Differences from {baseline}"
    caption, alt = _caption(results, groups), _alt(f"{title} on {context.dataset.name}", groups, models)
    step = max(0.22, 0.1 * len(models) + 0.12)
    directions = {metric.name: metric.direction for metric in results.metrics}
    with style(key, **{"axes.grid.axis": "x"}):
        entries = [KeyEntry(clip(model.label, 40), model.colour, "solid", model.marker) for model in models]
        entries += [KeyEntry("Within the margin: equivalent", ZONE, width=7)] if _margins(groups) else []
        figure, (axes,) = paper(len(entries), (step * len(groups),), LEFT)
        _frame(axes, groups)
        for row, (name, by_model) in enumerate(groups.items()):
            arrow = ARROWS[directions[next(iter(by_model.values())).metric]]
            axes.text(-0.02, row, clip(name, 34) + arrow, ha="right", va="center_baseline", fontsize=8.5,
                      transform=axes.get_yaxis_transform())
            axes.axhline(row + 0.5, color=GRID, linewidth=0.6)
            _row(axes, models, by_model, row, 0.1 / step)
        add_key(figure, entries, left=0.3)
        yield Drawing(key, title, caption, alt, to_svg(figure, key, alt, caption))


def _grouped(results: Results, comparisons: Iterable[Comparison]) -> Groups:
    """Return the differences that share an axis, by measure and model."""
    names, scale = names_of(results), {metric.name for metric in results.metrics if _is_unit(metric)}
    groups: Groups = {}
    for c in comparisons:
        if c.metric in scale and c.class_ is None and c.variant == "original" and c.difference is not None:
            groups.setdefault(names.measure(c.metric, c.params, c.average), {})[c.model] = c
    return groups


def _is_unit(metric: MetricSummary) -> bool:
    low, high = metric.range
    return low is not None and high is not None and low >= -1 and high <= 1


def _all(groups: Groups) -> list[Comparison]:
    return [comparison for by_model in groups.values() for comparison in by_model.values()]


def _margins(groups: Groups) -> list[float]:
    return [comparison.margin for comparison in _all(groups) if comparison.margin is not None]


def _caption(results: Results, groups: Groups) -> str:
    level = wording.level(results.intervals.level)
    limits = f", with {level} intervals," if any(c.lower is not None for c in _all(groups)) else ""
    zone = " The shaded zone of a measure is its margin: differences within it do not matter."
    return (
        f"Model less baseline{limits} of measures that lie between −1 and 1. An arrow beside a "
        f"measure points to where the model is better than the baseline.{zone if _margins(groups) else ''}"
    )


def _alt(title: str, groups: Groups, models: Sequence[Series]) -> str:
    sentences = (
        f"{name}: {', '.join(f'{m.label} {_in_words(by_model[m.name])}' for m in models if m.name in by_model)}."
        for name, by_model in groups.items())
    return f"{title}. {' '.join(sentences)}"


def _in_words(comparison: Comparison) -> str:
    difference, verdict = comparison.difference or 0.0, comparison.verdict.replace("_", " ")
    value, interval = numbers.signed_interval(difference, comparison.lower, comparison.upper)
    return f"{value} ({interval}), {verdict}" if interval else f"{value}, {verdict}"


def _frame(axes: Axes, groups: Groups) -> None:
    """Let the axis reach the furthest limit or margin, and zero, with a row for each measure."""
    ends = [end for c in _all(groups) for end in (c.difference, c.lower, c.upper) if end is not None]
    widest = WIDEST_ZONE * max(map(abs, ends))
    ends += [side * min(margin, widest) for margin in _margins(groups) for side in (-1, 1)]
    low, high = min([*ends, 0.0]), max([*ends, 0.0])
    room = 0.05 * (high - low) or 0.01
    axes.set_xlim(low - room, high + room)
    plain_axes(axes, 5)
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set(ylim=(len(groups) - 0.5, -0.5), xlabel="Difference")
    axes.set_yticks(())
    axes.spines["left"].set_visible(False)


def _row(axes: Axes, models: Sequence[Series], by_model: dict[str, Comparison], row: int, apart: float) -> None:
    margin = next((c.margin for c in by_model.values() if c.margin is not None), None)
    if margin is not None:
        axes.fill_betweenx([row - 0.42, row + 0.42], -margin, margin, color=ZONE, linewidth=0, zorder=0.5)
    for place, model in enumerate(models):
        c, y = by_model.get(model.name), row + (place - (len(models) - 1) / 2) * apart
        if c is None or c.difference is None:
            continue
        if c.lower is not None and c.upper is not None:
            axes.plot([c.lower, c.upper], [y, y], color=model.colour, linewidth=1.4, solid_capstyle="butt")
        axes.plot([c.difference], [y], marker=model.marker, markersize=4.5, color=model.colour, clip_on=False)
