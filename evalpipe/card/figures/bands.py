"""Bands about curves: how far each point, and the whole curve, may be from where it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.context import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.card.figures.context import Context
    from evalpipe.results.curves.bands import GainBand, PrBand, RocBand

MOST = 3
"""Models whose bands can be told apart in one figure; of more, none is drawn."""

SHADES = {1: (0.2, 0.15), 2: (0.17, 0.1), 3: (0.13, 0.07)}
"""How strongly the band of each point and that of the whole curve are shaded, by the number of models; the first lies
within the second, so there they add up."""


def shade(axes: Axes, context: Context, kind: type[RocBand | PrBand | GainBand]) -> None:
    """Shade the bands of each model beneath the curves: light for the whole curve, darker for each point alone."""
    pairs = context.curves(kind)
    if len(pairs) > MOST:
        return
    for series, band in pairs:
        points, (alone, whole) = band.points, SHADES[len(pairs)]
        together = points.simultaneous_lower, points.simultaneous_upper
        for (lower, upper), alpha in ((together, whole), ((points.lower, points.upper), alone)):
            axes.fill_between(column(points.path[0]), column(lower), column(upper), color=series.colour, alpha=alpha,
                              linewidth=0)


def explained(context: Context, kind: type[RocBand | PrBand | GainBand]) -> str:
    """Say in a caption what the bands are; nothing where there are none."""
    many = len(context.curves(kind))
    if many > MOST:
        return f" Bands about so many curves are not drawn; the {context.level} bands are in results.json."
    return f" {context.level} bands: dark for each point alone, light for the whole curve at once." if many else ""
