"""Bands about curves: how far each point, and the whole curve, may be from where it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.context import column

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.card.figures.canvas import Series
    from evalpipe.card.figures.context import Context
    from evalpipe.card.figures.panel import Panel
    from evalpipe.results.curves.bands import GainBand, PrBand, RocBand


def shade(context: Context, kind: type[RocBand | PrBand | GainBand]) -> Callable[[Panel, Series], None]:
    """Return what shades the band of a model: light for the whole curve, darker for each point alone."""
    bands = {series.name: band for series, band in context.curves(kind)}

    def under(panel: Panel, series: Series) -> None:
        if series.name in bands:
            points = bands[series.name].points
            x = column(points.path[0])
            panel.band(x, column(points.simultaneous_lower), column(points.simultaneous_upper), series.ink, "faint")
            panel.band(x, column(points.lower), column(points.upper), series.ink)

    return under


def explained(context: Context, kind: type[RocBand | PrBand | GainBand]) -> str:
    """Say in a caption what the bands are; nothing where there are none."""
    if not context.curves(kind):
        return ""
    return f" Dark: {context.level} interval at each point. Light: {context.level} band for the whole curve."
