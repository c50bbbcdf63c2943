"""p-values from limits: against a bound, and of two numbers of independent samples."""

from __future__ import annotations

import pytest
from scipy.stats import norm

from evalpipe.intervals.binomial import wilson
from evalpipe.intervals.multiplicity import SMALLEST, limits_between, p_against, p_between, p_of

CLOSE = 1e-9  # the same normal distribution, from the standard library and from scipy


def row(
    value: float | None, lower: float | None, upper: float | None
) -> tuple[float | None, float | None, float | None, float | None]:
    return value, lower, upper, 0.95


def test_a_bound_at_the_end_of_the_interval_has_the_p_value_of_its_level() -> None:
    assert p_against(row(0.6, 0.5, 0.8), 0.5) == pytest.approx(0.05, rel=CLOSE)
    assert p_against(row(0.6, 0.5, 0.8), 0.8) == pytest.approx(0.05, rel=CLOSE)


def test_only_the_half_towards_the_bound_counts() -> None:
    assert p_against(row(0.6, 0.5, 0.9), 0.4) == pytest.approx(2 * norm.sf(2 * norm.ppf(0.975)), rel=CLOSE)
    assert p_against(row(0.6, 0.5, 0.9), 0.4) == p_against(row(0.6, 0.5, 0.61), 0.4)


@pytest.mark.parametrize("limits", [(None, None), (0.5, None), (None, 0.7)])
def test_without_limits_nothing_is_shown(limits: tuple[float | None, float | None]) -> None:
    assert p_against(row(0.6, *limits), 0.1) == 1.0
    assert p_against(row(None, None, None), 0.1) == 1.0


def test_an_interval_of_no_width_decides_unless_it_is_the_bound() -> None:
    assert p_against(row(0.6, 0.6, 0.6), 0.5) == SMALLEST
    assert p_against(row(0.6, 0.6, 0.6), 0.6) == 1.0


def test_a_value_on_the_bound_shows_nothing() -> None:
    assert p_against(row(0.5, 0.4, 0.6), 0.5) == 1.0
    assert p_of(0.0) == 1.0


def test_two_samples_are_apart_by_their_errors_together() -> None:
    first, second = row(0.2, 0.1, 0.3), row(0.5, 0.4, 0.9)
    error = 2**0.5 * 0.1 / norm.ppf(0.975)
    assert p_between(first, second) == pytest.approx(2 * norm.sf(0.3 / error), rel=CLOSE)
    assert p_between(second, first) == p_between(first, second)
    assert p_between(first, first) == 1.0
    assert p_between(first, row(0.5, None, None)) == 1.0


def test_limits_of_a_difference_are_those_that_newcombe_prints() -> None:
    """56 of 70 less 48 of 80: 0.0524 to 0.3339 with Wilson's limits, Newcombe (1998), table II (a), method 10."""
    first, second = ((x / n, *map(float, wilson(x, n, 0.95)), 0.95) for x, n in ((48, 80), (56, 70)))
    assert limits_between(first, second) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    with pytest.raises(ValueError, match="without limits"):
        limits_between(first, (0.8, None, None, None))
