"""Figures of what a model is worth: net benefit by threshold, and profit by how many rows are contacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.report import wording
from evalpipe.report.figures.bands import MOST, SHADES
from evalpipe.report.figures.canvas import INK, MUTED, Drawing, KeyEntry, add_key, paper, style, to_svg
from evalpipe.report.figures.context import Context, column, or_nan
from evalpipe.report.figures.declare import figure_of
from evalpipe.results.curves.calibration import NetBenefit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.report.figures.canvas import Series
    from evalpipe.results import Profit

DASHED, DOTTED = (0, (6, 2)), (0, (1, 2))
UNIT = (0, 0.2, 0.4, 0.6, 0.8, 1)
LEAST = 1e-9
"""A gain below this is rounding."""
WIDE = 0.82
"""Inches to the left of a panel whose numbers are long."""


@figure_of(NetBenefit, place=70)
def net_benefit(context: Context, pairs: list[tuple[Series, NetBenefit]]) -> Drawing:
    """Draw the decision curves of all models, with those of acting on all rows and on none."""
    key = f"d{context.place}-net-benefit"
    banded = len(pairs) <= MOST and any(curve.notes.level is not None for _, curve in pairs)
    level = wording.level(context.results.intervals.level)
    caption = (
        "Events acted on, less the non-events acted on at the odds of the threshold, for each row, if one acts on rows "
        "from each threshold probability upwards. A model is of use where it lies above both acting on all rows and "
        "on none." + (f" {level} bands of each point alone." if banded else "")
    )
    alt = f"Decision curve on {context.dataset.name}. " + " ".join(
        f"{series.label}: {_gained(curve)}." for series, curve in pairs)
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
    axes.set(xlim=(-0.015, 1.015), ylim=(-0.2 * top, 1.12 * top), xticks=UNIT, xlabel="Threshold probability",
             ylabel="Net benefit")


def _gained(curve: NetBenefit) -> str:
    """Say where a model gains most over the better of the policies that need none."""
    gain, at = or_nan(curve.notes.largest_gain), or_nan(curve.notes.largest_gain_at)
    if gain < LEAST:
        return "at no threshold above both acting on all rows and on none"
    return (f"furthest above both acting on all rows and on none at threshold {numbers.plain(at)}, "
            f"by {numbers.number(gain)}")


def profit(context: Context) -> Drawing | None:
    """Draw the profit of all models by the share of rows contacted, beside random and perfect order."""
    pairs = _campaigns(context)
    if not pairs:
        return None
    key = f"d{context.place}-profit"
    banded = len(pairs) <= MOST and all(row.lower is not None for _, rows in pairs for row in rows)
    level = wording.level(context.results.intervals.level)
    caption = (
        "Profit of contacting rows from the highest score down, by how many are contacted. A marker shows where it is "
        "largest, which is optimistic: the depth is chosen and judged on the same rows."
        + (f" {level} bands of each point alone." if banded else "")
    )
    alt = f"Profit on {context.dataset.name}. " + " ".join(
        f"{series.label}: largest profit {_best(rows)} of the rows." for series, rows in pairs)
    with style(key):
        entries = [
            KeyEntry(f"{series.short}: {_best(rows)}", series.colour, series.dash, series.marker)
            for series, rows in pairs
        ]
        entries += [KeyEntry("Perfect ranking", MUTED, DASHED), KeyEntry("Random order", MUTED, DOTTED)]
        figure, (axes,) = paper(len(entries), left=WIDE)
        _profits(axes, pairs, banded=banded)
        add_key(figure, entries, left=WIDE)
        return Drawing(key, "Profit", caption, alt, to_svg(figure, key, alt, caption))


def _campaigns(context: Context) -> list[tuple[Series, list[Profit]]]:
    """Return the models that have a profit, with it by depth."""
    rows = [r for r in context.results.profit if r.dataset == context.dataset.name and r.variant == "original"]
    found = [(series, [row for row in rows if row.model == series.name]) for series in context.series]
    return [(series, of) for series, of in found if of]


def _profits(axes: Axes, pairs: list[tuple[Series, list[Profit]]], *, banded: bool) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    rows = pairs[0][1]
    x = [row.contacted / rows[-1].contacted for row in rows]
    axes.plot(x, [row.profit_wizard for row in rows], color=MUTED, linestyle=DASHED, linewidth=1)
    axes.plot(x, [row.profit_random for row in rows], color=MUTED, linestyle=DOTTED, linewidth=1)
    for series, rows in pairs:
        if banded:
            low, high = ([float(getattr(row, side)) for row in rows] for side in ("lower", "upper"))
            axes.fill_between(x, low, high, color=series.colour, alpha=SHADES[len(pairs)][0], linewidth=0)
        height, best = [row.profit for row in rows], next(k for k, row in enumerate(rows) if row.best)
        axes.plot(x, height, color=series.colour, linestyle=series.dash)
        axes.plot([x[best]], [height[best]], marker=series.marker, markersize=7.5, markerfacecolor="none",
                  markeredgecolor=series.colour, markeredgewidth=1.8, clip_on=False, zorder=5, linestyle="none")
    axes.set(xlim=(-0.015, 1.015), xticks=UNIT, xlabel="Share of rows contacted, highest scores first",
             ylabel="Profit")
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: _short(value)))


def _short(value: float) -> str:
    """Write a number of an axis; large ones in millions."""
    for unit, name in ((1e9, " bn"), (1e6, " m")):
        if abs(value) >= unit:
            return numbers.plain(round(value / unit, 3)) + name
    return numbers.fixed(value, 0) if float(value).is_integer() else numbers.plain(round(value, 6))


def _best(rows: list[Profit]) -> str:
    """Say what the largest profit is, and where."""
    best = next(row for row in rows if row.best)
    share = numbers.percent(best.contacted, rows[-1].contacted)
    return f"{numbers.number(best.profit) if best.contacted else 0} at {share}"
