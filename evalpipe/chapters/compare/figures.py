"""The forest plot of differences from a baseline, with the zones in which they do not matter."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import LINE, Axis, number_axis
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.labels import name_rows
from evalpipe.card.figures.panel import ROOM, RowLabel, rows, rows_by_model
from evalpipe.card.figures.svg import Sheet, drawing, in_turn
from evalpipe.card.tables import metric_of, with_intervals
from evalpipe.card.wording import names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.figures.panel import RowPanel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results import Comparison, Results

    Groups = dict[str, dict[str, Comparison]]

ARROWS = {"maximize": " →", "minimize": " ←", "none": ""}
"""To which side a model is better, by the direction of the measure."""

WIDEST_ZONE = 1.5
"""How many times the furthest limit the axis reaches for a margin; one further out would press all to the middle."""


def forests(results: Results, baseline: str, comparisons: Sequence[Comparison], place: int) -> Iterator[Drawing]:
    """Yield the forest plot of differences from a baseline, of measures whose values lie between -1 and 1, if any.

    ``place`` is the number of the baseline among all, from 1; it keeps the ids of figures apart.
    """
    groups = _by_measure(results, comparisons)
    if not groups:
        return
    context = context_of(results, comparisons[0].dataset)
    models = [model for model in context.series if any(model.name in by_model for by_model in groups.values())]
    drawn_rows = [comparison for by_model in groups.values() for comparison in by_model.values()]
    margins = [c.margin for c in drawn_rows if c.margin is not None]
    sheets = _forest_sheets(results, groups, models, _axis(drawn_rows, margins))
    limits = f"{with_intervals(results, limited=True)}," if any(c.lower is not None for c in drawn_rows) else ""
    zone = " The shaded zone of a measure is its margin: differences within it do not matter." if margins else ""
    caption = (
        f"Model minus baseline{limits} of measures that lie between −1 and 1. An arrow beside a measure points to "
        f"where the model is better than the baseline.{zone}")
    title = f"Differences from {baseline}"
    alt = f"{title} on {context.dataset.name}."
    for name, by_model in groups.items():
        texts = [f"{model.label} {_difference_and_verdict(by_model[model.name])}"
                 for model in models if model.name in by_model]
        alt += f" {name}: {', '.join(texts)}."
    yield drawing(f"d{context.place}-differences-{place}", title, (_finding(groups, models), caption, alt), sheets)


def _forest_sheets(results: Results, groups: Groups, models: Sequence[Series], axis: Axis) -> list[Sheet]:
    """Draw the differences of all models in each measure over its margin; many models have a row each."""
    texts = [name + ARROWS[metric_of(results, next(iter(by_model.values())).metric).direction]
             for name, by_model in groups.items()]
    margins = [next((c.margin for c in by_model.values() if c.margin is not None), None)
               for by_model in groups.values()]
    differences = [{name: (c.difference, c.lower, c.upper) for name, c in by_model.items() if c.difference is not None}
                   for by_model in groups.values()]
    values = [[by_model.get(model.name) for model in models] for by_model in differences]

    def zone(plot: RowPanel, index: int, middles: Sequence[float]) -> None:
        """Shade the margin of a measure behind its rows, and draw the line of no difference."""
        margin, half = margins[index], (LINE + ROOM) / 2
        if margin is not None:
            plot.panel.box(-margin, margin, middles[0] - half, middles[-1] + half, "muted")
        plot.panel.rule("ink", x=0)

    if in_turn(context_of(results, next(iter(next(iter(groups.values())).values())).dataset).series):
        return rows_by_model(texts, models, values, axis, zone)
    sheet = Sheet()
    plot = rows(sheet, [RowLabel(text) for text in texts], axis, len(models), named=True)
    for middle, half, margin in zip(plot.middles, _half_heights(plot), margins, strict=True):
        if margin is not None:
            plot.panel.box(-margin, margin, middle - half, middle + half, "muted")
    plot.panel.rule("ink", x=0)
    plot.estimates(models, values, list(groups))
    sheet.key(name_rows(plot, models, values))
    return [sheet]


def _by_measure(results: Results, comparisons: Iterable[Comparison]) -> Groups:
    """Return the differences that share an axis, by the name of the measure and the model."""
    names = names_of(results)
    ranges = {metric.name: metric.range for metric in results.metrics}
    on_axis = {name for name, (low, high) in ranges.items()
               if low is not None and high is not None and low >= -1 and high <= 1}
    groups: Groups = {}
    for c in comparisons:
        if c.metric in on_axis and c.class_ is None and c.variant == "original" and c.difference is not None:
            groups.setdefault(names.measure(c.metric, c.params, c.average), {})[c.model] = c
    return groups


def _half_heights(plot: RowPanel) -> list[float]:
    """Return half of the height of each row in pixels, less the line beneath it; rows touch each other."""
    edges = [0.0]
    for middle in plot.middles:
        edges.append(2 * middle - edges[-1])  # a row reaches as far below its middle as above it
    return [(min(below, plot.panel.height) - above - 2) / 2 for above, below in pairwise(edges)]


def _axis(comparisons: Sequence[Comparison], margins: Sequence[float]) -> Axis:
    """Return the axis of differences, as far as the furthest limit or margin, with zero on it."""
    ends = [end for c in comparisons for end in (c.difference, c.lower, c.upper) if end is not None]
    widest = WIDEST_ZONE * max(map(abs, ends))
    ends += [side * min(margin, widest) for margin in margins for side in (-1, 1)]
    return number_axis("Difference", [*ends, 0.0], most=4)


def _finding(groups: Groups, models: Sequence[Series]) -> str:
    """Return the sentence on how many measures each model is better or worse in."""
    sentences = []
    for model in models:
        verdicts = [by_model[model.name].verdict for by_model in groups.values() if model.name in by_model]
        better, worse = (sum(verdict == word for verdict in verdicts) for word in ("better", "worse"))
        sentences.append(f"{model.label}: better in {better}, worse in {worse} of {len(verdicts)} measures")
    return f"{'; '.join(sentences)}."


def _difference_and_verdict(comparison: Comparison) -> str:
    """Return a difference with its interval and its verdict as text."""
    difference, verdict = comparison.difference or 0.0, comparison.verdict.replace("_", " ")
    verdict += ", perhaps within the margin" if comparison.margin_verdict == "undecided" else ""
    value, interval = numbers.signed_interval(difference, comparison.lower, comparison.upper)
    return f"{value} ({interval}), {verdict}" if interval else f"{value}, {verdict}"
