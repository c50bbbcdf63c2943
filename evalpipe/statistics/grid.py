"""Cells of neighbouring values, where there are too many values to keep each.

Cells by quantiles of the data, few cells of rows that are similar in several numbers, and a fixed grid of
probabilities, the same for all data, which is finer near 0 and 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, expit

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
    """Return the index of the cell [n] of each value, numbered from 0 by value, for about ``cells`` equal counts.

    Cells also end where ``ends`` say: each has numbers [n] that never fall as the values rise, and edges among these
    numbers. A value at an edge belongs to the cell above. Equal values always share a cell, and every cell holds a
    value.
    """
    # Sorted once, so that each edge is looked for among the values, and not each value among the edges.
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    # Quantiles as edges: many values that are equal give fewer, fuller cells, and none is cut in two.
    quantile_edges = ordered[(np.arange(1, cells) * len(ordered)) // cells]
    starts = [np.searchsorted(ordered, quantile_edges)]
    starts += [np.searchsorted(numbers[order], edges) for numbers, edges in ends]
    is_first = np.zeros(len(values) + 1, np.intp)
    is_first[np.concatenate(starts)] = 1
    is_first[0] = 0
    cell = np.empty(len(values), np.intp)
    cell[order] = np.cumsum(is_first[:-1])
    return cell


def rounding_edges(digits: int) -> Floats:
    """Return the least number in (0, 1) that is rounded to each multiple above 0 of 10^-``digits``, ascending."""
    steps = 10**digits
    near = np.stack([(np.arange(steps) + 0.5) / steps] * (2 * NEIGHBOURS + 1))
    for step in range(NEIGHBOURS):
        near[NEIGHBOURS + step + 1] = np.nextafter(near[NEIGHBOURS + step], 1)
        near[NEIGHBOURS - step - 1] = np.nextafter(near[NEIGHBOURS - step], 0)
    # Numbers are multiplied before they are rounded, and halves go to the even number: the last bits decide.
    is_rounded_up = np.rint(np.round(near, digits) * steps) > np.arange(steps)
    return np.asarray(near[is_rounded_up.argmax(axis=0), np.arange(steps)])


def edges_at(bins: Sequence[int], digits: Sequence[int], thresholds: Sequence[float]) -> Floats:
    """Return the edges in (0, 1) of numbers of ``bins`` of equal width and of rounding, and thresholds, ascending."""
    edges = [np.arange(1, count) / count for count in bins] + [rounding_edges(places) for places in digits]
    listed = np.unique(np.concatenate([*edges, np.array(thresholds, float)]))
    return np.asarray(listed[(listed > 0) & (listed < 1)])


def means(values: Floats, cells: Wholes, weight: Floats | None = None) -> Floats:
    """Return the mean of the values in each cell, [cells], where ``cells`` [n] is the cell of each of ``values`` [n].

    It is kept between the smallest and the largest value of the cell, so that rounding changes no cell of equal values.
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
    """Return the index [n] of each row's combination of ``codes``, each [n], and the number of combinations that occur.

    Combinations are numbered from 0, by the first code, then the next.
    """
    combined = np.zeros(len(codes[0]), np.intp)
    count = 1
    for code in codes:
        code_count = int(code.max()) + 1
        combined, count = _renumbered(combined * code_count + code, count * code_count)
    return combined, count


def _renumbered(codes: Wholes, most: int) -> tuple[Wholes, int]:
    """Return each code's number [n] among the codes that occur, from 0, and how many occur; all lie below ``most``."""
    if most > SPARSE * len(codes):
        values, numbers = np.unique(codes, return_inverse=True)
        return numbers, len(values)
    is_used = np.zeros(most, np.intp)
    is_used[codes] = 1
    number = np.cumsum(is_used)
    return (number - 1)[codes], int(number[-1])


