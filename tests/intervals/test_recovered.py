"""Limits of a difference of two independent numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from evalpipe.intervals.binomial import wilson
from evalpipe.intervals.recovered import recovered_limits


def test_symmetric_limits_give_the_normal_interval_of_the_difference() -> None:
    z, errors = norm.ppf(0.975), (0.03, 0.04)
    first, second = ((v, v - z * e, v + z * e) for v, e in zip((0.8, 0.7), errors, strict=True))

    # The sum of two variances is exact; what is left is rounding.
    assert recovered_limits(first, second) == pytest.approx((0.1 - z * 0.05, 0.1 + z * 0.05), abs=1e-14)


def test_wilson_limits_give_newcombes_hybrid_score_interval() -> None:
    # Newcombe (1998), Statistics in Medicine 17, 873-890, table II, method 10, printed to four decimals.
    published = {
        ((56, 70), (48, 80)): (0.0524, 0.3339), ((9, 10), (3, 10)): (0.1705, 0.8090),
        ((6, 7), (2, 7)): (0.0582, 0.8062), ((5, 56), (0, 29)): (-0.0381, 0.1926),
        ((0, 10), (0, 20)): (-0.1611, 0.2775), ((10, 10), (0, 20)): (0.6791, 1.0),
    }
    for ((a, m), (b, n)), limits in published.items():
        first, second = ((k / t, *map(float, wilson(k, t, 0.95))) for k, t in ((a, m), (b, n)))
        assert recovered_limits(first, second) == pytest.approx(limits, abs=5e-5)


def test_the_order_of_the_two_turns_the_limits_round() -> None:
    first, second = (0.8, 0.71, 0.85), (0.6, 0.58, 0.7)
    low, high = recovered_limits(first, second)
    assert recovered_limits(second, first) == pytest.approx((-high, -low), abs=1e-15)


def test_a_limit_beyond_its_value_adds_nothing() -> None:
    assert recovered_limits((0.5, 0.52, 0.6), (0.5, 0.5, 0.5)) == pytest.approx((0.0, 0.1), abs=1e-15)


def test_simulated_differences_are_covered_as_often_as_stated() -> None:
    generator, covered, draws = np.random.default_rng(5), 0, 2000
    for _ in range(draws):
        a, b = generator.binomial(80, 0.9), generator.binomial(60, 0.7)
        first, second = ((k / t, *map(float, wilson(k, t, 0.95))) for k, t in ((a, 80), (b, 60)))
        low, high = recovered_limits(first, second)
        covered += low <= 0.2 <= high
    # Four standard errors of a share of 0.95 in 2,000 draws are 0.0195.
    assert covered / draws == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / draws))
