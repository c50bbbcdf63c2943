"""The isotonic curve of rows lies within the limits that the cells of a grid tell, in whatever order the rows are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.isotonic import IsotonicRegression

import evalpipe.engine.grid_bounds as grid
from evalpipe.statistics import Rows

ROUNDING = 1e-12
"""What the rounding of sums of at most 60 weights may add."""


def of_cells(cell: np.ndarray, truth: np.ndarray, weight: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the least and the largest distance of each cell's rows of one outcome from the curve."""
    kinds, place = np.unique(2 * cell + truth, return_inverse=True)
    held, weights = kinds // 2, np.bincount(place, weight).astype(float)
    rows = Rows(kinds % 2 == 1, None, probability=ends[held].mean(axis=1), score=held.astype(float), ends=ends[held])
    nearest, farthest = grid.isotonic_distances(rows, ends[held, 0] == ends[held, 1], weights)
    return nearest[place], farthest[place]


@pytest.mark.parametrize("most", [4096, 3])
def test_the_curve_of_scikit_learn_is_within_the_limits(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr(grid, "MOST_CELLS", most)
    generator, reached = np.random.default_rng([30, most]), np.zeros(2)
    for _ in range(400):
        n, cells = generator.integers(2, 60), generator.integers(1, 9)
        edges = np.sort(generator.random(cells + 1))
        ends = np.stack([edges[:-1], np.where(generator.random(cells) < 0.3, edges[:-1], edges[1:])], axis=1)
        cell, truth = generator.integers(0, cells, n), generator.random(n) < generator.random()
        weight = generator.choice([1.0, 2.5, 0.3], n)
        nearest, farthest = of_cells(cell, truth, weight, ends)
        for side in (None, True, False):  # anywhere; then events above the others, and below
            inside = generator.random(n) if side is None else np.where(truth == side, 0.9, 0.1)
            p = ends[cell, 0] + inside * (ends[cell, 1] - ends[cell, 0])
            away = np.abs(IsotonicRegression().fit(p, truth, weight).predict(p) - p)
            assert (nearest - ROUNDING <= away).all()
            assert (away <= farthest + ROUNDING).all()
            reached += (away - nearest).min() <= ROUNDING, (farthest - away).min() <= ROUNDING
    # The limits are no wider than need be: often some row is on them, where no cells are joined.
    assert (reached > (300 if most > 9 else 0)).all()


def test_rows_without_weight_have_no_distance() -> None:
    nearest, farthest = of_cells(np.array([0, 1]), np.array([True, False]), np.zeros(2), np.array([[0.1, 0.2]] * 2))
    assert (nearest == 0).all()
    assert (farthest == 0).all()
