"""Figures of one probability or score at a time: rates at every threshold, and refinement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures.context import Context, column, listed, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DASHES, DOTS, panel
from evalpipe.card.figures.scales import Axis, number_axis, unit_axis
from evalpipe.card.figures.sheet import KeyEntry, Sheet, drawing, stacks
from evalpipe.results.curves.calibration import Refinement
from evalpipe.results.curves.events import Thresholds

if TYPE_CHECKING:
    from evalpipe.card.figures.canvas import Drawing, Series

RATES = ("Sensitivity", "Specificity", "Precision")
STROKES = ("", DASHES, "1.5 2.5")
"""How the line of each rate is drawn: all are of one model."""


@figure_of(Thresholds, place=40)
def rates(context: Context, pairs: list[tuple[Series, Thresholds]]) -> Drawing:
    """Draw sensitivity, specificity and precision against the threshold, a panel for each model."""
    caption = (
        "Rates at every threshold. Dashed vertical line: threshold in use."
    )
    alt = context.told("Rates by threshold", pairs, _crossing)
    unit = all(0 <= x <= 1 for _, curve in pairs for x in column(curve.points.threshold))
    sheets = []
    for together in stacks(pairs):
        sheets.append(sheet := Sheet())
        unplaced: list[KeyEntry] = []
        for series, curve in together:
            x = unit_axis("Threshold") if unit else number_axis("Threshold", column(curve.points.threshold))
            last = not unit or curve is together[-1][1]
            unplaced = _panel(sheet, context, series, curve, x, last=last) or unplaced
        sheet.key(unplaced)
    texts = context.finds(pairs, _crossing), caption, alt
    return drawing(f"d{context.place}-thresholds", "Rates by threshold", texts, sheets)


def _panel(
    sheet: Sheet, context: Context, series: Series, curve: Thresholds, x: Axis, *, last: bool
) -> list[KeyEntry]:
    """Draw the rates of a model; return the key where the lines have no room for labels."""
    points, chosen = curve.points, context.threshold(series.name)
    drawn = panel(sheet, x, unit_axis("Rate", (0, 0.5, 1)), 150, title=series.label, last=last)
    if chosen is not None:
        drawn.rule("ink", x=chosen.value, dash=DASHES)
    labels = []
    for name, dash, rate in zip(RATES, STROKES, (points.sensitivity, points.specificity, points.precision),
                                strict=True):
        at, height = column(points.threshold), column(rate)
        drawn.line(at, height, series.ink, name=f"{series.label}, {name.lower()}", dash=dash)
        labels.append(LineLabel(name, series.ink, at, height, dash=dash))
    return label_lines(drawn, labels)


def _crossing(curve: Thresholds) -> str:
    """Say where sensitivity and specificity are closest."""
    columns = curve.points.threshold, curve.points.sensitivity, curve.points.specificity
    rows = zip(*map(column, columns), strict=True)
    cut, sensitivity, specificity = min(rows, key=lambda row: abs(row[1] - row[2]))
    both = f"{numbers.number(sensitivity)} and {numbers.number(specificity)}"
    return f"sensitivity and specificity are closest at threshold {numbers.number(cut)}, with {both}"


@figure_of(Refinement, place=120)
def refinement(context: Context, pairs: list[tuple[Series, Refinement]]) -> Drawing:
    """Draw what is left of the Brier score in each rounded probability, against the least a calibrated one leaves."""
    caption = (
        "Event rate × (1 − event rate) of the rows at each probability, rounded to two decimals. Larger marks: more "
        "rows. Dotted line: perfect calibration."
    )
    means = {series.name: numbers.number(or_nan(curve.notes.mean)) for series, curve in pairs}
    alt = context.told("Refinement", pairs, lambda curve: f"mean refinement {means[curve.model]}")
    places = [i / 50 for i in range(51)]
    sheets = []
    y = Axis("Refinement", -0.008, 0.265, ((0, "0"), (0.1, "0.1"), (0.2, "0.2")))
    for together in stacks(pairs):
        sheets.append(sheet := Sheet())
        for series, curve in together:
            drawn = panel(sheet, unit_axis("Predicted probability"), y, 130, title=series.label,
                          last=curve is together[-1][1])
            drawn.line(places, [p * (1 - p) for p in places], "muted", kind="thin", dash=DOTS)
            weight = column(curve.points.weight)
            drawn.marks(column(curve.points.probability), column(curve.points.refinement), series.ink, series.marker,
                        size=[1.5 + 4 * (w / max(weight)) ** 0.5 for w in weight], kind="fill", name=series.label)
    finding = listed([f"{s.label}: mean refinement {means[s.name]}" for s, _ in pairs])
    return drawing(f"d{context.place}-refinement", "Refinement", (finding, caption, alt), sheets)
