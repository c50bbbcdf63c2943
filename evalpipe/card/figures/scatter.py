"""Figures of predicted numbers: observed values and residuals of every kind against predicted, and the rootogram.

They are scatters of rows with a smooth line, whose caption says how many points and which line are shown.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.card import wording
from evalpipe.card.figures.axes import Axis, number_axis, ticks_between, unit_axis
from evalpipe.card.figures.context import Context, FigureFinding, column, figure_of, known, or_nan, path_of
from evalpipe.card.figures.labels import LineLabel, label_lines
from evalpipe.card.figures.panel import DASHES, DOTS, panel
from evalpipe.card.figures.svg import Sheet, drawing
from evalpipe.results.curves import residuals
from evalpipe.results.curves.residuals import (
    HalfNormal,
    KindPredicted,
    ObservedNotes,
    ObservedPredicted,
    PredictedObserved,
    ResidualPredicted,
    Rootogram,
    ScaleLocation,
)
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.results.curves import Column
    from evalpipe.results.curves.declare import CurveOf


Straight = Literal["No residual", "Observed = predicted", "Expected"]
"""The dotted line to compare rows with: zero, the diagonal, or what is expected along the smooth line."""

FEW = 5
"""Points of a line up to which each is marked."""


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """What one panel of a scatter holds: the rows of a model and the smooth line through them."""

    series: Series
    rows: CurveOf[Any, Any, Any]
    smooth: CurveOf[Any, Any, Any] | None

    @property
    def fitted(self) -> tuple[float, float] | None:
        """The slope and the intercept of the least-squares line of observed on predicted values, or None."""
        notes = self.rows.notes
        if not isinstance(notes, ObservedNotes) or notes.slope is None or notes.intercept is None:
            return None
        return notes.slope, notes.intercept

    @property
    def paths(self) -> Iterator[tuple[Column, Column]]:
        """The paths (x, y) to draw: the points of rows, and the smooth line where there is one."""
        yield self.rows.points.path
        if self.smooth is not None:
            yield self.smooth.points.path


def _panels(
    context: Context, pairs: Sequence[tuple[Series, CurveOf[Any, Any, Any]]], smooth: type[CurveOf[Any, Any, Any]],
    name: str | None = None,
) -> list[ScatterPanel]:
    """Return the content of each model's panel: its rows, and its curve of the class ``smooth``, if any."""
    lines = {series.name: line for series, line in context.curves(smooth, name)}
    return [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]


def point_sentence(panels: Sequence[ScatterPanel], across: str = "prediction") -> str:
    """Return the sentence of a caption on what a point is.

    Where a part of the rows is drawn, it says that they are spread evenly by ``across``, such as "prediction".
    """
    if any(panel.rows.notes.points_of is not None for panel in panels):
        return f"Each point is a row; of many rows, a part is drawn, spread evenly by {across}."
    return "Each point is a row."


def line_sentence(panels: Sequence[ScatterPanel]) -> str:
    """Return the sentence of a caption on the smooth line."""
    smoothed = [panel.smooth.notes.smoothed for panel in panels if panel.smooth is not None]
    spline, means = "a smoothing spline through all rows", "the mean at each distinct prediction"
    return f"The line is {means if not any(smoothed) else spline if all(smoothed) else f'{spline}, or {means}'}."


