"""The matrix of groups and measures, estimates by slice, and forest plots of a measure in every slice."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from evalpipe.card import wording
from evalpipe.card.figures.axes import LINE, Axis, number_axis, ticks_between
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.labels import name_rows
from evalpipe.card.figures.panel import APART, DASHES, ROOM, RowLabel, estimated, rows
from evalpipe.card.figures.svg import Clauses, Sheet, drawing, more_models_than_inks
from evalpipe.card.page import Column, Fold, Group, Number, Row, Strong, Styled, Table, Text
from evalpipe.card.tables import (
    MEASURES_ABREAST,
    below,
    even_groups,
    key_measures,
    metric_of,
    row_anchor,
    shown,
    with_limits,
)
from evalpipe.card.wording import names_of
from evalpipe.findings.margins import margin_between, margin_of
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.card.page import Cell
    from evalpipe.chapters.slices.records import SliceDifference, SliceSummary
    from evalpipe.results import DatasetSummary, Estimate, Results, Slice


Verdict = Literal["worse", "within", "undecided"]

SIGNS: dict[Verdict, str] = {"worse": "✗", "within": "✓", "undecided": "?"}
"""What stands before a value, so that its verdict is seen without the tint."""

FIRST = 10
"""Rows of the matrix that are shown at once; the others are folded, and in the annex of the PDF."""

MORE = "slices-more"
"""The anchor of the section in the annex of the PDF that holds the other rows."""


def verdict_of(results: Results, difference: SliceDifference, value: float) -> Verdict | None:
    """Return whether a measure is worse in a slice than in its reference by more than the margin.

    It is worse where the interval of the difference lies beyond the margin and the adjusted p-value is small; it is
    within where the interval leaves out all that lies beyond. Without a direction or limits there is no verdict.
    """
    side = {"maximize": -1, "minimize": 1}.get(metric_of(results, difference.metric).direction, 0)
    if difference.difference is None or difference.lower is None or difference.upper is None or not side:
        return None
    margin = _margin(results, difference, value)
    least, most = sorted((side * difference.lower, side * difference.upper))
    is_significant = difference.p_holm is not None and difference.p_holm < 1 - results.intervals.level
    if least > margin and is_significant and difference.status == "ok":
        return "worse"
    return "within" if most <= margin else "undecided"


def _margin(results: Results, difference: SliceDifference, value: float) -> float:
    """Return the margin for a difference; ``value`` is that of the slice, from which the reference's follows."""
    return margin_between(results, "groups", difference.metric, value - (difference.difference or 0.0))


@dataclass(frozen=True, slots=True)
class GroupRow:
    """A row of the matrix: a slice for a model, or for all models where it has too few rows (``few``).

    ``harm`` is how many rows are in it times by how many margins a measure is worse; 0 where none is.
    """

    labels: Slice | None
    model: str
    verdicts: Mapping[Measure, Verdict]
    harm: float = 0.0
    few: str = ""


def _group_rows(results: Results, dataset: str, by_slice: Sliced) -> list[GroupRow]:
    """Return a row for each slice and model of a dataset, most harm first; those with too few rows come last."""
    differences = {d.about: d for d in results.slice_differences if d.dataset == dataset}
    rows = []
    for labels in (labels for slices in by_slice.slicings.values() for labels in slices):
        size = by_slice.size(labels)
        for model in results.models:
            estimates = {measure: by_slice.at(model.name, labels, measure) for measure in by_slice.measures}
            few = next((str(e.reason or e.status) for e in estimates.values() if e and e.status == "insufficient"), "")
            if few and model is not results.models[0]:
                continue
            verdicts: dict[Measure, Verdict] = {}
            harms = [0.0]
            for measure, e in estimates.items():
                difference = differences.get(e.about) if e is not None else None
                if e is None or e.value is None or difference is None:
                    continue
                if verdict := verdict_of(results, difference, e.value):
                    verdicts[measure] = verdict
                if verdict == "worse":
                    margin = _margin(results, difference, e.value) or 1.0
                    harms.append((size.n if size else 0) * abs(difference.difference or 0.0) / margin)
            rows.append(GroupRow(labels, model.name, verdicts, max(harms), few))
    return sorted(rows, key=lambda row: (bool(row.few), -row.harm))


