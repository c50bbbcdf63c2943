"""The pooling of adjacent violators, held to that of scipy: the same blocks of values, the same levels of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from evalpipe.calibration.isotonic import FEW, block_starts, pava, pooled

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

SIZES = (1, 2, 3, 10, 100, 1000, FEW, FEW + 1)


def _levels(events: Floats, total: Floats, starts: Wholes) -> Floats:
    """Return the level at each place."""
    levels = np.add.reduceat(events, starts) / np.add.reduceat(total, starts)
    return np.repeat(levels, np.diff(starts, append=len(total)))


@pytest.mark.parametrize("size", SIZES)
def test_blocks_are_those_of_scipy(size: int) -> None:
    rng = np.random.default_rng(size)
    for weight in (np.ones(size), rng.random(size) + 0.01, rng.integers(1, 5, size) * 0.1):
        for values in (rng.random(size), rng.integers(0, 4, size) / 7, -np.arange(size) / 3, np.arange(size) / 3,
                       np.rint(weight * rng.random(size)) / weight, np.sort(rng.random(size)) + rng.random(size) / 9):
            expected = isotonic_regression(values, weights=weight).blocks[:-1]
            assert list(block_starts(values, weight)) == list(expected)


def test_many_fits_of_weights_are_left_to_scipy_and_have_the_same_blocks() -> None:
    rng = np.random.default_rng(3)
    total = rng.random(60) + 0.01  # whole numbers are pooled in rounds, however many fits there are
    events = total * rng.random(60)

    for few, many in zip(pava(events, total), pava(events, total, FEW), strict=True):
        assert few.tolist() == many.tolist()
    assert pava(events, total)[0].tolist() == isotonic_regression(events / total, weights=total).blocks[:-1].tolist()


@pytest.mark.parametrize("largest", [2, 5, 10_000])
def test_counts_of_many_fits_have_the_levels_of_scipy(largest: int) -> None:
    rng = np.random.default_rng(largest)
    for fits in (1, 7):
        for m in (1, 5, 200):
            total = rng.integers(1, largest, fits * m) * 1.0
            events = rng.binomial(total.astype(int), np.tile(np.linspace(0, 1, m), fits)) * 1.0
            fit = np.repeat(np.arange(fits), m)
            expected = isotonic_regression(events / total + 2.0 * fit, weights=total).blocks[:-1]

            starts = pooled(events, total, np.diff(fit, prepend=-1) > 0)
            assert _levels(events, total, starts).tolist() == _levels(events, total, expected).tolist()


def test_counts_that_are_pooled_one_after_another_have_the_levels_of_scipy() -> None:
    total = np.full(400, 1000.0)
    events = np.tile(np.append(np.arange(199.0) * 5, 0.0), 2)  # each round pools the last block with the one before it
    fit = np.repeat([0, 1], 200)
    expected = isotonic_regression(events / total + 2.0 * fit, weights=total).blocks[:-1]

    starts = pooled(events, total, np.diff(fit, prepend=-1) > 0)
    assert _levels(events, total, starts).tolist() == _levels(events, total, expected).tolist()
