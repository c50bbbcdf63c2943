"""Where labels fit in a panel, against a look at every place by itself."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

from evalpipe.card.figures.cells import CELL, CellGrid, LabelSize, points_along

LEFT, TOP = 10.5, 7.0


@pytest.mark.parametrize("seed", range(40))
def test_a_label_is_near_a_point_exactly_where_one_lies_within_so_many_cells(seed: int) -> None:
    chance = np.random.default_rng(seed)
    columns, rows, room, across, down = (int(n) for n in chance.integers((3, 3, 0, 1, 1), (21, 15, 5, 7, 6)))
    size, grid = LabelSize(across, down), CellGrid(LEFT, TOP, columns, rows)
    occupied = {cell for cell in product(range(columns), range(rows)) if chance.random() < 0.1}
    cells = grid.cells_of_points([(LEFT + CELL * (x + 0.4), TOP + CELL * (y + 0.4)) for x, y in occupied])
    inside, near = grid.inside(size), grid.near(cells, size, room)
    fitting = {(x, y) for x, y in product(range(columns), range(rows))
               if x + size.across <= columns and y + size.down <= rows}
    crowded = {(x, y) for x, y in fitting if occupied & set(product(
        range(x - room, x + size.across + room), range(y - room, y + size.down + room)))}
    for places, wanted in ((inside, fitting), (inside & near, crowded), (inside & ~near, fitting - crowded)):
        assert {((x - LEFT) / CELL, (y - TOP) / CELL) for x, y in grid.corners(places)} == wanted


def test_boxes_occupy_every_cell_that_they_overlap_and_points_beyond_the_panel_none() -> None:
    grid = CellGrid(0.0, 0.0, 4, 3)
    assert set(grid.corners(grid.cells_of_boxes([(3.5, 3.5, 7.0, 6.5)]))) == {(3, 3), (3, 6), (6, 3), (6, 6)}
    assert grid.cells_of_boxes([(20.0, 0.0, 30.0, 5.0), (0.0, -9.0, 5.0, -4.0)]) == 0
    assert grid.cells_of_points([(-1.0, 1.0), (1.0, 9.5), (12.5, 1.0)]) == 0
    assert set(grid.corners(grid.every(2))) == {(0, 0), (6, 0), (0, 6), (6, 6)}
    assert not grid.inside(LabelSize(5, 1))


def test_points_of_a_line_are_at_most_a_cell_apart_and_keep_its_corners() -> None:
    points = points_along([(0.0, 0.0), (10.0, 0.0), (10.0, 1.0)])
    assert {(0.0, 0.0), (10.0, 0.0), (10.0, 1.0)} <= set(points)
    assert all(abs(a - c) + abs(b - d) <= CELL for (a, b), (c, d) in pairwise(points))
    assert points_along([]) == []
