"""The figure of profit by the share of rows contacted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card import wording
from evalpipe.card.figures.axes import HALVES, Axis, ticks_between, unit_axis
from evalpipe.card.figures.context import context_of, listed
from evalpipe.card.figures.curves import CurveLayers, Frame, ModelCurve, Reference, draw_curves
from evalpipe.card.figures.panel import DASHES
from evalpipe.card.figures.svg import drawing
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.card.figures.labels import Box
    from evalpipe.card.figures.panel import Panel
    from evalpipe.card.figures.svg import Drawing, Series
    from evalpipe.chapters.costs.records import Profit
    from evalpipe.results import Results


def by_depth(results: Results, dataset: str) -> dict[str, list[Profit]]:
    """Return the profit of each model that has one by depth, without recalibration, in the order of the models."""
    rows = [row for row in results.profit if (row.dataset, row.variant) == (dataset, "original")]
    profits = {model.name: [row for row in rows if row.model == model.name] for model in results.models}
    return {model: of_model for model, of_model in profits.items() if of_model}


def profit_figures(results: Results, dataset: str) -> tuple[Drawing, ...]:
    """Draw the profit of all models by the share of rows contacted, beside random and perfect order."""
    context, profits = context_of(results, dataset), by_depth(results, dataset)
    pairs = [(series, profits[series.name]) for series in context.series if series.name in profits]
    banded = all(row.lower is not None for _, rows in pairs for row in rows)
    caption = (
        "Profit by the share of rows contacted, highest scores first. Ring: the largest profit, which is optimistic "
        "because the depth is chosen and judged on the same rows."
        + (f" {wording.level(results.intervals.level)} interval at each point." if banded else "")
    )
    alt = f"Profit on {dataset}. " + " ".join(
        f"{series.label}: largest profit {_best(rows)} of the rows." for series, rows in pairs)
    rows = pairs[0][1]
    references = (Reference("Perfect ranking", _shares(rows), [row.profit_wizard for row in rows], DASHES),
                  Reference("Random order", _shares(rows), [row.profit_random for row in rows]))
    curves = [ModelCurve(series, _shares(rows), [row.profit for row in rows]) for series, rows in pairs]
    by_model = {series.name: rows for series, rows in pairs}
    layers = CurveLayers(under=_band(by_model) if banded else None, over=_ring(by_model))
    sheets = draw_curves(_frame(pairs), curves, references, layers)
    finding = listed([f"{series.label}: largest profit {_best(rows)} of the rows" for series, rows in pairs])
    return (drawing(f"d{context.place}-profit", "Profit", (finding, caption, alt), sheets),)


def _shares(rows: Sequence[Profit]) -> list[float]:
    """Return the share of the rows that are contacted at each depth."""
    return [row.contacted / rows[-1].contacted for row in rows]


def _frame(pairs: Sequence[tuple[Series, list[Profit]]]) -> Frame:
    ends = [end for _, rows in pairs for row in rows
            for end in (row.profit, row.profit_wizard, row.profit_random, row.lower, row.upper) if end is not None]
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 1.0
    ticks = tuple((value, _short(value)) for value, _ in ticks_between(low - room, high + room))
    y, name = Axis("Profit", low - room, high + room, ticks), "Share of rows contacted, highest scores first"
    return Frame(unit_axis(name), y, (unit_axis(name, HALVES), y), 230, 120)


def _band(profits: dict[str, list[Profit]]) -> Callable[[Panel, Series], None]:
    def under(panel: Panel, series: Series) -> None:
        rows = profits[series.name]
        panel.band(_shares(rows), [row.lower or 0.0 for row in rows], [row.upper or 0.0 for row in rows], series.ink)

    return under


def _ring(profits: dict[str, list[Profit]]) -> Callable[[Panel, Series, Sequence[Box]], Sequence[Box]]:
    def over(panel: Panel, series: Series, _: Sequence[Box]) -> Sequence[Box]:
        rows = profits[series.name]
        best = next(k for k, row in enumerate(rows) if row.best)
        x, y = _shares(rows)[best], rows[best].profit
        panel.marks([x], [y], series.ink, series.marker, size=5.5, kind="ring")
        left, top = panel.across(x), panel.down(y)
        return ((left - 8, top - 8, left + 8, top + 8),)

    return over


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
