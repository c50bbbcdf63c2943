"""Figures of models of numbers: observed and residual against predicted, and the rootogram of counts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card.figures.context import Context, column, known, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.panel import panel
from evalpipe.card.figures.scales import Axis, number_axis, ticks_between
from evalpipe.card.figures.scatter import ScatterPanel, cloud, smooth_line, which
from evalpipe.card.figures.sheet import KeyEntry, Sheet, drawing
from evalpipe.results.curves import residuals
from evalpipe.results.curves.residuals import ObservedPredicted, ResidualPredicted, Rootogram
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.card.figures.canvas import Drawing, Series

SQUARE = 3.0
"""How many times as wide as the predictions axes that are alike may be; wider, they would leave these a sliver."""


def short(value: float) -> str:
    """Write a number in a sentence, whole ones without decimals."""
    return numbers.fixed(value, 0) if float(value).is_integer() else numbers.number(value)


def named(context: Context, name: str) -> str:
    """Name what an axis shows, with the unit of the outcome."""
    unit = context.results.unit
    return f"{name} ({unit})" if unit else name


def with_unit(context: Context, value: float) -> str:
    """Write a number with the unit of the outcome."""
    unit = context.results.unit
    return f"{short(value)} {unit}" if unit else short(value)


@figure_of(ObservedPredicted, place=180)
def observed_predicted(context: Context, pairs: list[tuple[Series, ObservedPredicted]]) -> Drawing:
    """Draw each model's observed against predicted numbers, with the diagonal and a smooth line."""
    lines = {series.name: line for series, line in context.curves(residuals.ObservedPredictedSmooth)}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    caption = (
        f"{which(panels)} Dotted diagonal: observed = predicted. {smooth_line(panels)} Below the diagonal predictions "
        "are too high, above it too low."
    )
    if any(panel.fitted for panel in panels):
        caption += " Dashed: the least-squares line, whose slope is below 1 where predictions are too extreme."
    return _scatter(context, panels, "observed", "Observed against predicted", caption, _observed)


@figure_of(ResidualPredicted, place=190)
def residual_predicted(context: Context, pairs: list[tuple[Series, ResidualPredicted]]) -> Drawing:
    """Draw each model's residuals against its predictions, with the zero line and a smooth line."""
    lines = {series.name: line for series, line in context.curves(residuals.ResidualPredictedSmooth)}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    caption = (
        f"Residual = observed − predicted. {which(panels)} {smooth_line(panels)} A line away from zero shows bias; a "
        "widening spread shows errors that grow with the prediction."
    )
    return _scatter(context, panels, "residual", "Residual against predicted", caption, _residual)


def _scatter(
    context: Context, panels: list[ScatterPanel], y: str, title: str, caption: str,
    say: Callable[[Context, ScatterPanel], str],
) -> Drawing:
    of_panels = [(panel.series, panel) for panel in panels]
    alt = context.told(title, of_panels, lambda panel: say(context, panel))
    axes = _axes(context, panels, y)
    sheets = [cloud(panel, axes, "No residual" if y == "residual" else "Observed = predicted") for panel in panels]
    texts = context.finds(of_panels, lambda panel: say(context, panel)), caption, alt
    return drawing(f"d{context.place}-{y}-predicted", title, texts, sheets)


def _axes(context: Context, panels: list[ScatterPanel], y: str) -> tuple[Axis, Axis]:
    """Return the axes that all panels share; of observed against predicted numbers both are alike where they can be."""
    xs = [value for panel in panels for values, _ in panel.paths for value in known(values)]
    ys = [value for panel in panels for _, values in panel.paths for value in known(values)]
    names = named(context, "Predicted"), named(context, y.capitalize())
    if y == "observed" and max(xs + ys) - min(xs + ys) < SQUARE * (max(xs) - min(xs)):
        return number_axis(names[0], xs + ys), number_axis(names[1], xs + ys)
    return number_axis(names[0], xs), number_axis(names[1], [*ys, *([0.0] if y == "residual" else [])])


def _from_to(context: Context, values: list[float]) -> str:
    return f"{short(min(values))} to {with_unit(context, max(values))}"


