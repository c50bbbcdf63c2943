"""The estimates of a dataset by slice, and forest plots of a measure in every slice beside its value over all rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import LINE, Axis, number_axis, ticks_between
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.panel import APART, DASHES, ROOM, RowLabel, estimated, model_key, rows
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing
from evalpipe.card.tables import key_measures, metric_of, shown
from evalpipe.card.wording import names_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.chapters.slices.records import SliceSummary
    from evalpipe.results import DatasetSummary, Estimate, Results, Slice


CONDITIONS = "Conditions"
"""The heading of slices that are each a condition of their own."""

Key = tuple[tuple[str, object], ...]
"""The labels of a slice, for looking it up; none of all rows."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its options and its average over classes, and what it is called."""

    metric: str
    params: tuple[tuple[str, object], ...]
    average: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Sliced:
    """A dataset's estimates by slice: its slicings in order, and each estimate by model, slice and key measure."""

    slicings: Mapping[str, tuple[Slice, ...]]
    measures: tuple[Measure, ...]
    estimates: Mapping[tuple[str, Key, Measure], Estimate]
    sizes: Mapping[Key, SliceSummary | DatasetSummary]

    def at(self, model: str, labels: Slice | None, measure: Measure) -> Estimate | None:
        """Return the estimate of a model in a slice, or over all rows where ``labels`` is None; None without one."""
        return self.estimates.get((model, _slice_key(labels), measure))

    def size(self, labels: Slice | None) -> SliceSummary | DatasetSummary | None:
        """Return the record with the rows and events of a slice; None where it is not in the results."""
        return self.sizes.get(_slice_key(labels))


def sliced(results: Results, dataset: str) -> Sliced:
    """Return a dataset's estimates by slice, of the models' original predictions."""
    names, key_metrics = names_of(results), key_measures(results)
    slicings: dict[str, dict[Key, Slice]] = {}
    estimates: dict[tuple[str, Key, Measure], Estimate] = {}
    for e in results.rows:
        if e.dataset != dataset or e.variant != "original" or e.class_ is not None:
            continue
        if e.metric in key_metrics:
            name = names.measure(e.metric, e.params, e.average)
            estimates[e.model, _slice_key(e.slice), Measure(e.metric, tuple(e.params.items()), e.average, name)] = e
        if e.slice is not None:
            title = CONDITIONS if names.is_condition(e.slice) else " × ".join(e.slice)
            slicings.setdefault(title, {})[_slice_key(e.slice)] = e.slice
    sizes: dict[Key, SliceSummary | DatasetSummary] = {
        _slice_key(summary.slice): summary for summary in results.slices if summary.dataset == dataset}
    sizes |= {_slice_key(None): summary for summary in results.datasets if summary.name == dataset}
    measures = dict.fromkeys(measure for _, _, measure in estimates)
    return Sliced({title: tuple(slices.values()) for title, slices in slicings.items()}, tuple(measures), estimates,
                  sizes)


def _slice_key(labels: Slice | None) -> Key:
    """Return the labels of a slice as a key; an empty one for all rows, which have none."""
    return tuple((labels or {}).items())


MOST_FORESTS = 6
"""Measures that have a figure."""

TALLEST = 950
"""Pixels of the rows of a figure: with its key and its caption it fits a page."""


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
        """Return each model with its estimate on a line, None without one; empty on a heading."""
        if line.heading:
            return []
        return [(model, self.by_slice.at(model.name, line.labels, self.measure)) for model in self.series]

    @property
    def shown(self) -> list[Estimate]:
        """The estimates that are drawn."""
        pairs = (pair for line in self.lines for pair in self.at(line))
        return [e for _, e in pairs if e is not None and e.value is not None]


