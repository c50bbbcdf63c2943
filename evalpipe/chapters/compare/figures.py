"""The forest plot of differences from a baseline, with the zones in which they do not matter."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import Axis, number_axis
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.panel import RowLabel, model_key, rows
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing
from evalpipe.card.wording import names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results import Comparison, MetricSummary, Results

    Groups = dict[str, dict[str, Comparison]]

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
    directions = {metric.name: metric.direction for metric in results.metrics}
    arrows = [ARROWS[directions[next(iter(by_model.values())).metric]] for by_model in groups.values()]
    sheet = Sheet()
    labels = [RowLabel(name + arrow) for name, arrow in zip(groups, arrows, strict=True)]
    drawn = rows(sheet, labels, _axis(groups), len(models))
    high = [zone / 2 for zone in _apart(drawn.middles, drawn.panel.height)]
    for middle, half, by_model in zip(drawn.middles, high, groups.values(), strict=True):
        margin = next((c.margin for c in by_model.values() if c.margin is not None), None)
        if margin is not None:
            drawn.panel.box(-margin, margin, middle - half, middle + half, "muted")
    drawn.panel.rule("ink", x=0)
    drawn.estimates(models, [[_estimated(by_model.get(model.name)) for model in models]
                             for by_model in groups.values()], list(groups))
    zones = [KeyEntry("Within the margin: equivalent", "muted", "band")] if _margins(groups) else []
    sheet.key([*model_key(models), *zones])
    yield drawing(key, title, (_finding(groups, models), caption, alt), [sheet])


def _apart(middles: Sequence[float], whole: float) -> list[float]:
    """Return how high each row is, less the line beneath it."""
    edges = [0.0]
    for middle in middles:
        edges.append(2 * middle - edges[-1])
    return [min(below, whole) - above - 2 for above, below in pairwise(edges)]


def _estimated(comparison: Comparison | None) -> tuple[float, float | None, float | None] | None:
    if comparison is None or comparison.difference is None:
        return None
    return comparison.difference, comparison.lower, comparison.upper


def _finding(groups: Groups, models: Sequence[Series]) -> str:
    """Say for each model in how many measures it is better, worse, or neither."""
    said = []
    for model in models:
        verdicts = [by_model[model.name].verdict for by_model in groups.values() if model.name in by_model]
        better, worse = (sum(verdict == word for verdict in verdicts) for word in ("better", "worse"))
        said.append(f"{model.label}: better in {better}, worse in {worse} of {len(verdicts)} measures")
    return f"{'; '.join(said)}."


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
        f"Model minus baseline{limits} of measures that lie between −1 and 1. An arrow beside a measure points to "
        f"where the model is better than the baseline.{zone if _margins(groups) else ''}"
    )


def _alt(title: str, groups: Groups, models: Sequence[Series]) -> str:
    sentences = (
        f"{name}: {', '.join(f'{m.label} {_in_words(by_model[m.name])}' for m in models if m.name in by_model)}."
        for name, by_model in groups.items())
    return f"{title}. {' '.join(sentences)}"


def _in_words(comparison: Comparison) -> str:
    difference, verdict = comparison.difference or 0.0, comparison.verdict.replace("_", " ")
    verdict += ", perhaps within the margin" if comparison.margin_verdict == "open" else ""
    value, interval = numbers.signed_interval(difference, comparison.lower, comparison.upper)
    return f"{value} ({interval}), {verdict}" if interval else f"{value}, {verdict}"


def _axis(groups: Groups) -> Axis:
    """Let the axis reach the furthest limit or margin, and zero."""
    ends = [end for c in _all(groups) for end in (c.difference, c.lower, c.upper) if end is not None]
    widest = WIDEST_ZONE * max(map(abs, ends))
    ends += [side * min(margin, widest) for margin in _margins(groups) for side in (-1, 1)]
    return number_axis("Difference", [*ends, 0.0], most=4)
