"""Searches for a root and for the least value, held to those of scipy bit by bit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import optimize

from evalpipe.arithmetic import least_between, root

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RNG = np.random.default_rng(11)


def _problems() -> Iterator[tuple[Callable[[float], float], float, float, float]]:
    """Yield smooth functions, each with two ends and a tolerance."""
    for _ in range(300):
        a, b, c, d = RNG.normal(size=4).tolist()
        low = RNG.normal() * 3
        yield (lambda x, a=a, b=b, c=c, d=d: a + b * x + c * x**3 - math.sin(4 * d * x), float(low),
               float(low + RNG.exponential() * 5), float(10 ** RNG.uniform(-14, -2)))


def test_a_root_is_that_of_scipy_to_the_last_bit() -> None:
    crossing = [problem for problem in _problems() if problem[0](problem[1]) * problem[0](problem[2]) < 0]

    assert len(crossing) > 50
    for function, low, high, tolerance in crossing:
        assert root(function, low, high, tolerance) == optimize.brentq(function, low, high, xtol=tolerance)


def test_the_least_value_is_that_of_scipy_to_the_last_bit() -> None:
    for function, low, high, tolerance in _problems():
        search = optimize.minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": tolerance})
        assert least_between(function, low, high, tolerance) == (search.x, search.fun)


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (-3.0, 0.0)])
def test_an_end_may_be_the_root(low: float, high: float) -> None:
    assert root(lambda x: x, low, high, 1e-9) == 0.0


def test_a_function_of_one_sign_has_no_root() -> None:
    with pytest.raises(ValueError, match="one sign at both ends"):
        root(lambda x: 1 + x * x, -1.0, 1.0, 1e-9)


def test_a_jump_at_0_is_never_near_enough_without_a_tolerance() -> None:
    with pytest.raises(ArithmeticError, match="no root"):
        root(lambda x: math.copysign(1.0, x), -1.0, 3.0, 0.0)
