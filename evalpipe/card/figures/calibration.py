"""Figures of calibration: the one of the main pages, a smooth curve with its band, the bins, and the spread of scores.

Figures of the annex show moving windows, the other fits, and the parts of the Brier score at each rounded probability:
reliability beside refinement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, unit_axis
from evalpipe.card.figures.context import Context, FigureFinding, column, figure, figure_of, or_nan
from evalpipe.card.figures.curves import Band, left_out_sentence, readable
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DASHES, DOTS, Panel, grid, panel
from evalpipe.card.figures.reliability import (
    axis_upper_end,
    bin_position,
    bins_finding,
    bins_missing_diagonal,
    bins_off,
    draw_diagonal,
    interval_boxes,
    interval_caption,
    kind_of_bins,
    missed_bins,
    near_axis,
    perfect_label,
    points_with_limits,
)
from evalpipe.card.figures.svg import Drawing, Series, Sheet, drawing, stacks
from evalpipe.results.curves.calibration import (
    CalibrationIsotonic,
    CalibrationLogistic,
    CalibrationSpline,
    CalibrationWindow,
    Histogram,
    Refinement,
    Reliability,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


    C = TypeVar("C", bound=CalibrationLogistic | CalibrationSpline | CalibrationIsotonic | Histogram)
    Pair = tuple["SmoothCurves", Reliability | None]


MOST = 4
"""The most models drawn in one figure; of more, the first."""

ABREAST = 2
"""The most models whose windows are drawn in one panel."""

SmoothCurve = CalibrationLogistic | CalibrationSpline | CalibrationIsotonic
NAMES = {
    "calibration_spline": "spline", "calibration_logistic": "logistic line", "calibration_isotonic": "isotonic fit",
}
SEVERAL = "The line and the spline are fitted on the log odds; the isotonic fit is the best non-decreasing curve."
FITTED = {
    "calibration_spline": "The spline is fitted on the log odds.",
    "calibration_logistic": "The line is fitted on the log odds.",
    "calibration_isotonic": "The isotonic fit is the best non-decreasing curve.",
}
"""What is said of the curves where there are several, and of each alone."""

Pairs = list[tuple[Series, CalibrationWindow]]


@figure_of(CalibrationWindow, part="appendix", place=100)
def windows(context: Context, all_pairs: Pairs) -> Drawing:
    """Draw for each model the share of events against the mean probability in moving windows, with intervals."""
    pairs = all_pairs[:MOST]
    key = f"d{context.place}-calibration-window"
    title = title_with_models_drawn("Reliability, moving windows", len(all_pairs))
    end = windows_upper_end([curve for _, curve in pairs])
    x, y = near_axis("Mean predicted probability", end), near_axis("Observed share of events", end)
    sheets, shared = [], ""
    for group in [pairs] if len(pairs) <= ABREAST else [[pair] for pair in pairs]:
        sheet, is_single = Sheet(), len(group) == 1
        drawn = panel(sheet, x, y, title=group[0][0].label if is_single else "")
        draw_diagonal(drawn)
        bands = {series.name: Band(column(curve.points.mean_probability), column(curve.points.lower),
                                   column(curve.points.upper)) for series, curve in group}
        banded = readable(bands)
        shared += left_out_sentence([series for series, _ in group], bands)
        labels = [draw_windows(drawn, series, curve, banded=series.name in banded, shared=not is_single)
                  for series, curve in group]
        names, unnamed = ([], labels) if is_single else (labels, [])
        sheet.key(label_lines(drawn, names, [perfect_label(drawn)], unnamed=unnamed))
        sheets.append(sheet)
    finding, alt = context.finding_and_alt(
        "Reliability in moving windows", pairs, lambda curve: bins_finding(curve, "windows"))
    caption = window_caption(context, [curve for _, curve in pairs]) + shared
    return drawing(key, title, (finding, caption, alt), sheets)


def windows_upper_end(curves: Iterable[CalibrationWindow]) -> float:
    """Return the upper end that the axes need for the moving windows of all models."""
    return axis_upper_end(value for curve in curves for values in (curve.points.mean_probability, curve.points.upper)
                          for value in column(values))


def draw_windows(
    drawn: Panel, series: Series, curve: CalibrationWindow, *, banded: bool = True, shared: bool = False
) -> LineLabel:
    """Draw the event rate in moving windows, ``banded`` with its interval; return the label of the line."""
    at, rate = column(curve.points.mean_probability), column(curve.points.event_rate)
    lower, upper = column(curve.points.lower), column(curve.points.upper)
    if banded:
        drawn.band(at, lower, upper, series.ink)
    dash = series.dash if shared else ""
    drawn.line(at, rate, series.ink, dash=dash)
    drawn.record(series.label, at, rate, lower=lower, upper=upper)
    return LineLabel(series.label, series.ink, at, rate, dash=dash)


def window_caption(context: Context, curves: Sequence[CalibrationWindow]) -> str:
    """Return the caption on moving windows: their widths and steps, and the intervals shaded about them."""
    steps = dict.fromkeys((curve.notes.width, curve.notes.step) for curve in curves)
    # The originals come first; variants may have windows of their own.
    described = ", after recalibration ".join(
        f"of width {numbers.plain(or_nan(width))} that move by {numbers.plain(or_nan(step))}" for width, step in steps)
    methods = dict.fromkeys(curve.notes.method or "none" for curve in curves)
    names = ", ".join(wording.interval_method_title(name) for name in methods if name != "none")
    shaded = (
        f" Shaded: {context.level} interval of each window ({names}).{wording.cautions(methods)}" if names else ""
    )
    return (
        f"Observed share of events against mean predicted probability, in windows {described}. Dotted diagonal: "
        f"perfect calibration. Neighbouring windows share rows.{shaded}"
    )


def title_with_models_drawn(title: str, count: int) -> str:
    """Return a title with how many of ``count`` models are drawn, where not all are: "Calibration, 4 of 6 models"."""
    return f"{title}, {MOST} of {count} models" if count > MOST else title


@figure(part="appendix", place=110,
        curves=("calibration_logistic", "calibration_spline", "calibration_isotonic"))
def smooth(context: Context) -> Drawing | None:
    """Draw for each model its logistic line, its spline with a band and its isotonic fit."""
    curves = smooth_curves_by_model(context)
    with_curves = [(series, curves[series.name]) for series in context.series if any(curves[series.name][:3])]
    pairs = with_curves[:MOST]
    if not pairs:
        return None
    caption = smooth_caption(context, [drawn._replace(scores=None) for _, drawn in pairs])
    clipped = ((series.label, or_nan(drawn.line.notes.clipped)) for series, drawn in pairs if drawn.line)
    clipped_rows = ", ".join(f"{label} {numbers.count(rows)}" for label, rows in clipped if rows > 0)
    if clipped_rows:
        caption += f" Rows with probability 0 or 1, which pull the line on the log odds: {clipped_rows}."
    finding, alt = context.finding_and_alt(
        "Smooth calibration curves", pairs, lambda drawn: FigureFinding(smooth_in_short(drawn), smooth_finding(drawn)))
    axes, sheets = smooth_axes([drawn for _, drawn in pairs]), []
    for series, drawn in pairs:
        sheets.append(sheet := Sheet())
        framed = panel(sheet, *axes, title=series.label)
        draw_smooth(framed, series, drawn)
        sheet.key(label_lines(framed, [], [*smooth_labels(context, series, drawn), perfect_label(framed)]))
    title = title_with_models_drawn("Reliability, smooth curves", len(with_curves))
    return drawing(f"d{context.place}-calibration-smooth", title, (finding, caption, alt), sheets)


def smooth_axes(drawn: list[SmoothCurves], *, narrow: bool = False) -> tuple[Axis, Axis]:
    """Return the axes (x, y) that all smooth curves of all models share."""
    end = axis_upper_end(value for curves in drawn for curve in curves[:3] if curve is not None
                for values in curve.points.path for value in column(values))
    names = ("Predicted probability", "Share of events") if narrow else (
        "Predicted probability", "Observed share of events")
    x, y = (near_axis(name, end, narrow=narrow) for name in names)
    return x, y


class SmoothCurves(NamedTuple):
    """The smooth curves and the histogram of one model; None for each that the results do not have."""

    line: CalibrationLogistic | None
    spline: CalibrationSpline | None
    isotonic: CalibrationIsotonic | None
    scores: Histogram | None

    @property
    def banded(self) -> SmoothCurve | None:
        """The curve whose band is drawn: the spline, or the only curve; None where there are others but no spline."""
        present = [curve for curve in (self.spline, self.line, self.isotonic) if curve is not None]
        return self.spline or (present[0] if len(present) == 1 else None)


def smooth_curves_by_model(context: Context) -> dict[str, SmoothCurves]:
    """Return the smooth curves and the histogram of every model, by name."""
    def by_model(kind: type[C]) -> dict[str, C]:
        return {series.name: curve for series, curve in context.curves(kind)}

    lines, splines = by_model(CalibrationLogistic), by_model(CalibrationSpline)
    steps, scores = by_model(CalibrationIsotonic), by_model(Histogram)
    names = [series.name for series in context.series]
    return {name: SmoothCurves(lines.get(name), splines.get(name), steps.get(name), scores.get(name)) for name in names}


def smooth_labels(context: Context, series: Series, curves: SmoothCurves) -> list[LineLabel]:
    """Return the labels of a model's smooth curves."""
    band = f" with {context.level} band" if band_of(curves) else ""
    looks, labels = _line_looks(series, curves), []
    for curve in (curves.spline, curves.line, curves.isotonic):
        if curve is not None:
            ink, kind, dash = looks[curve.curve]
            text = f"{wording.capital(NAMES[curve.curve])}{band if curve is curves.banded else ''}"
            x, y = map(column, curve.points.path)
            labels.append(LineLabel(text, ink, x, y, kind, dash))
    return labels


