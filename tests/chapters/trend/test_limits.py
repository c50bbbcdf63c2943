"""Control limits: what they are by hand and by statsmodels, and how often a stable night is beyond them."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from statistics import mean, variance
from typing import Any

import numpy as np
import pytest
from statsmodels.stats.meta_analysis import combine_effects

from evalpipe.chapters.trend.compute import FURTHEST, BaselineFit, CountedNight

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

import trend

SHARES, SIZES = [0.20, 0.15, 0.26, 0.17, 0.21, 0.23], [400, 900, 400, 2500, 900, 5000]


def test_the_variance_between_nights_is_that_of_paule_and_mandel() -> None:
    """Their iteration in statsmodels stops at steps of 1e-5 by default; here at 1e-14."""
    nights = [CountedNight(x, 0.4 / math.sqrt(n), n) for x, n in zip(SHARES, SIZES, strict=True)]
    limits = BaselineFit.of(nights)
    errors = 0.16 / np.array(SIZES)
    theirs = combine_effects(np.array(SHARES), errors, method_re="iterated", atol=1e-14)
    assert theirs.tau2 > 0
    assert limits.between == pytest.approx(theirs.tau2, rel=1e-6)
    assert limits.unit_variance == pytest.approx(0.16, rel=1e-12)
    weights = 1 / (theirs.tau2 + errors)
    centre = float((weights * SHARES).sum() / weights.sum())
    assert limits.centre == pytest.approx(centre, rel=1e-8)
    reach = 3 * math.sqrt(theirs.tau2 + 0.16 / 100 + 1 / weights.sum())
    assert limits.about(100, 3, None, None) == pytest.approx((centre - reach, centre + reach), rel=1e-6)
    assert limits.about(100, 3, 0.1, 0.2) == (0.1, 0.2)
    assert limits.widening(100) == pytest.approx(math.sqrt((theirs.tau2 + 0.0016) / 0.0016), rel=1e-6)


def test_nights_of_one_size_have_the_standard_deviation_of_their_values() -> None:
    values = [10.0, 12.0, 9.0, 11.0, 14.0]
    limits = BaselineFit.of([CountedNight(value, 0.5, 64) for value in values])
    reach = 3 * math.sqrt(variance(values) * (1 + 1 / 5))
    assert limits.about(64, 3, None, None) == pytest.approx((11.2 - reach, 11.2 + reach), rel=1e-9)
    z = np.array(values) - mean(values)
    assert limits.autocorrelation == pytest.approx(float((z[:-1] * z[1:]).sum() / (z**2).sum()), rel=1e-9)


def test_limits_are_never_narrower_than_sampling_makes_nights_vary() -> None:
    limits = BaselineFit.of([CountedNight(0.5, 0.1, 25)] * 8)
    assert (limits.centre, limits.between, limits.widening(100), limits.autocorrelation) == (0.5, 0.0, 1.0, 0.0)
    reach = 3 * math.sqrt(0.25 / 100 + 0.01 / 8)
    assert limits.about(100, 3, None, None) == pytest.approx((0.5 - reach, 0.5 + reach), rel=1e-12)


def test_a_night_far_out_hides_others_no_more_than_one_at_the_limit() -> None:
    """One of 31 nights is 8 errors out; without the bound their standard deviation, 1.8 errors, would widen limits."""
    values = [*np.random.default_rng(3).normal(0.0, 1.0, 30).tolist(), 8.0]
    assert float(np.std(values)) > 1.7
    limits = BaselineFit.of([CountedNight(x, 1.0, 9) for x in values])
    assert limits.widening(9) < 1.5
    assert (8.0 - limits.centre) / math.sqrt(limits.between + 1) > FURTHEST


def test_the_unit_of_a_measure_changes_nothing() -> None:
    values = [3.0, 4.0, 2.5, 3.5, 3.1]
    one = BaselineFit.of([CountedNight(value, 0.4, 30 + place) for place, value in enumerate(values)])
    other = BaselineFit.of([CountedNight(50 + 8 * value, 3.2, 30 + place) for place, value in enumerate(values)])
    assert other.widening(40) == pytest.approx(one.widening(40), rel=1e-9)
    assert other.about(40, 3, None, None) == pytest.approx(
        tuple(50 + 8 * limit for limit in one.about(40, 3, None, None)), rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.95])
def test_a_stable_night_is_seldom_beyond_the_limits_whatever_its_size(p: float) -> None:
    # 600 series of 60 nights of 50 to 500 rows. Nominal is 2.7 in 1,000; shares near 1 are skewed. 10 is 2.7 + 3.4
    # standard errors of a count of 600.
    generator = np.random.default_rng(7)
    beyond = 0
    for _ in range(600):
        sizes = generator.integers(50, 500, 61)
        shares = generator.binomial(sizes, p) / sizes
        errors = np.sqrt(shares * (1 - shares) / sizes + 1 / sizes**2)
        limits = BaselineFit.of([CountedNight(*night) for night in zip(
            shares[:-1].tolist(), errors[:-1].tolist(), sizes[:-1].tolist(), strict=True)])
        low, high = limits.about(int(sizes[-1]), 3, 0.0, 1.0)
        beyond += not low <= shares[-1] <= high
    assert beyond / 600 < 0.010


def test_large_nights_that_vary_are_seldom_beyond_the_limits() -> None:
    """400 series of 50 to 5,000 rows: 20 to 29 in 1,000 were beyond a factor on errors, 5 are; 15 is 3 errors on."""
    nights = trend.drawn(400, trend.EARLIER + 1, (50, 5000), trend.BETWEEN, 0.0, seed=5)
    assert trend.beyond(nights, trend.EARLIER, trend.added).mean() < 0.015


@pytest.mark.nightly
@pytest.mark.parametrize("sizes", trend.SIZES.values(), ids=trend.SIZES)
@pytest.mark.parametrize("case", trend.CASES.values(), ids=trend.CASES)
@pytest.mark.parametrize(("earlier", "most"), [(20, 0.013), (trend.EARLIER, 0.006)])
def test_few_nights_are_beyond_the_limits_however_they_vary(
    sizes: Any, case: tuple[float, float], earlier: int, most: float
) -> None:
    """4,000 series: Monte-Carlo errors of 0.8 to 1.6 in 1,000, four of which are allowed beside what is expected."""
    share = trend.beyond(trend.drawn(trend.SERIES, earlier + 1, sizes, *case), earlier, trend.added).mean()
    print(f"{sizes}, between and alike {case}, {earlier} nights: {1000 * share:.1f} in 1,000")
    assert share < most + 4 * math.sqrt(most / trend.SERIES)
