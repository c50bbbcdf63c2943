"""The one figure of calibration in the main pages: a smooth curve with its band, the bins, and the spread of scores.

Moving windows, the other fits and the bins by themselves are figures of the annex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.calibration_curves import (
    MOST,
    NAMES,
    SmoothCurves,
    band_of,
    band_off_diagonal,
    draw_scores_beneath,
    draw_smooth,
    smooth_axes,
    smooth_curves_by_model,
    smooth_labels,
    too_high_or_low,
    with_models_drawn,
)
from evalpipe.card.figures.context import Context, column
from evalpipe.card.figures.declare import figure
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import panel
from evalpipe.card.figures.reliability import (
    axis_upper_end,
    bin_position,
    bins_off,
    draw_diagonal,
    interval_boxes,
    interval_caption,
    kind_of,
    missed_bins,
    missing_of_bins,
    near_axis,
    perfect_label,
)
from evalpipe.card.figures.svg import Sheet, drawing
from evalpipe.results.curves.calibration import Reliability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.card.figures.axes import Axis
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, KeyEntry, Series

    Pair = tuple[SmoothCurves, Reliability | None]

BINS = ("calibration_uniform", "calibration_quantile")
"""The curves of bins that the figure draws, the first that a run has."""


@figure(part="calibration", place=75, curves=(*NAMES, *BINS))
def calibration(context: Context) -> Drawing | None:
    """Draw for each model its smooth curve with a band and its bins with intervals, above the spread of its scores."""
    smooths = smooth_curves_by_model(context)
    bins = {series.name: curve for series, curve in (
        context.curves(Reliability, BINS[0]) or context.curves(Reliability, BINS[1]))}
    drawn: list[tuple[Series, Pair]] = [
        (series, (_single(smooths[series.name]), bins.get(series.name))) for series in context.series
        if any(smooths[series.name][:3]) or series.name in bins]
    if not drawn:
        return None
    shown, axes, sheets = drawn[:MOST], _axes([pair for _, pair in drawn[:MOST]]), []
    for series, (smooth, binned) in shown:
        sheets.append(sheet := Sheet())
        framed = panel(sheet, *axes, title=series.label)
        _draw(framed, series, smooth, binned)
        entries = _label(framed, context, series, smooth, binned)
        if smooth.scores is not None:
            draw_scores_beneath(framed, series, smooth.scores)
        sheet.key(entries)
    alt = f"Calibration on {context.dataset.name}. " + " ".join(
        f"{series.label}: {_finding(pair)}." for series, pair in shown)
    caption = _caption(context, [pair for _, pair in shown])
    texts = context.finding_text(shown, _in_short, at_length=_finding), caption, alt
    return drawing(f"d{context.place}-calibration", with_models_drawn("Calibration", len(drawn)), texts, sheets)


def _single(curves: SmoothCurves) -> SmoothCurves:
    """Return the smooth curves with one of them alone: the spline, or else the line, or else the isotonic fit."""
    if curves.spline:
        return curves._replace(line=None, isotonic=None)
    return curves._replace(isotonic=None) if curves.line else curves


def _axes(pairs: Sequence[Pair]) -> tuple[Axis, Axis]:
    """Return the axes (x, y) that hold the smooth curves and the bins of all models."""
    smooth_x, smooth_y = smooth_axes([smooth for smooth, _ in pairs])
    end = axis_upper_end(value for _, binned in pairs if binned for values in (
        binned.points.position, binned.points.event_rate, binned.points.upper) for value in column(values))
    if not any(any(smooth[:3]) for smooth, _ in pairs) or end > smooth_x.high:
        smooth_x, smooth_y = near_axis(smooth_x.name, end), near_axis(smooth_y.name, end)
    return smooth_x, smooth_y


def _draw(framed: Panel, series: Series, smooth: SmoothCurves, binned: Reliability | None) -> None:
    """Draw the smooth curve of a model with its band, and its bins with their intervals over it."""
    if any(smooth[:3]):
        draw_smooth(framed, series, smooth, parts=False)
    else:
        draw_diagonal(framed)
    if binned is not None:
        points = binned.points
        x, y, lower, upper = map(column, (points.position, points.event_rate, points.lower, points.upper))
        framed.ranges(x, lower, upper, series.ink, kind="thin")
        framed.marks(x, y, series.ink, series.marker)
        framed.record(series.label, x, y, lower=lower, upper=upper)


def _label(
    framed: Panel, context: Context, series: Series, smooth: SmoothCurves, binned: Reliability | None
) -> list[KeyEntry]:
    """Write the names of the curve, the bins and the diagonal beside them; return key entries of names without room."""
    lines, boxes = smooth_labels(context, series, smooth), []
    if binned is not None:
        x, y = column(binned.points.position), column(binned.points.event_rate)
        lines.append(LineLabel("Bins", series.ink, x, y, kind="mark"))
        boxes = list(interval_boxes(framed, binned))
    return label_lines(framed, [], [*lines, perfect_label(framed)], boxes)


def _finding(pair: Pair) -> str:
    """Return in words where the band is off the diagonal, or else how many bins are."""
    smooth, binned = pair
    band = band_of(smooth)
    if smooth.banded and band:
        return band_off_diagonal(band, NAMES[smooth.banded.curve])
    return (missing_of_bins(binned) or missed_bins(binned)) if binned else "the curve has no limits"


def _in_short(pair: Pair) -> str:
    """Return in a few words where the probabilities are too high or too low, or else how many bins are off."""
    smooth, binned = pair
    band = band_of(smooth)
    if smooth.banded and band:
        return too_high_or_low(band)
    return bins_off(binned) if binned else "a curve without limits"


def _caption(context: Context, pairs: Sequence[Pair]) -> str:
    """Return the caption: the curve and its band, the bins and their intervals, and the spread of the scores."""
    sentences = ["Observed share of events by predicted probability. Dotted diagonal: perfect calibration."]
    fitted = next((smooth.banded for smooth, _ in pairs if smooth.banded), None)
    if fitted is not None:
        band = f" with its {context.level} band" if any(band_of(smooth) for smooth, _ in pairs) else ""
        sentences.append(f"Line: {NAMES[fitted.curve]}{band}.")
    binned = [curve for _, curve in pairs if curve is not None]
    if binned:
        sentences.append(f"Points: {kind_of(binned[0])}, at {bin_position(binned[0])}."
                         f"{interval_caption(context, binned, joint=False)}")
    if any(smooth.scores for smooth, _ in pairs):
        sentences.append(f"Below: distribution of the probabilities, {context.results.event} upwards, "
                         f"{context.results.other} downwards.")
    return " ".join(sentences)
