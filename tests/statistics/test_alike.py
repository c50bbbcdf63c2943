"""Cells of rows that are alike in several numbers."""

from __future__ import annotations

import numpy as np

from evalpipe.statistics.grid import cells_of_similar_rows

N = 4000


def numbers() -> tuple[np.ndarray, list[np.ndarray]]:
    generator = np.random.default_rng(0)
    pattern = generator.integers(0, 3, N)
    first = generator.integers(0, 64, N)
    return pattern, [first, np.clip(first + generator.integers(-9, 10, N), 0, 63)]


def within(cell: np.ndarray, places: np.ndarray) -> float:
    total = ((places - places.mean()) ** 2).sum()
    return float(sum(((places[cell == k] - places[cell == k].mean()) ** 2).sum() for k in np.unique(cell)) / total)


def test_cells_keep_patterns_apart_and_lose_as_little_as_they_say() -> None:
    pattern, codes = numbers()
    cell, lost = cells_of_similar_rows(pattern, codes, 2000, 1e-3)
    assert len(np.unique(cell)) == cell.max() + 1 < 2000
    assert all(len(set(pattern[cell == k])) == 1 for k in range(cell.max() + 1))
    # Sums of squares of whole numbers, in another order.
    assert np.isclose(lost, max(within(cell, code) for code in codes), rtol=1e-9)
    assert lost <= 1e-3


def test_there_are_never_more_cells_than_allowed() -> None:
    pattern, codes = numbers()
    for most in (3, 4, 10, 100):
        cell, lost = cells_of_similar_rows(pattern, codes, most, 1e-9)
        assert cell.max() + 1 == most
        assert lost > 1e-9


def test_numbers_that_are_alike_are_not_cut() -> None:
    pattern, _ = numbers()
    cell, lost = cells_of_similar_rows(pattern, [np.zeros(N, int)], 100, 1e-3)
    assert (cell == pattern).all()
    assert lost == 0
    cell, lost = cells_of_similar_rows(pattern, [pattern * 7], 100, 1e-3)
    assert (cell == pattern).all()
    assert lost == 0


def test_the_order_of_rows_changes_no_cell() -> None:
    pattern, codes = numbers()
    order = np.random.default_rng(1).permutation(N)
    cell, lost = cells_of_similar_rows(pattern, codes, 300, 1e-3)
    shuffled, same = cells_of_similar_rows(pattern[order], [code[order] for code in codes], 300, 1e-3)
    assert (shuffled == cell[order]).all()
    assert same == lost
