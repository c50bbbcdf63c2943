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
    cell at either end of it, which bounds what is monotone in their probabilities. ``moved`` says that they are of a
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
    return float(np.nanmax(np.abs(np.array(reached) - value), initial=0.0))


def _tied(summary: Summary, entry: MetricPlan) -> list[float]:
    """Return the least and the largest value that a measure itself says it may have."""
    assert entry.metric.tied is not None  # noqa: S101 - known to the caller
    seen = weighed(summary.seen_by(entry.metric), entry)
    tables = [seen(name, entry.params) for name in entry.metric.statistics]
    return [float(value) for value in entry.metric.tied(*tables)]


def _placements(summary: Summary, *, of_chances: bool) -> Iterator[Summary]:
    """Yield the statistics with the events of each cell above its other rows, and below them.

    ``of_chances`` moves probabilities too: to the ends of the cells, once apart and once together.
    """
    rows: Rows = summary.rows
    place = np.unique(rows.scored, return_inverse=True)[1]
    low, high = present(rows.ends, "ends of cells").T
    for event_above in (True, False):
        score = 2.0 * place + (rows.truth == event_above)
        if not of_chances:
            yield Summary(replace(rows, score=score, stated=None), summary.weights)
            continue
        together = high if event_above else low
        for chances in (np.where(rows.truth == event_above, high, low), together):
            yield Summary(replace(rows, score=score, probability=chances, stated=None), summary.weights)