def sign_legend(results: Results, dataset: str, references: Sequence[str]) -> Iterator[Text]:
    """Yield the text that explains the signs of the matrix of slices; nothing where no slice is compared."""
    tested = {d.metric for d in results.slice_differences if d.dataset == dataset and d.lower is not None}
    if not tested:
        return
    margin = margin_of(results, "groups")
    errors = any(metric_of(results, metric).direction == "minimize" for metric in tested)
    of_errors = f"; of errors, {numbers.given_percent(margin)} of their value" if errors else ""
    yield Text(
        f"✗ worse than {' or '.join(references)} by more than the margin ({numbers.plain(margin)}{of_errors}), after "
        "correction for the number of slices (Holm). ✓ not worse by more than that. ? these data do not decide.",
        "lead")


def matrices(results: Results, dataset: str, by_slice: Sliced) -> Iterator[Table]:
    """Yield tables of slices by key measures, each of at most `MEASURES_ABREAST` measures; all rows come first."""
    rows = _group_rows(results, dataset, by_slice)
    places = {measure: below(e for (_, _, of), e in by_slice.estimates.items() if of == measure)
              for measure in by_slice.measures}
    for measures in even_groups(by_slice.measures, MEASURES_ABREAST):
        yield _matrix(results, dataset, by_slice, rows, {measure: places[measure] for measure in measures})


def _matrix(
    results: Results, dataset: str, by_slice: Sliced, group_rows: Sequence[GroupRow], places: Mapping[Measure, int]
) -> Table:
    """Return the table of slices by some measures, with remarks marked by letters.

    ``places`` are the measures with the decimals of each.
    """
    names, letters, several = names_of(results), dict[str, str](), len(results.models) > 1
    counts = frozenset(metric.name for metric in results.metrics if metric.is_whole)

    def row(group: GroupRow) -> Row:
        """Return the row of a slice, or of all rows: its name, its model, its sizes and its measures."""
        size = by_slice.size(group.labels)
        name = "All rows" if group.labels is None else names.slice(group.labels)
        head = (name, "all" if group.few and several else names.model(group.model),
                "–" if size is None else numbers.count(size.n),
                "–" if size is None or size.events is None else numbers.count(size.events))
        if group.few:
            return Row((*head, group.few), "few")
        estimates = {measure: by_slice.at(group.model, group.labels, measure) for measure in places}
        return Row((*head, *(_cell(e, group.verdicts.get(measure), (counts, letters), places[measure])
                             for measure, e in estimates.items())),
                   anchor=row_anchor("slices", [e for e in estimates.values() if e is not None]))

    first = [row(GroupRow(None, model.name, {})) for model in results.models]
    heading = [Group("Slices, worst first")] if any(group.harm for group in group_rows) else []
    rows: tuple[Row | Group, ...] = (*first, *heading, *map(row, group_rows))
    columns = (
        Column("Slice"), Column("Model", shown=several), Column("n", "num"),
        Column("Events", "num", shown=results.event is not None), *(Column(measure.name, "num") for measure in places))
    names_of_measures = "" if len(places) == len(by_slice.measures) else (
        f", {next(iter(places)).name} to {list(places)[-1].name}")
    return Table(
        f"Measures in slices of {dataset}{names_of_measures}{with_limits(results, rows)}", columns, rows,
        "compact sliced", label=f"Slices of {dataset}{names_of_measures}", rest="estimates.csv",
        remarks=tuple((letter, remark) for remark, letter in letters.items()), fold=Fold(len(first) + FIRST, MORE))


def _cell(
    estimate: Estimate | None, verdict: Verdict | None, marks: tuple[frozenset[str], dict[str, str]], places: int
) -> Cell:
    """Return an estimate with the sign of its verdict; a remark is shown by a letter, equal ones by the same.

    ``marks`` are the names of measures that are whole numbers, and the letters by remark so far, to which this
    adds.
    """
    if estimate is None:
        return "–"
    counts, letters = marks
    number = shown(estimate, whole=estimate.metric in counts, places=places)
    remark = number.note if estimate.value is not None else number.value
    if remark is not None:
        letter = letters.setdefault(remark, _letter(len(letters)))
        number = replace(number, note=None, letter=letter) if estimate.value is not None else (
            Number(estimate.status, letter=letter))
    return number if verdict is None else Styled((Strong(SIGNS[verdict], "sign"), " ", number), verdict)