def scatter_sheet(panel_of: ScatterPanel, axes: tuple[Axis, Axis], straight: Straight) -> Sheet:
    """Draw a model's rows as points, with smooth and least-squares lines, on axes (x, y); return the sheet.

    ``straight`` names the dotted line to compare with, such as "Observed = predicted".
    """
    sheet, series = Sheet(), panel_of.series
    is_square = axes[0].low == axes[1].low and axes[0].high == axes[1].high
    drawn = panel(sheet, *axes, None if is_square else 220, title=series.label)
    drawn.dots(*path_of(panel_of.rows.points), "pale", name=f"{series.label}, rows")
    if straight == "No residual":
        drawn.rule("ink", y=0, dash=DOTS)
    elif straight == "Observed = predicted":
        ends = (max(axes[0].low, axes[1].low), min(axes[0].high, axes[1].high))
        drawn.line(ends, ends, "ink", kind="thin", dash=DOTS)
    labels: list[LineLabel] = []
    if panel_of.smooth is not None:
        at, line = path_of(panel_of.smooth.points)
        drawn.line(at, line, series.ink, name=f"{series.label}, smooth line")
        if straight == "Expected":
            drawn.line(at, column(panel_of.smooth.points.expected), "ink", kind="thin", dash=DOTS,
                       name=f"{series.label}, expected")
        if len(at) < FEW:
            drawn.marks(at, line, series.ink, series.marker)
        labels.append(LineLabel("Smooth line", series.ink, at, line))
    if panel_of.fitted is not None:
        slope, intercept = panel_of.fitted
        x_range = [end(known(panel_of.rows.points.path[0])) for end in (min, max)]
        heights = [intercept + slope * end for end in x_range]
        drawn.line(x_range, heights, series.ink, dash=DASHES, name=f"{series.label}, least-squares line")
        labels.append(LineLabel("Least-squares line", series.ink, x_range, heights, dash=DASHES))
    labels += _straight_label(drawn, panel_of, straight)
    sheet.key(label_lines(drawn, [], labels))
    return sheet


def _straight_label(drawn: Panel, panel_of: ScatterPanel, straight: Straight) -> list[LineLabel]:
    """Return the label of the dotted line to compare with, where it is drawn."""
    if straight == "Expected":
        if panel_of.smooth is None:
            return []
        at = column(panel_of.smooth.points.path[0])
        return [LineLabel(straight, "ink", at, column(panel_of.smooth.points.expected), kind="thin", dash=DOTS)]
    x, y = (drawn.x.low, drawn.x.high), (0.0, 0.0)
    if straight == "Observed = predicted":
        x = y = max(drawn.x.low, drawn.y.low), min(drawn.x.high, drawn.y.high)
    return [LineLabel(straight, "ink", x, y, kind="thin", dash=DOTS)]


SQUARE = 3.0
"""How many times as wide as the predictions axes that are alike may be; wider, they would leave these a sliver."""


def short(value: float) -> str:
    """Return a number as text for a sentence; a whole number has no decimals."""
    return numbers.fixed(value, 0) if float(value).is_integer() else numbers.number(value)


def axis_name(context: Context, name: str) -> str:
    """Return the name of an axis, with the unit of the outcome, if any."""
    unit = context.results.unit
    return f"{name} ({unit})" if unit else name


def with_unit(context: Context, value: float) -> str:
    """Return a number as text, with the unit of the outcome, if any."""
    unit = context.results.unit
    return f"{short(value)} {unit}" if unit else short(value)


@figure_of(ObservedPredicted, part="calibration", place=180)
def observed_predicted(context: Context, pairs: list[tuple[Series, ObservedPredicted]]) -> Drawing:
    """Draw each model's observed against predicted numbers, with the diagonal and a smooth line."""
    panels = _panels(context, pairs, residuals.ObservedPredictedSmooth)
    caption = (f"{point_sentence(panels)} Dotted diagonal: observed = predicted. {line_sentence(panels)} Below the "
               "diagonal predictions are too high, above it too low.")
    if any(panel.fitted for panel in panels):
        caption += " Dashed: the least-squares line, whose slope is below 1 where predictions are too extreme."
    caption += NEAR_SENTENCE if any(panel.smooth for panel in panels) else ""
    return _draw_observed_or_residual(context, panels, "observed", "Observed against predicted", caption, _observed)


@figure_of(ResidualPredicted, part="calibration", place=190)
def residual_predicted(context: Context, pairs: list[tuple[Series, ResidualPredicted]]) -> Drawing:
    """Draw each model's residuals against its predictions, with the zero line and a smooth line."""
    panels = _panels(context, pairs, residuals.ResidualPredictedSmooth)
    caption = (f"Residual = observed − predicted. {point_sentence(panels)} {line_sentence(panels)} A line away from "
               "zero shows bias; a widening spread shows errors that grow with the prediction.")
    return _draw_observed_or_residual(context, panels, "residual", "Residual against predicted", caption, _residual)


