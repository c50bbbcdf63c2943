"""Grids of numbers: what shares a cell, what stands for it, and how combinations are numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evalpipe.statistics.grid import EDGES, TENTHS, cut, joint, means

SAMPLES = {
    "spread": np.random.default_rng(0).random(5000),
    "tails": 1 / (1 + np.exp(-np.random.default_rng(1).normal(0, 12, 5000))),
    "ties": np.round(np.random.default_rng(2).random(5000), 1),
    "few": np.array([0.3, 0.1, 0.3]),
    "one value": np.full(50, 0.5),
    "numbers": np.random.default_rng(3).normal(0, 1e6, 5000),
}


@pytest.mark.parametrize("edges", [None, EDGES, np.array([0.5])])
@pytest.mark.parametrize("name", SAMPLES)
def test_cells_are_intervals_in_ascending_order_that_part_no_equal_values(name: str, edges: Any) -> None:
    values = SAMPLES[name]
    cells = cut(values, 100, *([] if edges is None else [(values, edges)]))
    assert set(cells) == set(range(cells.max() + 1))  # every cell holds a value
    order = np.argsort(values, kind="stable")
    assert (np.diff(cells[order]) >= 0).all()
    assert all(len(set(cells[values == value])) == 1 for value in np.unique(values)[:50])
    assert cells.max() + 1 <= 100 + (0 if edges is None else len(edges))
    if edges is not None:  # an edge belongs to the cell above it
        for edge in edges:
            assert not set(cells[values < edge]) & set(cells[values >= edge])


@pytest.mark.parametrize("name", ["spread", "tails", "numbers"])
def test_without_edges_cells_hold_equally_many_values(name: str) -> None:
    count = np.bincount(cut(SAMPLES[name], 100))
    assert count.sum() == 5000
    assert count.min() >= 49
    assert count[count > 51].sum() <= (SAMPLES[name] == SAMPLES[name].max()).sum() + 51  # but for rounding to 1


def test_no_cell_joins_probabilities_of_very_different_logarithms() -> None:
    for edges, apart in ((EDGES, 0.5), (TENTHS, 2.0)):
        values = np.sort(1 / (1 + np.exp(-np.linspace(-30, 30, 200_001))))
        cells = cut(values, 2, (values, edges))
        first, last = np.unique(cells, return_index=True)[1], np.append(np.flatnonzero(np.diff(cells)), len(values) - 1)
        low, high = values[first], values[last]
        tail = high <= 0.01
        assert tail.sum() > 5
        # Steps of the edges on the logit scale, in the tail nearly that of the logarithm.
        assert np.log(high[tail] / low[tail]).max() <= apart + 0.01


@pytest.mark.parametrize("weight", [None, np.arange(1.0, 5001)])
def test_a_cell_stands_for_its_weighted_mean(weight: Any) -> None:
    values = SAMPLES["tails"]
    cells = cut(values, 37, (values, EDGES))
    found = means(values, cells, weight)
    each = np.ones(5000) if weight is None else weight
    for cell in range(cells.max() + 1):
        held = cells == cell
        # 1e-12: the same sums in another order.
        assert found[cell] == pytest.approx(np.average(values[held], weights=each[held]), rel=1e-12)
        assert values[held].min() <= found[cell] <= values[held].max()


def test_equal_values_stand_for_themselves_without_rounding() -> None:
    values = np.repeat([0.1, 0.7], [3, 7])
    assert values[:3].sum() / 3 != 0.1  # as it would be computed
    assert means(values, cut(values, 2)).tolist() == [0.1, 0.7]


def test_combinations_are_numbered_in_the_order_of_their_codes() -> None:
    generator = np.random.default_rng(4)
    codes = [generator.integers(0, most, 500) for most in (3, 1, 40, 7)]
    found, count = joint(*codes)
    known = sorted(set(zip(*(code.tolist() for code in codes), strict=True)))
    assert count == len(known)
    assert [known[k] for k in found] == list(zip(*(code.tolist() for code in codes), strict=True))


def test_many_large_codes_do_not_overflow() -> None:
    codes = [np.array([0, 2**40, 2**40, 5]) for _ in range(4)]
    assert joint(*codes)[0].tolist() == [0, 2, 2, 1]
