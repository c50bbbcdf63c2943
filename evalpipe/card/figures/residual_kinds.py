"""Figures of deviance and Pearson residuals, of the size of residuals, and of predictions against the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.context import Context, column, known
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.numbers import named, short, with_unit
from evalpipe.card.figures.panel import DOTS, panel
from evalpipe.card.figures.scales import number_axis, unit_axis
from evalpipe.card.figures.scatter import ScatterPanel, cloud, smooth_line, which
from evalpipe.card.figures.sheet import KeyEntry, Sheet, drawing
from evalpipe.results.curves import residual_kinds
from evalpipe.results.curves.residual_kinds import HalfNormal, KindPredicted, PredictedObserved, ScaleLocation
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.card.figures.canvas import Drawing, Series
    from evalpipe.card.figures.scales import Axis
    from evalpipe.results.curves import Column

MEANT = {"raw": "standardised residual", "deviance": "deviance residual", "pearson": "Pearson residual"}
"""What the residual of a figure is, by its kind."""


STANDARDISED = " Standardised: over the root mean square of all."


def _against(
    context: Context, panels: Sequence[ScatterPanel], key: str, heads: tuple[str, str], caption: str,
    say: Callable[[ScatterPanel], str],
) -> Drawing:
    """Draw a scatter for each model; ``heads`` are the title and the name of the vertical axis."""
    title, up = heads
    of_panels = [(panel_of.series, panel_of) for panel_of in panels]
    ys = [value for panel_of in panels for _, values in panel_of.paths for value in known(values)]
    axes = _predictions(context, panels), number_axis(up, ys, zero=True)
    texts = context.finds(of_panels, say), caption, context.told(title, of_panels, say)
    return drawing(f"d{context.place}-{key}", title, texts, [cloud(panel_of, axes, "Expected") for panel_of in panels])


def _predictions(context: Context, panels: Sequence[ScatterPanel]) -> Axis:
    """Return the axis of predictions: of probabilities from 0 to 1."""
    if context.results.levels:
        return unit_axis("Predicted probability")
    return number_axis(named(context, "Predicted"), (
        value for panel_of in panels for values, _ in panel_of.paths for value in known(values)))


def _of_kind(context: Context, pairs: list[tuple[Series, KindPredicted]], kind: str) -> Drawing:
    """Draw each model's residuals of a kind against its predictions."""
    lines = {series.name: line for series, line in context.curves(
        residual_kinds.KindPredictedSmooth, f"{kind}_residual_predicted_smooth")}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    name = MEANT[kind].capitalize().replace("pearson", "Pearson")
    branches = " Events lie above zero, the others below." if context.results.levels else ""
    caption = (f"{which(panels)}{branches} {smooth_line(panels)} Dotted: its mean if outcomes were drawn as "
               f"predicted{'' if kind == 'pearson' else ', which need not be zero'}. A line away from it shows bias.")
    return _against(context, panels, f"{kind}-residual-predicted", (f"{name} against predicted", name), caption,
                    _furthest)


@figure_of(KindPredicted, place=192, name="deviance_residual_predicted")
def deviance_residuals(context: Context, pairs: list[tuple[Series, KindPredicted]]) -> Drawing:
    """Draw each model's deviance residuals against its predictions."""
    return _of_kind(context, pairs, "deviance")


@figure_of(KindPredicted, place=194, name="pearson_residual_predicted")
def pearson_residuals(context: Context, pairs: list[tuple[Series, KindPredicted]]) -> Drawing:
    """Draw each model's Pearson residuals against its predictions."""
    return _of_kind(context, pairs, "pearson")


def _furthest(panel_of: ScatterPanel) -> str:
    ys = known(panel_of.rows.points.path[1])
    text = f"residuals drawn from {short(min(ys))} to {short(max(ys))}"
    if panel_of.smooth is None:
        return text
    points = panel_of.smooth.points
    return f"{text}; {_apart(points.predicted, points.residual, points.expected)}"


def _apart(predicted: Column, line: Column, expected: Column) -> str:
    """Say where a smooth line is furthest from what is expected."""
    x, y, of_model = max(zip(known(predicted), known(line), known(expected), strict=True),
                         key=lambda point: abs(point[1] - point[2]))
    return (f"the smooth line is furthest from what is expected where {short(x)} is predicted, {short(y)} against "
            f"{short(of_model)}")


@figure_of(ScaleLocation, place=196)
def scale_location(context: Context, pairs: list[tuple[Series, ScaleLocation]]) -> Drawing:
    """Draw the root of the size of each model's residuals against its predictions."""
    lines = {series.name: line for series, line in context.curves(residual_kinds.ScaleLocationSmooth)}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    kind = pairs[0][1].notes.kind
    right = "residuals were normal with one spread" if kind == "raw" else "outcomes were drawn as predicted"
    caption = (f"The root of the absolute {MEANT[kind]}. {which(panels)} {smooth_line(panels)} Dotted: its mean if "
               f"{right}. Above it residuals are larger, below it smaller.{STANDARDISED if kind == 'raw' else ''}")
    return _against(context, panels, "scale-location", ("Scale-location plot", f"Root of the absolute {MEANT[kind]}"),
                    caption, _scaled)