def _draw_observed_or_residual(
    context: Context, panels: list[ScatterPanel], y: str, title: str, caption: str,
    say: Callable[[Context, ScatterPanel], FigureFinding],
) -> Drawing:
    """Draw observed values or residuals against predicted ones, a panel for each model, on the same axes.

    ``y`` is "observed" or "residual"; ``say`` returns in words what a panel shows. The axes of observed against
    predicted values are alike where they can be.
    """
    xs, ys = ([value for panel in panels for path in panel.paths for value in known(path[side])] for side in (0, 1))
    if y == "observed" and max(xs + ys) - min(xs + ys) < SQUARE * (max(xs) - min(xs)):
        xs = ys = xs + ys
    x_axis = number_axis(axis_name(context, "Predicted"), xs)
    y_axis = number_axis(axis_name(context, y.capitalize()), [*ys, *([0.0] if y == "residual" else [])])
    straight: Straight = "No residual" if y == "residual" else "Observed = predicted"
    finding, alt = context.finding_and_alt(title, [(panel.series, panel) for panel in panels], partial(say, context))
    return drawing(f"d{context.place}-{y}-predicted", title, (finding, caption, alt),
                   [scatter_sheet(panel, (x_axis, y_axis), straight) for panel in panels])


def _range_text(context: Context, values: list[float]) -> str:
    """Return the range of values with the unit of the outcome, as in "0.2 to 9.8 kg"."""
    return f"{short(min(values))} to {with_unit(context, max(values))}"


def _observed(context: Context, panel: ScatterPanel) -> FigureFinding:
    """Say where a model's least-squares and smooth lines lie, at length with the ranges of its points."""
    predicted, observed = (_range_text(context, known(values)) for values in panel.rows.points.path)
    text = f"{numbers.count(len(panel.rows.points.predicted))} points, predicted {predicted}, observed {observed}"
    short_text = f"predicted {predicted}"
    if panel.fitted is not None:
        slope, intercept = panel.fitted
        text += f"; the least-squares line has slope {short(slope)} and intercept {with_unit(context, intercept)}"
        short_text = f"slope {short(slope)}"
    if panel.smooth is None:
        return FigureFinding(short_text, text)
    off_diagonal = distance_from_diagonal(panel.smooth)
    return FigureFinding(off_diagonal, f"{text}; the smooth line is {off_diagonal}")


NEAR = 0.05
"""The share of the range of the predictions within which a smooth line is close to the diagonal."""

NEAR_SENTENCE = f" Close to the diagonal: within {NEAR:.0%} of the range of the predictions."


def distance_from_diagonal(smooth: CurveOf[Any, Any, Any]) -> str:
    """Return in words where a smooth line is furthest from the diagonal: close to it, or by how much above or below."""
    at, line = map(known, smooth.points.path)
    x, y = max(zip(at, line, strict=True), key=lambda point: abs(point[1] - point[0]))
    if abs(y - x) <= NEAR * (at[-1] - at[0]):
        return "close to the diagonal"
    return f"{short(abs(y - x))} {'above' if y > x else 'below'} the diagonal where {short(x)} is predicted"


def _residual(context: Context, panel: ScatterPanel) -> FigureFinding:
    """Say how far a model's smooth line is from zero and where, at length with the range of its residuals."""
    span = _range_text(context, known(panel.rows.points.path[1]))
    if panel.smooth is None:
        return FigureFinding(f"from {span}", f"residuals drawn from {span}")
    x, y = max(zip(*map(known, panel.smooth.points.path), strict=True), key=lambda point: abs(point[1]))
    return FigureFinding(
        f"mean residual up to {short(y)}, where {short(x)} is predicted",
        f"residuals drawn from {span}; the smooth line is furthest from zero where {short(x)} is predicted, at "
        f"{short(y)}")


@figure_of(Rootogram, part="calibration", place=230)
def rootogram(context: Context, pairs: list[tuple[Series, Rootogram]]) -> Drawing:
    """Draw how often each count occurs, hanging from how often it would if it were Poisson about the predictions."""
    title = "Hanging rootogram"
    caption = (
        "Bars: square root of the number of rows with each count, hanging from the square root of the number "
        "expected under a Poisson distribution. A bar that ends above zero: fewer rows than expected; below zero: "
        "more."
    )
    finding, alt = context.finding_and_alt(title, pairs, _largest_count_gap)
    sheets = [_rootogram_sheet(context, series, curve) for series, curve in pairs]
    return drawing(f"d{context.place}-rootogram", title, (finding, caption, alt), sheets)


