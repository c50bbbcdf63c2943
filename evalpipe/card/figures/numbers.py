"""Figures of models of numbers: observed and residual against predicted, and the rootogram of counts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures import canvas
from evalpipe.card.figures.canvas import DOTTED, INK, Drawing, KeyEntry, Series, clip
from evalpipe.card.figures.context import Context, column, known, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.results.curves import residuals
from evalpipe.results.curves.residuals import ObservedPredicted, ResidualPredicted, Rootogram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from matplotlib.axes import Axes

    from evalpipe.results.curves import Column

LEFT = 0.8
"""Inches for the y axis; numbers need more room than proportions."""

NAME = 0.12
"""Inches for the name of a model above its panel."""

SMOOTH, EXPECTED = "#c8500a", "#c8500a"
POINT = "#0b5fa5"
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class ScatterPanel:
    """What one panel of a scatter holds: the rows of a model and the smooth line through them."""

    series: Series
    rows: ObservedPredicted | ResidualPredicted
    smooth: residuals.ObservedPredictedSmooth | residuals.ResidualPredictedSmooth | None

    @property
    def paths(self) -> Iterator[tuple[Column, Column]]:
        """What is drawn, across and up: the rows, and the line where there is one."""
        yield self.rows.points.path
        if self.smooth is not None:
            yield self.smooth.points.path


def tick(value: float, largest: float) -> str:
    """Write a number beside an axis whose ``largest`` number is very large or small as a multiple of a power of ten."""
    power = 0 if not largest or 1e-2 <= largest < 1e6 else math.floor(math.log10(largest))
    power -= power % 3 if power > 0 else 0
    text = f"{value / 10.0**power:,.6g}".replace("-", numbers.MINUS)
    return f"{text}×10{str(power).translate(RAISED)}" if power and value else text


def short(value: float) -> str:
    """Write a number in a sentence, whole ones without decimals."""
    return numbers.fixed(value, 0) if float(value).is_integer() else numbers.number(value)


def named(context: Context, name: str) -> str:
    """Name what an axis shows, with the unit of the outcome."""
    unit = context.results.unit
    return f"{name} ({clip(unit, 20)})" if unit else name


def with_unit(context: Context, value: float) -> str:
    """Write a number with the unit of the outcome."""
    unit = context.results.unit
    return f"{short(value)} {unit}" if unit else short(value)


def plain_axes(axes: Axes, most: int = 6) -> None:
    """Give both axes of a panel round ticks in few letters, across at ``most`` so many steps."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    for axis, steps in ((axes.xaxis, most), (axes.yaxis, 5)):
        axis.set_major_locator(MaxNLocator(steps, steps=[1, 2, 2.5, 5, 10], min_n_ticks=2))
        # The limits are asked for when the figure is drawn, after all panels have theirs.
        ends = axis.get_view_interval
        axis.set_major_formatter(FuncFormatter(lambda value, _, ends=ends: tick(value, max(map(abs, ends())))))


def heights(panels: int) -> list[float]:
    """Return the heights of stacked panels: one as high as other figures, more of them less high each."""
    return [2.9] if panels == 1 else [max(3.6 / panels, 1.3)] * panels


def name_above(axes: Axes, series: Series, panels: int) -> None:
    """Write the model's name above its panel, where there are several, in room taken from the panel."""
    if panels > 1:
        box = axes.get_position()
        room = NAME * box.height / heights(panels)[0]
        axes.set_position((box.x0, box.y0, box.width, box.height - room))
        axes.set_title(clip(series.label, 52), fontsize=8.5, loc="left", x=0.0, y=1.0, pad=3)


@figure_of(ObservedPredicted, place=180)
def observed_predicted(context: Context, pairs: list[tuple[Series, ObservedPredicted]]) -> Drawing:
    """Draw each model's observed against predicted numbers, with the diagonal and a smooth line."""
    lines = {series.name: line for series, line in context.curves(residuals.ObservedPredictedSmooth)}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    caption = (
        f"{_which(panels)} On the dotted diagonal they agree. {_line(panels)} Below the diagonal the prediction is too "
        "high, above it too low."
    )
    return _scatter(context, panels, "observed", "Observed against predicted", caption, _observed)


@figure_of(ResidualPredicted, place=190)
def residual_predicted(context: Context, pairs: list[tuple[Series, ResidualPredicted]]) -> Drawing:
    """Draw each model's residuals against its predictions, with the zero line and a smooth line."""
    lines = {series.name: line for series, line in context.curves(residuals.ResidualPredictedSmooth)}
    panels = [ScatterPanel(series, rows, lines.get(series.name)) for series, rows in pairs]
    caption = (
        f"Residual = observed − predicted. {_which(panels)} {_line(panels)} A line away from zero shows bias; a spread "
        "that widens, errors that grow with the prediction."
    )
    return _scatter(context, panels, "residual", "Residual against predicted", caption, _residual)


def _which(panels: list[ScatterPanel]) -> str:
    if any(panel.rows.notes.points_of is not None for panel in panels):
        return "Each point is a row; of many rows, some are drawn, spread evenly by prediction."
    return "Each point is a row."


def _line(panels: list[ScatterPanel]) -> str:
    smoothed = [panel.smooth.notes.smoothed for panel in panels if panel.smooth is not None]
    spline, means = "a smoothing spline through all rows", "the mean at each of the few predictions there are"
    return f"The line is {means if not any(smoothed) else spline if all(smoothed) else f'{spline}, or {means}'}."


