"""What the card says of thresholds that a rule chose: on which rows, how certain they are, whether bounds are kept.

Its figures show every measure of predicted classes against the threshold.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import HALVES, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import column, context_of, known
from evalpipe.card.figures.labels import draw_marked_rules
from evalpipe.card.figures.panel import DASHES, grid
from evalpipe.card.figures.svg import Sheet, drawing
from evalpipe.card.page import Aside, Column, Figures, Group, Number, Row, Section, Table, Text
from evalpipe.card.tables import curves_of, limited, metric_of, ranged, row_anchor, shown, with_intervals
from evalpipe.card.wording import Names, names_of
from evalpipe.findings import weights
from evalpipe.findings.claims import Claim, Unless, rule
from evalpipe.findings.margins import more_rows, more_rows_sentence
from evalpipe.findings.words import anchor, finding, of_model, on_all_rows, rows_of, with_limits
from evalpipe.results.curves.events import MarkedMeasures, Sweep
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.records import Scalar
    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.card.page import Block, Cell
    from evalpipe.chapters.thresholds.records import Constraint, Threshold
    from evalpipe.results import Estimate, ModelSummary, Results
    from evalpipe.results.curves import Column as CurveColumn
    from evalpipe.results.document import Finding


WITHOUT_ROWS = {"fixed": "written in the spec", "bayes": "decided by the costs"}
"""What is said of a threshold that was known before any row."""

KNOWN = "none: no rows were used"
"""What stands in place of the measures by which rows chose such a threshold."""

BOOTSTRAPPED = (
    "A threshold looks too good on the rows that chose it. The bootstrap chooses it anew in each replicate of these "
    "rows: the spread of these thresholds gives its interval. Optimism is the mean of the measure in a replicate "
    "minus its value on all rows at the same threshold (Harrell, Lee & Mark 1996). Corrected is where chosen minus "
    "optimism."
)
CROSSED = ": cross-fitted, each fold is classified by the threshold chosen on the other folds"
OF_FOLDS = (
    "Measures of a cross-fitted threshold, and their intervals, are of the thresholds of the folds. The one threshold "
    "for later use, chosen on all rows, may achieve more or less: its interval would be wider."
)


def sections(results: Results) -> Iterator[Section]:
    """Yield sections for each dataset: thresholds where a rule chose one; in the annex, measures by threshold."""
    ruled = {row.dataset for row in results.thresholds if row.rule != "fixed"}
    for number, dataset in enumerate((dataset.name for dataset in results.datasets), 1):
        if dataset in ruled:
            title = f"Thresholds on {dataset}" if len(ruled) > 1 else "Thresholds"
            yield Section(f"thresholds-{number}", title, tuple(_blocks(results, dataset, f"thresholds-{number}")),
                          part="decisions")
        if next(curves_of(results, dataset, Sweep), None) is not None:
            yield Section(f"sweep-{number}", f"Measures by threshold on {dataset}", (
                Figures(partial(sweep_figures, results, dataset)),), part="appendix")


def _blocks(results: Results, dataset: str, anchor: str) -> Iterator[Block]:
    """Yield the blocks of a section: the thresholds of a dataset, and the findings on them."""
    thresholds = [threshold for threshold in results.thresholds if threshold.dataset == dataset]
    crossed = CROSSED if any(threshold.folds is not None for threshold in thresholds) else ""
    yield Text(f"The threshold of each model, and what it achieves. No row of {dataset} is judged by a threshold that "
               f"it helped to choose{crossed}.", "lead")
    yield from (Text(finding.text) for finding in results.findings if finding.section == anchor)
    has_limits = any(threshold.lower is not None for threshold in thresholds)
    columns = (Column("Measure", style="what"), Column("Where chosen", "num"), Column("Optimism", "num"),
               Column("Corrected", "num"), Column(f"On {dataset}", "num"))
    rows: list[Row | Group] = []
    for threshold in thresholds:
        rows += [Group(_threshold_heading(results, threshold)), *_measure_rows(results, threshold, anchor)]
    limits = with_intervals(results, limited=has_limits)
    yield Table(f"Thresholds, and the measures at them where they were chosen and on {dataset}{limits}", columns,
                tuple(rows), "compared chosen", stacked=True)
    if crossed:
        yield Text(OF_FOLDS, "small")
    if has_limits:
        yield Text(BOOTSTRAPPED, "small")


def facts(results: Results, model: ModelSummary) -> Iterator[tuple[str, str]]:
    """Yield how rows are predicted as levels; nothing of a model that predicts numbers or several levels."""
    if model.threshold_rule is not None:
        yield "Threshold", model.threshold_rule
    elif model.threshold is not None:
        yield "Threshold", numbers.given(model.threshold)
    elif results.task == "binary" and [*model.columns] != ["prediction"]:
        classes_given = "prediction" in model.columns
        yield "Threshold", f"none; {'predicted levels are given' if classes_given else 'the score is a rank alone'}"


def _threshold_heading(results: Results, threshold: Threshold) -> Cell:
    """Return the heading of a threshold with its interval: of which model, by which rule and rows."""
    names = names_of(results)
    rule = WITHOUT_ROWS.get(threshold.rule, threshold.rule)
    if threshold.rule not in WITHOUT_ROWS and threshold.metric is not None:
        rule = f"{threshold.rule.split(' ', 1)[0]} {_measure_name(names, threshold.metric, threshold.params)}"
        bounds = [f"{_measure_name(names, bound.metric, bound.params)} {_bound_text(bound)}"
                  for bound in threshold.constraints]
        rule += f", with {' and '.join(bounds)}" if bounds else ""
    about = "; ".join(filter(None, (rule, _rows_text(threshold))))
    return f"{names.model_of(threshold)}: ", chosen(threshold), Aside(about, "options")


def chosen(threshold: Threshold) -> Number:
    """Return the threshold with its interval as a number of the card."""
    value, lower, upper = threshold.value, threshold.lower, threshold.upper
    limits = None if lower is None or upper is None else numbers.interval(
        value, lower, upper, least=numbers.decimals(value))[1]
    return Number(numbers.given(value), limits, threshold.reason, numbers.exact(value))


def lines(results: Results, dataset: str | None) -> Iterator[str]:
    """Yield for the terminal a line on each threshold that a rule chose for a dataset."""
    names = names_of(results)
    for row in results.thresholds:
        if row.dataset == dataset and row.variant == "original" and row.chosen_on is not None:
            rows = f"on {row.chosen_on}" if row.folds is None else f"cross-fitted in {row.folds} folds"
            value = "none" if row.value is None else chosen(row).text
            yield f"threshold of {names.model(row.model)}: {value}, {row.rule}, {rows}"


def _measure_name(names: Names, metric: str, params: Mapping[str, Scalar]) -> str:
    """Return the title of a measure or, where the results do not have it, its name in the spec in words."""
    return names.measure(metric, params) if metric in names.titles else metric.replace("_", " ").capitalize()


def _bound_text(bound: Constraint) -> str:
    """Return the bounds of a constraint as text: "at least 0.9 and at most 0.95"."""
    sides = (("at least", bound.min), ("at most", bound.max))
    return " and ".join(f"{side} {numbers.plain(limit)}" for side, limit in sides if limit is not None)


def _rows_text(threshold: Threshold) -> str:
    """Return the text on which rows chose a threshold and, cross-fitted, which rows it classifies."""
    if threshold.chosen_on is None:
        return ""
    events = "" if threshold.events is None else f", {numbers.count(threshold.events)} events"
    size = f" ({numbers.count(threshold.n)} rows{events})" if threshold.n is not None else ""
    if threshold.folds is None:
        return f"chosen on {threshold.chosen_on}{size}"
    cuts = numbers.ranged(*map(numbers.given, (min(threshold.cuts), max(threshold.cuts))))
    return (f"cross-fitted in {threshold.folds} folds of {threshold.chosen_on}{size}, whose thresholds are {cuts}; "
            "the threshold for later use is chosen on all rows")


def _measure_rows(results: Results, threshold: Threshold, section: str) -> Iterator[Row]:
    """Yield a table row for the goal of a threshold's rule, then one for each bounded measure.

    A threshold that was known before any row has a row that says so, as every heading has rows below it.
    """
    if threshold.metric is None:
        yield Row((KNOWN, *[Number("–")] * 4))
        return
    names, aim = names_of(results), f"{threshold.rule.partition(' ')[0]}d"  # "maximized" or "minimized"
    measures: list[tuple[Threshold | Constraint, str]] = [(threshold, aim)]
    measures += [(bound, _bound_text(bound)) for bound in threshold.constraints]
    for measure, requirement in measures:
        metric = measure.metric or ""
        scope = (threshold.dataset, threshold.model, threshold.variant, None, metric, measure.params)
        evaluated = next((row for row in results.rows if scope == (
            row.dataset, row.model, row.variant, row.slice, row.metric, row.params)), None)
        on_evaluated = [] if evaluated is None else [limited(evaluated)]
        places = numbers.most_decimals([(measure.apparent, None, None), *on_evaluated])
        optimism = Number("–") if measure.optimism is None else Number(
            numbers.signed(measure.optimism, places), None, None, numbers.exact(measure.optimism))
        yield Row((
            (_measure_name(names, metric, measure.params), Aside(requirement, "options")),
            ranged(measure.apparent, places=places), optimism, ranged(measure.corrected, places=places),
            Number("not among the measures") if evaluated is None else shown(
                evaluated, whole=metric_of(results, metric).is_whole, least=places)),
            anchor=None if evaluated is None else row_anchor(section, [evaluated], requirement))


if TYPE_CHECKING:
    Bounded = tuple[Estimate, float, str]
    """A measure on the evaluated rows, the bound, and "at least" or "at most"."""


NO_BOUNDS = Unless("no-bounds", by_results=lambda results: not any(
    _is_judged_anew(threshold) and threshold.constraints for threshold in results.thresholds))


@rule("fails", "undecided", "passes", unless=(NO_BOUNDS,), claims_all=True)
def bounds_kept(results: Results) -> Iterator[Claim]:
    """Whether the requirements under which a threshold was chosen hold on the evaluated rows."""
    for threshold in results.thresholds:
        for constraint in threshold.constraints if _is_judged_anew(threshold) else ():
            of_threshold = [
                row for row in on_all_rows(results, constraint.metric) if row.params == constraint.params
                and (row.dataset, row.model, row.variant) == (threshold.dataset, threshold.model, threshold.variant)]
            sides = ((constraint.min, "at least"), (constraint.max, "at most"))
            for row, bound, side in (
                    (row, bound, side) for row in of_threshold for bound, side in sides if bound is not None):
                if row.lower is None or row.upper is None or row.lower <= bound <= row.upper:
                    yield Claim((row, bound, side), undecided_bound_findings)
                else:
                    yield Claim((row, bound, side), kept if (row.lower > bound) == (side == "at least") else broken)


def _is_judged_anew(threshold: Threshold) -> bool:
    """Tell whether other rows judge a threshold than those that chose it, where its bounds hold by design."""
    return threshold.folds is not None or threshold.chosen_on != threshold.dataset


def broken(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Yield a finding on each bound that the whole interval of its measure lies beyond on the evaluated rows."""
    for bounded in rows:
        yield finding("fails", weights.BOUND_BROKEN, f"{_bound_sentence(results, bounded)}. The bound is not kept.",
                      anchor(results, bounded[0], "thresholds"), bounded[:1])


