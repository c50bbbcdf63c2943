"""The figure of the parts of the Brier score at each rounded probability: reliability beside refinement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.calibration import PERFECT, diagonal
from evalpipe.card.figures.context import Context, column, listed, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.panel import DOTS, grid
from evalpipe.card.figures.reliable import NAMES, SmoothCurve
from evalpipe.card.figures.scales import HALVES, Axis, unit_axis
from evalpipe.card.figures.sheet import KeyEntry, Sheet, drawing, stacks
from evalpipe.card.wording import capital
from evalpipe.results.curves.calibration import (
    CalibrationIsotonic,
    CalibrationLogistic,
    CalibrationSpline,
    Refinement,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.card.figures.canvas import Drawing, Series

PLACES = [i / 50 for i in range(51)]
PARTS = {"brier_reliability": "reliability", "brier_refinement": "refinement", "brier_resolution": "resolution"}
"""The measures that sum the panels up, where the run has them, and what they are called."""


@figure_of(Refinement, place=120)
def refinement(context: Context, pairs: list[tuple[Series, Refinement]]) -> Drawing:
    """Draw at each rounded probability the event rate, and beside it what is left of the Brier score there."""
    smoothers = _smoothers(context)
    said = {series.name: _said(context, series, curve) for series, curve in pairs}
    line = next((f" Line: {NAMES[curve.curve]}." for curve in smoothers.values()), "")
    caption = (
        "The two parts of the Brier score, at each probability rounded to two decimals. Reliability: share of events "
        "against the mean probability of the rows; its distance from the dotted diagonal, squared, is what "
        f"miscalibration adds.{line} Refinement: event rate × (1 − event rate), which is left when the event rate is "
        f"forecast. Dotted: that of perfect calibration. Larger marks: more rows.{_corrected(context)}"
    )
    alt = context.told("Reliability and refinement", pairs, lambda curve: said[curve.model])
    sheets = []
    for together in stacks(pairs):
        sheets.append(sheet := Sheet())
        for series, curve in together:
            _panels(sheet, series, curve, smoothers.get(series.name))
        kinds = dict.fromkeys(smoothers[series.name].curve for series, _ in together if series.name in smoothers)
        sheet.key([*(KeyEntry(capital(NAMES[kind]), "ink") for kind in kinds), PERFECT])
    finding = listed([f"{series.label}: {said[series.name]}" for series, _ in pairs])
    return drawing(f"d{context.place}-refinement", "Reliability and refinement", (finding, caption, alt), sheets)


def _panels(sheet: Sheet, series: Series, curve: Refinement, smoother: SmoothCurve | None) -> None:
    """Draw both parts of a model side by side."""
    sheet.bottom += 8 if sheet.bottom else 0
    sheet.heading(series.label)
    x, share = unit_axis("Predicted probability", HALVES), unit_axis("Share of events", HALVES)
    least = Axis("Rate × (1 − rate)", -0.008, 0.265, ((0, "0"), (0.1, "0.1"), (0.2, "0.2")))
    agree, scatter = grid(sheet, [(x, share), (x, least)], [("Reliability", "ink"), ("Refinement", "ink")])
    at, weight = column(curve.points.probability), column(curve.points.weight)
    size = [1.2 + 3 * (w / max(weight)) ** 0.5 for w in weight]
    diagonal(agree)
    agree.marks(at, column(curve.points.event_rate), series.ink, series.marker, size=size, kind="light",
                name=f"{series.label}, reliability")
    if smoother is not None:
        across, up = map(column, smoother.points.path)
        agree.line(across, up, "ink")
    scatter.line(PLACES, [p * (1 - p) for p in PLACES], "muted", kind="thin", dash=DOTS)
    scatter.marks(at, column(curve.points.refinement), series.ink, series.marker, size=size, kind="light",
                  name=f"{series.label}, refinement")


def _smoothers(context: Context) -> Mapping[str, SmoothCurve]:
    """Return the smooth curve of each model that has one: the spline before the line and the isotonic fit."""
    # One kind for all panels, which share a key.
    splines = {series.name: curve for series, curve in context.curves(CalibrationSpline)}
    lines = {series.name: curve for series, curve in context.curves(CalibrationLogistic)}
    return splines or lines or {series.name: curve for series, curve in context.curves(CalibrationIsotonic)}


def _said(context: Context, series: Series, curve: Refinement) -> str:
    """Say how large the parts are, with their intervals where the run has the measures."""
    estimates = {words: context.estimate(series.name, metric) for metric, words in PARTS.items()}
    measured = [f"{words} {text}" for words, text in estimates.items() if text is not None]
    return ", ".join(measured) or f"mean refinement {numbers.number(or_nan(curve.notes.mean))}"


def _corrected(context: Context) -> str:
    """Say what the intervals of the parts are corrected for, where the run has some."""
    limited = any(e.metric in PARTS and e.lower is not None and e.dataset == context.dataset.name
                  for e in context.results.rows)
    return (
        " Chance moves the event rates: it makes reliability and resolution larger than they truly are and refinement "
        "smaller. The values are as computed; the intervals are corrected for this."
    ) if limited else ""
