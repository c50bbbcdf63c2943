"""Grids of numbers: neighbouring values that share a cell, where there are too many to keep each apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import exp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Floats, Wholes

HUNDREDTHS = np.arange(1, 100) / 100
TAILS = 1 / (1 + exp(-np.arange(4.5, 36.5, 0.5)))
EDGES = np.unique(np.concatenate([HUNDREDTHS, TAILS, 1 - TAILS]))
"""Where a cell of probabilities always ends: at hundredths, and at steps of one half on the logit scale in both tails,
so that no cell joins probabilities whose logarithms differ by more than that."""

TENTHS = np.unique(np.concatenate([HUNDREDTHS[9::10], TAILS[::4], 1 - TAILS[::4]]))
"""A coarser choice of these edges, for several models at once."""

NEIGHBOURS = 8
"""How many floats below and above half a step the least one that is rounded up may lie."""

SPARSE = 8
"""Possible codes for each row up to which they are counted; where there are more, those that occur are sorted."""


def cut(values: Floats, cells: int, *ends: tuple[Floats, Floats]) -> Wholes:
    """Return the cell of each value, shape [n], numbered upwards from 0 by value.

    About ``cells`` cells of equally many values, ended besides as ``ends`` say: each has numbers [n] that never fall as
    the values rise, and the edges among these at which a cell ends, which belong to the cell above. Equal values always
    share a cell, and every cell holds a value.
    """
    # Sorted once, so that each edge is looked for among the values, and not each value among the edges.
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # Quantiles as edges: many values that are equal give fewer, fuller cells, and none is cut in two.
    inner = ordered[(np.arange(1, cells) * len(ordered)) // cells]
    begins = [np.searchsorted(ordered, inner)]
    begins += [np.searchsorted(numbers[order], edges) for numbers, edges in ends]
    new = np.zeros(len(values) + 1, np.intp)
    new[np.concatenate(begins)] = 1
    new[0] = 0
    cell = np.empty(len(values), np.intp)
    cell[order] = np.cumsum(new[:-1])
    return cell


def rounding_edges(digits: int) -> Floats:
    """Return the least number in (0, 1) that is rounded to each multiple above 0 of 10^-``digits``, ascending."""
    steps = 10**digits
    near = np.stack([(np.arange(steps) + 0.5) / steps] * (2 * NEIGHBOURS + 1))
    for step in range(NEIGHBOURS):
        near[NEIGHBOURS + step + 1] = np.nextafter(near[NEIGHBOURS + step], 1)
        near[NEIGHBOURS - step - 1] = np.nextafter(near[NEIGHBOURS - step], 0)
    # Numbers are multiplied before they are rounded, and halves go to the even number: the last bits decide.
    up = np.rint(np.round(near, digits) * steps) > np.arange(steps)
    return np.asarray(near[up.argmax(axis=0), np.arange(steps)])


def edges_at(bins: Sequence[int], digits: Sequence[int], thresholds: Sequence[float]) -> Floats:
    """Return the edges in (0, 1) of so many bins of equal width, of rounding, and thresholds: ascending, each once."""
    edges = [np.arange(1, count) / count for count in bins] + [rounding_edges(places) for places in digits]
    listed = np.unique(np.concatenate([*edges, np.array(thresholds, float)]))
    return np.asarray(listed[(listed > 0) & (listed < 1)])


def means(values: Floats, cells: Wholes, weight: Floats | None = None) -> Floats:
    """Return the mean of the values in each cell, [cells], where ``cells`` [n] is the cell of each of ``values`` [n].

    It is kept between the smallest and the largest value, so that rounding does not part a cell of equal values from
    their value.
    """
    count = int(cells.max()) + 1
    weight = np.ones(len(values)) if weight is None else weight
    mean = np.bincount(cells, weight * values, count) / np.bincount(cells, weight, count)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, cells, values)
    np.maximum.at(high, cells, values)
    return np.clip(mean, low, high)


def first_rows(cells: Wholes, count: int) -> Wholes:
    """Return the position of the first row in each of ``count`` cells, all of which have one."""
    first = np.zeros(count, np.intp)
    # Of equal indices the last assignment stays, so rows are assigned from the last to the first.
    first[cells[::-1]] = np.arange(len(cells))[::-1]
    return first


def joint(*codes: Wholes) -> tuple[Wholes, int]:
    """Number the combinations of codes that occur, in order of the first code, then the next: [n] and their count."""
    combined = np.zeros(len(codes[0]), np.intp)
    count = 1
    for code in codes:
        several = int(code.max()) + 1
        combined, count = _numbered(combined * several + code, count * several)
    return combined, count


def _numbered(codes: Wholes, most: int) -> tuple[Wholes, int]:
    """Number the codes that occur upwards from 0; they lie below ``most``."""
    if most > SPARSE * len(codes):
        values, numbers = np.unique(codes, return_inverse=True)
        return numbers, len(values)
    used = np.zeros(most, np.intp)
    used[codes] = 1
    place = np.cumsum(used)
    return (place - 1)[codes], int(place[-1])