def _line_looks(series: Series, curves: SmoothCurves) -> dict[str, tuple[str, str, str]]:
    """Return the ink, the kind of line and the dashes of each curve, by curve name."""
    only_isotonic = curves.banded is curves.isotonic
    return {
        "calibration_spline": (series.ink, "line", ""), "calibration_logistic": (series.ink, "line", DASHES),
        "calibration_isotonic": (series.ink, "line", "") if only_isotonic else ("ink", "thin", ""),
    }


def band_of(curves: SmoothCurves) -> list[tuple[float, float, float]]:
    """Return (probability, lower, upper) of the band about a model's spline, or about its only curve; empty without."""
    banded = curves.banded
    return points_with_limits(banded.points.probability, banded.points) if banded else []


def smooth_caption(context: Context, drawn: list[SmoothCurves], *, parts: bool = True) -> str:
    """Return the caption on smooth curves: curves, band, scores, and with ``parts`` the parts of the Brier score."""
    sentences = ["Observed share of events by predicted probability. Dotted diagonal: perfect calibration."]
    kinds = {curve.curve for curves in drawn for curve in curves[:3] if curve is not None}
    sentences.append(FITTED[min(kinds)] if len(kinds) == 1 else SEVERAL)
    if any(map(band_of, drawn)):
        rest = "; limits of the other curves are in results.json" if len(kinds) > 1 else ""
        banded = next(curves.banded for curves in drawn if curves.banded and band_of(curves))
        sentences.append(f"Band: interval of the {NAMES[banded.curve]} at each point{rest}.")
    if parts and any(curves.isotonic for curves in drawn):
        sentences.append("Brier score = miscalibration − discrimination + uncertainty; the figure's data have all.")
    if any(curves.scores for curves in drawn):
        sentences.append(f"Below: distribution of the probabilities, {context.results.event} upwards, "
                         f"{context.results.other} downwards.")
    return " ".join(sentences)


