"""Cells of neighbouring values, where there are too many values to keep each.

Cells by quantiles of the data, few cells of rows that are similar in several numbers, and a fixed grid of
probabilities, the same for all data, which is finer near 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import exp, expit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes


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
        combined, count = _renumbered(combined * several + code, count * several)
    return combined, count


def _renumbered(codes: Wholes, most: int) -> tuple[Wholes, int]:
    """Number the codes that occur upwards from 0, and count them; all lie below ``most``."""
    if most > SPARSE * len(codes):
        values, numbers = np.unique(codes, return_inverse=True)
        return numbers, len(values)
    used = np.zeros(most, np.intp)
    used[codes] = 1
    place = np.cumsum(used)
    return (place - 1)[codes], int(place[-1])


def alike(pattern: Wholes, codes: Sequence[Wholes], most: int, lost: float) -> tuple[Wholes, float]:
    """Return the cell of each row, [n], numbered from 0, and the share of variance of any number that lies in cells.

    Cells hold rows of one ``pattern`` [n]. ``codes`` are the numbers, each as its place [n] among ascending parts.
    Cells are cut in two where that removes most of the variance of places, until at most the share ``lost`` lies within
    cells, or there are ``most`` of them. Cells depend only on how often each combination occurs, not on the order of
    rows. The idea is median cut: Heckbert (1982); Wan, Wong & Prusinkiewicz (1988) cut by variance.
    """
    combination, count = joint(pattern, *codes)
    weight = np.bincount(combination, minlength=count).astype(float)
    member = np.zeros(count, np.intp)
    member[combination] = np.arange(len(pattern))
    places = [code[member] for code in codes]
    cell = pattern[member]
    whole = [_best_cuts(np.zeros(count, np.intp), place, weight, 1).within[0] for place in places]
    while True:
        cells = int(cell.max()) + 1
        parts = [_best_cuts(cell, place, weight, cells) for place in places]
        shares = np.array([
            part.within / total if total > 0 else np.zeros(cells) for part, total in zip(parts, whole, strict=True)])
        left = shares.sum(axis=1)
        # What is left of a number that is settled needs no further cut.
        wanted = np.where(left[:, None] > lost, shares, 0.0)
        largest = wanted.max(axis=0, initial=0.0)
        chosen = np.argsort(-largest, kind="stable")[: max(most - cells, 0)]
        chosen = chosen[largest[chosen] > lost / cells]
        if not len(chosen):
            return cell[combination], float(left.max(initial=0.0))
        # Each is cut by the number that varies most; what lies above the cut is a new cell.
        by, new_cell = wanted.argmax(axis=0), np.full(cells, -1)
        new_cell[chosen] = cells + np.arange(len(chosen))
        divided = cell.copy()
        for number, (place, part) in enumerate(zip(places, parts, strict=True)):
            above = (new_cell[cell] >= 0) & (by[cell] == number) & (place > part.cut[cell])
            divided[above] = new_cell[cell[above]]
        cell = divided


class BestCuts(NamedTuple):
    """The sum of squares within each cell, and the place at which a cut leaves the least of it; both [cells]."""

    within: Floats
    cut: Wholes


def _best_cuts(cell: Wholes, place: Wholes, weight: Floats, cells: int) -> BestCuts:
    """Return the best cut of each cell by a number, from the place and the weight of each combination."""
    width = int(place.max()) + 1
    table = np.bincount(cell * width + place, weight, cells * width).reshape(cells, width)
    at = np.arange(width)
    below, low = np.cumsum(table, axis=1), np.cumsum(table * at, axis=1)
    total, sums = below[:, -1:], low[:, -1:]
    within = (table * at**2).sum(axis=1) - sums[:, 0] ** 2 / total[:, 0]
    above = total - below
    with np.errstate(divide="ignore", invalid="ignore"):
        gained = low**2 / below + (sums - low) ** 2 / above
    parts = (below > 0) & (above > 0)
    # A cell of one place has nothing but rounding within it.
    within = np.where(parts.any(axis=1), np.maximum(within, 0.0), 0.0)
    return BestCuts(within, np.where(parts, gained, -np.inf).argmax(axis=1))


EVEN = 2**16
"""Cells of equal width that 1 would hold."""

TAIL = 2.0**-6
"""Nearer to 0 or 1 than this, cells narrow in proportion to the distance."""

HALVING = 2**10
"""Cells for each halving of the distance."""

NEAREST = -64
"""Nearer to 0 or 1 than 2 to this power all share one cell."""

_SHIFT = 52 - 10  # the bits of a float below the ten of its fraction that number the cells of a halving
_LOWEST = (NEAREST + 1023) * HALVING  # the number that a float of 2^NEAREST has without these bits
_TAIL_CELLS = (-6 - NEAREST) * HALVING
HALF = 1 + _TAIL_CELLS + int(EVEN * (0.5 - TAIL)) + 1
"""Cells up to one half."""


UNITS = 2**30
"""The parts of a cell's width in which places in it are told, so that 2^33 rows of a cell fit a whole number."""

_FINER = (1 << _SHIFT) - 1  # the bits of a float that tell where in its cell it is