def kept(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Yield a finding on each bound that the whole interval of its measure keeps to on the evaluated rows."""
    for bounded in rows:
        yield finding("passes", weights.GATE_HELD, f"{_bound_sentence(results, bounded)}. The bound is kept.",
                      anchor(results, bounded[0], "thresholds"), bounded[:1])


def undecided_bound_findings(results: Results, rows: Sequence[Bounded]) -> Iterator[Finding]:
    """Yield a finding on each bound within the interval of its measure, with how many more rows would decide."""
    for bounded in rows:
        row, bound, _ = bounded
        more = more_rows(row, bound, rows_of(results, row))
        way_out = "" if more is None else more_rows_sentence(results, [row], [(bound, more)])
        yield finding("undecided", weights.GATE_OPEN, f"{_bound_sentence(results, bounded)}. These data do not "
                      f"decide.{way_out}", anchor(results, bounded[0], "thresholds"), bounded[:1])


def _bound_sentence(results: Results, bounded: Bounded) -> str:
    """Return "At the threshold of p, chosen for Recall at least 0.9, Recall on new data is 0.868 (0.835–0.897)"."""
    row, bound, side = bounded
    measure = names_of(results).measure(row.metric, row.params)
    return (f"At the threshold of {of_model(results, row)}, chosen for {measure} {side} {numbers.plain(bound)}, "
            f"{measure} on new data is {with_limits(row, bound)}")


MOST_PANELS = 10
"""Panels of a figure, two side by side; more measures are shared among several figures."""

MARKED = " Dots: the thresholds that the spec marks, {}."

HEIGHT, ABREAST = 86, 2
"""Pixels of a panel's height, and panels side by side."""


def sweep_figures(results: Results, dataset: str) -> Iterator[Drawing]:
    """Yield figures of every measure of predicted classes against the threshold, one or more for each model."""
    context = context_of(results, dataset)
    marked = {series.name: curve for series, curve in context.curves(MarkedMeasures)}
    for number, (series, curve) in enumerate(context.curves(Sweep), 1):
        measures = list(curve.points.measures)
        figures = math.ceil(len(measures) / MOST_PANELS)
        panels = math.ceil(len(measures) / (figures * ABREAST)) * ABREAST
        for first in range(0, len(measures), panels):
            key = f"d{context.place}-sweep-{number}-{first}"
            yield _sweep_figure(context, key, (series, curve, marked.get(series.name)),
                                measures[first : first + panels])


def _sweep_figure(
    context: Context, key: str, swept: tuple[Series, Sweep, MarkedMeasures | None], measures: Sequence[str]
) -> Drawing:
    """Return the figure of a model's measures by threshold, a panel each; the threshold in use is a line in all.

    ``swept`` is the model's ink and marker, its measures by threshold, and those at marked thresholds, if any.
    """
    series, curve, marked = swept
    chosen, names = context.threshold(series.name), names_of(context.results)
    cuts, sheet = known(curve.points.threshold), Sheet()
    x = unit_axis("", HALVES) if all(0 <= cut <= 1 for cut in cuts) else number_axis("", cuts, most=3)
    axes = [(x, _value_axis(curve.points.measures[name])) for name in measures]
    panels = grid(sheet, axes, [(names.column_title(name), "ink") for name in measures], height=HEIGHT)
    for measure_panel, name in zip(panels, measures, strict=True):
        if chosen is not None and chosen.lower is not None and chosen.upper is not None:
            measure_panel.span(chosen.lower, chosen.upper)
        draw_marked_rules(measure_panel, context, series)
        measure_panel.line(column(curve.points.threshold), column(curve.points.measures[name]), series.ink,
                   name=names.column_title(name))
        if chosen is not None:
            measure_panel.rule("ink", x=chosen.value, dash=DASHES)
        if marked is not None:
            measure_panel.marks(column(marked.points.threshold), column(marked.points.measures[name]), series.ink,
                        series.marker, size=3, name=f"{names.column_title(name)}, marked")
    dashed = ""
    if chosen is not None:
        which = "the threshold in use" if chosen.folds is None else "the threshold chosen on all rows"
        shaded = ", shaded its interval" if chosen.lower is not None else ""
        dashed = f" The dashed line is {which}, {numbers.given(chosen.value)}{shaded}."
    ranges = {}
    for name in measures:
        values = known(curve.points.measures[name])
        ranges[name] = f"from {numbers.number(min(values))} to {numbers.number(max(values))}" if values else (
            "undefined everywhere")
    alt = f"Measures by threshold on {context.dataset.name}, {series.label}. " + " ".join(
        f"{names.column_title(name)}: {values}." for name, values in ranges.items())
    dots = "" if marked is None else MARKED.format(", ".join(map(numbers.given, known(marked.points.threshold))))
    caption = f"Each measure at every threshold, on {context.dataset.name}.{dashed}{dots}"
    finding = f"{names.column_title(measures[0])} moves {ranges[measures[0]]}."
    return drawing(key, f"Measures by threshold: {series.label}", (finding, caption, alt), [sheet])


def _value_axis(measure: CurveColumn) -> Axis:
    """Return an axis without a name from a measure's lowest to its highest value, with three ticks."""
    axis = number_axis("", known(measure) or [0.0, 1.0], room=0.06)
    return Axis("", axis.low, axis.high, ticks_between(axis.low, axis.high, 3))
