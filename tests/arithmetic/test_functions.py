"""Exponentials, logarithms and powers, held to decimals of fifty digits and to numpy's at the ends of the floats."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy import special

from evalpipe import arithmetic

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats

RNG = np.random.default_rng(7)
WIDE = np.r_[RNG.uniform(-700, 700, 600), RNG.uniform(-2, 2, 600),
             10 ** RNG.uniform(-20, 0, 600) * RNG.choice([-1, 1], 600)]
ENDS = np.array([0.0, 1.0, -1.0, 5e-324, 1e308, 709.8, -708.5, -740.0, -745.2, np.inf, -np.inf, np.nan])


def _units_off(got: Floats, exact: Callable[[Decimal], Decimal], x: Floats) -> float:
    """Return by how many units in the last place the worst number is off."""
    with decimal.localcontext(decimal.Context(prec=50)):
        return max(abs(float((Decimal(float(number)) - exact(Decimal(float(at)))) / Decimal(math.ulp(number))))
                   for number, at in zip(got, x, strict=True))


# One unit is what FDLIBM promises, but for `expm1` about -ln 2 / 2, where a 1 is taken off a number near it.
@pytest.mark.parametrize(("function", "exact", "x", "units"), [
    (arithmetic.exp, Decimal.exp, WIDE, 1.0),
    (arithmetic.expm1, lambda x: x.exp() - 1, WIDE, 1.5),
    (arithmetic.log, Decimal.ln, np.r_[np.abs(WIDE), 1 + WIDE[-600:], RNG.random(600)], 1.0),
    (arithmetic.log1p, lambda x: (1 + x).ln(), np.r_[WIDE[WIDE > -1], -RNG.random(600), 10 ** RNG.uniform(0, 300, 300)],
     1.0),
    (arithmetic.expit, lambda x: 1 / (1 + (-x).exp()), WIDE, 2.5),
    (lambda x: arithmetic.log_expits(x)[0], lambda x: -(1 + (-x).exp()).ln(), WIDE[np.abs(WIDE) < 50], 2.5),
], ids=["exp", "expm1", "log", "log1p", "expit", "log_expits"])
def test_a_function_is_right_to_the_last_place(
    function: Callable[[Floats], Floats], exact: Callable[[Decimal], Decimal], x: Floats, units: float
) -> None:
    assert _units_off(function(x), exact, x) < units


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p"])
def test_the_ends_of_the_floats_are_those_of_numpy_and_nothing_warns(name: str) -> None:
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(ENDS)
    np.testing.assert_allclose(getattr(arithmetic, name)(ENDS), expected, rtol=4e-16)


def test_the_logarithm_of_the_true_class_has_the_bits_of_log_and_of_log1p() -> None:
    probability = np.r_[0.0, 1.0, 0.5, 5e-324, np.nan, RNG.random(40_000), 10 ** RNG.uniform(-300, 0, 40_000),
                        1 - 10 ** RNG.uniform(-16, 0, 40_000)]
    event = RNG.random(len(probability)) < 0.5
    expected = np.where(event, arithmetic.log(probability), arithmetic.log1p(-probability))
    np.testing.assert_array_equal(arithmetic.log_of_true_class(probability, event).view(np.int64),
                                  expected.view(np.int64))


@pytest.mark.parametrize("size", [0, 1, arithmetic.BLOCK, arithmetic.BLOCK + 1])
def test_the_parts_that_are_worked_on_leave_no_seam(size: int) -> None:
    x = np.linspace(-3, 3, size)
    np.testing.assert_array_equal(arithmetic.exp(x), [arithmetic.exp(each) for each in x.tolist()[:3]]
                                  + [*arithmetic.exp(x[3:])])


def test_shapes_are_kept_and_a_number_stays_one() -> None:
    table = RNG.random((3, 4, 5))
    np.testing.assert_allclose(arithmetic.log(table.T), np.log(table.T), rtol=4e-16)
    assert isinstance(arithmetic.exp(1), float)
    assert isinstance(arithmetic.power(2, 0.3), float)


def test_sums_of_exponentials_never_overflow() -> None:
    values = np.array([[1000.0, 1000.0], [-1000.0, -1000.0], [-np.inf, 3.0], [-np.inf, -np.inf]])
    # 1e-15: a few units in the last place.
    expected = special.logsumexp(values, axis=1)
    np.testing.assert_allclose(arithmetic.log_sum_exp(values, 1), expected, rtol=1e-15)
    np.testing.assert_allclose(arithmetic.log_add_exp(values[:, 0], values[:, 1]), expected, rtol=1e-15)
    np.testing.assert_allclose(arithmetic.softmax(values[:3]), special.softmax(values[:3], axis=1), rtol=1e-15)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, -1, -3, 40, 0.5, 1.7, -0.3, 1e-9])
def test_powers_are_those_of_numpy(exponent: float) -> None:
    x = np.r_[0.0, 1.0, 10 ** RNG.uniform(-5, 5, 300)]
    with np.errstate(divide="ignore"):
        expected = x ** exponent
    # 2e-14: the rounding of a logarithm times the exponent, and of 40 products.
    np.testing.assert_allclose(arithmetic.power(x, exponent), expected, rtol=2e-14)


def test_powers_of_numbers_below_zero_need_whole_exponents() -> None:
    np.testing.assert_array_equal(arithmetic.power([-2.0, 2.0], 3), [-8, 8])
    np.testing.assert_array_equal(arithmetic.power([-2.0, -0.0], 0.5), [np.nan, 0])
    np.testing.assert_array_equal(arithmetic.power(0.0, np.array([0.0, 1.0, 0.3])), [1, 0, 0])


@pytest.mark.parametrize("exponent", [0.0, 0.5, 1e-12, -1.3])
def test_the_transform_of_box_and_cox_is_scipys(exponent: float) -> None:
    x = 10 ** RNG.uniform(-4, 4, 300)
    # 1e-14: the rounding of the logarithm times the exponent.
    np.testing.assert_allclose(arithmetic.boxcox(x, exponent), special.boxcox(x, exponent), rtol=1e-14, atol=1e-15)


def test_cosines_are_those_of_numpy() -> None:
    angles = np.linspace(-np.pi, np.pi, 501)
    # 1e-15: terms of the series are as large as 5.
    np.testing.assert_allclose(arithmetic.cos(angles), np.cos(angles), rtol=0, atol=2e-15)
