"""A dot plot as a table: a line for each estimate, its interval drawn as wide as the page allows, its digits beside."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.card.names import names_of
from evalpipe.card.page import Dot, DotPlot
from evalpipe.card.tables import evaluated, key_measures, shown
from evalpipe.card.wording import capital
from evalpipe.words import numbers
from evalpipe.words.spelling import clipped

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.results import Estimate, Results

MOST_LINES = 10
"""The lines of a plot on the first screen."""

MOST_PLOTS = 3
MOST_GATED = 2
"""The plots on the first screen: of key measures on all rows, and of measures with gates or in groups."""

LEAST_WIDTH = 0.1
"""The narrowest axis of a measure from 0 to 1, and of another measure as a share of its largest value, so that small
differences are not drawn as large ones."""

TICKS = 4
"""About so many ticks stand below a plot."""

EDGE, LETTER = 8, 7
"""Per cent of a plot's width: where numbers of ticks are set inward, and a digit of them with its share of a gap."""


def dot_plots(results: Results) -> tuple[DotPlot, ...]:
    """Draw the measures that gates are on, or else the first of the key measures, on all rows and in groups."""
    _, dataset = next(evaluated(results))
    gated = [gate.metric for gate in results.gates if gate.metric is not None and gate.against is None]
    wanted = list(dict.fromkeys(gated)) or list(key_measures(results))
    scopes = [groups for groups in (_by_scope(results, dataset.name, metric) for metric in wanted) if groups]
    if gated or any(len(groups) > 1 for groups in scopes):
        kept = scopes[:MOST_GATED]
    else:
        kept = scopes[: max(1, MOST_LINES // max(len(results.models), MOST_LINES // MOST_PLOTS))]
    return tuple(_plot(results, *_worst(results, groups, MOST_LINES // len(kept))) for groups in kept)


def _by_scope(results: Results, dataset: str, metric: str) -> list[list[Estimate]]:
    """Return the estimates of a measure, all models of a group together: those of all rows first."""
    rows = [row for row in results.rows if row.dataset == dataset and row.metric == metric and row.value is not None
            and row.variant == "original" and row.class_ is None]
    scopes: dict[str, list[Estimate]] = {}
    for row in rows:
        if (row.params, row.average) == (rows[0].params, rows[0].average):
            scopes.setdefault("" if row.slice is None else str(row.slice), []).append(row)
    return [scopes[name] for name in sorted(scopes, key=bool)]


def _worst(results: Results, groups: Sequence[list[Estimate]], most: int) -> tuple[list[Estimate], str]:
    """Return the first group and of the others the worst, about ``most`` lines, and say how many are left out."""
    first, *others = groups
    direction = next(metric.direction for metric in results.metrics if metric.name == first[0].metric)
    sign = {"maximize": 1, "minimize": -1}.get(direction, 0)
    room = max(most - len(first), len(first)) // max(len(first), 1)
    ordered = sorted(others, key=lambda group: min(sign * (row.value or 0.0) for row in group))[:room]
    kept = [group for group in others if group in ordered]
    which = "worst" if sign else "first"
    said = f"{which} of {len(others)} groups is"
    if len(kept) != 1:
        said = f"{len(kept)} {which} of {len(others)} groups are"
    return [row for group in (first, *kept) for row in group], f"The {said} drawn." if len(kept) < len(others) else ""


def _plot(results: Results, rows: Sequence[Estimate], left_out: str) -> DotPlot:
    names, first = names_of(results), rows[0]
    limits = sorted({value for gate in results.gates if (gate.metric, gate.params, gate.average) == (
        first.metric, first.params, first.average) and gate.against is None for value in gate.limit.values()})
    low, high = _range(results, rows, limits)
    models = [model.name for model in results.models]
    place = 100 / (high - low)

    def at(value: float | None) -> float | None:
        return None if value is None else round((value - low) * place, 2)

    whole = all(row.slice is None for row in rows)
    dots = tuple(
        Dot(_label(results, row, whole=whole), at(row.value) or 0.0, at(row.lower), at(row.upper), shown(row),
            models.index(row.model)) for row in rows)
    ticks = _apart([(at(tick) or 0.0, numbers.plain(tick)) for tick in _ticks(low, high)])
    required = f"Dashed line: required limit, {' and '.join(map(numbers.plain, limits))}." if limits else ""
    title = capital(names.measure(first.metric, first.params, first.average))
    return DotPlot(title, dots, tuple(at(limit) or 0.0 for limit in limits), ticks,
                   " ".join(filter(None, (required, left_out))))


def _label(results: Results, row: Estimate, *, whole: bool) -> str:
    """Name what a dot is of: its model, its group, or both; all are of the ``whole`` where none is of a group."""
    names = names_of(results)
    if whole:
        return clipped(names.model(row.model))
    scope = "All" if row.slice is None else capital(names.label(row.slice))
    return f"{scope}, {clipped(names.model(row.model))}" if len(results.models) > 1 else scope


def _range(results: Results, rows: Sequence[Estimate], limits: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the axis: those of the limits with some room, within 0 and 1 of a proportion."""
    lowest, highest = next(metric.range for metric in results.metrics if metric.name == rows[0].metric)
    ends = [end for row in rows for end in (row.lower, row.value, row.upper) if end is not None] + list(limits)
    room = 0.08 * (max(ends) - min(ends)) or 0.1 * abs(ends[0]) or 0.1
    low, high = min(ends) - room, max(ends) + room
    within = (lowest, highest) == (0, 1)
    least = LEAST_WIDTH * (1 if within else max(map(abs, ends)))
    spare = max(least - (high - low), 0.0) / 2
    return (max(low - spare, 0.0), min(high + spare, 1.0)) if within else (low - spare, high + spare)


def _apart(ticks: Sequence[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Leave out ticks at the edges whose numbers, which are set inward, would meet the next one."""
    first, last = 0, len(ticks)
    if last > 2 and ticks[0][0] < EDGE and ticks[1][0] - ticks[0][0] < len(ticks[0][1]) * LETTER:
        first = 1
    if last - first > 2 and ticks[-1][0] > 100 - EDGE and ticks[-1][0] - ticks[-2][0] < len(ticks[-1][1]) * LETTER:
        last -= 1
    return tuple(ticks[first:last])


def _ticks(low: float, high: float) -> Iterator[float]:
    """Yield round numbers from ``low`` to ``high``, about `TICKS` of them."""
    rough = (high - low) / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield round(k * step, 12)
