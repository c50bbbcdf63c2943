"""Figures of calibration: reliability diagrams with equal-width and equal-count bins."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.context import Context, FigureFinding, column, figure_of
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DOTS, Panel, grid, model_key, panel
from evalpipe.card.figures.svg import KeyEntry, PointSeries, Sheet, drawing
from evalpipe.results.curves.calibration import Histogram, Reliability, Rug
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results.curves import Column
    from evalpipe.results.curves.calibration import CalibrationWindow, ReliabilityPoints, SmoothPoints, WindowPoints

    Pairs = list[tuple[Series, Reliability]]

BINS = {"uniform": "bins of equal width", "quantile": "bins of equal count"}
PERFECT = KeyEntry("Perfect calibration", "muted", "thin", dash=DOTS)
NARROW = 0.6
"""The largest share or limit up to which a diagram is drawn from 0 to there, and not to 1."""

TICK = 12.0
"""Pixels of the longest mark of a rug."""

BELOW = "Below: distribution of the predicted probabilities."

MOST = 3
"""Models in one panel; of more, each has one of its own."""


@figure_of(Reliability, part="appendix", place=80, name="calibration_uniform", instead="calibration_quantile")
@figure_of(Reliability, part="appendix", place=90, name="calibration_quantile", only_with="calibration_uniform")
def reliability(context: Context, pairs: Pairs) -> Drawing:
    """Draw the observed share of events against the mean probability of each bin, with intervals."""
    key = f"d{context.place}-{pairs[0][1].curve.replace('_', '-')}"
    kind, scores = kind_of_bins(pairs[0][1]), context.curves(Histogram)
    rugs = {series.name: curve for series, curve in context.curves(Rug)}
    below = f" {BELOW}" if scores and len(pairs) <= MOST else ""
    caption = (f"Observed share of events in each bin against {bin_position(pairs[0][1])}. Dotted diagonal: perfect "
               f"calibration.{interval_caption(context, [curve for _, curve in pairs])}"
               f"{rug_caption(context, rugs.values())}{below}")
    finding, alt = context.finding_and_alt("Reliability diagram", pairs, bins_finding, f", {kind}")
    axes = bin_axis_name(pairs[0][1]), "Observed share of events"
    groups = [[pair] for pair in pairs] if rugs and len(pairs) <= MOST else [pairs]
    end = _upper_end(pairs)
    sheets = [sheet for group in groups for sheet in _diagram_sheets(group, axes, scores, rugs, end)]
    return drawing(key, f"Reliability, {kind}", (finding, caption, alt), sheets)


@figure_of(
    Reliability, part="calibration", place=160, name="top_label_calibration_uniform",
    instead="top_label_calibration_quantile")
def top_label(context: Context, pairs: Pairs) -> Drawing:
    """Draw how often the predicted level is right against the probability given to it, with intervals."""
    key, title = f"d{context.place}-top-label", "Reliability of the predicted level"
    caption = (
        f"Share of correct predictions against {bin_position(pairs[0][1], 'probability of the predicted level')}, in "
        f"{kind_of_bins(pairs[0][1])}. "
        f"Dotted diagonal: perfect calibration.{interval_caption(context, [curve for _, curve in pairs])}"
    )
    axes = bin_axis_name(pairs[0][1], "probability of the predicted level"), "Share predicted correctly"
    finding, alt = context.finding_and_alt(title, pairs, bins_finding)
    return drawing(key, title, (finding, caption, alt), _diagram_sheets(pairs, axes, [], {}, _upper_end(pairs)))


def kind_of_bins(curve: Reliability) -> str:
    """Return the kind of bins of a diagram in words: of equal width or of equal count."""
    return BINS[curve.curve.rpartition("_")[2]]


def bin_position(curve: Reliability, of: str = "predicted probability") -> str:
    """Return in words where bins are drawn: at the mean probability (``of``) of their rows, or in the middle."""
    return f"the mean {of}" if curve.points.midpoint is None else f"the middle of each bin of the {of}"


def bin_axis_name(curve: Reliability, of: str = "predicted probability") -> str:
    """Return the name of the horizontal axis of bins; ``of`` is the quantity that bins divide."""
    return f"Mean {of}" if curve.points.midpoint is None else f"{wording.capital(of)}, middle of the bin"


def _upper_end(pairs: Pairs) -> float:
    return axis_upper_end(
        value for _, curve in pairs for values in (
            curve.points.position, curve.points.event_rate, curve.points.upper) for value in column(values))


def _diagram_sheets(
    pairs: Pairs, names: tuple[str, str], scores: list[tuple[Series, Histogram]], rugs: Mapping[str, Rug], end: float
) -> list[Sheet]:
    """Draw bins and ``rugs`` of models, above histograms of ``scores``; return the sheets.

    ``names`` are those of the horizontal and the vertical axis, ``end`` is the upper end of both.
    """
    sheet, histograms = Sheet(), {series.name: curve for series, curve in scores}
    if len(pairs) > MOST:
        axes = tuple(near_axis(name, end, narrow=True) for name in names)
        panels = grid(sheet, [(axes[0], axes[1])] * len(pairs), [(series.label, "ink") for series, _ in pairs])
        for drawn, (series, curve) in zip(panels, pairs, strict=True):
            draw_diagonal(drawn)
            draw_rug(drawn, series, rugs.get(series.name))
            draw_bins(drawn, series, curve)
        return [sheet]
    x, y = (near_axis(name, end) for name in names)
    is_single = len(pairs) == 1
    drawn = panel(sheet, x, y, title=pairs[0][0].label if is_single else "")
    draw_diagonal(drawn)
    for series, curve in pairs:
        draw_rug(drawn, series, rugs.get(series.name))
        draw_bins(drawn, series, curve)
    boxes = [box for _, curve in pairs for box in interval_boxes(drawn, curve)]
    if is_single:
        points = pairs[0][1].points
        unnamed = [LineLabel("", pairs[0][0].ink, column(points.position), column(points.event_rate))]
        sheet.key(label_lines(drawn, [], [perfect_label(drawn)], boxes, unnamed))
    else:
        labels = [LineLabel(series.label, series.ink, column(curve.points.position), column(curve.points.event_rate))
                  for series, curve in pairs]
        # Where intervals take all the room, a name may lie on some of them, but not on the points.
        unplaced = label_lines(drawn, labels, [perfect_label(drawn)], boxes)
        sheet.key(model_key([series for series, _ in pairs]) if unplaced and label_lines(drawn, labels) else [])
    for series, _ in pairs if scores else ():
        draw_score_strip(drawn, series, histograms.get(series.name))
    return [sheet]


def interval_boxes(drawn: Panel, curve: Reliability) -> Iterator[tuple[float, float, float, float]]:
    """Yield the boxes, in pixels, of the intervals of the bins; of the limits for all bins where there are any."""
    points = curve.points
    joint_limits = points.simultaneous_lower or [], points.simultaneous_upper or []
    low, high = map(column, joint_limits if _has_joint_limits(curve) else (points.lower, points.upper))
    for x, lower, upper in zip(column(points.position), low, high, strict=True):
        if not math.isnan(x + lower + upper):
            yield drawn.across(x) - 1, drawn.down(upper), drawn.across(x) + 1, drawn.down(lower)


def axis_upper_end(values: Iterable[float]) -> float:
    """Return the upper end of axes of probabilities: 1, or less where all values are in a low range."""
    end = max((value for value in values if not math.isnan(value)), default=1.0)
    return 1.0 if end > NARROW else next(step for step in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0) if step >= end)


def near_axis(name: str, end: float, *, narrow: bool = False) -> Axis:
    """Return the axis of a probability from 0 to ``end``, at most 1; fewer ticks where the panel is ``narrow``."""
    if end == 1:
        return unit_axis(name, HALVES) if narrow else unit_axis(name)
    return Axis(name, -0.015 * end, 1.015 * end, ticks_between(0, end, 2 if narrow else 4))


def draw_diagonal(drawn: Panel) -> None:
    """Draw the dotted diagonal of perfect calibration."""
    drawn.line((0, drawn.x.high), (0, drawn.x.high), "muted", kind="thin", dash=DOTS)


def perfect_label(drawn: Panel) -> LineLabel:
    """Return the label of the dotted diagonal of a panel."""
    ends = (0, drawn.x.high)
    return LineLabel(PERFECT.text, PERFECT.ink, ends, ends, kind=PERFECT.kind, dash=PERFECT.dash)


def interval_caption(context: Context, curves: list[Reliability], *, joint: bool = True) -> str:
    """Return sentences of a caption on bars of bins, with ``joint`` those for all at once; empty without bars."""
    methods = dict.fromkeys(curve.notes.method or "none" for curve in curves)
    names = ", ".join(wording.interval_method_title(name) for name in methods)
    if names == wording.interval_method_title("none"):
        return ""
    thin = " Thin bars: for all bins together." if joint and any(map(_has_joint_limits, curves)) else ""
    at_means = " The intervals are set against the diagonal at the mean probability of the rows." if any(
        curve.points.midpoint is not None for curve in curves) else ""
    return f" Bars are {context.level} intervals ({names}).{thin}{at_means}{wording.cautions(methods)}"


def _has_joint_limits(curve: Reliability) -> bool:
    points_with_limits = (curve.points.simultaneous_lower, curve.points.simultaneous_upper)
    return all(any(value is not None for value in values or ()) for values in points_with_limits)


def draw_bins(drawn: Panel, series: Series, curve: Reliability, size: float = 4.5) -> None:
    """Draw the bins of a reliability diagram with their intervals; ``size`` is that of a marker."""
    points = curve.points
    x, y = column(points.position), column(points.event_rate)
    if _has_joint_limits(curve):
        low, high = (column(values or []) for values in (points.simultaneous_lower, points.simultaneous_upper))
        drawn.ranges(x, low, high, series.ink, kind="thin")
    drawn.ranges(x, column(points.lower), column(points.upper), series.ink)
    drawn.line(x, y, series.ink, kind="thin")
    drawn.marks(x, y, series.ink, series.marker, size=size)
    drawn.record(series.label, x, y, lower=column(points.lower), upper=column(points.upper))


def draw_rug(drawn: Panel, series: Series, curve: Rug | None) -> None:
    """Mark the probabilities of events at the upper edge of a panel and those of non-events at the lower edge."""
    if curve is None:
        return
    probabilities, events, others = (column(values) for values in curve.points.columns.values())
    for weights, ink, above in ((events, series.ink, True), (others, "muted", False)):
        if curve.notes.places:
            # What many rows share is the longer the more they are; a stroke of one row can still be seen.
            largest = max(weights, default=0.0) or 1.0
            lengths = [TICK * (0.3 + 0.7 * weight / largest) if weight else 0.0 for weight in weights]
        else:
            lengths = [TICK / 2 if weight else 0.0 for weight in weights]
        drawn.ticks(probabilities, lengths, ink, above=above)
    drawn.sheet.points.append(PointSeries(
        f"{series.label}, rug", {"Predicted probability": probabilities, "Events": events, "Non-events": others}))


def rug_caption(context: Context, rugs: Iterable[Rug]) -> str:
    """Return sentences of a caption on the marks at the edges of a panel; empty without rugs."""
    are_rounded = {curve.notes.places for curve in rugs}
    if not are_rounded:
        return ""
    rounding = " They are rounded to hundredths: the longer, the more rows." if any(are_rounded) else ""
    return (f" Marks at the upper edge: probabilities of rows that are {context.results.event}; at the lower edge: "
            f"{context.results.other}.{rounding}")


def draw_score_strip(drawn: Panel, series: Series, scores: Histogram | None, height: float = 26) -> None:
    """Draw the spread of a model's probabilities in a strip on the scale of the diagram above it."""
    if scores is None:
        return
    sheet, (edges, heights) = drawn.sheet, score_weights(scores)
    y = Axis("", 0, max(heights) or 1)
    strip = Panel(drawn.x, y, drawn.left, sheet.bottom + 4, drawn.width, height, sheet=sheet)
    strip.bars(edges, heights, series.ink, kind="light")
    strip.rule("muted", y=0)
    sheet.marker(drawn.left - 12, strip.base - 7, series.marker, series.ink)
    sheet.bottom = strip.base + 4


