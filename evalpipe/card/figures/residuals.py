"""Figures of residuals: their histogram, and the distribution and box plots of their sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import constants, numbers
from evalpipe.card.figures import canvas
from evalpipe.card.figures.canvas import INK, TICKS, Drawing, KeyEntry, Series, clip
from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.numbers import LEFT, POINT, heights, name_above, named, plain_axes, short, with_unit
from evalpipe.results.curves import residuals
from evalpipe.results.curves.residuals import ResidualBox, ResidualEcdf, ResidualHistogram, ResidualQuantiles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILL, RMSE = "#c9d9e8", "#b3261e"
ROW, NAMES = 0.52, 1.62
"""Inches: the height of a box with its room, and the room for the models' names."""


@figure_of(ResidualHistogram, place=200)
def histogram(context: Context, pairs: list[tuple[Series, ResidualHistogram]]) -> Drawing:
    """Draw each model's residuals in bins of equal width."""
    key, title, many = f"d{context.place}-residual-histogram", "Histogram of residuals", len(pairs)
    caption = (
        "Share of the rows by residual = observed − predicted, in bins of equal width. At the line they agree; to the "
        "right of it the prediction is too low."
    )
    alt = context.told(title, pairs, lambda curve: _fullest(context, curve))
    low = min(value for _, curve in pairs for value in column(curve.points.low))
    high = max(value for _, curve in pairs for value in column(curve.points.high))
    room = 0.03 * (high - low)
    with canvas.style(key):
        figure, drawn = canvas.paper(0, heights(many), LEFT)
        for axes, (series, curve) in zip(drawn, pairs, strict=True):
            _bars(axes, curve)
            axes.set(xlim=(min(low, 0) - room, max(high, 0) + room))
            plain_axes(axes)
            name_above(axes, series, many)
        canvas.label_stack(drawn, named(context, "Residual"))
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def _bars(axes: Axes, curve: ResidualHistogram) -> None:
    points = curve.points
    edges, weights = [*column(points.low), column(points.high)[-1]], column(points.weight)
    shares = [100 * weight / sum(weights) for weight in weights]
    axes.stairs(shares, edges, fill=True, facecolor=FILL, edgecolor=POINT, linewidth=0.7)
    axes.axvline(0, color=INK, linewidth=0.9)
    axes.set(ylim=(0, max(shares) * 1.12), ylabel="Per cent of rows")


def _fullest(context: Context, curve: ResidualHistogram) -> str:
    low, high, weights = (column(values) for values in (curve.points.low, curve.points.high, curve.points.weight))
    place = weights.index(max(weights))
    share = numbers.percent(weights[place], sum(weights))
    return (
        f"from {short(low[0])} to {with_unit(context, high[-1])}; the fullest bin, from "
        f"{short(low[place])} to {short(high[place])}, holds {share} of the rows"
    )


@figure_of(ResidualEcdf, place=210)
def distribution(context: Context, pairs: list[tuple[Series, ResidualEcdf]]) -> Drawing:
    """Draw the share of rows with a larger absolute residual, all models in one panel."""
    key, title = f"d{context.place}-residual-ecdf", "Distribution of absolute residuals"
    quantiles = {series.name: curve for series, curve in context.curves(ResidualQuantiles)}
    caption = (
        "Share of the rows whose prediction is further off than the absolute residual on the horizontal axis. A curve "
        "that falls sooner is better."
    )
    alt = context.told("Reversed distribution of absolute residuals", pairs, lambda curve: (
        _exceeded(context, curve, quantiles.get(curve.model))))
    with canvas.style(key):
        entries = [_key(series, quantiles.get(series.name)) for series, _ in pairs]
        figure, (axes,) = canvas.paper(len(entries), (2.9,), LEFT)
        for series, curve in pairs:
            axes.step(
                column(curve.points.absolute_residual), column(curve.points.share_above), where="post",
                color=series.colour, linestyle=series.dash,
            )
        plain_axes(axes)
        axes.set(ylim=(-0.015, 1.03), yticks=TICKS, ylabel="Share of rows above")
        axes.set_xlabel(named(context, "Absolute residual"))
        axes.set_xlim(left=0)
        canvas.add_key(figure, entries, LEFT)
        return Drawing(key, title, caption, alt, canvas.to_svg(figure, key, alt, caption))


