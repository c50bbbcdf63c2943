"""Control limits: what they are by hand, and how often a stable night is beyond them."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import mean

import numpy as np
import pytest

from evalpipe.chapters.trend.compute_limits import D2, ControlLimits, CountedNight


def test_limits_of_proportions_are_those_of_laneys_chart() -> None:
    # Laney's p' chart by its own formulas: p the pooled share, z by the binomial error of each size, sigma of z from
    # the mean moving range. The errors given are binomial at p, so the mean unit variance is p (1 - p).
    sizes, shares = [400, 900, 400, 2500, 900], [0.20, 0.15, 0.22, 0.17, 0.21]
    p = sum(n * x for n, x in zip(sizes, shares, strict=True)) / sum(sizes)
    z = [(x - p) / math.sqrt(p * (1 - p) / n) for n, x in zip(sizes, shares, strict=True)]
    sigma = mean(abs(b - a) for a, b in pairwise(z)) / 1.128

    nights = [CountedNight(x, math.sqrt(p * (1 - p) / n), n) for n, x in zip(sizes, shares, strict=True)]
    limits = ControlLimits.of(nights)
    assert limits.centre == pytest.approx(p, rel=1e-12)  # sums of five numbers in another order
    assert limits.dispersion == pytest.approx(sigma, rel=1e-12)
    reach = 3 * sigma * math.sqrt(p * (1 - p) / 100)
    assert limits.about(100, 3, None, None) == pytest.approx((p - reach, p + reach), rel=1e-12)
    assert limits.about(100, 3, 0.1, 0.2) == (0.1, 0.2)


def test_nights_that_are_alike_have_shewharts_limits_of_individual_values() -> None:
    values = [10.0, 12.0, 9.0, 11.0, 14.0]
    limits = ControlLimits.of([CountedNight(value, 0.5, 64) for value in values])
    moving = mean([2.0, 3.0, 2.0, 3.0])
    low, high = limits.about(64, 3, None, None)
    assert (limits.centre, low, high) == pytest.approx(
        (11.2, 11.2 - 3 * moving / D2, 11.2 + 3 * moving / D2), rel=1e-12)


def test_limits_are_never_narrower_than_sampling_makes_nights_vary() -> None:
    limits = ControlLimits.of([CountedNight(0.5, 0.1, 25)] * 8)
    assert (limits.centre, limits.dispersion) == (0.5, 1.0)
    assert limits.about(100, 3, None, None) == pytest.approx((0.5 - 0.15, 0.5 + 0.15), rel=1e-12)


def test_the_unit_of_a_measure_changes_nothing() -> None:
    values = [3.0, 4.0, 2.5, 3.5, 3.1]
    one = ControlLimits.of([CountedNight(value, 0.4, 30 + place) for place, value in enumerate(values)])
    other = ControlLimits.of([CountedNight(50 + 8 * value, 3.2, 30 + place) for place, value in enumerate(values)])
    assert other.dispersion == pytest.approx(one.dispersion, rel=1e-9)
    assert other.about(40, 3, None, None) == pytest.approx(
        tuple(50 + 8 * limit for limit in one.about(40, 3, None, None)), rel=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.95])
def test_a_stable_night_is_seldom_beyond_the_limits_whatever_its_size(p: float) -> None:
    # 2,000 series of 60 nights of 50 to 500 rows. Nominal is 2.7 in 1,000; shares near 1 are skewed, and limits are
    # estimated: up to 3.3 was seen over 4,000 series. 8 is 2.7 + 4.5 standard errors of a count of 2,000.
    generator = np.random.default_rng(7)
    beyond = 0
    for _ in range(2000):
        sizes = generator.integers(50, 500, 61)
        shares = generator.binomial(sizes, p) / sizes
        errors = np.sqrt(shares * (1 - shares) / sizes + 1 / sizes**2)
        limits = ControlLimits.of([CountedNight(*night) for night in zip(
            shares[:-1].tolist(), errors[:-1].tolist(), sizes[:-1].tolist(), strict=True)])
        low, high = limits.about(int(sizes[-1]), 3, 0.0, 1.0)
        beyond += not low <= shares[-1] <= high
    assert beyond / 2000 < 0.008