def cells_of_similar_rows(pattern: Wholes, codes: Sequence[Wholes], most: int, lost: float) -> tuple[Wholes, float]:
    """Return the cell [n] of each row, grouping rows with similar numbers, and the share of variance lost.

    The variance lost is the largest share of a number's variance that lies within cells. Cells hold rows of one
    ``pattern`` [n]. ``codes`` are the numbers, each as the index [n] of its ascending part. Cells are cut in two where
    that removes most of the variance of indices, until at most the share ``lost`` lies within cells, or there are
    ``most`` of them. Cells depend only on how often each combination occurs, not on the order of rows. The idea is
    median cut: Heckbert (1982); Wan, Wong & Prusinkiewicz (1988) cut by variance.
    """
    combination, count = joint(pattern, *codes)
    weight = np.bincount(combination, minlength=count).astype(float)
    row_of_combination = np.zeros(count, np.intp)
    row_of_combination[combination] = np.arange(len(pattern))
    positions = [code[row_of_combination] for code in codes]
    cell = pattern[row_of_combination]
    total_within = [_best_cuts(np.zeros(count, np.intp), position, weight, 1).within[0] for position in positions]
    while True:
        cells = int(cell.max()) + 1
        best_cuts = [_best_cuts(cell, position, weight, cells) for position in positions]
        shares = np.array([
            best.within / total if total > 0 else np.zeros(cells)
            for best, total in zip(best_cuts, total_within, strict=True)])
        remaining_shares = shares.sum(axis=1)
        # A number with little variance within cells needs no further cut.
        open_shares = np.where(remaining_shares[:, None] > lost, shares, 0.0)
        largest = open_shares.max(axis=0, initial=0.0)
        divided_cells = np.argsort(-largest, kind="stable")[: max(most - cells, 0)]
        divided_cells = divided_cells[largest[divided_cells] > lost / cells]
        if not len(divided_cells):
            return cell[combination], float(remaining_shares.max(initial=0.0))
        # Each is cut by the number that varies most; what lies above the cut is a new cell.
        number_to_cut, new_cell = open_shares.argmax(axis=0), np.full(cells, -1)
        new_cell[divided_cells] = cells + np.arange(len(divided_cells))
        divided = cell.copy()
        for number, (position, best) in enumerate(zip(positions, best_cuts, strict=True)):
            above = (new_cell[cell] >= 0) & (number_to_cut[cell] == number) & (position > best.cut[cell])
            divided[above] = new_cell[cell[above]]
        cell = divided


class BestCuts(NamedTuple):
    """The sum of squares within each cell, and the code after which a cut leaves the least of it; both [cells]."""

    within: Floats
    cut: Wholes


def _best_cuts(cell: Wholes, position: Wholes, weight: Floats, cells: int) -> BestCuts:
    """Return, for each cell, the sum of squares within it and the code after which a cut lowers it most.

    ``cell``, ``position`` and ``weight`` are each combination's cell, code of the number and weight; ``cells`` counts
    cells.
    """
    width = int(position.max()) + 1
    table = np.bincount(cell * width + position, weight, cells * width).reshape(cells, width)
    positions = np.arange(width)
    weight_below, sum_below = np.cumsum(table, axis=1), np.cumsum(table * positions, axis=1)
    total, sums = weight_below[:, -1:], sum_below[:, -1:]
    within = (table * positions**2).sum(axis=1) - sums[:, 0] ** 2 / total[:, 0]
    weight_above = total - weight_below
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = sum_below**2 / weight_below + (sums - sum_below) ** 2 / weight_above
    is_cut = (weight_below > 0) & (weight_above > 0)
    # A cell of one place has nothing but rounding within it.
    within = np.where(is_cut.any(axis=1), np.maximum(within, 0.0), 0.0)
    return BestCuts(within, np.where(is_cut, gain, -np.inf).argmax(axis=1))


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
"""The parts of a cell's width in which positions in it are counted, so that sums over 2^33 rows fit an integer."""

_FINER = (1 << _SHIFT) - 1  # the bits of a float that tell where in its cell it is


