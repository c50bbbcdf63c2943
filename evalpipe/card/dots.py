"""A dot plot as a table: a line for each estimate, its interval drawn as wide as the page allows, its digits beside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe import numbers
from evalpipe.card.names import names_of
from evalpipe.card.page import Dot, DotPlot
from evalpipe.card.tables import evaluated, key_measures, shown
from evalpipe.card.wording import capital

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results

MOST_LINES = 10
"""The lines of a plot on the first screen."""

MOST_PLOTS = 2

TICKS = 4
"""About so many ticks stand below a plot."""


def dot_plots(results: Results) -> tuple[DotPlot, ...]:
    """Draw the measures that gates are on, or else the first of the key measures, on all rows and in groups."""
    _, dataset = next(evaluated(results))
    gated = [gate.metric for gate in results.gates if gate.metric is not None and gate.against is None]
    wanted = list(dict.fromkeys(gated)) or list(key_measures(results)[:1])
    rows = [_rows(results, dataset.name, metric) for metric in wanted]
    kept = [metric_rows for metric_rows in rows if metric_rows][:MOST_PLOTS]
    return tuple(_plot(results, metric_rows[: MOST_LINES // len(kept)]) for metric_rows in kept)


def _rows(results: Results, dataset: str, metric: str) -> list[Estimate]:
    """Return the estimates of a measure: all rows first, then group by group."""
    rows = [row for row in results.rows if row.dataset == dataset and row.metric == metric and row.value is not None
            and row.variant == "original" and row.class_ is None]
    rows = [row for row in rows if (row.params, row.average) == (rows[0].params, rows[0].average)]
    scopes = list(dict.fromkeys(str(row.slice) for row in rows))
    return sorted(rows, key=lambda row: (row.slice is not None, scopes.index(str(row.slice))))


def _plot(results: Results, rows: Sequence[Estimate]) -> DotPlot:
    names, first = names_of(results), rows[0]
    limits = sorted({value for gate in results.gates if (gate.metric, gate.params, gate.average) == (
        first.metric, first.params, first.average) and gate.against is None for value in gate.limit.values()})
    low, high = _range(results, rows, limits)
    models = [model.name for model in results.models]
    place = 100 / (high - low)

    def at(value: float | None) -> float | None:
        return None if value is None else round((value - low) * place, 2)

    dots = tuple(
        Dot(_label(results, row), at(row.value) or 0.0, at(row.lower), at(row.upper), shown(row),
            models.index(row.model)) for row in rows)
    ticks = tuple((at(tick) or 0.0, numbers.plain(tick)) for tick in _ticks(low, high))
    caption = f"Dashed line: required, {' and '.join(map(numbers.plain, limits))}." if limits else ""
    title = capital(names.measure(first.metric, first.params, first.average))
    return DotPlot(title, dots, tuple(at(limit) or 0.0 for limit in limits), ticks, caption)


def _label(results: Results, row: Estimate) -> str:
    names = names_of(results)
    scope = "All" if row.slice is None else capital(names.label(row.slice))
    return f"{scope}, {names.model(row.model)}" if len(results.models) > 1 else scope


def _range(results: Results, rows: Sequence[Estimate], limits: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: 0 and 1 of a proportion, else those of the limits with some room."""
    lowest, highest = next(metric.range for metric in results.metrics if metric.name == rows[0].metric)
    if (lowest, highest) == (0, 1):
        return 0.0, 1.0
    ends = [end for row in rows for end in (row.lower, row.value, row.upper) if end is not None] + list(limits)
    room = 0.08 * (max(ends) - min(ends)) or 0.1 * abs(ends[0]) or 0.1
    return min(ends) - room, max(ends) + room


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield round numbers from ``low`` to ``high``, about `TICKS` of them."""
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield round(k * step, 12)