def _scatter(
    context: Context, panels: list[ScatterPanel], y: str, title: str, caption: str,
    say: Callable[[Context, ScatterPanel], str],
) -> Drawing:
    key, many = f"d{context.place}-{y}-predicted", len(panels)
    alt = context.told(title, [(panel.series, panel) for panel in panels], lambda panel: say(context, panel))
    xs = _range([x for panel in panels for x, _ in panel.paths])
    ys = _range([y for panel in panels for _, y in panel.paths], [0.0] if y == "residual" else [])
    if y == "observed":
        both = (min(xs[0], ys[0]), max(xs[1], ys[1]))
        if 3 * (xs[1] - xs[0]) > both[1] - both[0]:  # else equal axes would leave the predictions a sliver
            xs = ys = both
    with canvas.style(key):
        figure, drawn = canvas.paper(3, heights(many), LEFT)
        for axes, panel in zip(drawn, panels, strict=True):
            reference = [xs[0], xs[1]] if y == "observed" else [0, 0]
            _cloud(axes, panel)
            axes.plot(list(xs), reference, color=INK, linestyle=DOTTED, linewidth=1)
            axes.set(xlim=xs, ylim=ys, ylabel=named(context, y.capitalize()))
            plain_axes(axes)
            name_above(axes, panel.series, many)
        canvas.label_stack(drawn, named(context, "Predicted"))
        straight = KeyEntry("Observed = predicted" if y == "observed" else "No residual", INK, DOTTED, width=1)
        canvas.add_key(figure, [KeyEntry("Row", POINT, "none", "o"), KeyEntry("Smooth line", SMOOTH), straight], LEFT)
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def _cloud(axes: Axes, panel: ScatterPanel) -> None:
    x, y = map(column, panel.rows.points.path)
    faint = 0.55 if len(x) > 60 else 0.8
    axes.plot(x, y, linestyle="none", marker="o", markersize=2.6, color=POINT, alpha=faint, markeredgewidth=0)
    if panel.smooth is not None:
        x, y = map(column, panel.smooth.points.path)
        axes.plot(x, y, color=SMOOTH, marker="o" if len(x) < 5 else "", markersize=4)


def _range(columns: list[Column], included: Sequence[float] = ()) -> tuple[float, float]:
    """Return the limits of an axis that all panels share, with room at both ends; ``included`` values are in it."""
    values = [*included, *(value for values in columns for value in known(values))]
    low, high = min(values), max(values)
    room = 0.04 * (high - low) or abs(high) / 2 or 0.5  # where all values are one, or all are 0
    return low - room, high + room


def _from_to(context: Context, values: list[float]) -> str:
    return f"{short(min(values))} to {with_unit(context, max(values))}"


def _observed(context: Context, panel: ScatterPanel) -> str:
    predicted, observed = map(known, panel.rows.points.path)
    text = (
        f"{numbers.count(len(panel.rows.points.predicted))} points, predicted {_from_to(context, predicted)}, observed "
        f"{_from_to(context, observed)}"
    )
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
    key, title, many = f"d{context.place}-rootogram", "Hanging rootogram", len(pairs)
    caption = (
        "Bars, as long as the root of the rows with each count, hang from the root of the rows expected if each count "
        "were Poisson with its prediction as mean. A bar that ends above zero: fewer rows than expected; below: more."
    )
    alt = context.told(title, pairs, _rooted)
    with canvas.style(key, **{"axes.grid.axis": "y"}):
        figure, drawn = canvas.paper(2, heights(many), LEFT)
        for axes, (series, curve) in zip(drawn, pairs, strict=True):
            _hang(axes, curve)
            name_above(axes, series, many)
        canvas.label_stack(drawn, clip(named(context, "Count"), 46))
        bars = KeyEntry("Observed, hanging from what is expected", "#a9bfd3", width=7)
        canvas.add_key(figure, [bars, KeyEntry("Expected (Poisson)", EXPECTED, marker="o")], LEFT)
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def _hang(axes: Axes, curve: Rootogram) -> None:
    points = curve.points
    count, observed, expected = column(points.count), column(points.observed), column(points.expected)
    tops = [math.sqrt(value) for value in expected]
    lengths = [-math.sqrt(value) for value in observed]
    axes.bar(count, lengths, width=0.82, bottom=tops, color="#a9bfd3", edgecolor=POINT, linewidth=0.5)
    # The last bin is apart where it holds all larger counts: it is no point of the distribution.
    single = len(count) - 1 if curve.notes.last_or_more else len(count)
    for part in (slice(None, single), slice(single, None)):
        axes.plot(count[part], tops[part], color=EXPECTED, marker="o", markersize=2.8, linewidth=1.2)
    axes.axhline(0, color=INK, linewidth=0.8)
    low, high = min(0.0, *map(sum, zip(tops, lengths, strict=True))), max(tops)
    room = 0.06 * (high - low)
    axes.set(xlim=(-0.9, count[-1] + 0.9), ylim=(low - room, high + room), ylabel="Root of rows")
    plain_axes(axes)
    step = next(step for step in (1, 2, 5, 10) if count[-1] <= 10 * step)
    ticks = [at for at in count[:-1] if at % step == 0 and at <= count[-1] - step / 2] + count[-1:]
    more = "+" if curve.notes.last_or_more else ""
    axes.set_xticks(ticks, [*(f"{at:.0f}" for at in ticks[:-1]), f"{count[-1]:.0f}{more}"])


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