def _cells_of_distances(distance: Floats) -> tuple[Wholes, Floats]:
    """Return the grid cell [n] of each probability's ``distance`` [n] from 0 or 1, and its position within the cell.

    Distances are at most 1/2. Cells are numbered upwards from 0, positions are in `UNITS` of the cell's width, rounded
    down.
    """
    scaled = distance * EVEN
    even = np.floor(scaled)
    part_of_cell = np.floor((scaled - even) * UNITS)
    cell = even.astype(np.int32) + np.int32(1 + _TAIL_CELLS - int(EVEN * TAIL))
    tail_indices = np.flatnonzero(distance < TAIL)
    if len(tail_indices):
        bits = distance[tail_indices].view(np.int64)
        tail_cell = np.maximum((bits >> _SHIFT) - (_LOWEST - 1), 0)
        nearest = np.floor(distance[tail_indices] * 2.0**-NEAREST * UNITS)
        cell[tail_indices] = tail_cell
        part_of_cell[tail_indices] = np.where(tail_cell > 0, (bits & _FINER) // ((_FINER + 1) // UNITS), nearest)
    return cell, part_of_cell


def _cell_starts() -> Floats:
    """Return the lower ends of the grid cells of probabilities up to one half, [`HALF`]."""
    near = (np.arange(_TAIL_CELLS) + _LOWEST).view(np.int64) << _SHIFT
    even = np.arange(int(EVEN * TAIL), int(EVEN * 0.5) + 1) / EVEN
    return np.concatenate([[0.0], near.view(np.float64), even])


@dataclass(frozen=True)
class ScoreGrid:
    """The fixed grid of probabilities, with further ``edges``, ascending: at each a cell ends and the next begins."""

    edges: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """The number of cells."""
        return 2 * HALF + len(self.edges)

    def of_probabilities(self, values: Floats) -> Wholes:
        """Return the cell of each probability [n], numbered upwards from 0 by value."""
        return self.placed(values)[0]

    def placed(self, values: Floats) -> tuple[Wholes, Floats]:
        """Return the cell of each probability [n], and its position in the cell, from the end nearer to 0 or 1.

        Sums of positions give the exact means of cells. They are in whole `UNITS` of the width of the cell, or of the
        cell that further edges have divided.
        """
        return self._placed_distances(np.minimum(values, 1 - values), values >= 0.5)

    def placed_log_odds(self, scores: Floats) -> tuple[Wholes, Floats]:
        """Return the cell of each probability, given by its log odds [n], and its position in the cell."""
        return self._placed_distances(distances(scores), scores >= 0)

    def _placed_distances(self, distance: Floats, upper: Flags) -> tuple[Wholes, Floats]:
        """Return cells, and positions in them, of probabilities at distances [n] from 0 or, where ``upper`` [n], 1."""
        plain_cell, part_of_cell = _cells_of_distances(np.ascontiguousarray(distance))
        # The same as where(upper, last - plain, plain), with -1 for the upper half: its bits are all ones.
        flipped = -upper.astype(np.int32)
        plain_cell = (plain_cell ^ flipped) + (flipped & np.int32(2 * HALF))
        if not self.edges:
            return plain_cell, part_of_cell
        numbers = self._with_edges.take(plain_cell)
        edge_indices = np.flatnonzero(numbers < 0)
        if len(edge_indices):
            away = np.where(upper[edge_indices], 1 - distance[edge_indices], distance[edge_indices])
            numbers[edge_indices] = ~numbers[edge_indices] + np.searchsorted(self.edges, away, side="right")
        return numbers, part_of_cell

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
        """The distance of each cell from 0 or 1 and its width, both [cells]; of a divided cell, before the division."""
        near = _cell_starts()
        width = np.diff(near, append=0.5)
        plain = np.stack([np.concatenate([side, side[::-1]]) for side in (near, width)])
        before = np.repeat(np.arange(2 * HALF), 1 + np.bincount(self._edge_cells, minlength=2 * HALF))
        return plain[0][before], plain[1][before]

    @cached_property
    def _edge_cells(self) -> Wholes:
        """For each further edge, the cell that it divides in the grid without further edges."""
        return ScoreGrid().of_probabilities(np.array(self.edges))

    @cached_property
    def _with_edges(self) -> Wholes:
        """The number in this grid of each cell of the grid without edges, [2 HALF].

        A cell that an edge divides has several: it has `~` of its number there, to which the edges below a value add.
        """
        plain, inside = np.arange(2 * HALF), np.bincount(self._edge_cells, minlength=2 * HALF)
        return np.where(inside > 0, ~plain, plain + np.cumsum(inside) - inside).astype(np.int32)


def distances(scores: Floats) -> Floats:
    """Return how far probabilities are from 0 or 1, whichever is nearer; their log odds are ``scores`` [n]."""
    return np.asarray(expit(-np.abs(scores)))


def probabilities_of_log_odds(scores: Floats) -> Floats:
    """Return the probabilities whose log odds are ``scores`` [n]."""
    near = distances(scores)
    return np.where(scores >= 0, 1 - near, near)