def _scaled(panel_of: ScatterPanel) -> str:
    if panel_of.smooth is None:
        return f"roots drawn up to {short(max(known(panel_of.rows.points.path[1])))}"
    points = panel_of.smooth.points
    return _apart(points.predicted, points.root_size, points.expected)


@figure_of(HalfNormal, place=198)
def half_normal(context: Context, pairs: list[tuple[Series, HalfNormal]]) -> Drawing:
    """Draw each model's absolute residuals, ascending, against half-normal quantiles."""
    kind, level = pairs[0][1].notes.kind, pairs[0][1].notes.level
    right = "residuals were normal" if kind == "raw" else "outcomes were drawn as predicted"
    band = (" Rows are clustered, so there are no limits." if level is None else
            f" Band: where each would lie in {wording.level(level)} of samples, each place for itself.")
    caption = (f"The absolute {MEANT[kind]}, ascending, against quantiles of the half-normal distribution. Dotted: "
               f"what is expected if {right}.{band} Above it residuals are larger than the model says."
               f"{STANDARDISED if kind == 'raw' else ''}")
    title, key = "Half-normal plot", f"d{context.place}-half-normal"
    xs = [value for _, curve in pairs for value in known(curve.points.half_normal)]
    ys = [value for _, curve in pairs for values in (curve.points.absolute_residual, curve.points.upper or ())
          for value in known([*values])]
    axes = (number_axis("Half-normal quantile", xs, zero=True),
            number_axis(f"Absolute {MEANT[kind]}", ys, zero=True))
    texts = context.finds(pairs, _held), caption, context.told(title, pairs, _held)
    return drawing(key, title, texts, [_ranked(series, curve, axes) for series, curve in pairs])


def _ranked(series: Series, curve: HalfNormal, axes: tuple[Axis, Axis]) -> Sheet:
    sheet, points = Sheet(), curve.points
    at, expected = column(points.half_normal), column(points.expected)
    drawn = panel(sheet, *axes, 220, title=series.label)
    entries = [KeyEntry("Residual", series.ink, "mark", "o"), KeyEntry("Expected", "ink", "thin", dash=DOTS)]
    if points.lower is not None and points.upper is not None:
        drawn.band(at, column(points.lower), column(points.upper), "muted")
        entries.append(KeyEntry("Its limits", "muted", "band"))
    drawn.line(at, expected, "ink", kind="thin", dash=DOTS, name=f"{series.label}, expected")
    drawn.dots(at, column(points.absolute_residual), series.ink, name=f"{series.label}, rows")
    sheet.key(entries)
    return sheet


def _held(curve: HalfNormal) -> str:
    """Say how many of the points lie beyond the limits, and how large the largest residual is."""
    points = curve.points
    sizes = known(points.absolute_residual)
    text = f"the largest residual is {short(sizes[-1])}, where {short(known(points.expected)[-1])} is expected"
    if points.lower is None or points.upper is None:
        return text
    limits = list(zip(sizes, known(points.lower), known(points.upper), strict=True))
    above, below = sum(y > high for y, _, high in limits), sum(y < low for y, low, _ in limits)
    return (f"of {numbers.count(len(sizes))} points {numbers.count(above)} lie above the limits and "
            f"{numbers.count(below)} below; {text}")


@figure_of(PredictedObserved, place=182)
def predicted_observed(context: Context, pairs: list[tuple[Series, PredictedObserved]]) -> Drawing:
    """Draw each model's predicted numbers against the observed ones."""
    lines = {series.name: line for series, line in context.curves(residual_kinds.PredictedObservedSmooth)}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    title = "Predicted against observed"
    caption = (f"{which(panels, 'observation')} Dotted diagonal: predicted = observed. {smooth_line(panels)} Dashed: "
               "the least-squares line of the predictions on the truth. Its slope is below 1 for a calibrated model "
               "too; calibration is read off observed against predicted.")
    xs, ys = ([value for panel_of in panels for path in panel_of.paths for value in known(path[side])]
              for side in (0, 1))
    axes = number_axis(named(context, "Observed"), xs + ys), number_axis(named(context, "Predicted"), xs + ys)

    def say(panel_of: ScatterPanel) -> str:
        text = f"{numbers.count(len(panel_of.rows.points.observed))} points"
        if panel_of.fitted is None:
            return text
        slope, intercept = panel_of.fitted
        return (f"{text}; the least-squares line of the predictions has slope {short(slope)} and intercept "
                f"{with_unit(context, intercept)}")

    of_panels = [(panel_of.series, panel_of) for panel_of in panels]
    return drawing(f"d{context.place}-predicted-observed", title, (
        context.finds(of_panels, say), caption, context.told(title, of_panels, say)),
        [cloud(panel_of, axes, "Observed = predicted") for panel_of in panels])
