"""Figures of decisions at every threshold: the rates, and the decision curve of what acting on them is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import Context, FigureFinding, column, figure_of, known, or_nan
from evalpipe.card.figures.curves import Band, CurveLayers, Frame, ModelCurve, Reference, draw_curves, shared_sentence
from evalpipe.card.figures.labels import LineLabel, draw_marked_rules, label_lines, label_rules, marks_of
from evalpipe.card.figures.panel import DASHES, panel
from evalpipe.card.figures.svg import KeyEntry, Sheet, drawing, stacks
from evalpipe.results.curves.calibration import NetBenefit
from evalpipe.results.curves.events import Roc, Thresholds
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series


RATES = ("Sensitivity", "Specificity", "Precision")
STROKES = ("", DASHES, "1.5 2.5")
"""How the line of each rate is drawn: all are of one model."""


@figure_of(Thresholds, part="decisions", place=40)
def rates(context: Context, pairs: list[tuple[Series, Thresholds]]) -> Drawing:
    """Draw sensitivity, specificity and precision against the threshold, a panel for each model."""
    lines = {
        series.name: [RateLine(name, dash, column(points.threshold), column(rate)) for name, dash, rate in zip(
            RATES, STROKES, (points.sensitivity, points.specificity, points.precision), strict=True)]
        for series, points in ((series, curve.points) for series, curve in pairs)}
    finding, alt = context.finding_and_alt("Rates by threshold", pairs, _closest_rates)
    texts = finding, f"Rates at every threshold.{_line_caption(context)}", alt
    sheets = _rate_sheets(context, [series for series, _ in pairs], lines)
    return drawing(f"d{context.place}-thresholds", "Rates by threshold", texts, sheets)


@figure_of(Roc, part="appendix", place=45)
def true_and_false_positives(context: Context, pairs: list[tuple[Series, Roc]]) -> Drawing:
    """Draw the true and the false positive rate against the threshold, a panel for each model."""
    lines = {
        series.name: [RateLine(name, dash, column(points.threshold), column(rate)) for name, dash, rate in (
            ("True positive rate", "", points.sensitivity),
            ("False positive rate", DASHES, points.false_positive_rate))]
        for series, points in ((series, curve.points) for series, curve in pairs)}
    caption = ("True positive rate (sensitivity) and false positive rate (1 − specificity) at every threshold."
               f"{_line_caption(context)}")
    title = "True and false positive rate by threshold"
    finding, alt = context.finding_and_alt(title, pairs, _furthest_apart)
    sheets = _rate_sheets(context, [series for series, _ in pairs], lines)
    return drawing(f"d{context.place}-positive-rates", title, (finding, caption, alt), sheets)


@dataclass(frozen=True, slots=True)
class RateLine:
    """A rate against the threshold: its name, its stroke, and its points."""

    name: str
    dash: str
    at: list[float]
    heights: list[float]


def _line_caption(context: Context) -> str:
    """Return the sentences of a caption on the vertical lines: threshold in use, marked thresholds."""
    marks = next(iter(marks_of(context).values()), None)
    cuts = "" if marks is None else wording.joined(list(map(numbers.given, known(marks.points.threshold))))
    return f" Dashed vertical line: threshold in use.{f' Dotted: the marked thresholds {cuts}.' if cuts else ''}"


def _rate_sheets(context: Context, models: Sequence[Series], lines: Mapping[str, Sequence[RateLine]]) -> list[Sheet]:
    """Draw the rate lines of each model in a panel, one panel below the other; return the sheets."""
    cuts = [cut for drawn in lines.values() for cut in drawn[0].at if not math.isnan(cut)]
    is_probability, sheets = all(0 <= cut <= 1 for cut in cuts), list[Sheet]()
    for stack in stacks(models):
        sheets.append(sheet := Sheet())
        unplaced: list[KeyEntry] = []
        for series in stack:
            x = unit_axis("Threshold") if is_probability else number_axis(
                "Threshold", [cut for cut in lines[series.name][0].at if not math.isnan(cut)])
            is_last = not is_probability or series is stack[-1]
            drawn = panel(sheet, x, unit_axis("Rate", (0, 0.5, 1)), 150, title=series.label, last=is_last)
            unplaced = _draw_rates(drawn, context, series, lines[series.name]) or unplaced
        sheet.key(unplaced)
    return sheets


def _draw_rates(drawn: Panel, context: Context, series: Series, lines: Sequence[RateLine]) -> list[KeyEntry]:
    """Draw the rate lines of a model, marked at the spec's thresholds; return key entries of labels without room."""
    threshold, marked = context.threshold(series.name), marks_of(context).get(series.name)
    cuts = draw_marked_rules(drawn, context, series)
    if threshold is not None:
        drawn.rule("ink", x=threshold.value, dash=DASHES)
    labels = []
    for line in lines:
        drawn.line(line.at, line.heights, series.ink, name=f"{series.label}, {line.name.lower()}", dash=line.dash)
        labels.append(LineLabel(line.name, series.ink, line.at, line.heights, dash=line.dash))
    if marked is not None:
        thresholds = column(marked.points.threshold)
        rates = {line.name: column(getattr(marked.points, COLUMNS[line.name])) for line in lines}
        drawn.marks(thresholds * len(rates), [height for heights in rates.values() for height in heights], series.ink,
                    series.marker, size=3.2)
        drawn.record_values(f"{series.label}, marked", Threshold=thresholds, **rates)
    label_rules(drawn, cuts)
    x = -math.inf if threshold is None else drawn.across(threshold.value)
    # Where there is no other room, a name may lie on the rule.
    unplaced = label_lines(drawn, labels, occupied=[(x - 1, drawn.top, x + 1, drawn.base)] if math.isfinite(x) else [])
    return unplaced and label_lines(drawn, labels)


