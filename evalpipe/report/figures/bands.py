"""Bands about curves: how far each point, and the whole curve, may be from where it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.report import wording
from evalpipe.report.figures.context import column

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.report.figures.context import Context

MOST = 3
"""Models whose bands can be told apart in one figure; of more, none is drawn."""

SHADES = {1: (0.2, 0.15), 2: (0.17, 0.1), 3: (0.13, 0.07)}
"""How strongly the band of each point and that of the whole curve are shaded, by the number of models; the first lies
within the second, so there they add up."""


def shade(axes: Axes, context: Context, curve: str, coordinates: tuple[str, str]) -> None:
    """Shade the bands of each model beneath the curves: light for the whole curve, darker for each point alone."""
    pairs = list(context.curves(f"{curve}_band"))
    if len(pairs) > MOST:
        return
    for series, band in pairs:
        x = column(band, coordinates[0])
        alone, whole = SHADES[len(pairs)]
        for name, alpha in (("simultaneous_", whole), ("", alone)):
            low, high = (column(band, f"{name}{side}") for side in ("lower", "upper"))
            axes.fill_between(x, low, high, color=series.colour, alpha=alpha, linewidth=0)


def explained(context: Context, curve: str) -> str:
    """Say in a caption what the bands are; nothing where there are none."""
    many = len(list(context.curves(f"{curve}_band")))
    level = wording.level(context.results.intervals.level)
    if many > MOST:
        return f" Bands about so many curves are not drawn; the {level} bands are in results.json."
    return f" {level} bands: dark for each point alone, light for the whole curve at once." if many else ""