def _rootogram_sheet(context: Context, series: Series, curve: Rootogram) -> Sheet:
    """Draw the rootogram of a model; the last tick says whether its bin holds all larger counts."""
    points, sheet, last_or_more = curve.points, Sheet(), curve.notes.last_or_more
    count, observed, expected = column(points.count), column(points.observed), column(points.expected)
    tops = [math.sqrt(value) for value in expected]
    lengths = [-math.sqrt(value) for value in observed]
    low, high = min(0.0, *map(sum, zip(tops, lengths, strict=True))), max(tops)
    room = 0.06 * (high - low)
    step = next(step for step in (1, 2, 5, 10) if count[-1] <= 10 * step)
    ticks = [(value, f"{value:.0f}") for value in count[:-1] if value % step == 0 and value <= count[-1] - step / 2]
    ticks.append((count[-1], f"{count[-1]:.0f}{'+' if last_or_more else ''}"))
    x = Axis(axis_name(context, "Count"), count[0] - 0.9, count[-1] + 0.9, tuple(ticks))
    y = Axis("Root of rows", low - room, high + room, ticks_between(low, high))
    drawn = panel(sheet, x, y, 210, title=series.label)
    for value, length, top in zip(count, lengths, tops, strict=True):
        drawn.record_values(series.label, **{"count": [value], "root observed": [-length], "root expected": [top]})
    drawn.hang([edge for value in count for edge in (value - 0.41, value + 0.41)], lengths, tops, series.ink)
    # The last bin is apart where it holds all larger counts: it is no point of the distribution.
    point_count = len(count) - 1 if last_or_more else len(count)
    drawn.line(count[:point_count], tops[:point_count], "ink", kind="thin")
    drawn.marks(count, tops, "ink", "o", size=2.5)
    drawn.rule("ink", y=0)
    expected_line = LineLabel("Expected (Poisson)", "ink", count[:point_count], tops[:point_count], kind="thin")
    sheet.key(label_lines(drawn, [], [expected_line]))
    return sheet


def _largest_count_gap(curve: Rootogram) -> FigureFinding:
    """Say at which count a rootogram differs most, at length with the observed and expected zeros."""
    points = curve.points
    rows = list(zip(known(points.count), known(points.observed), known(points.expected), strict=True))
    count, observed, expected = max(rows, key=lambda row: abs(math.sqrt(row[1]) - math.sqrt(row[2])))
    more = " or more" if curve.notes.last_or_more and count == rows[-1][0] else ""
    expected_above = or_nan(curve.notes.expected_above)
    beyond = f"; {short(expected_above)} rows are expected above {numbers.count(rows[-1][0])}, where there are none"
    return FigureFinding(
        f"{numbers.count(observed)} rows with count {numbers.count(count)}, {short(expected)} expected",
        f"{numbers.count(rows[0][1])} rows with count 0, {short(rows[0][2])} expected; observed and expected "
        f"differ most at {numbers.count(count)}{more}: {numbers.count(observed)} against {short(expected)}"
        + (beyond if expected_above >= 0.05 else ""))


RESIDUAL_NAMES = {"raw": "standardised residual", "deviance": "deviance residual", "pearson": "Pearson residual"}
"""What the residual of a figure is, by its kind."""


STANDARDISED = " Standardised: over the root mean square of all."


def _against_predictions(
    context: Context, panels: Sequence[ScatterPanel], key: str, heads: tuple[str, str], caption: str,
    drawn: Literal["residuals", "roots"] = "residuals",
) -> Drawing:
    """Draw a scatter of residuals, or of roots of their sizes, for each model.

    ``heads`` are the title and the vertical axis.
    """
    title, y_name = heads
    xs, ys = ([value for panel_of in panels for path in panel_of.paths for value in known(path[side])]
              for side in (0, 1))
    x = unit_axis("Predicted probability") if context.results.levels else (
        number_axis(axis_name(context, "Predicted"), xs))
    finding, alt = context.finding_and_alt(
        title, [(panel_of.series, panel_of) for panel_of in panels], partial(_gap_from_expected, drawn))
    sheets = [scatter_sheet(panel_of, (x, number_axis(y_name, ys, zero=True)), "Expected") for panel_of in panels]
    return drawing(f"d{context.place}-{key}", title, (finding, caption, alt), sheets)