def _cells_of_distances(distance: Floats) -> tuple[Wholes, Floats]:
    """Return the cell of each distance from an end, from 0 to 1/2, and where in it the distance lies.

    Cells are numbered upwards from 0, places are in `UNITS` of the cell's width, rounded down.
    """
    scaled = distance * EVEN
    even = np.floor(scaled)
    inside = np.floor((scaled - even) * UNITS)
    cell = even.astype(np.int32) + np.int32(1 + _TAIL_CELLS - int(EVEN * TAIL))
    near = np.flatnonzero(distance < TAIL)
    if len(near):
        bits = distance[near].view(np.int64)
        tail_cell = np.maximum((bits >> _SHIFT) - (_LOWEST - 1), 0)
        nearest = np.floor(distance[near] * 2.0**-NEAREST * UNITS)
        cell[near] = tail_cell
        inside[near] = np.where(tail_cell > 0, (bits & _FINER) // ((_FINER + 1) // UNITS), nearest)
    return cell, inside


def _cell_starts() -> Floats:
    """Return where the cells up to one half begin, [`HALF`]."""
    near = (np.arange(_TAIL_CELLS) + _LOWEST).view(np.int64) << _SHIFT
    even = np.arange(int(EVEN * TAIL), int(EVEN * 0.5) + 1) / EVEN
    return np.concatenate([[0.0], near.view(np.float64), even])


@dataclass(frozen=True)
class ScoreGrid:
    """The grid, with further ``edges``: probabilities in ascending order at which a cell ends, which begin the next."""

    edges: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """The number of cells."""
        return 2 * HALF + len(self.edges)

    def of_probabilities(self, values: Floats) -> Wholes:
        """Return the cell of each probability [n], numbered upwards from 0 by value."""
        return self.placed(values)[0]

    def placed(self, values: Floats) -> tuple[Wholes, Floats]:
        """Return the cell of each probability [n], and how far the value lies into it, from the nearer of 0 and 1.

        That is in whole `UNITS` of the width of the cell, or of the cell without further edges that it is a part of.
        """
        return self._placed_distances(np.minimum(values, 1 - values), values >= 0.5)

    def placed_log_odds(self, scores: Floats) -> tuple[Wholes, Floats]:
        """Return the same as `placed` of the probabilities with log odds [n]."""
        return self._placed_distances(distances(scores), scores >= 0)

    def _placed_distances(self, distance: Floats, upper: Flags) -> tuple[Wholes, Floats]:
        """Return the same as `placed` from the distances to the nearer of 0 and 1; ``upper`` where that is 1."""
        plain, inside = _cells_of_distances(np.ascontiguousarray(distance))
        # The same as where(upper, last - plain, plain), with -1 for the upper half: its bits are all ones.
        flipped = -upper.astype(np.int32)
        plain = (plain ^ flipped) + (flipped & np.int32(2 * HALF))
        if not self.edges:
            return plain, inside
        numbers = self._with_edges.take(plain)
        parted = np.flatnonzero(numbers < 0)
        if len(parted):
            away = np.where(upper[parted], 1 - distance[parted], distance[parted])
            numbers[parted] = ~numbers[parted] + np.searchsorted(self.edges, away, side="right")
        return numbers, inside

    @cached_property
    def ends(self) -> Floats:
        """The least and the largest probability that a cell may hold, [cells, 2]."""
        begins = _cell_starts()
        stops = np.append(begins[1:], 0.5)
        lower, upper = np.stack([begins, stops]), 1 - np.stack([stops, begins])
        low, high = np.concatenate([lower, upper[:, ::-1]], axis=1)
        cells = self._edge_cells
        low, high = np.insert(low, cells + 1, self.edges), np.insert(high, cells, self.edges)
        # An edge begins a cell, so that no value of the cell that ends there is taken for one of the next.
        return np.stack([low, np.where((low < high) & np.isin(high, self.edges), np.nextafter(high, 0), high)], axis=1)

    @cached_property
    def spans(self) -> tuple[Floats, Floats]:
        """How near to 0 or 1 each cell begins, [cells], and how wide it is; of a part of a cell, those of the whole."""
        near = _cell_starts()
        width = np.diff(near, append=0.5)
        plain = np.stack([np.concatenate([side, side[::-1]]) for side in (near, width)])
        before = np.repeat(np.arange(2 * HALF), 1 + np.bincount(self._edge_cells, minlength=2 * HALF))
        return plain[0][before], plain[1][before]

    @cached_property
    def _edge_cells(self) -> Wholes:
        """The cell of the grid without further edges that each of these is in."""
        return ScoreGrid().of_probabilities(np.array(self.edges))

    @cached_property
    def _with_edges(self) -> Wholes:
        """For each cell of the plain grid, its number here; `~` of the plain number where an edge is inside."""
        plain, inside = np.arange(2 * HALF), np.bincount(self._edge_cells, minlength=2 * HALF)
        return np.where(inside > 0, ~plain, plain + np.cumsum(inside) - inside).astype(np.int32)


def distances(scores: Floats) -> Floats:
    """Return how far the probabilities with log odds [n] are from 0 or 1, whichever is nearer."""
    return np.asarray(expit(-np.abs(scores)))


def chances(scores: Floats) -> Floats:
    """Return the probabilities with log odds [n]."""
    near = distances(scores)
    return np.where(scores >= 0, 1 - near, near)