def slice_forests(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Return forest plots of the first measures of a dataset, of as many slices as fit a page; none without slices."""
    context, by_slice, names = context_of(results, dataset), sliced(results, dataset), names_of(results)
    if not by_slice.slicings:
        return ()
    lines = [SliceLine("All rows")]
    for title, slices in by_slice.slicings.items():
        lines.append(SliceLine(title, heading=True))
        lines += [SliceLine(names.label(labels), labels) for labels in slices]
    height_of_line = max(LINE, APART * len(context.series)) + ROOM
    fitting = lines[: round(TALLEST / height_of_line)]
    while fitting[-1].heading:
        fitting.pop()
    left_out = sum(not line.heading for line in lines[len(fitting) :])
    forests = (Forest(context, by_slice, measure, fitting, left_out) for measure in by_slice.measures[:MOST_FORESTS])
    return tuple(_forest_figure(forest, number) for number, forest in enumerate(forests, 1))


def _forest_figure(forest: Forest, number: int) -> Drawing:
    """Return the forest plot of a measure: each model in each slice, with a line at its value over all rows."""
    name, series = forest.measure.name, forest.series
    title = f"{name} by slice"
    sentences = [f"{model.label}: {_model_sentence(forest, model.name)}." for model in series]
    alt = f"{title} on {forest.context.dataset.name}. {' '.join(sentences)}"
    sheet = Sheet()
    plot = rows(sheet, [RowLabel(line.text, heading=line.heading, indent=0 if line.labels is None else 8)
                         for line in forest.lines], _measure_axis(forest), len(series))
    for model in series:
        overall_estimate = forest.by_slice.at(model.name, None, forest.measure)
        if overall_estimate is not None and overall_estimate.value is not None:
            plot.panel.rule(model.ink, x=overall_estimate.value, dash=DASHES)
    plot.estimates(series, [[estimated(e) for _, e in forest.at(line)] for line in forest.lines],
                    [line.text for line in forest.lines])
    for middle, line in zip(plot.middles, forest.lines, strict=True):
        if not line.heading and all(e is None or e.value is None for _, e in forest.at(line)):
            sheet.write(plot.panel.left + 4, plot.panel.top + middle + 4.5, _why_absent(forest, line), "muted")
    sheet.key([*model_key(series), KeyEntry("Over all rows", "muted", "thin", dash=DASHES)])
    finding = " ".join(sentences[:2]) + (" The others are in its data." if len(series) > 2 else "")
    texts = finding, _forest_caption(forest), alt
    return drawing(f"d{forest.context.place}-slices-{number}", title, texts, [sheet])


def _forest_caption(forest: Forest) -> str:
    """Return the caption of a forest plot: how to read it, and how many slices are not drawn."""
    results, measure = forest.context.results, forest.measure
    better = {metric.name: metric.direction for metric in results.metrics}[measure.metric]
    limited = any(e.lower is not None for e in forest.shown)
    limits = f", with {wording.level(results.intervals.level)} intervals" if limited else ""
    slices_drawn = sum(line.labels is not None for line in forest.lines)
    rest = f" The first {slices_drawn} slices are drawn; the other {forest.left_out} are in estimates.csv."
    return (
        f"{measure.name} in each slice{limits}; the vertical line is its value over all rows. "
        f"{wording.BETTER_SENTENCES[better]}{rest if forest.left_out else ''}"
    )


def _measure_axis(forest: Forest) -> Axis:
    """Return the axis of a forest plot, from the lowest to the highest limit, but not beyond possible values."""
    low, high = next(m.range for m in forest.context.results.metrics if m.name == forest.measure.metric)
    ends = [end for e in forest.shown for end in (e.lower, e.value, e.upper) if end is not None] or [0.0, 1.0]
    axis = number_axis("", ends)
    edge = 0.015 * (axis.high - axis.low)
    left = axis.low if low is None else max(axis.low, low - edge)
    right = axis.high if high is None else min(axis.high, high + edge)
    return Axis(forest.measure.name, left, right, ticks_between(left, right, 4))


def _why_absent(forest: Forest, line: SliceLine) -> str:
    """Return the text in place of missing values in a slice: why no model has one, and how many rows there are."""
    first = next((e for _, e in forest.at(line) if e is not None), None)
    if first is None:
        return "not evaluated"
    why = "too few" if first.status == "insufficient" else "undefined"
    size = forest.by_slice.size(line.labels)
    return why if size is None else f"n = {numbers.count(size.n)}, {why}"


def _model_sentence(forest: Forest, model: str) -> str:
    """Return the sentence on a model: its value over all rows, in its lowest and highest slice, and slices without."""
    results, by_slice, measure = forest.context.results, forest.by_slice, forest.measure
    names, is_whole = names_of(results), metric_of(results, measure.metric).is_whole
    overall = by_slice.at(model, None, measure)
    estimates = [by_slice.at(model, labels, measure) for slices in by_slice.slicings.values() for labels in slices]
    with_value = [(e.value, e) for e in estimates if e is not None and e.value is not None]
    parts = [f"over all rows {shown(overall, whole=is_whole).text}"] if overall is not None else []
    for word, end in (("lowest", min), ("highest", max)) if with_value else ():
        _, e = end(with_value, key=lambda pair: pair[0])
        parts.append(f"{word} {shown(e, whole=is_whole).text} where {names.slice(e.slice or {})}")
    without_value = len(estimates) - len(with_value)
    if without_value:
        parts.append(f"{without_value} of {len(estimates)} slices have no value")
    return "; ".join(parts) or "no values"
