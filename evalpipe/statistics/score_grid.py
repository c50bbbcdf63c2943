"""A fixed grid of probabilities, the same for all data: fine everywhere, and finer still near 0 and 1.

From 1/64 to 63/64 all cells are 2^-16 wide; below and above, each halving of the distance from the end has 1,024 cells,
so that no cell there is wider than a thousandth of that distance. Further edges may be put where a measure has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import expit

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes

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


def _place(distance: Floats) -> tuple[Wholes, Floats]:
    """Number the cells of distances from an end, from 0 to 1/2, upwards from 0, and tell where in its cell each is.

    The latter in `UNITS` of the cell's width, rounded down.
    """
    scaled = distance * EVEN
    even = np.floor(scaled)
    inside = np.floor((scaled - even) * UNITS)
    place = even.astype(np.int32) + np.int32(1 + _TAIL_CELLS - int(EVEN * TAIL))
    near = np.flatnonzero(distance < TAIL)
    if len(near):
        place[near], inside[near] = _near(distance[near])
    return place, inside


def _near(distance: Floats) -> tuple[Wholes, Floats]:
    """Do the same for distances below `TAIL`."""
    bits = distance.view(np.int64)
    place = np.maximum((bits >> _SHIFT) - (_LOWEST - 1), 0)
    nearest = np.floor(distance * 2.0**-NEAREST * UNITS)
    return place, np.where(place > 0, (bits & _FINER) // ((_FINER + 1) // UNITS), nearest)


def _begins() -> Floats:
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

    def of_log_odds(self, scores: Floats) -> Wholes:
        """Return the cell of the probability that each of the log odds [n] comes to, without rounding it to 1."""
        return self.placed_log_odds(scores)[0]

    def placed(self, values: Floats) -> tuple[Wholes, Floats]:
        """Return the cell of each probability [n], and how far into it, from the nearer end of 0 and 1, the value lies.

        That is in whole `UNITS` of the width of the cell, or of the one without further edges that it is a part of.
        """
        return self._numbered(np.minimum(values, 1 - values), values >= 0.5)

    def placed_log_odds(self, scores: Floats) -> tuple[Wholes, Floats]:
        """Return the same of the probabilities that log odds [n] come to."""
        return self._numbered(distances(scores), scores >= 0)

    def _numbered(self, distance: Floats, upper: Flags) -> tuple[Wholes, Floats]:
        plain, inside = _place(np.ascontiguousarray(distance))
        # The same as where(upper, last - plain, plain), with -1 for the upper half: its bits are all ones.
        flipped = -upper.astype(np.int32)
        plain = (plain ^ flipped) + (flipped & np.int32(2 * HALF))
        if not self.edges:
            return plain, inside
        numbers = self._moved.take(plain)
        parted = np.flatnonzero(numbers < 0)
        if len(parted):
            away = np.where(upper[parted], 1 - distance[parted], distance[parted])
            numbers[parted] = ~numbers[parted] + np.searchsorted(self.edges, away, side="right")
        return numbers, inside

    @cached_property
    def ends(self) -> Floats:
        """The least and the largest probability that a cell may hold, [cells, 2]."""
        begins = _begins()
        stops = np.append(begins[1:], 0.5)
        lower, upper = np.stack([begins, stops]), 1 - np.stack([stops, begins])
        low, high = np.concatenate([lower, upper[:, ::-1]], axis=1)
        cells = self._edge_cells
        low, high = np.insert(low, cells + 1, self.edges), np.insert(high, cells, self.edges)
        # An edge begins a cell, so that no value of the cell that ends there is taken for one of the next.
        return np.stack([low, np.where((low < high) & np.isin(high, self.edges), np.nextafter(high, 0), high)], axis=1)

    @cached_property
    def spans(self) -> tuple[Floats, Floats]:
        """How near to 0 or 1 the cell begins that each is, or is a part of, [cells], and how wide that is."""
        near = _begins()
        width = np.diff(near, append=0.5)
        plain = np.stack([np.concatenate([side, side[::-1]]) for side in (near, width)])
        before = np.repeat(np.arange(2 * HALF), 1 + np.bincount(self._edge_cells, minlength=2 * HALF))
        return plain[0][before], plain[1][before]

    @cached_property
    def _edge_cells(self) -> Wholes:
        """The cell of the grid without further edges that each of these is in."""
        return ScoreGrid().of_probabilities(np.array(self.edges))

    @cached_property
    def _moved(self) -> Wholes:
        """For each cell of the plain grid, its number here; `~` of the plain number where an edge is inside."""
        plain, inside = np.arange(2 * HALF), np.bincount(self._edge_cells, minlength=2 * HALF)
        return np.where(inside > 0, ~plain, plain + np.cumsum(inside) - inside).astype(np.int32)


def distances(scores: Floats) -> Floats:
    """Return how far the probabilities that log odds [n] come to are from 0 or 1, whichever is nearer."""
    return np.asarray(expit(-np.abs(scores)))


def chances(scores: Floats) -> Floats:
    """Return the probabilities that log odds [n] come to."""
    near = distances(scores)
    return np.where(scores >= 0, 1 - near, near)
