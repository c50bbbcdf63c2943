"""The decision curve: what acting on the rows from a threshold upwards is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.figures.bands import MOST, SHADES
from evalpipe.card.figures.canvas import DOTTED, INK, MUTED, TICKS, Drawing, KeyEntry, add_key, paper, style, to_svg
from evalpipe.card.figures.context import Context, column, or_nan
from evalpipe.card.figures.declare import figure_of
from evalpipe.results.curves.calibration import NetBenefit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.card.figures.canvas import Series

DASHED = (0, (6, 2))
LEAST = 1e-9
"""A gain below this is rounding."""


@figure_of(NetBenefit, place=70)
def net_benefit(context: Context, pairs: list[tuple[Series, NetBenefit]]) -> Drawing:
    """Draw the decision curves of all models, with those of acting on all rows and on none."""
    key = f"d{context.place}-net-benefit"
    banded = len(pairs) <= MOST and any(curve.notes.level is not None for _, curve in pairs)
    caption = (
        "Events acted on, less the non-events acted on at the odds of the threshold, for each row, if one acts on rows "
        "from each threshold probability upwards. A model is of use where it lies above both acting on all rows and "
        "on none." + (f" {context.level} bands of each point alone." if banded else "")
    )
    alt = context.told("Decision curve", pairs, _gained)
    with style(key):
        entries = [KeyEntry(series.short, series.colour, series.dash) for series, _ in pairs]
        entries += [KeyEntry("Acting on all rows", INK, DASHED, width=1), KeyEntry("Acting on none", MUTED, DOTTED)]
        figure, (axes,) = paper(len(entries))
        _decisions(axes, pairs, banded=banded)
        add_key(figure, entries)
        return Drawing(key, "Decision curve", caption, alt, to_svg(figure, key, alt, caption))


def _decisions(axes: Axes, pairs: list[tuple[Series, NetBenefit]], *, banded: bool) -> None:
    heights = [(curve.points.net_benefit, curve.points.treat_all) for _, curve in pairs]
    top = max(0.01, *(max(column(height)) for both in heights for height in both))
    first = pairs[0][1].points
    axes.plot(column(first.threshold), column(first.treat_all), color=INK, linestyle=DASHED, linewidth=1)
    axes.plot([0, 1], [0, 0], color=MUTED, linestyle=DOTTED, linewidth=1)
    for series, curve in pairs:
        x = column(curve.points.threshold)
        if banded:
            low, high = column(curve.points.lower), column(curve.points.upper)
            axes.fill_between(x, low, high, color=series.colour, alpha=SHADES[len(pairs)][0], linewidth=0)
        axes.plot(x, column(curve.points.net_benefit), color=series.colour, linestyle=series.dash)
    axes.set(xlim=(-0.015, 1.015), ylim=(-0.2 * top, 1.12 * top), xticks=TICKS, xlabel="Threshold probability",
             ylabel="Net benefit")


def _gained(curve: NetBenefit) -> str:
    """Say where a model gains most over the better of the policies that need none."""
    gain, at = or_nan(curve.notes.largest_gain), or_nan(curve.notes.largest_gain_at)
    if gain < LEAST:
        return "at no threshold above both acting on all rows and on none"
    return (f"furthest above both acting on all rows and on none at threshold {numbers.plain(at)}, "
            f"by {numbers.number(gain)}")
