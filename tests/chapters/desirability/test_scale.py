"""The functions of desirability: their corners by hand, their laws over drawn numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.chapters.desirability.compute_scale import (
    box,
    custom,
    first_place_shares,
    maximize,
    minimize,
    overall,
    pareto,
    ranks,
    target,
)

NAN = math.nan
NUMBERS = st.floats(-1e6, 1e6)
SCALES = st.floats(0.05, 20)


@st.composite
def limits(draw: Any) -> tuple[float, float]:
    low = draw(NUMBERS)
    return low, low + draw(st.floats(1e-3, 1e6))


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (maximize([0.4, 0.5, 0.75, 1.0, 1.1, NAN], 0.5, 1.0), [0, 0, 0.5, 1, 1, NAN]),
        (maximize([0.5, 0.75, 1.0], 0.5, 1.0, 2), [0, 0.25, 1]),
        (minimize([-1, 0, 5, 10, 11, NAN], 0, 10), [1, 1, 0.5, 0, 0, NAN]),
        (minimize([5], 0, 10, 0.5), [math.sqrt(0.5)]),
        (target([0, 1, 3, 5, 7, 9, 10, NAN], 1, 5, 9, 2, 1), [0, 0, 0.25, 1, 0.5, 0, 0, NAN]),
        (box([0.79, 0.8, 0.9, 1.0, 1.01, NAN], 0.8, 1.0), [0, 1, 1, 1, 0, NAN]),
        (custom([0, 1, 2, 4, 9, NAN], [1, 3, 5], [1, 0.5, 0.2]), [1, 1, 0.75, 0.35, 0.2, NAN]),
        (custom([0, 1, 2, 5, 9], [1, 3, 5], [1, 0.5, 0.2], "zero"), [0, 1, 0.75, 0.2, 0]),
        (custom([0, 1, 2, 5, 9], [1, 3, 5], [1, 0.5, 0.2], "error"), [NAN, 1, 0.75, 0.2, NAN]),
        (maximize([math.inf, -math.inf], 0, 1), [1, 0]),
    ],
)
def test_each_form_by_hand(found: Any, expected: list[float]) -> None:
    assert found == pytest.approx(expected, abs=1e-15, nan_ok=True)


@given(NUMBERS, limits(), SCALES)
def test_ramps_lie_between_0_and_1_and_mirror_each_other(x: float, ends: tuple[float, float], scale: float) -> None:
    low, high = ends
    rising, falling = float(maximize(x, low, high, scale)), float(minimize(-x, -high, -low, scale))

    assert 0 <= rising <= 1
    # The mirror subtracts the same numbers with both signs turned, which is exact.
    assert rising == falling


@given(NUMBERS, NUMBERS, limits(), SCALES)
def test_ramps_never_turn_back(x: float, y: float, ends: tuple[float, float], scale: float) -> None:
    small, large = sorted((x, y))

    assert maximize(small, *ends, scale) <= maximize(large, *ends, scale)
    assert minimize(small, *ends, scale) >= minimize(large, *ends, scale)


@given(st.floats(0.01, 0.99), st.floats(1.01, 10))
def test_a_scale_above_1_is_harder_and_one_below_1_easier(share: float, scale: float) -> None:
    assert maximize(share, 0, 1, scale) < maximize(share, 0, 1) < maximize(share, 0, 1, 1 / scale)
    assert minimize(share, 0, 1, scale) < minimize(share, 0, 1) < minimize(share, 0, 1, 1 / scale)


@given(NUMBERS, limits(), st.floats(1e-3, 1e6), SCALES, SCALES)
def test_a_target_is_a_rising_and_a_falling_ramp(
    x: float, ends: tuple[float, float], more: float, first: float, second: float
) -> None:
    low, middle = ends
    high = middle + more
    rising, falling = maximize(x, low, middle, first), minimize(x, middle, high, second)

    assert target(x, low, middle, high, first, second) == min(rising, falling)
    assert target(middle, low, middle, high, first, second) == 1


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=1, max_size=6))
def test_the_overall_lies_among_its_parts_and_0_is_unacceptable(parts: list[tuple[float, float]]) -> None:
    d, weights = np.array(parts).T
    found = float(overall(d, weights))

    # k powers and a product lose a few units of the last digit; 1e-12 is far above that.
    assert d.min() * (1 - 1e-12) <= found <= d.max() * (1 + 1e-12)
    assert (found == 0) == bool((d == 0).any())
    assert overall(d, 7 * weights) == pytest.approx(found, rel=1e-12, abs=1e-300)


def test_a_weight_of_3_is_the_goal_three_times() -> None:
    d = np.array([0.2, 0.9, 0.5])

    assert overall(d, [1, 3, 1]) == pytest.approx(overall([0.2, 0.9, 0.9, 0.9, 0.5], [1] * 5), rel=1e-14)
    assert overall(d, [1, 3, 1]) == pytest.approx((0.2 * 0.9**3 * 0.5) ** (1 / 5), rel=1e-14)
    assert overall([0.3], [5.0]) == 0.3


def test_nothing_that_is_undefined_drops_out() -> None:
    found = overall([[0.5, NAN], [0.0, NAN], [1.0, 1.0]], [1.0, 1.0])

    assert found == pytest.approx([NAN, NAN, 1.0], nan_ok=True)


def test_the_best_share_a_tie_and_nobody_wins_what_is_undefined() -> None:
    found = np.array([[0.5, 0.2, NAN, NAN, 0.0], [0.5 + 1e-14, 0.3, 0.1, NAN, 0.0], [0.4, 0.3, 0.9, NAN, 0.0]])

    assert first_place_shares(found) == pytest.approx(np.array([
        [0.5, 0, 0, 0, 1 / 3], [0.5, 0.5, 0, 0, 1 / 3], [0, 0.5, 1, 0, 1 / 3],
    ]))
    assert ranks(np.array([0.5, 0.5 + 1e-14, NAN, 0.9, 0.1])) == [2, 2, None, 1, 4]


@given(st.lists(st.lists(st.integers(0, 3), min_size=3, max_size=3), min_size=1, max_size=8))
def test_the_pareto_front_is_that_of_brute_force(rows: list[list[int]]) -> None:
    expected = [
        not any(all(b >= a for a, b in zip(one, other, strict=True)) and other != one for other in rows) for one in rows
    ]

    assert pareto(np.array(rows, float)) == expected


def test_what_cannot_be_placed_is_on_no_front_and_beats_nobody() -> None:
    assert pareto(np.array([[0.5, 0.5], [0.9, NAN], [0.4, 0.6]])) == [True, None, True]
    assert pareto(np.array([[NAN], [NAN]])) == [None, None]
    assert pareto(np.array([[math.inf, 1.0], [5.0, 2.0], [5.0, 1.0], [-math.inf, 2.0]])) == [True, True, False, False]
