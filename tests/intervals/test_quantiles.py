"""Quantiles against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from evalpipe.intervals.bootstrap import quantiles


@pytest.mark.parametrize("n", [1, 2, 3, 10, 1999, 2000])
def test_quantiles_are_those_of_numpy_bit_for_bit(n: int) -> None:
    generator = np.random.default_rng(n)
    shares = np.concatenate([[0, 0.025, 0.05, 0.5, 0.975, 1], generator.random(50)])
    for values in (generator.normal(size=n), generator.integers(0, 3, n) / 3):
        assert np.array_equal(quantiles(values, shares), np.quantile(values, shares))
        assert np.array_equal(quantiles(values, [0.25]), np.quantile(values, [0.25]))
