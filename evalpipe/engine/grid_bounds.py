"""How far a value from the cells of a grid may be from that of the rows that were counted in them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.averages import values, weighed
from evalpipe.statistics import Summary
from evalpipe.statistics.rows import present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.arraytypes import Floats
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Rows

RANKED = {"events_at", "others_at", "events_from", "others_from"}
"""Statistics that take the rows of a cell as tied."""

PLACED = {"log_odds_at", "rounded_sum", "rounded_events", "rounded_others", "shortfall_at"}
"""Statistics that take the rows of a cell at its mean probability, where more than a sum of these counts: cells cross
the borders of rounding, and a median is one of them."""

SUMMED = {"probability_at", "binned_gap", "binned_events", "binned_others"}
"""Statistics that take them so and sum them: exact where the mean of each cell is known and no bin ends within one. In
a slice the mean is that of all rows, and recalibration moves cells across the ends of bins."""


def error_bound(summary: Summary, entry: MetricPlan, *, moved: bool) -> float | None:
    """Return how far a measure may be from that of the rows themselves; None where it is that, or rows are held.

    Guaranteed for measures of ranks, which are no better than where every event of a cell is scored above its other
    rows, and no worse than where it is below, or say themselves what ties hide. Others are taken with the rows of each
    cell at either end of it, which bounds what is monotone in their probabilities; what bins of equal weight gain and
    lose where they end within a cell comes on top. ``moved`` says that they are of a
    slice, or recalibrated.
    """
    if getattr(summary.rows, "ends", None) is None:
        return None
    used = {name for leaf in entry.leaves for name in leaf.metric.statistics}
    placed = PLACED | SUMMED if moved else PLACED
    if not used & (RANKED | placed):
        return None
    value = values(summary, entry)
    if np.isnan(value):
        return None
    if entry.metric.tied is not None:
        reached = _tied(summary, entry)
    else:
        reached = [float(values(at, entry)) for at in _placements(summary, of_chances=bool(used & placed))]
    return float(np.nanmax(np.abs(np.array(reached) - value), initial=0.0)) + _cut(summary, entry)


def _tied(summary: Summary, entry: MetricPlan) -> list[float]:
    """Return the least and the largest value that a measure itself says it may have."""
    assert entry.metric.tied is not None  # noqa: S101 - known to the caller
    seen = weighed(summary.seen_by(entry.metric), entry)
    tables = [seen(name, entry.params) for name in entry.metric.takes]
    return [float(value) for value in entry.metric.tied(*tables)]


def _cut(summary: Summary, entry: MetricPlan) -> float:
    """Return how far a measure may move where its bins of equal weight end within cells, to first order.

    The rows of a cell lie in the bin that its first row is of; of those beyond the border, at most all could be events,
    or none. What each border may change adds up.
    """
    bins = 0 if entry.metric.cut is None else entry.metric.cut(entry.params)
    if not bins:
        return 0.0
    seen = weighed(summary.seen_by(entry.metric), entry)
    tables = {name: np.asarray(seen(name, entry.params)) for name in entry.metric.takes}
    value = float(entry.metric(*tables.values(), **entry.params))
    at = tables["events_at"] + tables["others_at"]
    running = np.cumsum(at)
    total = 0.0
    for border in running[-1] * np.arange(1, bins) / bins:
        cell = int(np.searchsorted(running, border, side="right"))
        beyond = running[cell] - border
        if beyond < at[cell]:
            parts = (_parted(tables, cell, name, beyond) for name in ("events_at", "others_at"))
            apart = [abs(float(entry.metric(*part.values(), **entry.params)) - value) for part in parts]
            total += float(np.nanmax(apart, initial=0.0))
    return total


def _parted(tables: dict[str, Floats], cell: int, kind: str, beyond: float) -> dict[str, Floats]:
    """Return tables in which weight of one kind, at most ``beyond``, has left a cell for a score of its own above."""
    weight = min(beyond, float(tables[kind][cell]))
    chance = tables["probability_at"][cell] / (tables["events_at"][cell] + tables["others_at"][cell])
    moved = {"events_at": 0.0, "others_at": 0.0, kind: weight, "probability_at": weight * float(chance)}
    parted = {}
    for name, table in tables.items():
        parted[name] = table
        if name in moved:
            parted[name] = np.insert(table, cell + 1, moved[name])
            parted[name][cell] -= moved[name]
    return parted


def _placements(summary: Summary, *, of_chances: bool) -> Iterator[Summary]:
    """Yield the statistics with the events of each cell above its other rows, and below them.

    ``of_chances`` moves probabilities too: to the ends of the cells, once apart and once together.
    """
    rows: Rows = summary.rows
    place = np.unique(rows.scored, return_inverse=True)[1]
    low, high = present(rows.ends, "ends of cells").T
    # Recalibration may make one number of a whole cell, whose rows are then tied in truth.
    apart = (low < high) * np.where(rows.truth, 1.0, -1.0)
    for event_above in (True, False):
        score = 3.0 * place + apart * (1.0 if event_above else -1.0)
        if not of_chances:
            yield Summary(replace(rows, score=score, stated=None), summary.weights)
            continue
        together = high if event_above else low
        for chances in (np.where(rows.truth == event_above, high, low), together):
            yield Summary(replace(rows, score=score, probability=chances, stated=None), summary.weights)