def _letter(index: int) -> str:
    """Return "a" for index 0 to "z" for 25, then "aa", "ab" and so on."""
    prefix = _letter(index // 26 - 1) if index >= 26 else ""
    return prefix + "abcdefghijklmnopqrstuvwxyz"[index % 26]


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


def estimates_by_slice(results: Results, dataset: str) -> Sliced:
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

USUAL_GROUPS, MOST_GROUPS = 10, 20
"""Groups that a figure draws, the worst of all: ten, so that a page holds four figures, or more that are worse."""

TALLEST = 950
"""Pixels of the rows of a figure: with its caption it fits a page."""


@dataclass(frozen=True, slots=True)
class SliceLine:
    """A line of a forest plot: all rows, or a slice that is ``worse`` than these beyond doubt, or not."""

    text: str
    labels: Slice | None = None
    worse: bool = False


@dataclass(frozen=True, slots=True)
class Forest:
    """What a forest plot shows: a measure of the models on each line, worst first, as far as slices fit a page.

    ``groups`` are all slices of the dataset, ``worse`` those of which a model's interval is on the worse side.
    """

    context: Context
    by_slice: Sliced
    measure: Measure
    series: Sequence[Series]
    lines: Sequence[SliceLine]
    groups: int
    worse: int

    def at(self, line: SliceLine) -> list[tuple[Series, Estimate | None]]:
        """Return pairs of a model and its estimate on a line of the plot, None without an estimate."""
        return [(model, self.by_slice.at(model.name, line.labels, self.measure)) for model in self.series]

    @property
    def shown(self) -> list[Estimate]:
        """The estimates that are drawn."""
        pairs = (pair for line in self.lines for pair in self.at(line))
        return [e for _, e in pairs if e is not None and e.value is not None]

    @property
    def left_out(self) -> int:
        """The number of slices that are not drawn."""
        return self.groups - (len(self.lines) - 1)


def slice_forests(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Return forest plots of the first measures of a dataset, the worst slices first; none without slices."""
    context, by_slice = context_of(results, dataset), estimates_by_slice(results, dataset)
    if not by_slice.slicings:
        return ()
    measures = by_slice.measures[:MOST_FORESTS]
    return tuple(_forest_figure(_forest_content(context, by_slice, measure, context.series), number)
                 for number, measure in enumerate(measures, 1))


def _forest_content(context: Context, by_slice: Sliced, measure: Measure, series: Sequence[Series]) -> Forest:
    """Return the content of a forest plot: all rows, then slices that are certainly worse, then the others."""
    names, slices = names_of(context.results), [
        labels for labels_of_slicing in by_slice.slicings.values() for labels in labels_of_slicing]
    subject = "fail", context.dataset.name, measure.metric, measure.average
    is_single, failed = len(by_slice.slicings) == 1, {
        _slice_key(gate.slice) for gate in context.results.gates
        if (gate.verdict, gate.dataset, gate.metric, gate.average) == subject}
    lines = [SliceLine(names.label(labels) if is_single else names.slice(labels), labels,
                       _slice_key(labels) in failed or _is_worse(context, by_slice, measure, series, labels))
             for labels in slices]
    lines.sort(key=lambda line: (not line.worse, _worst_value(context, by_slice, measure, series, line.labels)))
    cuts = [entry for entry in context.results.spec.get("slices") or () if isinstance(entry, dict)]
    periods = [[entry.get("column")] for entry in cuts if "by" in entry]
    worse, is_of_periods = sum(line.worse for line in lines), is_single and [*slices[0]] in periods
    together = 1 if more_models_than_inks(series) else len(series)
    wanted = MOST_GROUPS if is_of_periods else min(max(USUAL_GROUPS, worse), MOST_GROUPS)
    most = max(1, min(wanted, round(TALLEST / (max(LINE, APART * together) + ROOM)) - 1))
    drawn = lines[:most]
    if is_of_periods:
        drawn.sort(key=lambda line: slices.index(line.labels or {}))
    return Forest(context, by_slice, measure, series, [SliceLine("All rows"), *drawn], len(lines), worse)


def _better_sign(context: Context, measure: Measure) -> int:
    """Return 1 if larger values of a measure are better, -1 if smaller ones are, and 0 if neither."""
    return {"maximize": 1, "minimize": -1}.get(metric_of(context.results, measure.metric).direction, 0)


def _is_worse(
    context: Context, by_slice: Sliced, measure: Measure, series: Sequence[Series], labels: Slice
) -> bool:
    """Tell whether a model's whole interval is worse in a slice than its value over all rows."""
    side = _better_sign(context, measure)
    for model in series:
        e, whole = (by_slice.at(model.name, part, measure) for part in (labels, None))
        if e is None or whole is None or whole.value is None:
            continue
        near = e.upper if side > 0 else e.lower
        if side and near is not None and side * (near - whole.value) < 0:
            return True
    return False


def _worst_value(
    context: Context, by_slice: Sliced, measure: Measure, series: Sequence[Series], labels: Slice | None
) -> float:
    """Return the worst value of any model in a slice, negated if smaller is better; infinity without values."""
    estimates = (by_slice.at(model.name, labels, measure) for model in series)
    side = _better_sign(context, measure) or 1
    return min((side * e.value for e in estimates if e is not None and e.value is not None), default=math.inf)


def _forest_figure(forest: Forest, number: int) -> Drawing:
    """Return the forest plot of a measure: each model in each slice, with a line at its value over all rows."""
    name, series = forest.measure.name, forest.series
    title = f"{name} by slice"
    sentences = [f"{model.label}: {_model_sentence(forest, model.name)}." for model in series]
    alt = f"{title} on {forest.context.dataset.name}. {' '.join(sentences)}"
    sheets = ([_forest_sheet(forest, [model], model.label) for model in series] if more_models_than_inks(series)
              else [_forest_sheet(forest, series)])
    finding = Clauses(_forest_clauses(forest), "", (" ".join(sentences[:2]),))
    texts = finding, _forest_caption(forest), alt
    return drawing(f"d{forest.context.place}-slices-{number}", title, texts, sheets)


def _forest_sheet(forest: Forest, series: Sequence[Series], title: str = "") -> Sheet:
    """Draw the lines of a forest plot with the values of some models, or of one beneath its name as ``title``."""
    sheet = Sheet()
    if title:
        sheet.heading(title)
    plot = rows(sheet, [RowLabel(line.text, bold=line.worse) for line in forest.lines], _measure_axis(forest),
                len(series), named=not title)
    for model in series:
        overall_estimate = forest.by_slice.at(model.name, None, forest.measure)
        if overall_estimate is not None and overall_estimate.value is not None:
            plot.panel.rule(model.ink, x=overall_estimate.value, dash=model.dash or DASHES)
    values = [[e for model, e in forest.at(line) if model in series] for line in forest.lines]
    drawn = [list(map(estimated, row)) for row in values]
    plot.estimates(series, drawn, [line.text for line in forest.lines])
    if not title:
        sheet.key(name_rows(plot, series, drawn))
    for middle, line, row in zip(plot.middles, forest.lines, values, strict=True):
        if all(e is None or e.value is None for e in row):
            sheet.write(plot.panel.left + 4, plot.panel.top + middle + 4.5, _why_absent(forest, line), "muted")
    return sheet


def _forest_clauses(forest: Forest) -> tuple[str, ...]:
    """Return what a forest plot says: the worst slice, how many groups are not drawn, and how many are worse."""
    clauses, names = [], names_of(forest.context.results)
    side = _better_sign(forest.context, forest.measure) or 1
    known = [(side * e.value, model.label, e) for line in forest.lines[1:] for model, e in forest.at(line)
             if e is not None and e.value is not None]
    if known:
        _, label, e = min(known, key=lambda entry: entry[0])
        text = shown(e, whole=metric_of(forest.context.results, e.metric).is_whole).text
        word = "Worst" if _better_sign(forest.context, forest.measure) else "Lowest"
        of_model = f", {label}" if len(forest.series) > 1 else ""
        clauses.append(f"{word} for {names.slice(e.slice or {})}: {text}{of_model}")
    groups = f" of {numbers.count(forest.groups)} groups"
    if forest.left_out:
        clauses.append(f"{numbers.count(forest.left_out)}{groups} not drawn")
    if forest.worse:
        clauses.append(f"{numbers.count(forest.worse)}{'' if forest.left_out else groups} clearly worse than all rows")
    return tuple(clauses)


def _forest_caption(forest: Forest) -> str:
    """Return the caption of a forest plot: how to read it, and how many slices are not drawn."""
    results, measure = forest.context.results, forest.measure
    better = {metric.name: metric.direction for metric in results.metrics}[measure.metric]
    limited = any(e.lower is not None for e in forest.shown)
    limits = f", with {wording.level(results.intervals.level)} intervals" if limited else ""
    drawn = len(forest.lines) - 1
    order = ", the worst first" if _better_sign(forest.context, measure) else ", the lowest first"
    bold = (" Bold: a gate failed, or the whole interval of a model is worse than its value over all rows."
            if any(line.worse for line in forest.lines) else "")
    all_slices, others = map(numbers.count, (forest.groups, forest.left_out))
    rest = (f" Of {all_slices} slices {drawn} are drawn; the other {others} are in "
            "estimates.csv.") if forest.left_out else ""
    return (
        f"{measure.name} in each slice{limits}{order}; the vertical line is its value over all rows. "
        f"{wording.BETTER_SENTENCES[better]}{bold}{rest}"
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
    """Return a sentence on a model: its value over all rows, and in its lowest and its highest slice."""
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