def _gap_from_expected(drawn: str, panel_of: ScatterPanel) -> FigureFinding:
    """Say where the smooth line is furthest from what is expected, or else the range of the ``drawn`` points."""
    ys = known(panel_of.rows.points.path[1])
    span = f"from {short(min(ys))} to {short(max(ys))}"
    if panel_of.smooth is None:
        at_length = f"roots drawn up to {short(max(ys))}" if drawn == "roots" else f"residuals drawn {span}"
        return FigureFinding(span, at_length)
    points = panel_of.smooth.points
    x, y, expected = max(zip(*map(known, (*points.path, points.expected)), strict=True),
                         key=lambda point: abs(point[1] - point[2]))
    return FigureFinding(
        f"{short(y)} against {short(expected)} expected, where {short(x)} is predicted",
        f"{'' if drawn == 'roots' else f'residuals drawn {span}; '}the smooth line is furthest from what is "
        f"expected where {short(x)} is predicted, {short(y)} against {short(expected)}")


def _kind_against_predictions(context: Context, pairs: list[tuple[Series, KindPredicted]], kind: str) -> Drawing:
    """Draw the residuals of a ``kind``, "deviance" or "pearson", of each model against its predictions."""
    panels = _panels(context, pairs, residuals.KindPredictedSmooth, f"{kind}_residual_predicted_smooth")
    name = RESIDUAL_NAMES[kind].capitalize().replace("pearson", "Pearson")
    branches = " Events lie above zero, the others below." if context.results.levels else ""
    caption = (f"{point_sentence(panels)}{branches} {line_sentence(panels)} Dotted: its mean if outcomes were drawn as "
               f"predicted{'' if kind == 'pearson' else ', which need not be zero'}. A line away from it shows bias.")
    return _against_predictions(context, panels, f"{kind}-residual-predicted", (f"{name} against predicted", name),
                                caption)


@figure_of(KindPredicted, part="appendix", place=192, name="deviance_residual_predicted")
def deviance_residuals(context: Context, pairs: list[tuple[Series, KindPredicted]]) -> Drawing:
    """Draw each model's deviance residuals against its predictions."""
    return _kind_against_predictions(context, pairs, "deviance")


@figure_of(KindPredicted, part="appendix", place=194, name="pearson_residual_predicted")
def pearson_residuals(context: Context, pairs: list[tuple[Series, KindPredicted]]) -> Drawing:
    """Draw each model's Pearson residuals against its predictions."""
    return _kind_against_predictions(context, pairs, "pearson")


@figure_of(ScaleLocation, part="appendix", place=196)
def scale_location(context: Context, pairs: list[tuple[Series, ScaleLocation]]) -> Drawing:
    """Draw the root of the size of each model's residuals against its predictions."""
    panels = _panels(context, pairs, residuals.ScaleLocationSmooth)
    kind = pairs[0][1].notes.kind
    right = "residuals were normal with one spread" if kind == "raw" else "outcomes were drawn as predicted"
    caption = (f"The root of the absolute {RESIDUAL_NAMES[kind]}. {point_sentence(panels)} {line_sentence(panels)} "
               f"Dotted: its mean if {right}. Above it residuals are larger, below it "
               f"smaller.{STANDARDISED if kind == 'raw' else ''}")
    heads = "Scale-location plot", f"Root of the absolute {RESIDUAL_NAMES[kind]}"
    return _against_predictions(context, panels, "scale-location", heads, caption, "roots")


