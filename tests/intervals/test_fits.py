"""Limits from several fits of one model on the same rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import t

from evalpipe.intervals.fits import FitSpread, limits_of_fits, spread_of_fits

SPREAD = FitSpread(count=4, mean=0.7, observed=0.0009, within=0.0006, shared=0.0004, units=101)
INFINITE = (-math.inf, math.inf)


def test_the_parts_of_the_spread_are_those_of_the_covariances_of_the_fits() -> None:
    values = np.array([0.70, 0.74, 0.69])
    replicates = np.array([[0.70, 0.75, 0.66], [0.72, 0.73, 0.71], [0.66, 0.70, 0.69], [0.71, 0.78, 0.70]])
    centred = replicates - replicates.mean(axis=0)
    pairs = {(i, j): float(centred[:, i] @ centred[:, j]) / 3 for i in range(3) for j in range(3)}
    spread = spread_of_fits(values, replicates, 60)
    # Sums of a few small numbers in another order: what is left is rounding.
    assert spread.observed == pytest.approx(((0.70 - 0.71) ** 2 + 0.03**2 + 0.02**2) / 2, abs=1e-16)
    assert spread.within == pytest.approx((pairs[0, 0] + pairs[1, 1] + pairs[2, 2]) / 3, abs=1e-16)
    assert spread.shared == pytest.approx((pairs[0, 1] + pairs[0, 2] + pairs[1, 2]) / 3, abs=1e-16)
    assert (spread.count, spread.mean, spread.units) == (3, pytest.approx(0.71), 60)
    # The mean of the fits is a measure too: its variance over rows is that of its own replicates.
    assert spread.of_rows == pytest.approx(float(np.var(replicates.mean(axis=1), ddof=1)), abs=1e-16)


def test_the_variances_are_those_worked_out_by_hand() -> None:
    assert SPREAD.between == pytest.approx(0.0009 - 0.0002, abs=1e-16)
    assert SPREAD.of_rows == pytest.approx(0.0006 / 4 + 0.0004 * 3 / 4, abs=1e-16)  # 0.00045
    assert SPREAD.variance(new=False) == pytest.approx(0.0007 / 4 + 0.00045, abs=1e-16)
    assert SPREAD.variance(new=True) == pytest.approx(0.0007 * 5 / 4 + 0.00045, abs=1e-16)
    # Without the floor the variance of the mean is that of Obuchowski and Rockette, s^2 / R + c.
    assert SPREAD.variance(new=False) == pytest.approx(0.0009 / 4 + 0.0004, abs=1e-16)


def test_the_degrees_of_freedom_are_satterthwaites() -> None:
    for new, times in ((False, 1 / 4), (True, 5 / 4)):
        noise = (0.0009 * times) ** 2 / 3 + 0.00045**2 / 100
        assert SPREAD.freedom(new=new) == pytest.approx(SPREAD.variance(new=new) ** 2 / noise, rel=1e-12)


def test_the_degrees_of_freedom_lie_between_the_fewest_of_a_part_and_those_of_both() -> None:
    alone = FitSpread(4, 0.7, 0.0009, 0.0, 0.0, 101)  # the rows tell nothing: three differences of fits
    assert alone.freedom(new=True) == pytest.approx(3, rel=1e-12)
    noisy = FitSpread(4, 0.7, 0.0009, 0.0009, 0.0, 101)  # all of the spread is noise: the ratio alone would be 1
    assert noisy.variance(new=True) ** 2 / ((0.0009 * 1.25) ** 2 / 3 + 0.000225**2 / 100) < 1
    assert noisy.freedom(new=True) == 3
    rows = FitSpread(4, 0.7, 0.0, 0.0004, 0.0004, 101)  # all fits are one
    assert rows.freedom(new=True) == pytest.approx(100, rel=1e-12)


def test_a_spread_that_rows_explain_is_no_spread_between_fits() -> None:
    spread = FitSpread(20, 0.7, 0.0001, 0.0006, 0.0004, 101)
    assert spread.between == 0
    assert spread.variance(new=True) == spread.variance(new=False) == pytest.approx(0.0006 / 20 + 0.0004 * 19 / 20)


@pytest.mark.parametrize("new", [False, True])
def test_limits_are_symmetric_on_the_scale_of_the_range(new: bool) -> None:
    error, reach = math.sqrt(SPREAD.variance(new=new)), t.ppf(0.95, SPREAD.freedom(new=new))
    plain = (0.7 - reach * error, 0.7 + reach * error)
    far = (math.log(0.7) - reach * error / 0.7, math.log(0.7) + reach * error / 0.7)
    inside = [logit(0.7) + sign * reach * error / (0.7 * 0.3) for sign in (-1, 1)]
    fisher = [math.atanh(0.7) + sign * reach * error / (1 - 0.7**2) for sign in (-1, 1)]
    # Quantiles of Student's distribution by two routines: 1e-12 is above the rounding of either.
    for bounds, expected in (
        (INFINITE, plain), ((0.0, math.inf), np.exp(far)), ((0.0, 1.0), expit(inside)), ((-1.0, 1.0), np.tanh(fisher)),
    ):
        assert limits_of_fits(SPREAD, bounds, 0.9, new=new) == pytest.approx(tuple(expected), abs=1e-12)
    mirrored = limits_of_fits(FitSpread(4, -0.7, 0.0009, 0.0006, 0.0004, 101), (-math.inf, 0.0), 0.9, new=new)
    assert mirrored == pytest.approx((-math.exp(far[1]), -math.exp(far[0])), abs=1e-12)


def test_there_are_no_limits_at_an_end_of_the_range_or_where_nothing_varies() -> None:
    for mean in (0.0, 1.0):
        assert limits_of_fits(FitSpread(4, mean, 0.01, 0.01, 0.01, 9), (0.0, 1.0), 0.95, new=True) is None
    assert limits_of_fits(FitSpread(4, 0.7, 0.0, 0.0, 0.0, 9), (0.0, 1.0), 0.95, new=True) is None


def test_limits_stay_within_the_range_however_large_the_spread() -> None:
    wide = FitSpread(2, 0.99, 0.5, 0.1, 0.1, 9)
    lower, upper = limits_of_fits(wide, (0.0, 1.0), 0.99, new=True) or (math.nan, math.nan)
    assert 0 <= lower < 0.99 < upper <= 1
