"""Basic and bootstrap-t limits against their formulas, scipy and a simulation; the effective sample size."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import bootstrap

from evalpipe.intervals.bootstrap import basic_limits, kish, percentile_limits, studentised_limits

LEVEL = 0.9


def test_basic_limits_are_scipys_from_the_same_resamples() -> None:
    data = np.random.default_rng(0).exponential(1, 40)
    theirs = bootstrap((data,), np.mean, n_resamples=999, method="basic", confidence_level=LEVEL, rng=1)
    ours = basic_limits(theirs.bootstrap_distribution, float(data.mean()), LEVEL)
    interval = theirs.confidence_interval
    assert ours == pytest.approx((interval.low, interval.high), abs=1e-12)  # one subtraction apart


def test_basic_limits_mirror_the_percentile_limits_without_undefined_replicates() -> None:
    values = np.array([np.nan, *np.arange(101.0)])
    assert basic_limits(values, 60.0, LEVEL) == pytest.approx((120 - 95, 120 - 5))
    assert basic_limits(values, math.nan, LEVEL) is None
    assert basic_limits(np.array([np.nan, 1.0]), 1.0, LEVEL) is None


def test_studentised_limits_are_the_formula() -> None:
    generator = np.random.default_rng(1)
    drawn, errors = generator.normal(5, 1, 200), generator.gamma(4, 0.25, 200)
    ratios = sorted((drawn - 4.5) / errors)
    # Of 200 ratios the share .05 lies .95 of the way from the 10th to the 11th, .95 lies .05 after the 190th.
    low, high = 0.05 * ratios[9] + 0.95 * ratios[10], 0.95 * ratios[189] + 0.05 * ratios[190]
    expected = (4.5 - high * 0.8, 4.5 - low * 0.8)
    assert studentised_limits(drawn, errors, 4.5, 0.8, LEVEL) == pytest.approx(expected, rel=1e-12)


def test_studentised_limits_with_one_error_are_the_basic_limits() -> None:
    drawn = np.random.default_rng(2).exponential(1, 300)
    found = studentised_limits(drawn, np.full(300, 0.3), 1.1, 0.3, LEVEL)
    assert found == pytest.approx(basic_limits(drawn, 1.1, LEVEL), rel=1e-12)


def test_studentised_limits_leave_out_what_has_no_ratio() -> None:
    drawn, errors = np.array([1.0, 2, 4, np.nan, 9, 9, 9]), np.array([1.0, 1, 2, 1, 0, np.nan, -1])
    whole = studentised_limits(drawn[:3], errors[:3], 2.0, 1.0, LEVEL)
    assert whole is not None
    assert studentised_limits(drawn, errors, 2.0, 1.0, LEVEL) == whole
    assert studentised_limits(drawn[2:], errors[2:], 2.0, 1.0, LEVEL) is None
    for value, error in ((math.nan, 1.0), (2.0, 0.0), (2.0, math.nan)):
        assert studentised_limits(drawn, errors, value, error, LEVEL) is None


def test_studentised_limits_cover_a_skewed_mean_of_few_rows_better_than_the_others() -> None:
    """The mean of 20 exponentials at 95 %: about .94 by bootstrap-t, .90 by percentile, .885 by basic limits.

    Each share of 1000 samples has a standard error of .007 to .01, and the three share the samples.
    """
    generator = np.random.default_rng(0)
    n, samples, covered = 20, 1000, np.zeros(3)
    for _ in range(samples):
        data = generator.exponential(1, n)
        drawn = data[generator.integers(0, n, (400, n))]
        means, errors = drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / math.sqrt(n)
        value, error = float(data.mean()), float(data.std(ddof=1)) / math.sqrt(n)
        limits: Any = [
            studentised_limits(means, errors, value, error, 0.95),
            percentile_limits(means, 0.95),
            basic_limits(means, value, 0.95),
        ]
        covered += [lower <= 1 <= upper for lower, upper in limits]
    studentised, percentile, basic = covered / samples
    assert studentised == pytest.approx(0.94, abs=0.02)
    assert percentile == pytest.approx(0.90, abs=0.03)
    assert basic == pytest.approx(0.885, abs=0.03)
    assert studentised > percentile + 0.02


def test_kishs_effective_size_is_that_of_equal_weights() -> None:
    assert kish(np.full(7, 3.0)) == pytest.approx(7)
    assert kish([1, 1, 0, 0]) == pytest.approx(2)
    assert kish([[1.0, 2, 3], [1, 0, 0]]) == pytest.approx([36 / 14, 1])
    assert np.isnan(kish([[0, 0], [1, 1]])).tolist() == [True, False]


def test_kishs_effective_size_is_the_loss_of_precision_of_a_weighted_mean() -> None:
    generator = np.random.default_rng(3)
    weights = generator.gamma(1, 1, 50)
    means = np.average(generator.normal(0, 1, (40_000, 50)), axis=1, weights=weights)
    assert 1 / means.var() == pytest.approx(kish(weights), rel=0.03)  # a variance of 40,000 draws has an error of .7 %