def draw_smooth(drawn: Panel, series: Series, curves: SmoothCurves, *, parts: bool = True) -> None:
    """Draw a model's smooth curves and band; with ``parts`` the table has the parts of the Brier score."""
    draw_diagonal(drawn)
    looks = _line_looks(series, curves)
    if curves.isotonic and parts:
        notes = curves.isotonic.notes
        brier = {"Miscalibration": notes.miscalibration, "Discrimination": notes.discrimination,
                 "Uncertainty": notes.uncertainty}
        drawn.record_values(series.label, **{name: [or_nan(part)] for name, part in brier.items()})
    for curve, name in ((curves.isotonic, "isotonic"), (curves.spline, "spline"), (curves.line, "logistic line")):
        if curve is not None:
            x, y = map(column, curve.points.path)
            if curve is curves.banded:
                drawn.band(x, column(curve.points.lower), column(curve.points.upper), series.ink)
            ink, kind, dash = looks[curve.curve]
            drawn.line(x, y, ink, kind=kind, dash=dash, name=f"{series.label}, {name}")


def draw_scores_beneath(drawn: Panel, series: Series, scores: Histogram) -> None:
    """Draw a histogram of probabilities beneath a panel: the weight of events upwards, of non-events downwards."""
    events, others = column(scores.points.events), column(scores.points.others)
    edges = [*column(scores.points.low), column(scores.points.high)[-1]]
    strip = Panel(drawn.x, Axis("", -(max(others) or 1), max(events) or 1), drawn.left,
                  drawn.sheet.bottom + 2, drawn.width, 44, sheet=drawn.sheet)
    strip.bars(edges, events, series.ink)
    strip.bars(edges, [-weight for weight in others], "pale")
    strip.rule("muted", y=0)
    drawn.sheet.bottom = strip.base + 4


