"""Limits that take noise out: against their definition, and against hand-made noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ncx2

from evalpipe.intervals.binomial import clopper_pearson
from evalpipe.intervals.bootstrap import doubt_about_limits
from evalpipe.intervals.noise import (
    Noise,
    binomial_bins_limits,
    corrected_limits,
    including,
    noncentral_cdf,
    noncentral_limits,
    range_limits,
    rate_variances,
    replicate_noise,
    square_noise,
    symmetric_upper,
)


@pytest.mark.parametrize(("square", "mean", "variance"), [(4.0, 1.0, 3.0), (0.02, 0.01, 1e-5), (1e6, 3.0, 4e6)])
def test_the_observed_square_is_a_quantile_at_each_limit(square: float, mean: float, variance: float) -> None:
    scale = variance / (4 * square + 2 * mean)
    limits = noncentral_limits(square, Noise(mean, variance), 0.9)
    assert limits is not None
    shares = [ncx2.cdf(square / scale, mean / scale, true / scale) for true in limits]
    assert shares == pytest.approx([0.95, 0.05], abs=1e-6)  # brentq's tolerance times the density


@pytest.mark.parametrize(("freedom", "noncentrality"), [(1e-3, 1e7), (100.0, 2e6), (1e7, 0.0), (1e6, 1e6)])
def test_large_noncentral_probabilities_are_those_of_the_series(freedom: float, noncentrality: float) -> None:
    spread = (2 * (freedom + 2 * noncentrality)) ** 0.5
    for at in freedom + noncentrality + spread * np.linspace(-4, 4, 9):
        exact = ncx2.cdf(at, freedom, noncentrality)
        assert noncentral_cdf(at, freedom, noncentrality) == pytest.approx(exact, abs=1e-8)  # as its docstring says


def test_noise_far_below_the_square_leaves_limits_next_to_it() -> None:
    limits = noncentral_limits(6.3e-5, Noise(3.4e-20, 1.9e-40), 0.95)
    assert limits == pytest.approx((6.3e-5, 6.3e-5), rel=1e-10)  # brentq's tolerance


def test_a_square_that_noise_alone_explains_has_a_lower_limit_of_zero() -> None:
    limits = noncentral_limits(1.0, Noise(1.0, 2.0), 0.95)
    assert limits is not None
    assert limits[0] == 0.0 < limits[1]


def test_noise_that_is_not_seen_lowers_the_lower_limit_alone() -> None:
    plain, more = (noncentral_limits(4.0, Noise(0.5, 1.0), 0.95, unseen) for unseen in (1.0, 2.5))
    assert plain is not None
    assert more is not None
    assert more[0] < plain[0]
    assert more[1] == plain[1]


def test_without_noise_there_are_no_limits() -> None:
    assert noncentral_limits(1.0, Noise(0.0, 1.0), 0.95) is None
    assert noncentral_limits(1.0, Noise(np.nan, np.nan), 0.95) is None


def test_gaps_that_noise_alone_makes_are_covered_as_often_as_stated() -> None:
    generator, covered = np.random.default_rng(3), 0
    true, errors = np.array([0.1, 0.0, 0.3, 0.05]), np.full(4, 0.01)
    for _ in range(1000):
        gaps = true + generator.normal(size=4) * np.sqrt(errors)
        square = float((gaps**2).mean())
        limits = noncentral_limits(square, square_noise(np.full(4, 0.25), gaps, errors, 1e12), 0.95)
        assert limits is not None
        covered += limits[0] <= (true**2).mean() <= limits[1]
    assert covered / 1000 == pytest.approx(0.95, abs=0.021)  # three standard errors


def test_the_variance_of_a_rate_is_that_of_a_weighted_mean() -> None:
    weight, event = np.array([1.0, 2.0, 4.0]), np.array([1.0, 0.0, 1.0])
    rate = (weight * event).sum() / weight.sum()
    n = weight.sum() ** 2 / (weight**2).sum()
    expected = (weight**2 * (event - rate) ** 2).sum() / weight.sum() ** 2 * n / (n - 1)
    totals = [np.array([float((w * e).sum())]) for w in (weight, weight**2) for e in (event, 1 - event)]
    assert rate_variances(*totals) == pytest.approx(expected)


def test_a_bin_of_one_class_is_not_taken_for_certain() -> None:
    three = np.array([3.0]), np.array([0.0])
    rate = 3.5 / 4
    assert rate_variances(*three, *three) == pytest.approx(rate * (1 - rate) / 3 * 3 / 2)


def test_of_one_bin_the_largest_distance_has_its_exact_limits() -> None:
    _, high = clopper_pearson(8.0, 10.0, 0.95)
    low, _ = clopper_pearson(8.0, 10.0, 0.975)  # both of whose tails are one of 95%
    found = binomial_bins_limits(np.array([8.0]), np.array([2.0]), np.array([0.1]), 0.95)
    assert found[1] == pytest.approx(high - 0.1)
    assert found[0] == pytest.approx(low - 0.1)


def test_replicates_tell_the_noise_of_a_square() -> None:
    noise = replicate_noise(np.array([1.0, 3.0, np.nan, 5.0]), 2.0)
    assert (noise.mean, noise.variance) == (1.0, 4.0)
    assert np.isnan(replicate_noise(np.array([1.0, np.nan]), 2.0).mean)


def test_limits_are_moved_to_a_value_beyond_them() -> None:
    assert including((0.1, 0.2), 0.3) == (0.1, 0.3)
    assert including((0.1, 0.2), 0.15) == (0.1, 0.2)
    assert corrected_limits(0.1, 0.02, 0.0, 0.95) == pytest.approx((0.12, 0.12))


def test_what_is_doubtful_about_limits_is_said() -> None:
    assert doubt_about_limits(0.5, (0.4, 0.6), "percentile") is None
    assert doubt_about_limits(0.5, (0.5, 0.5 + 1e-14), "percentile") == (
        "the same in nearly all replicates, so the bootstrap cannot estimate its uncertainty")
    assert doubt_about_limits(0.3, (0.4, 0.6), "percentile") == (
        "the value is below its percentile limits: resampling biases the measure")
    assert doubt_about_limits(0.7, (0.4, 0.6), "basic") == (
        "the value is above its basic limits: resampling biases the measure")


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, 4.0])
def test_the_symmetric_upper_limit_has_the_value_just_in_reach(value: float) -> None:
    upper = symmetric_upper(value, Noise(1.0, 4 * value**2 + 2), 0.95)  # of one normal distance with an error of 1
    assert upper is not None
    assert ncx2.cdf((2 * upper - value) ** 2, 1, upper**2) - ncx2.cdf(value**2, 1, upper**2) == pytest.approx(0.95)
    assert upper == pytest.approx(value + 1.96, abs=0.32 if value < 1 else 0.08)  # 1.645 at 0, where one side is left


def test_without_noise_there_is_no_symmetric_upper_limit() -> None:
    assert symmetric_upper(0.3, Noise(0.0, 0.0), 0.95) is None


@pytest.mark.parametrize(("share", "rows"), [(0.05, 50), (0.3, 50), (0.05, 400)])
def test_a_range_near_0_is_known_no_better_than_the_difference(share: float, rows: int) -> None:
    """Of 200 pairs of slices that are truly alike the limits cover 0; none is narrower than what rows can tell."""
    generator, covered, defined = np.random.default_rng(7), 0, 0
    for _ in range(200):
        rates = generator.binomial(rows, share, 2) / rows
        drawn = generator.binomial(rows, rates, (200, 2)) / rows
        replicates = np.ptp(drawn, axis=1)
        if np.ptp(replicates) == 0:  # such limits are marked degenerate
            continue
        limits = range_limits(float(np.ptp(rates)), replicates, 0.95)
        assert limits is not None
        error = float(np.sqrt((rates * (1 - rates) / rows).sum()))
        assert limits[1] > 1.3 * error
        assert limits[1] < np.ptp(rates) + 3.5 * error
        defined += 1
        covered += limits[0] == 0
    assert covered / defined > 0.92  # two standard errors below 0.95