COLUMNS = {"Sensitivity": "sensitivity", "Specificity": "specificity", "Precision": "precision",
           "True positive rate": "sensitivity", "False positive rate": "false_positive_rate"}
"""The columns of marked thresholds that have the rates of these names."""


def _closest_rates(curve: Thresholds) -> FigureFinding:
    """Say at which threshold sensitivity and specificity are closest, at length with both."""
    closest = curve.notes.closest
    if closest is None:
        return FigureFinding("rates drawn", "rates drawn")
    at = f"at {numbers.number(closest.threshold)}"
    return FigureFinding(
        f"sensitivity and specificity closest {at}",
        f"sensitivity and specificity are closest at threshold {numbers.given(closest.threshold)}, with "
        f"{numbers.number(closest.sensitivity)} and {numbers.number(closest.specificity)}", again=at)


def _furthest_apart(curve: Roc) -> FigureFinding:
    """Say at which threshold the true positive rate exceeds the false positive rate most, at length with both."""
    furthest = curve.notes.furthest
    if furthest is None:
        return FigureFinding("never apart", "the true positive rate exceeds the false positive rate at no threshold")
    at = f"at {numbers.number(furthest.threshold)}"
    return FigureFinding(
        f"furthest apart {at}",
        f"the rates are furthest apart at threshold {numbers.given(furthest.threshold)}, with "
        f"{numbers.number(furthest.sensitivity)} and {numbers.number(furthest.false_positive_rate)}", again=at)


LEAST = 1e-9
"""A gain below this is rounding."""


@figure_of(NetBenefit, part="decisions", place=70)
def net_benefit(context: Context, pairs: list[tuple[Series, NetBenefit]]) -> Drawing:
    """Draw the decision curves of all models, with those of acting on all rows and on none."""
    banded = any(curve.notes.level is not None for _, curve in pairs)
    caption = (
        "Net benefit per case: true positives minus false positives, the latter weighted by the threshold's odds. A "
        "model is useful where it is above both acting on all cases and acting on none." + (
            f" {context.level} interval at each point." if banded else "")
    )
    alt = context.alt_text("Decision curve", pairs, _largest_gain)
    curves = [ModelCurve(series, column(c.points.threshold), column(c.points.net_benefit)) for series, c in pairs]
    first = pairs[0][1].points
    references = (
        Reference("Acting on all cases", column(first.threshold), column(first.treat_all), DASHES),
        Reference("Acting on none", (0, 1), (0, 0)))
    heights = [(curve.points.net_benefit, curve.points.treat_all) for _, curve in pairs]
    top = max(0.01, *(max(column(height)) for both in heights for height in both))
    y = Axis("Net benefit", -0.2 * top, 1.12 * top, ticks_between(-0.2 * top, 1.12 * top))
    name = "Threshold probability"
    layers = CurveLayers(bands={
        series.name: Band(column(curve.points.threshold), column(curve.points.lower), column(curve.points.upper))
        for series, curve in pairs} if banded else {})
    caption += shared_sentence([series for series, _ in pairs], layers)
    sheets = draw_curves(Frame(unit_axis(name), y, (unit_axis(name, HALVES), y), 230, 120), curves, references, layers)
    finding = context.finding_text(pairs, _gain_in_short, again=lambda curve: _gain_in_short(curve, ""))
    texts = finding, caption, alt
    return drawing(f"d{context.place}-net-benefit", "Decision curve", texts, sheets)


def _largest_gain(curve: NetBenefit) -> str:
    """Return in words where a model's net benefit most exceeds acting on all cases and on none."""
    gain, at = or_nan(curve.notes.largest_gain), or_nan(curve.notes.largest_gain_at)
    if gain < LEAST:
        return "at no threshold better than acting on all cases or on none"
    return (f"largest gain over acting on all cases or on none {numbers.number(gain)}, at threshold "
            f"{numbers.plain(at)}")


def _gain_in_short(curve: NetBenefit, start: str = "gains at most ") -> str:
    """Return in a few words where a model's net benefit is furthest above acting on all and none, after a ``start``."""
    gain, at = or_nan(curve.notes.largest_gain), or_nan(curve.notes.largest_gain_at)
    return "never a gain" if gain < LEAST else f"{start}{numbers.number(gain)} at threshold {numbers.plain(at)}"
