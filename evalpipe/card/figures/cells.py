"""Where in a panel a label fits, for all places at once: the cells of a panel are the bits of an integer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.figures.panel import Panel

CELL = 3.0
"""Pixels of a cell, across and down; also the most between two points of a line."""

GUARD = 200
"""Empty cells below each column, so that cells which are moved down never reach the next one."""

Box = tuple[float, float, float, float]
"""Left, top, right and bottom, in pixels."""

Point = tuple[float, float]


class LabelSize(NamedTuple):
    """The cells that a label takes."""

    across: int
    down: int


@dataclass(frozen=True)
class CellGrid:
    """The cells of a panel: its left upper corner in pixels, and how many columns and rows there are.

    Some cells are an integer with a bit for each, the first column in the lowest bits, from the top. Labels begin at
    the cell of their left upper corner.
    """

    left: float
    top: float
    columns: int
    rows: int

    @cached_property
    def stride(self) -> int:
        """The number of bits from a column to the next, in a set of cells as an int."""
        return self.rows + GUARD

    def cells_of_points(self, points: Iterable[Point]) -> int:
        """Return the cells that contain a point, as bits of an int."""
        left, top, columns, rows, stride = self.left, self.top, self.columns, self.rows, self.stride
        octets = bytearray(columns * stride // 8 + 1)
        for x, y in points:
            column, row = int((x - left) // CELL), int((y - top) // CELL)
            if 0 <= row < rows and 0 <= column < columns:
                bit = column * stride + row
                octets[bit >> 3] |= 1 << (bit & 7)
        return int.from_bytes(octets, "little")

    def cells_of_boxes(self, boxes: Iterable[Box]) -> int:
        """Return the cells that boxes overlap, as bits of an int."""
        cells = 0
        for left, top, right, bottom in boxes:
            first, last = max(0, int((left - self.left) // CELL)), int((right - self.left) // CELL)
            highest, lowest = max(0, int((top - self.top) // CELL)), int((bottom - self.top) // CELL)
            cells |= self.rectangle(first, highest, min(last, self.columns - 1), min(lowest, self.rows - 1))
        return cells

    def rectangle(self, first: int, highest: int, last: int, lowest: int) -> int:
        """Return the cells of columns ``first`` to ``last`` and rows ``highest`` to ``lowest``, as bits."""
        if last < first or lowest < highest:
            return 0
        column = (1 << (lowest - highest + 1)) - 1
        return self._repeated(column << highest, last - first + 1) << first * self.stride

    def _repeated(self, column: int, times: int, step: int = 1) -> int:
        """Return the bits of a column of cells repeated ``times`` times, in each column or each ``step``-th."""
        cells, reached = column, 1
        while reached < times:
            more = min(reached, times - reached)
            cells |= cells << more * step * self.stride
            reached += more
        return cells

    def inside(self, size: LabelSize) -> int:
        """Return the cells, as bits of an int, at which the upper left corner of a label keeps it in the panel."""
        return self.rectangle(0, 0, self.columns - size.across, self.rows - size.down)

    def every(self, step: int) -> int:
        """Return each ``step``-th cell of each ``step``-th column, as bits of an int."""
        column = sum(1 << row for row in range(0, self.rows, step))
        return self._repeated(column, -(-self.columns // step), step)

    def near(self, cells: int, size: LabelSize, room: int) -> int:
        """Return the corner cells of labels that would cover ``cells`` or come within ``room`` cells of them.

        Cells are bits of an int; ``size`` is that of a label, in cells.
        """
        # Before they are spread, cells are moved by the room, for it is on all four sides.
        spread = cells << room * (self.stride + 1)
        for length, bits in ((size.down, 1), (size.across, self.stride)):
            reach, full = 1, length + 2 * room
            while reach < full:
                step = min(reach, full - reach)
                spread |= spread >> step * bits
                reach += step
        return spread

    def among(self, cells: int, points: Iterable[Point]) -> Iterator[bool]:
        """Yield whether the cell of each point, in pixels, is among ``cells``, bits of an int."""
        left, top, columns, rows, stride = self.left, self.top, self.columns, self.rows, self.stride
        # A bit of a few bytes is read at once, one of a long integer only by moving all of it.
        octets = (cells & (1 << columns * stride) - 1).to_bytes(columns * stride // 8 + 1, "little")
        for x, y in points:
            column, row = int((x - left) // CELL), int((y - top) // CELL)
            bit = column * stride + row
            yield 0 <= row < rows and 0 <= column < columns and bool(octets[bit >> 3] >> (bit & 7) & 1)

    def corner(self, cells: int) -> Point:
        """Return the left upper corner, in pixels, of the rightmost, then lowest, of ``cells``, bits of an int."""
        column, row = divmod(cells.bit_length() - 1, self.stride)
        return self.left + CELL * column, self.top + CELL * row

    def corners(self, cells: int) -> Iterator[Point]:
        """Yield the left upper corners, in pixels, of ``cells``, bits of an int, from right to left."""
        while cells:
            yield self.corner(cells)
            cells ^= 1 << cells.bit_length() - 1


def grid_of(panel: Panel, beyond: float = 0.0) -> CellGrid:
    """Return the grid of cells inside a panel's frame, extended ``beyond`` its top and foot by so many pixels."""
    columns, rows = int((panel.width - 3) // CELL), int((panel.height - 1 + 2 * beyond) // CELL)
    return CellGrid(panel.left + 2, panel.top + 1 - beyond, columns, rows)


def size_in_cells(width: float, height: float) -> LabelSize:
    """Return how many cells a label of this width and height, in pixels, covers across and down."""
    return LabelSize(math.ceil(width / CELL), math.ceil(height / CELL))


def points_along(pixels: Sequence[Point]) -> list[Point]:
    """Return points along a line, in pixels, at most `CELL` apart."""
    points = list(pixels[:1])
    for (a, b), (c, d) in pairwise(pixels):
        steps = math.ceil(math.hypot(c - a, d - b) / CELL)
        points += [(a + (c - a) * k / steps, b + (d - b) * k / steps) for k in range(1, steps)]
        points.append((c, d))
    return points
