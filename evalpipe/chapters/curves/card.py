"""What the card says of marked thresholds, of residuals of probabilities, and of measures related to each other."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

from evalpipe.base import constants
from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, UNIT, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import column, context_of, known
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DASHES, DOTS, grid, panel
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing, more_models_than_inks, stacks
from evalpipe.card.method import Procedure
from evalpipe.card.page import Column, Figures, Group, Row, Section, Table, Text
from evalpipe.card.tables import curves_of, ranged, with_limits
from evalpipe.card.wording import names_of
from evalpipe.results.curves.events import MarkedMeasures, Marks, MeasuresByPrevalence, RelatedMeasures
from evalpipe.results.curves.residuals import HalfNormal, ResidualAgainst, ResidualBox, ResidualOrder, ScaleLocation
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results import Results


RATES = (("sensitivity", "Sensitivity"), ("false_positive_rate", "False positive rate"), ("precision", "Precision"),
         ("tested", "Rows tested"))
"""The columns of the table with limits, by their names in the results."""


def sections(results: Results) -> Iterator[Section]:
    """Yield a section for each dataset with marked thresholds, and one for each with measures related to each other."""
    datasets = [dataset.name for dataset in results.datasets]
    for number, dataset in enumerate(datasets, 1):
        marks = list(curves_of(results, dataset, Marks))
        swept = list(curves_of(results, dataset, MarkedMeasures))
        if marks:
            lead = "What each model would do at the thresholds that the spec marks. The curves have a point at each."
            tables = [_rates_table(results, dataset, marks)]
            if swept:
                tables.append(_measures_table(results, dataset, swept))
            yield Section(f"marks-{number}", f"Marked thresholds on {dataset}", (Text(lead, "lead"), *tables),
                          part="appendix")
        has_relations = any([*curves_of(results, dataset, kind)] for kind in (MeasuresByPrevalence, RelatedMeasures))
        if has_relations:
            yield Section(f"relations-{number}", f"Relations between measures on {dataset}", (
                Figures(partial(relations, results, dataset)),), part="appendix")


def procedures(results: Results) -> Iterator[Procedure]:
    """Yield how the limits at marked thresholds are made, and what residuals of each kind are."""
    yield from _probability_residual_procedure(results)
    yield from _residual_kind_procedures(results)
    yield from _column_procedures(results)
    methods = dict.fromkeys(curve.method for curve in results.curves if isinstance(curve, Marks))
    if methods:
        names = [wording.interval_method_title(method) for method in methods if method not in (None, "none")]
        limits = f" Their limits are of each rate alone: {', '.join(names)}." if names else " They have no limits."
        yield Procedure("Marked thresholds", (
            "Rows with a probability (or score) at or above a marked threshold are taken as predicted events. An "
            f"equivocal zone is ignored.{limits} Lift is the share of the events that are among these rows, over the "
            "share of the rows. It has no limits."))


def _probability_residual_procedure(results: Results) -> Iterator[Procedure]:
    """Yield the procedure on residuals of probabilities, where the results have them."""
    if results.levels and any(isinstance(curve, ResidualBox) for curve in results.curves):
        residual = ("1 minus the probability of the event for an event, and minus that probability for the others"
                if results.event is not None else "1 minus the probability of the true level")
        rmse_text = " RMSE is the root of the Brier score." if results.event is not None else ""
        yield Procedure("Residuals of probabilities", (
            f"The residual of a row is {residual}. RMSE is the root of the mean square of the residuals, MAE the mean "
            f"and MAD the median of their absolute values.{rmse_text}"), "Biecek & Burzykowski (2021)")


KINDS = {
    "binary": ("the signed root of −2 log p, p the probability of the true level", "(y − p) / √(p (1 − p))"),
    "multiclass": ("the root of −2 log p, p the probability of the true level", ""),
    "ordinal": ("the root of −2 log p, p the probability of the true level", ""),
    "count": ("the signed root of the Poisson deviance of the row", "(y − μ) / √μ, μ the expected count"),
}
"""What deviance and Pearson residuals are, by task."""


DURBIN_WATSON = "Durbin & Watson (1950)"
"""The reference of the statistic of residuals in an order."""

HALF_NORMAL = "Atkinson (1985)"
"""The reference of the half-normal plot."""


def clipping_sentence() -> str:
    """Return the sentence on the least probability: probabilities of the true level below it are set to it."""
    return f"Probabilities of the true level count as {constants.CLIP:g} at least."


def _residual_kind_procedures(results: Results) -> Iterator[Procedure]:
    """Yield what deviance and Pearson residuals are, and the distribution that figures compare residuals with."""
    names = {curve.curve for curve in results.curves}
    figure = next((curve for curve in results.curves if isinstance(curve, HalfNormal | ScaleLocation)), None)
    kinds = [kind for kind in ("deviance", "pearson") if f"{kind}_residual_quantiles" in names
             or (figure is not None and figure.notes.kind == kind)]
    if kinds:
        deviance, pearson = KINDS[results.task]
        sentence_of_kind = {"deviance": f"The deviance residual is {deviance}.",
                            "pearson": f"The Pearson residual is {pearson}."}
        clip = [clipping_sentence()] if results.levels else []
        yield Procedure("Deviance and Pearson residuals",
                        " ".join([*(sentence_of_kind[kind] for kind in kinds), *clip]), "McCullagh & Nelder (1989)")
    if isinstance(figure, HalfNormal | ScaleLocation):
        expected = ("normal with one spread" if figure.notes.kind == "raw" else
                 "drawn from the predicted probabilities" if results.levels else "Poisson about the predictions")
        what = "residuals" if figure.notes.kind == "raw" else "outcomes"
        yield Procedure("What residuals are held to", (
            f"The scale-location and the half-normal plot show what is expected if {what} are {expected}. It is "
            "computed from that distribution, without simulation. The limits of the half-normal plot are those of the "
            "rank of each residual, a beta distribution; they are of each place alone."), HALF_NORMAL)


def _column_procedures(results: Results) -> Iterator[Procedure]:
    """Yield how rows are grouped for residuals by columns of the data and in the order of one."""
    groups = next((c.notes for c in results.curves if isinstance(c, ResidualAgainst | ResidualOrder)), None)
    if groups is not None:
        yield Procedure("Residuals by columns of the data", (
            f"Rows are taken together in groups of at least {numbers.count(groups.least)}: by ascending numbers into "
            "groups of about equal weight, or by level. Along a column the mean of these residuals is zero where the "
            "model is right" + (", of several levels the mean that the probabilities expect." if results.levels and
                                results.event is None else ".")))
    if any(isinstance(curve, ResidualOrder) for curve in results.curves):
        yield Procedure("Residuals in order", (
            "The Durbin-Watson statistic is the sum of the squared differences of neighbours over the sum of squares. "
            "Rows that have one value of the column are one place, with their mean."), DURBIN_WATSON)


def _rates_table(results: Results, dataset: str, marks: Sequence[Marks]) -> Table:
    """Return the table of the rates at each mark, with their limits and the lift, model by model."""
    names, rows = names_of(results), list[Row | Group]()
    places = [numbers.column_decimals(rate for curve in marks for rate in _rate_at_marks(curve, name))
              for name, _ in RATES]
    lifts = numbers.column_decimals((lift, None, None) for curve in marks for lift in curve.points.lift)
    for curve in marks:
        rows.append(Group(names.model_of(curve)))
        rates = zip(*(_rate_at_marks(curve, name) for name, _ in RATES), strict=True)
        for threshold, at_mark, lift in zip(curve.points.threshold, rates, curve.points.lift, strict=True):
            cells = (ranged(value, lower, upper, places=digits)
                     for (value, lower, upper), digits in zip(at_mark, places, strict=True))
            rows.append(Row((numbers.given(threshold or 0.0), *cells, ranged(lift, places=lifts))))
    heads = (Column("Threshold", style="what"), *(Column(title, "num") for _, title in RATES), Column("Lift", "num"))
    return Table(f"Rates at marked thresholds on {dataset}{with_limits(results, rows)}", heads, tuple(rows),
                 "compared", stacked=True)


def _rate_at_marks(curve: Marks, name: str) -> Iterator[tuple[float | None, float | None, float | None]]:
    """Yield a rate with its lower and upper limit at each marked threshold; ``name`` is such as "precision"."""
    columns = curve.points.columns
    yield from zip(columns[name], columns[f"{name}_lower"], columns[f"{name}_upper"], strict=True)


def _measures_table(results: Results, dataset: str, swept: Sequence[MarkedMeasures]) -> Table:
    """Return the table of every measure of predicted classes at each mark, model by model."""
    names, rows = names_of(results), list[Row | Group]()
    for curve in swept:
        rows.append(Group(names.model_of(curve)))
        for name, values in curve.points.measures.items():
            places = numbers.column_decimals((value, None, None) for value in values)
            rows.append(Row((names.column_title(name), *(ranged(value, places=places) for value in values))))
    cuts = [numbers.given(threshold or 0.0) for threshold in swept[0].points.threshold]
    heads = (Column("Measure", style="what"), *(Column(f"At {cut}", "num") for cut in cuts))
    return Table(f"Measures of predicted levels at marked thresholds on {dataset}", heads, tuple(rows), "compared",
                 stacked=True)


STROKES = ("", "9 3", DASHES, "3 3", DOTS)
"""How the lines of measures are drawn."""


def relations(results: Results, dataset: str) -> Iterator[Drawing]:
    """Yield figures of the measures of a dataset by prevalence, and of each further measure against the first."""
    context = context_of(results, dataset)
    by_prevalence, related = context.curves(MeasuresByPrevalence), context.curves(RelatedMeasures)
    if by_prevalence:
        yield _prevalence_figure(context, by_prevalence)
    if related:
        first, *others = related[0][1].points.measures
        for number, other in enumerate(others, 1):
            yield _related_figure(context, related, (first, other), number)


def _prevalence_figure(context: Context, pairs: Sequence[tuple[Series, MeasuresByPrevalence]]) -> Drawing:
    """Return the figure of each measure by prevalence, a panel for each model."""
    heights = [value for _, curve in pairs for values in curve.points.measures.values() for value in known(values)]
    y = number_axis("Value", [*heights, 0.0, 1.0], most=4, room=0.02)
    sheets = []
    for sheet_pairs in stacks(pairs):
        sheets.append(sheet := Sheet())
        unplaced: list[KeyEntry] = []
        for series, curve in sheet_pairs:
            plot = panel(sheet, unit_axis("Prevalence"), y, 170, title=series.label, last=curve is sheet_pairs[-1][1])
            if context.dataset.prevalence is not None:
                plot.rule("ink", x=context.dataset.prevalence, dash=DOTS)
            labels = []
            for stroke, (name, values) in zip(STROKES, curve.points.measures.items(), strict=False):
                x, height = column(curve.points.prevalence), column(values)
                plot.line(x, height, series.ink, name=f"{series.label}, {_measure_title(curve, name)}", dash=stroke)
                labels.append(LineLabel(_measure_title(curve, name), series.ink, x, height, dash=stroke))
            unplaced = label_lines(plot, labels) or unplaced
        sheet.key(unplaced)
    finding = context.finding_text(pairs, _widest_span, at_length=_spans_over_prevalences)
    caption = ("Measures of the predicted levels at the threshold in use, were the prevalence another: rows are "
               "reweighted. Dotted line: observed prevalence.")
    title = "Measures by prevalence"
    alt = context.alt_text(title, pairs, _spans_over_prevalences)
    return drawing(f"d{context.place}-measures-by-prevalence", title, (finding, caption, alt), sheets)


def _spans_over_prevalences(curve: MeasuresByPrevalence) -> str:
    """Return the range of each measure over all prevalences, as text."""
    spans = []
    for name, values in curve.points.measures.items():
        low, high = min(known(values), default=float("nan")), max(known(values), default=float("nan"))
        ends = numbers.number(low), numbers.number(high)
        spans.append(f"{_measure_title(curve, name)} {ends[0] if ends[0] == ends[1] else numbers.ranged(*ends)}")
    return "over all prevalences " + ", ".join(spans)


def _widest_span(curve: MeasuresByPrevalence) -> str:
    """Return in a few words the measure that moves most over all prevalences."""
    ends = {name: (min(known(values), default=math.nan), max(known(values), default=math.nan))
            for name, values in curve.points.measures.items()}
    name, (low, high) = max(ends.items(), key=lambda item: item[1][1] - item[1][0])
    return f"{_measure_title(curve, name)} moves most, {numbers.ranged(numbers.number(low), numbers.number(high))}"


def _related_figure(
    context: Context, pairs: Sequence[tuple[Series, RelatedMeasures]], names: tuple[str, str], place: int
) -> Drawing:
    """Return the figure of one measure against another over all thresholds, a panel for each prevalence.

    ``names`` are the measure across and the measure up; ``place`` is the number of the figure.
    """
    first, other = names
    prevalences = list(dict.fromkeys(known(pairs[0][1].points.prevalence)))
    x, y = (_measure_axis(pairs, name, narrow=len(prevalences) > 1) for name in names)
    low, high = max(x.low, y.low, 0.0), min(x.high, y.high, 1.0)
    sheet, apart = Sheet(), more_models_than_inks(context.series)
    groups = [(share, [pair]) for share in prevalences for pair in pairs] if apart else [
        (share, list(pairs)) for share in prevalences]
    titles = [(f"{f'{drawn[0][0].label}, prevalence' if apart else 'Prevalence'} {wording.share(share)}", "ink")
              for share, drawn in groups]
    panels = grid(sheet, [(x, y)] * len(groups), titles, columns=min(2, len(groups)))
    unnamed: list[KeyEntry] = []
    for plot, (share, drawn) in zip(panels, groups, strict=True):
        plot.lines([((low, high), (low, high))], "pale")
        labels = []
        for series, curve in drawn:
            rows = [k for k, prevalence in enumerate(curve.points.prevalence) if prevalence == share]
            across, up = ([column(curve.points.measures[name])[k] for k in rows] for name in names)
            plot.line(across, up, series.ink, name=f"{series.label}, prevalence {wording.share(share)}",
                      dash=series.dash)
            labels.append(LineLabel(series.label, series.ink, across, up, dash=series.dash))
        if plot is panels[0] and not apart:
            unnamed = label_lines(plot, labels)
    sheet.key(unnamed)
    title = f"{_measure_title(pairs[0][1], other)} against {_measure_title(pairs[0][1], first)}"
    texts = [(series, _values_at_highest(curve, names, prevalences)) for series, curve in pairs]
    finding = context.finding_text(pairs, lambda curve: _values_at_highest(curve, names, prevalences[:1]),
                                   at_length=lambda curve: _values_at_highest(curve, names, prevalences))
    shares = wording.joined([wording.share(share) for share in prevalences])
    caption = (f"Both at every threshold, with the rows reweighted to a prevalence of {shares}. Grey line: both are "
               "the same.")
    alt = context.alt_text(title, texts, lambda text: text)
    return drawing(f"d{context.place}-related-{place}", title, (finding, caption, alt), [sheet])


def _values_at_highest(curve: RelatedMeasures, names: tuple[str, str], prevalences: Sequence[float]) -> str:
    """Return the value of the second measure where the first is highest, at each prevalence, as text."""
    parts = []
    for prevalence, measures in zip(prevalences, curve.notes.highest or (), strict=False):
        first, second = (measures[name] for name in names)
        if first is not None:
            title = _measure_title(curve, names[1])
            other = f"an undefined {title}" if second is None else f"{title} {numbers.given(second)}"
            parts.append(f"at prevalence {wording.share(prevalence)} the highest {_measure_title(curve, names[0])} "
                         f"{numbers.given(first)} goes with {other}")
    return "; ".join(parts) or "undefined"


def _measure_axis(pairs: Sequence[tuple[Series, RelatedMeasures]], name: str, *, narrow: bool) -> Axis:
    """Return the axis of a measure, of a panel that is ``narrow`` or as wide as the sheet."""
    values = [value for _, curve in pairs for value in known(curve.points.measures[name])]
    if values and min(values) >= 0 and max(values) <= 1:
        return unit_axis(_measure_title(pairs[0][1], name), HALVES if narrow else UNIT)
    axis = number_axis(_measure_title(pairs[0][1], name), values, room=0.03)
    return Axis(axis.name, axis.low, axis.high, ticks_between(axis.low, axis.high, 3)) if narrow else axis


def _measure_title(curve: RelatedMeasures | MeasuresByPrevalence, name: str) -> str:
    """Return the title of a measure from the notes of its curve, as the run need not list it; else its name."""
    return (curve.notes.titles or {}).get(name, name)