def _key(series: Series, quantiles: ResidualQuantiles | None) -> KeyEntry:
    median = "" if quantiles is None else f": median {short(_at(quantiles, 0.5))}"
    return KeyEntry(series.short + median, series.colour, series.dash)


def _at(quantiles: ResidualQuantiles, share: float) -> float:
    """Return the absolute residual that this share of the rows does not exceed."""
    points = quantiles.points
    return dict(zip(column(points.share), column(points.absolute_residual), strict=True))[share]


def _exceeded(context: Context, curve: ResidualEcdf, quantiles: ResidualQuantiles | None) -> str:
    largest = f"the largest is {with_unit(context, column(curve.points.absolute_residual)[-1])}"
    if quantiles is None:
        return largest
    half, ninth = (short(_at(quantiles, share)) for share in (0.5, 0.9))
    return f"half of the rows are within {half}, nine in ten within {ninth}; {largest}"


def box_caption() -> str:
    """Say how to read a box plot."""
    return (
        "Box: quartiles and median of the absolute residuals. Whiskers: the last rows within "
        f"{numbers.plain(constants.WHISKERS)} interquartile ranges of the box; of those beyond, the "
        f"{constants.OUTLIERS} largest are drawn. A few large residuals draw the RMSE away from the box."
    )


@figure_of(ResidualBox, place=220)
def boxes(context: Context, pairs: list[tuple[Series, ResidualBox]]) -> Drawing:
    """Draw a box plot of each model's absolute residuals, with the root mean square marked."""
    key, title = f"d{context.place}-residual-boxes", "Box plots of absolute residuals"
    alt = context.told(title, pairs, lambda curve: _boxed(context, curve))
    beyond = {series.name: curve for series, curve in context.curves(residuals.ResidualOutliers)}
    with canvas.style(key, **{"axes.grid.axis": "x"}):
        figure, (axes,) = canvas.paper(2, (ROW * len(pairs) + 0.15,), NAMES)
        names = axes.get_yaxis_transform()
        for row, (series, curve) in enumerate(pairs):
            _box(axes, row, curve, beyond.get(series.name))
            axes.text(-0.03, row, clip(series.label, 22), ha="right", va="center_baseline", transform=names)
        plain_axes(axes)
        axes.set(ylim=(len(pairs) - 0.5, -0.5), yticks=())
        axes.set_xlabel(named(context, "Absolute residual"))
        axes.set_xlim(left=0)
        entries = [KeyEntry("RMSE", RMSE, "none", "D"), KeyEntry("Row beyond the whiskers", POINT, "none", "o")]
        canvas.add_key(figure, entries, NAMES)
        return Drawing(key, title, box_caption(), alt, canvas.to_svg(figure, key, alt, box_caption()))


def _box(axes: Axes, row: int, curve: ResidualBox, beyond: residuals.ResidualOutliers | None) -> None:
    low, first, median, third, high = (column(values)[0] for values in curve.points.columns.values())
    axes.hlines([row, row], [low, third], [first, high], color=POINT, linewidth=1)
    axes.vlines([low, high], row - 0.13, row + 0.13, color=POINT, linewidth=1)
    axes.barh(row, third - first, left=first, height=0.5, color=FILL, edgecolor=POINT, linewidth=0.9)
    axes.vlines([median], row - 0.25, row + 0.25, color=INK, linewidth=1.8)
    if beyond is not None:
        values = column(beyond.points.absolute_residual)
        axes.plot(values, [row] * len(values), "o", color=POINT, markersize=2.6, alpha=0.7, markeredgewidth=0)
    rmse = or_nan(curve.notes.rmse)
    axes.plot([rmse], [row], "D", color=RMSE, markersize=5, markeredgecolor="white", markeredgewidth=0.6)


def _boxed(context: Context, curve: ResidualBox) -> str:
    points = curve.points
    low, median, high = (column(values)[0] for values in (points.lower_quartile, points.median, points.upper_quartile))
    outliers = or_nan(curve.notes.outliers)
    rows = f"{numbers.count(outliers)} rows lie" if outliers else "no row lies"
    rows = "1 row lies" if outliers == 1 else rows
    return (
        f"median {with_unit(context, median)}, quartiles {short(low)} and {short(high)}, RMSE "
        f"{with_unit(context, or_nan(curve.notes.rmse))}; {rows} beyond the whiskers"
    )
