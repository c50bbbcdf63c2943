"""The figure of profit by the share of rows contacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card import wording
from evalpipe.card.figures.bands import MOST, SHADES
from evalpipe.card.figures.canvas import MUTED, Drawing, KeyEntry, add_key, paper, style, to_svg
from evalpipe.card.figures.context import context_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from evalpipe.card.figures.canvas import Series
    from evalpipe.chapters.costs.records import Profit
    from evalpipe.results import Results

DASHED, DOTTED = (0, (6, 2)), (0, (1, 2))
TICKS = (0, 0.2, 0.4, 0.6, 0.8, 1)
LEFT = 0.82
"""Inches to the left of the panel, whose numbers are long."""


def by_depth(results: Results, dataset: str) -> dict[str, list[Profit]]:
    """Return the profit of each model that has one by depth, without recalibration, in the order of the models."""
    rows = [row for row in results.profit if (row.dataset, row.variant) == (dataset, "original")]
    profits = {model.name: [row for row in rows if row.model == model.name] for model in results.models}
    return {model: of_model for model, of_model in profits.items() if of_model}


def profit_figures(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Draw the profit of all models by the share of rows contacted, beside random and perfect order."""
    context, profits = context_of(results, dataset), by_depth(results, dataset)
    pairs = [(series, profits[series.name]) for series in context.series if series.name in profits]
    key = f"d{context.place}-profit"
    banded = len(pairs) <= MOST and all(row.lower is not None for _, rows in pairs for row in rows)
    caption = (
        "Profit of contacting rows from the highest score down, by how many are contacted. A marker shows where it is "
        "largest, which is optimistic: the depth is chosen and judged on the same rows."
        + (f" {wording.level(results.intervals.level)} bands of each point alone." if banded else "")
    )
    alt = f"Profit on {dataset}. " + " ".join(
        f"{series.label}: largest profit {_best(rows)} of the rows." for series, rows in pairs)
    entries = [
        KeyEntry(f"{series.short}: {_best(rows)}", series.colour, series.dash, series.marker) for series, rows in pairs]
    entries += [KeyEntry("Perfect ranking", MUTED, DASHED), KeyEntry("Random order", MUTED, DOTTED)]
    with style(key):
        figure, (axes,) = paper(len(entries), left=LEFT)
        _plot(axes, pairs, banded=banded)
        add_key(figure, entries, left=LEFT)
        return (Drawing(key, "Profit", caption, alt, to_svg(figure, key, alt, caption)),)


def _plot(axes: Axes, pairs: list[tuple[Series, list[Profit]]], *, banded: bool) -> None:
    """Draw the profit by depth, with the best depth of each model marked; of random and perfect order once."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    rows = pairs[0][1]
    shares = [row.contacted / rows[-1].contacted for row in rows]
    axes.plot(shares, [row.profit_wizard for row in rows], color=MUTED, linestyle=DASHED, linewidth=1)
    axes.plot(shares, [row.profit_random for row in rows], color=MUTED, linestyle=DOTTED, linewidth=1)
    for series, rows in pairs:
        if banded:
            low, high = ([float(getattr(row, side)) for row in rows] for side in ("lower", "upper"))
            axes.fill_between(shares, low, high, color=series.colour, alpha=SHADES[len(pairs)][0], linewidth=0)
        height, best = [row.profit for row in rows], next(k for k, row in enumerate(rows) if row.best)
        axes.plot(shares, height, color=series.colour, linestyle=series.dash)
        axes.plot([shares[best]], [height[best]], marker=series.marker, markersize=7.5, markerfacecolor="none",
                  markeredgecolor=series.colour, markeredgewidth=1.8, clip_on=False, zorder=5, linestyle="none")
    axes.set(xlim=(-0.015, 1.015), xticks=TICKS, ylabel="Profit",
             xlabel="Share of rows contacted, highest scores first")
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