def score_weights(scores: Histogram) -> tuple[list[float], list[float]]:
    """Return the edges of the bins of a histogram [k + 1], and the weight of both classes in each bin [k]."""
    points = scores.points
    heights = [a + b for a, b in zip(column(points.events), column(points.others), strict=True)]
    return [*column(points.low), column(points.high)[-1]], heights


def points_with_limits(
    across: Column, points: ReliabilityPoints | WindowPoints | SmoothPoints,
) -> list[tuple[float, float, float]]:
    """Return (x, lower, upper) of each point with limits; ``across`` are the x of all points.

    Limits without width, such as Wald's at 0 and 1, are left out: they do not say what they exclude.
    """
    rows = zip(across, points.lower, points.upper, strict=True)
    return [(x, low, high) for x, low, high in rows
            if x is not None and low is not None and high is not None and low < high]


def missed_bins(curve: Reliability | CalibrationWindow, what: str = "bins") -> str:
    """Return how many intervals exclude the diagonal and where the gap is widest; ``what`` names the points."""
    means_and_rates = zip(curve.points.mean_probability, curve.points.event_rate, strict=True)
    points = [(mean, rate) for mean, rate in means_and_rates if mean is not None and rate is not None]
    if not points:
        return f"no {what.removesuffix('s')} has rows"
    at, share = (numbers.number(x) for x in max(points, key=lambda point: abs(point[1] - point[0])))
    widest = f"widest gap at mean probability {at}, where the share of events is {share}"
    counted = bins_missing_diagonal(curve, what)
    return f"{counted}; {widest}" if counted else widest