def smooth_finding(curves: SmoothCurves) -> str:
    """Return the finding on smooth curves: band off the diagonal, coefficients, parts of the Brier score."""
    sentences, band = [], band_of(curves)
    if curves.banded and band:
        sentences.append(band_off_diagonal(band, NAMES[curves.banded.curve]))
    elif curves.spline:
        sentences.append(f"the spline has {numbers.number(or_nan(curves.spline.notes.edf))} degrees of freedom")
    if curves.line:
        intercept, slope = (numbers.number(or_nan(x)) for x in (curves.line.notes.intercept, curves.line.notes.slope))
        sentences.append(f"the logistic line has intercept {intercept} and slope {slope}")
    if curves.isotonic:
        notes = curves.isotonic.notes
        parts = {"miscalibration": notes.miscalibration, "discrimination": notes.discrimination,
                 "uncertainty": notes.uncertainty}
        sentences.append(", ".join(f"{name} {numbers.fixed(or_nan(part), 4)}" for name, part in parts.items()))
    return "; ".join(sentences)


def smooth_in_short(curves: SmoothCurves) -> str:
    """Return in a few words where smooth curves are off the diagonal, or else a coefficient or miscalibration."""
    band = band_of(curves)
    if curves.banded and band:
        return too_high_or_low(band)
    if curves.line:
        return f"slope {numbers.number(or_nan(curves.line.notes.slope))} of the logistic line"
    if curves.isotonic:
        return f"miscalibration {numbers.fixed(or_nan(curves.isotonic.notes.miscalibration), 4)}"
    return smooth_finding(curves)


def _runs_off_diagonal(band: list[tuple[float, float, float]]) -> list[tuple[str, int, int]]:
    """Return (side, first index, last index) of each stretch of a band "above" or "below" the diagonal."""
    runs: list[tuple[str, int, int]] = []
    for index, (probability, low, high) in enumerate(band):
        side = "above" if low > probability else "below" if high < probability else ""
        if side and runs and runs[-1][0] == side and runs[-1][2] == index - 1:  # the stretch goes on
            runs[-1] = (side, runs[-1][1], index)
        elif side:
            runs.append((side, index, index))
    return runs


MOST_STRETCHES = 2
"""Stretches that a caption names, the longest; the notes have all."""


def too_high_or_low(band: list[tuple[float, float, float]]) -> str:
    """Return in a few words where predictions are too high or too low: "too low below 0.72, too high above 0.82".

    ``band`` has (probability, lower, upper) of each point.
    """
    at = [probability for probability, _, _ in band]
    runs = _runs_off_diagonal(band)
    longest = sorted(runs, key=lambda run: at[run[1]] - at[run[2]])[:MOST_STRETCHES]
    words = []
    for side, first, last in (run for run in runs if run in longest):
        low, high = (numbers.plain(float(f"{at[index]:.2g}")) for index in (first, last))
        where = ("everywhere" if (first, last) == (0, len(band) - 1) else f"above {low}" if last == len(band) - 1 else
                 f"below {high}" if first == 0 else f"near {low}" if low == high else f"from {low} to {high}")
        words.append(f"too {'low' if side == 'above' else 'high'} {where}")
    return ", ".join(words) or "nowhere clearly too high or too low"


