"""How far probabilities may be from the isotonic curve of rows, where these are known by the cells that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.rows import present

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.statistics import Rows

MOST_CELLS = 4096
"""Neighbouring cells are joined to at most so many, for the work grows with their square. The limits stay limits."""


def isotonic_distances(rows: Rows, single: Flags, weights: Floats) -> tuple[Floats, Floats]:
    """Return how near to the isotonic curve each row is at least, and how far at most, both [n]; 0 without weight.

    ``rows`` are those of cells in order, and ``single`` [n] tells which share their score with no row that may be
    ranked apart.
    """
    used = weights > 0
    cell = np.unique(rows.scored[used], return_inverse=True)[1]
    cells = int(cell.max(initial=-1)) + 1
    joined = -(-cells // MOST_CELLS) if cells else 1
    group = cell // joined
    of_rows = weights[used] * [rows.truth[used], ~rows.truth[used]]
    events, others = (np.bincount(group, of_kind).astype(float) for of_kind in of_rows)
    parted = np.bincount(group, ~single[used]) > 0 if joined == 1 else np.ones(len(events), bool)
    highest = _highest(events, others, parted)[group]
    lowest = 1 - _highest(others[::-1], events[::-1], parted[::-1])[::-1][group]
    low, high = present(rows.ends, "ends of cells")[used].T
    distances = np.zeros((2, len(weights)))
    distances[0, used] = np.maximum(np.maximum(low - highest, lowest - high), 0.0)
    distances[1, used] = np.maximum(highest - low, high - lowest)
    nearest, farthest = distances
    return nearest, farthest


def _highest(events: Floats, others: Floats, parted: Flags) -> Floats:
    """Return the largest event rate [cells] of the isotonic curve, whatever the order of rows in ``parted`` cells.

    The curve is the least, over the ends of a run of rows, of the largest event rate over its starts (Robertson, Wright
    & Dykstra 1988, section 1.4). Fewer ends can but raise it: here runs end where cells do. A run that starts within a
    cell has the largest rate where it leaves out all others of that cell.
    """
    total, hits = (np.concatenate([[0.0], np.cumsum(table)]) for table in (events + others, events))
    start = total[:-1] + np.where(parted, others, 0.0)
    highest = np.ones(len(events))
    for end in range(len(events)):
        weight = total[end + 1] - start[: end + 1]
        rate = np.divide(hits[end + 1] - hits[: end + 1], weight, out=np.zeros(end + 1), where=weight > 0)
        np.minimum(highest[: end + 1], np.maximum.accumulate(rate), out=highest[: end + 1])
    return highest