def _observed(context: Context, panel: ScatterPanel) -> str:
    predicted, observed = map(known, panel.rows.points.path)
    text = (
        f"{numbers.count(len(panel.rows.points.predicted))} points, predicted {_from_to(context, predicted)}, observed "
        f"{_from_to(context, observed)}"
    )
    if panel.fitted is not None:
        slope, intercept = panel.fitted
        text += f"; the least-squares line has slope {short(slope)} and intercept {with_unit(context, intercept)}"
    if panel.smooth is None:
        return text
    at, line = map(known, panel.smooth.points.path)
    return (
        f"{text}; where {short(at[0])} is predicted the smooth line is at {short(line[0])}, where {short(at[-1])} is "
        f"predicted at {short(line[-1])}"
    )


def _residual(context: Context, panel: ScatterPanel) -> str:
    text = f"residuals drawn from {_from_to(context, known(panel.rows.points.path[1]))}"
    if panel.smooth is None:
        return text
    line = zip(*map(known, panel.smooth.points.path), strict=True)
    x, y = max(line, key=lambda point: abs(point[1]))
    return f"{text}; the smooth line is furthest from zero where {short(x)} is predicted, at {short(y)}"


@figure_of(Rootogram, place=230)
def rootogram(context: Context, pairs: list[tuple[Series, Rootogram]]) -> Drawing:
    """Draw how often each count occurs, hanging from how often it would if it were Poisson about the predictions."""
    key, title = f"d{context.place}-rootogram", "Hanging rootogram"
    caption = (
        "Bars: square root of the number of rows with each count, hanging from the square root of the number "
        "expected under a Poisson distribution. A bar that ends above zero: fewer rows than expected; below zero: "
        "more."
    )
    alt = context.told(title, pairs, _rooted)
    sheets = [_hang(context, series, curve) for series, curve in pairs]
    return drawing(key, title, (context.finds(pairs, _rooted), caption, alt), sheets)


def _hang(context: Context, series: Series, curve: Rootogram) -> Sheet:
    points, sheet = curve.points, Sheet()
    count, observed, expected = column(points.count), column(points.observed), column(points.expected)
    tops = [math.sqrt(value) for value in expected]
    lengths = [-math.sqrt(value) for value in observed]
    low, high = min(0.0, *map(sum, zip(tops, lengths, strict=True))), max(tops)
    room = 0.06 * (high - low)
    x = Axis(named(context, "Count"), count[0] - 0.9, count[-1] + 0.9, _counts(curve, count))
    drawn = panel(sheet, x, Axis("Root of rows", low - room, high + room, ticks_between(low, high)), 210,
                  title=series.label)
    for at, length, top in zip(count, lengths, tops, strict=True):
        drawn.record_values(series.label, **{"count": [at], "root observed": [-length], "root expected": [top]})
    edges = [edge for at in count for edge in (at - 0.41, at + 0.41)]
    drawn.hang(edges, lengths, tops, series.ink)
    # The last bin is apart where it holds all larger counts: it is no point of the distribution.
    single = len(count) - 1 if curve.notes.last_or_more else len(count)
    drawn.line(count[:single], tops[:single], "ink", kind="thin")
    drawn.marks(count, tops, "ink", "o", size=2.5)
    drawn.rule("ink", y=0)
    sheet.key([KeyEntry("Observed, hanging from expected", series.ink, "light"),
               KeyEntry("Expected (Poisson)", "ink", "thin", "o")])
    return sheet


def _counts(curve: Rootogram, count: list[float]) -> tuple[tuple[float, str], ...]:
    """Return the ticks of the counts; the last says whether it holds all larger ones."""
    step = next(step for step in (1, 2, 5, 10) if count[-1] <= 10 * step)
    ticks = [at for at in count[:-1] if at % step == 0 and at <= count[-1] - step / 2]
    more = "+" if curve.notes.last_or_more else ""
    return (*((at, f"{at:.0f}") for at in ticks), (count[-1], f"{count[-1]:.0f}{more}"))


def _rooted(curve: Rootogram) -> str:
    points = curve.points
    rows = list(zip(known(points.count), known(points.observed), known(points.expected), strict=True))
    count, observed, expected = max(rows, key=lambda row: abs(math.sqrt(row[1]) - math.sqrt(row[2])))
    more = " or more" if curve.notes.last_or_more and count == rows[-1][0] else ""
    rest = or_nan(curve.notes.expected_above)
    beyond = f"; {short(rest)} rows are expected above {numbers.count(rows[-1][0])}, where there are none"
    return (
        f"{numbers.count(rows[0][1])} rows with count 0, {short(rows[0][2])} expected; observed and expected "
        f"differ most at {numbers.count(count)}{more}: {numbers.count(observed)} against {short(expected)}"
        + (beyond if rest >= 0.05 else "")
    )