def band_off_diagonal(band: list[tuple[float, float, float]], name: str) -> str:
    """Return in words where the band of the curve ``name`` lies above or below the diagonal.

    ``band`` has (probability, lower, upper) of each point.
    """
    runs = _runs_off_diagonal(band)
    if not runs:
        return f"the {name}'s band includes the diagonal everywhere"
    stretches = []
    for side, start, end in runs:
        first, last = (numbers.number(band[index][0]) for index in (start, end))
        ends = f"at {first}" if start == end else f"from {first} to {last}"
        stretches.append(f"{side} the diagonal {ends}")
    return f"the {name}'s band is {', '.join(stretches)}"


PLACES = [i / 50 for i in range(51)]
PARTS = {"brier_reliability": "reliability", "brier_refinement": "refinement", "brier_resolution": "resolution"}
"""The measures that sum the panels up, where the run has them, and what they are called."""


@figure_of(Refinement, part="appendix", place=120)
def refinement(context: Context, pairs: list[tuple[Series, Refinement]]) -> Drawing:
    """Draw the two parts of the Brier score at each rounded probability: event rate, and beside it refinement."""
    # One kind of line for all panels, which share a key.
    lines: list[tuple[Series, Any]] = (context.curves(CalibrationSpline) or context.curves(CalibrationLogistic)
                                       or context.curves(CalibrationIsotonic))
    smoothers: dict[str, SmoothCurve] = {series.name: line for series, line in lines}
    sizes = {}
    for series, curve in pairs:
        estimates = {words: context.estimate(series.name, metric) for metric, words in PARTS.items()}
        measured = [f"{words} {text}" for words, text in estimates.items() if text is not None]
        text = ", ".join(measured) or f"mean refinement {numbers.number(or_nan(curve.notes.mean))}"
        sizes[series.name] = FigureFinding(text, text)
    sheets = []
    for stack in stacks(pairs):
        sheets.append(sheet := Sheet())
        for series, curve in stack:
            _draw_both_parts(sheet, series, curve, smoothers.get(series.name))
    line = next((f" Line: {NAMES[curve.curve]}." for curve in smoothers.values()), "")
    limited = any(e.metric in PARTS and e.lower is not None and e.dataset == context.dataset.name
                  for e in context.results.rows)
    corrected = (
        " Chance moves the event rates: it makes reliability and resolution larger than they truly are and refinement "
        "smaller. The values are as computed; the intervals are corrected for this.") if limited else ""
    caption = (
        "The two parts of the Brier score, at each probability rounded to two decimals. Reliability: share of events "
        "against the mean probability of the rows; its distance from the dotted diagonal, squared, is what "
        f"miscalibration adds.{line} Refinement: event rate × (1 − event rate), which is left when the event rate is "
        f"forecast. Dotted: that of perfect calibration. Larger marks: more rows.{corrected}"
    )
    title = "Reliability and refinement"
    finding, alt = context.finding_and_alt(title, pairs, lambda curve: sizes[curve.model])
    return drawing(f"d{context.place}-refinement", title, (finding, caption, alt), sheets)


def _draw_both_parts(sheet: Sheet, series: Series, curve: Refinement, smoother: SmoothCurve | None) -> None:
    """Draw the two panels of a model side by side: reliability, with the smooth curve if any, and refinement."""
    sheet.bottom += 8 if sheet.bottom else 0
    sheet.heading(series.label)
    x, share = unit_axis("Predicted probability", HALVES), unit_axis("Share of events", HALVES)
    rate_product = Axis("Rate × (1 − rate)", -0.008, 0.265, ((0, "0"), (0.1, "0.1"), (0.2, "0.2")))
    left, right = grid(sheet, [(x, share), (x, rate_product)], [("Reliability", "ink"), ("Refinement", "ink")])
    probability, weight = column(curve.points.probability), column(curve.points.weight)
    size = [1.2 + 3 * (w / max(weight)) ** 0.5 for w in weight]
    draw_diagonal(left)
    left.marks(probability, column(curve.points.event_rate), series.ink, series.marker, size=size, kind="light",
                name=f"{series.label}, reliability")
    if smoother is not None:
        across, up = map(column, smoother.points.path)
        left.line(across, up, "ink")
    right.line(PLACES, [p * (1 - p) for p in PLACES], "muted", kind="thin", dash=DOTS)
    right.marks(probability, column(curve.points.refinement), series.ink, series.marker, size=size, kind="light",
                    name=f"{series.label}, refinement")


BINS = ("calibration_uniform", "calibration_quantile")
"""The curves of bins that the figure draws, the first that a run has."""


