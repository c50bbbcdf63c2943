"""The decision curve: what acting on the rows from a threshold upwards is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.curves import PLAIN, CurveLayers, Frame, ModelCurve, Reference, draw_curves
from evalpipe.card.figures.declare import figure_of
from evalpipe.card.figures.panel import DASHES
from evalpipe.card.figures.scales import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.sheet import drawing
from evalpipe.results.curves.calibration import NetBenefit
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.card.figures.canvas import Drawing, Series
    from evalpipe.card.figures.panel import Panel

LEAST = 1e-9
"""A gain below this is rounding."""


@figure_of(NetBenefit, place=70)
def net_benefit(context: Context, pairs: list[tuple[Series, NetBenefit]]) -> Drawing:
    """Draw the decision curves of all models, with those of acting on all rows and on none."""
    banded = any(curve.notes.level is not None for _, curve in pairs)
    caption = (
        "Net benefit per case: true positives minus false positives, the latter weighted by the threshold's odds. A "
        "model is useful where it is above both acting on all cases and acting on none." + (
            f" {context.level} interval at each point." if banded else "")
    )
    alt = context.told("Decision curve", pairs, _gained)
    curves = [ModelCurve(series, column(c.points.threshold), column(c.points.net_benefit)) for series, c in pairs]
    first = pairs[0][1].points
    references = (
        Reference("Acting on all cases", column(first.threshold), column(first.treat_all), DASHES),
        Reference("Acting on none", (0, 1), (0, 0)))
    sheets = draw_curves(_frame(pairs), curves, references, CurveLayers(under=_band(pairs)) if banded else PLAIN)
    texts = context.finds(pairs, _gained), caption, alt
    return drawing(f"d{context.place}-net-benefit", "Decision curve", texts, sheets)


def _frame(pairs: list[tuple[Series, NetBenefit]]) -> Frame:
    """Return the axes, from a little below zero to the highest of all curves."""
    heights = [(curve.points.net_benefit, curve.points.treat_all) for _, curve in pairs]
    top = max(0.01, *(max(column(height)) for both in heights for height in both))
    y = Axis("Net benefit", -0.2 * top, 1.12 * top, ticks_between(-0.2 * top, 1.12 * top))
    name = "Threshold probability"
    return Frame(unit_axis(name), y, (unit_axis(name, HALVES), y), 230, 120)


def _band(pairs: list[tuple[Series, NetBenefit]]) -> Callable[[Panel, Series], None]:
    curves = {series.name: curve.points for series, curve in pairs}

    def under(panel: Panel, series: Series) -> None:
        points = curves[series.name]
        panel.band(column(points.threshold), column(points.lower), column(points.upper), series.ink)

    return under


def _gained(curve: NetBenefit) -> str:
    """Say where a model gains most over the better of the policies that need none."""
    gain, at = or_nan(curve.notes.largest_gain), or_nan(curve.notes.largest_gain_at)
    if gain < LEAST:
        return "at no threshold better than acting on all cases or on none"
    return (f"largest gain over acting on all cases or on none {numbers.number(gain)}, at threshold "
            f"{numbers.plain(at)}")