def bins_finding(curve: Reliability | CalibrationWindow, what: str = "bins") -> FigureFinding:
    """Say how many intervals exclude the diagonal, at length with the widest gap; ``what`` names the points."""
    return FigureFinding(bins_off(curve, what), missed_bins(curve, what), again=bins_off(curve, ""))


def bins_off(curve: Reliability | CalibrationWindow, what: str = "bins") -> str:
    """Return how many intervals exclude the diagonal, or else the widest gap; ``what`` names the points."""
    limited = points_with_limits(curve.points.mean_probability, curve.points)
    if not limited:
        known = [(m, r) for m, r in zip(curve.points.mean_probability, curve.points.event_rate, strict=True)
                 if m is not None and r is not None]
        mean, rate = max(known, key=lambda point: abs(point[1] - point[0]), default=(0.0, 0.0))
        return f"widest gap {numbers.number(abs(rate - mean))}" if known else "no rows"
    missed = sum(not low <= mean <= high for mean, low, high in limited)
    return f"{missed} of {len(limited)} {what} off the diagonal" if what else f"{missed} of {len(limited)}"


def bins_missing_diagonal(curve: Reliability | CalibrationWindow, what: str = "bins") -> str:
    """Return in words how many intervals miss the diagonal; empty where none has limits."""
    limited = points_with_limits(curve.points.mean_probability, curve.points)
    missed = sum(not low <= mean <= high for mean, low, high in limited)
    return f"in {missed} of {len(limited)} {what} the interval excludes the diagonal" if limited else ""
