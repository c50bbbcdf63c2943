"""Bands by their formulas and coverage."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evalpipe.intervals.bootstrap import percentile_limits, pointwise_band, simultaneous_band

LEVEL = 0.95
GRID = np.linspace(0.1, 0.9, 17)


def curves(seed: int = 0) -> Any:
    """Return 300 replicates of a curve of 6 points: correlated, one constant, one never defined, some undefined."""
    drawn = np.random.default_rng(seed).normal(0, 1, (300, 6)).cumsum(axis=1) * 0.01 + 0.5
    drawn[:, 2], drawn[:, 4], drawn[:40, 5] = 0.3, np.nan, np.nan
    return drawn


def test_the_pointwise_band_is_the_percentile_limits_of_each_point() -> None:
    drawn = curves()
    lower, upper = pointwise_band(drawn, LEVEL)
    for point in range(6):
        expected = percentile_limits(drawn[:, point], LEVEL) or (math.nan, math.nan)
        assert (lower[point], upper[point]) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert np.isnan(pointwise_band(drawn[:1], LEVEL)).all()


def test_the_simultaneous_band_is_the_largest_deviation_spelled_out() -> None:
    drawn, value = curves(), np.array([0.5, 0.51, 0.3, 0.5, 0.5, 0.49])
    varies = [0, 1, 3, 5]
    errors = {point: np.std([x for x in drawn[:, point] if x == x], ddof=1) for point in varies}  # noqa: PLR0124 - NaN
    largest = [
        max(abs(row[point] - value[point]) / errors[point] for point in varies if not math.isnan(row[point]))
        for row in drawn
    ]
    lower, upper = simultaneous_band(drawn, value, LEVEL)
    for point in varies:
        reach = np.quantile(largest, LEVEL) * errors[point]
        assert (lower[point], upper[point]) == pytest.approx((value[point] - reach, value[point] + reach), rel=1e-12)
    assert (lower[2], upper[2]) == (0.3, 0.3)  # no replicate moves there
    assert np.isnan([lower[4], upper[4]]).all()


def test_the_simultaneous_band_keeps_to_its_range_and_skips_what_has_no_value() -> None:
    drawn, value = curves(), np.array([0.5, np.nan, 0.3, 0.5, 0.5, 0.49])
    free, kept = simultaneous_band(drawn, value, LEVEL), simultaneous_band(drawn, value, LEVEL, (0.49, 0.52))
    assert np.isnan(free[0]).tolist() == [False, True, False, False, True, False]
    for loose, tight in zip(free, kept, strict=True):
        assert tight == pytest.approx(np.clip(loose, 0.49, 0.52), nan_ok=True)
    without = simultaneous_band(np.delete(drawn, 1, axis=1), np.delete(value, 1), LEVEL)
    assert np.delete(free[0], 1) == pytest.approx(without[0], nan_ok=True)


def test_a_band_of_replicates_that_never_move_or_are_undefined() -> None:
    still = simultaneous_band(np.full((9, 2), 0.1 + 0.2), np.array([0.3, 0.4]), LEVEL)
    assert np.array(still).tolist() == [[0.3, 0.4], [0.3, 0.4]]
    assert np.isnan(simultaneous_band(np.full((9, 2), np.nan), np.array([0.3, 0.4]), LEVEL)).all()
    assert np.isnan(simultaneous_band(curves(), np.full(6, np.nan), LEVEL)).all()


def test_the_simultaneous_band_covers_a_whole_distribution_and_the_pointwise_band_does_not() -> None:
    """The empirical distribution of 400 uniforms at 17 points from .1 to .9, 95 %, 500 samples.

    Covered at all points: about .94 by the sup-t band, about .72 by the pointwise one; the Monte-Carlo error of a share
    of .95 is .01. The sup-t band is some 1.4 times as wide.
    """
    generator = np.random.default_rng(0)
    n, samples, covered, width = 400, 500, np.zeros(2), []
    for _ in range(samples):
        cells = generator.multinomial(n, np.diff(np.r_[0, GRID, 1]))
        value = cells.cumsum()[:-1] / n
        drawn = generator.multinomial(n, cells / n, 400).cumsum(axis=1)[:, :-1] / n
        whole, single = simultaneous_band(drawn, value, LEVEL, (0.0, 1.0)), pointwise_band(drawn, LEVEL)
        covered += [((lower <= GRID) & (upper >= GRID)).all() for lower, upper in (whole, single)]
        width.append((whole[1] - whole[0]).mean() / (single[1] - single[0]).mean())
        assert ((whole[0] <= single[0]) & (whole[1] >= single[1])).mean() > 0.9
    simultaneous, pointwise = covered / samples
    assert simultaneous >= LEVEL - 3 * math.sqrt(LEVEL * (1 - LEVEL) / samples)
    assert simultaneous < 0.99
    assert pointwise == pytest.approx(0.72, abs=0.06)
    assert np.mean(width) == pytest.approx(1.41, abs=0.05)