@figure_of(HalfNormal, part="appendix", place=198)
def half_normal(context: Context, pairs: list[tuple[Series, HalfNormal]]) -> Drawing:
    """Draw each model's absolute residuals, ascending, against half-normal quantiles."""
    kind, level = pairs[0][1].notes.kind, pairs[0][1].notes.level
    xs = [value for _, curve in pairs for value in known(curve.points.half_normal)]
    ys = [value for _, curve in pairs for values in (curve.points.absolute_residual, curve.points.upper or ())
          for value in known([*values])]
    x = number_axis("Half-normal quantile", xs, zero=True)
    y = number_axis(f"Absolute {RESIDUAL_NAMES[kind]}", ys, zero=True)
    sheets = []
    for series, curve in pairs:
        sheet, points = Sheet(), curve.points
        at, expected = column(points.half_normal), column(points.expected)
        drawn = panel(sheet, x, y, 220, title=series.label)
        if points.lower is not None and points.upper is not None:
            drawn.band(at, column(points.lower), column(points.upper), "muted")
        drawn.line(at, expected, "ink", kind="thin", dash=DOTS, name=f"{series.label}, expected")
        drawn.dots(at, column(points.absolute_residual), series.ink, name=f"{series.label}, rows")
        sheet.key(label_lines(drawn, [], [LineLabel("Expected", "ink", at, expected, kind="thin", dash=DOTS)]))
        sheets.append(sheet)
    right = "residuals were normal" if kind == "raw" else "outcomes were drawn as predicted"
    band = (" Rows are clustered, so there are no limits." if level is None else
            f" Band: where each would lie in {wording.level(level)} of samples, each place for itself.")
    caption = (f"The absolute {RESIDUAL_NAMES[kind]}, ascending, against quantiles of the half-normal distribution. "
               f"Dotted: what is expected if {right}.{band} Above it residuals are larger than the model says."
               f"{STANDARDISED if kind == 'raw' else ''}")
    title = "Half-normal plot"
    finding, alt = context.finding_and_alt(title, pairs, _beyond_limits)
    return drawing(f"d{context.place}-half-normal", title, (finding, caption, alt), sheets)


def _beyond_limits(curve: HalfNormal) -> FigureFinding:
    """Say how many points lie beyond the limits, where there are any, and how large the largest residual is."""
    points, sizes = curve.points, known(curve.points.absolute_residual)
    text = f"the largest residual is {short(sizes[-1])}, where {short(known(points.expected)[-1])} is expected"
    if points.lower is None or points.upper is None:
        return FigureFinding(f"largest residual {short(sizes[-1])}", text)
    above = sum(y > high for y, high in zip(sizes, known(points.upper), strict=True))
    below = sum(y < low for y, low in zip(sizes, known(points.lower), strict=True))
    return FigureFinding(
        f"{numbers.count(above + below)} of {numbers.count(len(sizes))} beyond the limits",
        f"of {numbers.count(len(sizes))} points {numbers.count(above)} lie above the limits and "
        f"{numbers.count(below)} below; {text}")


@figure_of(PredictedObserved, part="appendix", place=182)
def predicted_observed(context: Context, pairs: list[tuple[Series, PredictedObserved]]) -> Drawing:
    """Draw each model's predicted numbers against the observed ones."""
    panels = _panels(context, pairs, residuals.PredictedObservedSmooth)
    title = "Predicted against observed"
    caption = (f"{point_sentence(panels, 'observation')} Dotted diagonal: predicted = observed. "
               f"{line_sentence(panels)} Dashed: the least-squares line of the predictions on the truth. Its slope is "
               "below 1 for a calibrated model too; calibration is read off observed against predicted.")
    xs, ys = ([value for panel_of in panels for path in panel_of.paths for value in known(path[side])]
              for side in (0, 1))
    axes = number_axis(axis_name(context, "Observed"), xs + ys), number_axis(axis_name(context, "Predicted"), xs + ys)

    def say(panel_of: ScatterPanel) -> FigureFinding:
        text = f"{numbers.count(len(panel_of.rows.points.observed))} points"
        if panel_of.fitted is None:
            return FigureFinding(text, text)
        slope, intercept = panel_of.fitted
        return FigureFinding(f"slope {short(slope)}", f"{text}; the least-squares line of the predictions has slope "
                    f"{short(slope)} and intercept {with_unit(context, intercept)}")

    finding, alt = context.finding_and_alt(title, [(panel_of.series, panel_of) for panel_of in panels], say)
    return drawing(f"d{context.place}-predicted-observed", title, (finding, caption, alt),
                   [scatter_sheet(panel_of, axes, "Observed = predicted") for panel_of in panels])
