"""Limits of a difference of two numbers, from their own limits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import norm

from evalpipe.intervals.binomial import wilson
from evalpipe.intervals.contrasts import net_benefit_limits, recovered_limits


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


def limits(total: int, reached: int, others: int, threshold: float) -> tuple[float, float]:
    return net_benefit_limits(
        np.array(total), np.array(reached), np.array(others), {"threshold": threshold}, 0.95)


@pytest.mark.parametrize(("reached", "others", "threshold"), [(12, 7, 0.5), (3, 20, 0.1), (0, 4, 0.3)])
def test_limits_of_a_net_benefit_are_those_of_two_shares_of_one_draw(
    reached: int, others: int, threshold: float
) -> None:
    n, odds = 60, threshold / (1 - threshold)
    (l1, u1), (l2, u2) = ((float(low), float(high)) for low, high in (wilson(k, n, 0.95) for k in (reached, others)))
    p1, p2 = reached / n, others / n
    # The correlation of Newcombe (1998): phi of the table of those reached, of whom none is both.
    table = np.array([[0, reached], [others, n - reached - others]])
    margins = table.sum(0).prod() * table.sum(1).prod()
    r = (table[0, 0] * table[1, 1] - table[0, 1] * table[1, 0]) / math.sqrt(margins) if margins else 0.0
    down, up = np.array([p1 - l1, odds * (u2 - p2)]), np.array([u1 - p1, odds * (p2 - l2)])
    shape = np.array([[1, -r], [-r, 1]])
    expected = [p1 - odds * p2 + sign * math.sqrt(d @ shape @ d) for sign, d in ((-1, down), (1, up))]
    assert limits(n, reached, others, threshold) == pytest.approx(expected, rel=1e-12)


def test_where_every_row_is_reached_and_an_event_there_is_no_correlation_to_tell() -> None:
    low, high = limits(20, 20, 0, 0.5)
    assert low < 1 == high


@pytest.mark.parametrize(("events", "threshold"), [(5, 0.05), (10, 0.1), (20, 0.02), (50, 0.2)])
def test_net_benefits_are_covered_as_often_as_stated(events: int, threshold: float) -> None:
    """Of 1,000 rows so many are events on average; 60 % of these are reached, and 5 % of the others."""
    generator, covered, draws, n = np.random.default_rng(364), 0, 1000, 1000
    shares = 0.6 * events / n, 0.05 * (1 - events / n)
    true = shares[0] - shares[1] * threshold / (1 - threshold)
    for reached, others, _ in generator.multinomial(n, [*shares, 1 - sum(shares)], draws):
        low, high = limits(n, reached, others, threshold)
        covered += low <= true <= high
    # Four standard errors of a share of 0.95 in 1,000 draws are 0.028.
    assert covered / draws == pytest.approx(0.95, abs=4 * math.sqrt(0.95 * 0.05 / draws))