@figure(part="calibration", place=75, curves=(*NAMES, *BINS))
def calibration(context: Context) -> Drawing | None:
    """Draw for each model its smooth curve with a band and its bins with intervals, above the spread of its scores."""
    smooths = smooth_curves_by_model(context)
    bins = {series.name: curve for series, curve in (
        context.curves(Reliability, BINS[0]) or context.curves(Reliability, BINS[1]))}
    drawn: list[tuple[Series, Pair]] = []
    for series in context.series:
        curves = smooths[series.name]  # of which one is drawn: the spline, or else the line, or else the isotonic fit
        if curves.spline or curves.line:
            curves = curves._replace(line=None if curves.spline else curves.line, isotonic=None)
        if any(curves[:3]) or series.name in bins:
            drawn.append((series, (curves, bins.get(series.name))))
    if not drawn:
        return None
    shown, axes, sheets = drawn[:MOST], _axes([pair for _, pair in drawn[:MOST]]), []
    for series, (smooth, binned) in shown:
        sheets.append(sheet := Sheet())
        framed = panel(sheet, *axes, title=series.label)
        _draw_curve_and_bins(framed, series, smooth, binned)
        labels, boxes = smooth_labels(context, series, smooth), []
        if binned is not None:
            x, y = column(binned.points.position), column(binned.points.event_rate)
            labels.append(LineLabel("Bins", series.ink, x, y, kind="mark"))
            boxes = list(interval_boxes(framed, binned))
        entries = label_lines(framed, [], [*labels, perfect_label(framed)], boxes)
        if smooth.scores is not None:
            draw_scores_beneath(framed, series, smooth.scores)
        sheet.key(entries)
    finding, alt = context.finding_and_alt("Calibration", shown, _finding)
    caption = _caption(context, [pair for _, pair in shown])
    return drawing(f"d{context.place}-calibration", title_with_models_drawn("Calibration", len(drawn)),
                   (finding, caption, alt), sheets)


def _axes(pairs: Sequence[Pair]) -> tuple[Axis, Axis]:
    """Return the axes (x, y) that hold the smooth curves and the bins of all models."""
    smooth_x, smooth_y = smooth_axes([smooth for smooth, _ in pairs])
    end = axis_upper_end(value for _, binned in pairs if binned for values in (
        binned.points.position, binned.points.event_rate, binned.points.upper) for value in column(values))
    if not any(any(smooth[:3]) for smooth, _ in pairs) or end > smooth_x.high:
        smooth_x, smooth_y = near_axis(smooth_x.name, end), near_axis(smooth_y.name, end)
    return smooth_x, smooth_y


def _draw_curve_and_bins(framed: Panel, series: Series, smooth: SmoothCurves, binned: Reliability | None) -> None:
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


def _finding(pair: Pair) -> FigureFinding:
    """Say where the probabilities are too high or too low by the band, or else how many bins are off."""
    smooth, binned = pair
    band = band_of(smooth)
    if smooth.banded and band:
        return FigureFinding(too_high_or_low(band), band_off_diagonal(band, NAMES[smooth.banded.curve]))
    if binned is None:
        return FigureFinding("a curve without limits", "the curve has no limits")
    return FigureFinding(bins_off(binned), bins_missing_diagonal(binned) or missed_bins(binned))


def _caption(context: Context, pairs: Sequence[Pair]) -> str:
    """Return the caption: the curve and its band, the bins and their intervals, and the spread of the scores."""
    sentences = ["Observed share of events by predicted probability. Dotted diagonal: perfect calibration."]
    fitted = next((smooth.banded for smooth, _ in pairs if smooth.banded), None)
    if fitted is not None:
        band = f" with its {context.level} band" if any(band_of(smooth) for smooth, _ in pairs) else ""
        sentences.append(f"Line: {NAMES[fitted.curve]}{band}.")
    binned = [curve for _, curve in pairs if curve is not None]
    if binned:
        sentences.append(f"Points: {kind_of_bins(binned[0])}, at {bin_position(binned[0])}."
                         f"{interval_caption(context, binned, joint=False)}")
    if any(smooth.scores for smooth, _ in pairs):
        sentences.append(f"Below: distribution of the probabilities, {context.results.event} upwards, "
                         f"{context.results.other} downwards.")
    return " ".join(sentences)
