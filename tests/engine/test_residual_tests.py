"""Tests of residuals against statsmodels and scipy, and how often they err where nothing is wrong.

Statistics are sums of the same terms in another order: they agree to 1e-9. Of 400 data sets without a fault a test at
the level 0.05 rejects a binomial number; the bounds are its 99.9% quantile.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binom, chi2, kurtosis, norm, rankdata, skew
from statsmodels.stats.diagnostic import het_breuschpagan

from evalpipe.engine.curves.residual_tests import LEAST, AboutLine, curvature, fan_test, peaks, residual_spreads

CLOSE = 1e-9


def data(seed: int = 3, n: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """Return predictions and truths with a wrong slope, skewed errors and a spread that grows."""
    rng = np.random.default_rng(seed)
    p = rng.gamma(4, 5, n)
    return p, 3 + 0.8 * p + (0.5 + 0.1 * p) * (rng.exponential(2, n) - 2)


def line(p: np.ndarray, y: np.ndarray, w: np.ndarray | None = None) -> AboutLine:
    weight = np.ones(len(p)) if w is None else w
    fitted = AboutLine.of(p, y, weight, float(weight.sum()))
    assert fitted is not None
    return fitted


def test_the_line_is_that_of_least_squares() -> None:
    p, y = data()
    assert line(p, y).residual == pytest.approx(sm.OLS(y, sm.add_constant(p)).fit().resid, rel=CLOSE, abs=CLOSE)


def test_the_fan_is_the_studentised_test_of_breusch_and_pagan() -> None:
    p, y = data()
    peer = het_breuschpagan(sm.OLS(y, sm.add_constant(p)).fit().resid, sm.add_constant(p))
    assert fan_test(line(p, y)) == pytest.approx(peer[:2], rel=CLOSE)


def test_the_curve_is_a_score_test_of_normal_scores_with_errors_of_mackinnon_and_white() -> None:
    p, y = data()
    fitted = sm.OLS(y, sm.add_constant(p)).fit()
    score = norm.ppf((rankdata(p) - 0.5) / len(p))
    bends = np.column_stack([sm.OLS(score**k, sm.add_constant(p)).fit().resid for k in (2, 3)])
    scaled = bends * (fitted.resid / (1 - fitted.get_influence().hat_matrix_diag))[:, None]
    expected = float(bends.T @ fitted.resid @ np.linalg.solve(scaled.T @ scaled, bends.T @ fitted.resid))
    test = curvature(line(p, y))
    assert test is not None
    assert test.statistic == pytest.approx(expected, rel=CLOSE)
    assert test.p_value == pytest.approx(float(chi2.sf(test.statistic, 2)), rel=CLOSE)


def spread(draw: Any, n: int, mean: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Return widely spread means and Poisson counts of them."""
    means = np.exp(draw.normal(mean, 1.2, n))
    return means, draw.poisson(means)


def overdispersed(draw: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    means = np.exp(draw.normal(0, 1.2, n))
    return means, draw.poisson(means * draw.gamma(2, 0.5, n))


def narrow(draw: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    means = draw.gamma(4, 0.6, n) + 0.2
    return means, draw.poisson(means)


def even(draw: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    means = draw.normal(20, 4, n)
    return means, means + draw.normal(0, 3, n)


def proportional(draw: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    means = np.exp(draw.normal(0, 1, n))
    return means, means * (1 + 0.3 * draw.normal(0, 1, n))


STRAIGHT: dict[str, Any] = {
    "counts, widely spread": spread, "counts, widely spread and large": lambda draw, n: spread(draw, n, 2.0),
    "counts, widely spread and small": lambda draw, n: spread(draw, n, -1.5), "counts, overdispersed": overdispersed,
    "counts, narrow": narrow, "numbers": even, "numbers, errors in proportion": proportional,
}
"""Families of predictions that are right, with their truths."""

BENT: dict[str, tuple[Any, float]] = {
    "counts, widely spread, power 1.15": (lambda draw, n: _counted(draw, np.exp(draw.normal(0, 1.2, n)), 1.15), 0.60),
    "counts, widely spread, power 0.85": (lambda draw, n: _counted(draw, np.exp(draw.normal(0, 1.2, n)), 0.85), 0.35),
    "counts, narrow, power 1.5": (lambda draw, n: _counted(draw, draw.gamma(4, 0.6, n) + 0.2, 1.5), 0.75),
}
"""Families that bend, and the least share of 300 rows in which that is to be seen: Wald's test saw 38, 25 and 84 %."""


def _counted(draw: Any, means: np.ndarray, power: float) -> tuple[np.ndarray, np.ndarray]:
    return means, draw.poisson(means**power)


def curved(make: Any, n: int, sets: int) -> float:
    """Return in which share of data sets the test of a curve rejects at the level 0.05."""
    rejected = 0
    for seed in range(sets):
        p, y = make(np.random.default_rng([seed, n]), n)
        test = curvature(line(p, y.astype(float)))
        rejected += test is not None and test.p_value < 0.05
    return rejected / sets


def test_a_curve_is_seldom_seen_in_widely_spread_counts_that_follow_none() -> None:
    """400 sets, of which Wald's test with powers of the predictions rejected 12 %; the bound is the 99.9% quantile."""
    assert curved(spread, 1000, 400) <= binom.ppf(0.999, 400, 0.05) / 400


@pytest.mark.nightly
@pytest.mark.parametrize("family", STRAIGHT)
@pytest.mark.parametrize("n", [100, 300, 1_000, 5_000])
def test_a_curve_is_seldom_seen_where_there_is_none(family: str, n: int) -> None:
    """1,000 sets: a Monte-Carlo error of 0.7 %, three of which are allowed beside the 0.065 of overdispersed counts."""
    share = curved(STRAIGHT[family], n, 1_000)
    print(f"{family}, n = {n}: {100 * share:.1f} %")
    assert share <= 0.065 + 3 * 0.007


@pytest.mark.nightly
@pytest.mark.parametrize("family", BENT)
def test_a_real_bend_is_seen_as_often_as_before(family: str) -> None:
    make, least = BENT[family]
    share = curved(make, 300, 1_000)
    print(f"{family}: {100 * share:.1f} %")
    assert share >= least


def test_the_statistic_of_peaks_is_of_scipys_moments() -> None:
    p, y = data()
    residual = line(p, y).residual
    assert peaks(line(p, y)).statistic == pytest.approx(
        kurtosis(residual, fisher=False) - skew(residual) ** 2, rel=CLOSE)


def test_the_error_of_peaks_is_that_of_the_bootstrap() -> None:
    rng = np.random.default_rng(5)
    n, p = 500, np.linspace(0, 1, 500)
    y = rng.choice([-2.7, 2.7], n) + rng.normal(0, 1, n)
    test = peaks(line(p, y))
    drawn = [peaks(line(p[rows], y[rows])).statistic for rows in rng.integers(0, n, (400, n))]
    # 400 replicates tell a standard error up to 4% or so: 15% is beyond four of those.
    assert (test.statistic - LEAST) / norm.ppf(test.p_value) == pytest.approx(np.std(drawn), rel=0.15)


def test_the_bound_of_one_peak_is_reached_by_none_but_comes_close() -> None:
    n = 200_001
    even = np.linspace(-1, 1, n)
    assert peaks(line(np.tile([0.0, 1.0], n // 2 + 1)[:n], even)).statistic == pytest.approx(1.8, abs=1e-3)
    two = np.where(np.arange(n) % 3 == 0, -2.0, 1.0)
    uneven = peaks(line(np.arange(n) % 7.0, two))
    assert uneven.statistic == pytest.approx(1, abs=1e-6)
    assert uneven.p_value == 0.0


@pytest.mark.parametrize("test", [fan_test, curvature, peaks])
def test_whole_weights_are_repeated_rows(test: Any) -> None:
    p, y = data(n=120)
    w = np.random.default_rng(1).integers(1, 4, 120)
    once, repeated = test(line(p, y, w.astype(float))), test(line(np.repeat(p, w), np.repeat(y, w)))
    assert once == pytest.approx(repeated, rel=CLOSE)


def test_a_row_whose_weight_is_lost_in_their_sum_changes_no_test_of_a_curve() -> None:
    p, y = data(n=60)
    weight = np.ones(60)
    weight[np.argmax(p)] = 1e-25  # its rank is that of the end, to the last digit
    rest = p < p.max()
    test, without = (curvature(AboutLine.of(p[rows], y[rows], weight[rows], 59.0)) for rows in (p > -1, rest))
    assert test == pytest.approx(without, rel=1e-6)


def test_spreads_are_of_the_outer_thirds() -> None:
    p = np.arange(300.0)
    y = np.where(p < 100, 1.0, np.where(p < 200, 2.0, 3.0)) * np.where(p % 2, 1, -1)
    low, high = residual_spreads(line(p, y))
    assert (low, high) == (pytest.approx(1, rel=1e-3), pytest.approx(3, rel=1e-3))


def test_spreads_are_root_mean_squares_about_the_line_and_no_standard_deviations() -> None:
    p = np.arange(300.0)
    y = (p - 150.0) ** 2 / 1000  # a bow, in whose outer thirds residuals about the line have a mean
    residual = line(p, y).residual
    expected = [float(np.sqrt((residual[third] ** 2).mean())) for third in (slice(0, 100), slice(200, 300))]
    assert residual_spreads(line(p, y)) == pytest.approx(expected)
    assert residual_spreads(line(p, y))[0] > 1.01 * residual[:100].std()


@pytest.mark.parametrize("test", [fan_test, curvature, peaks])
def test_a_test_errs_as_often_as_its_level_says(test: Any) -> None:
    rejected = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        p = rng.normal(0, 1, 300)
        y = p + (rng.uniform(-1, 1, 300) if test is peaks else rng.normal(0, 1, 300))
        result = test(line(p, y))
        rejected += result.p_value < 0.05
    assert rejected <= binom.ppf(0.999, 400, 0.05)


@pytest.mark.parametrize(("test", "change"), [
    (fan_test, lambda p, e: p + e * np.exp(0.3 * p)), (curvature, lambda p, e: p + e + 0.3 * p**2),
    (peaks, lambda p, e: p + 0.3 * e + np.where(e > 0, 1, -1)),
])
def test_a_test_sees_what_it_is_for(test: Any, change: Any) -> None:
    rng = np.random.default_rng(2)
    p, e = rng.normal(0, 1, 400), rng.normal(0, 1, 400)
    assert test(line(p, p + e)).p_value > 0.05
    assert test(line(p, change(p, e))).p_value < 1e-4


@pytest.mark.parametrize(("p", "y"), [
    (np.arange(19.0), np.arange(19.0) ** 2), (np.ones(50), np.arange(50.0)), (np.arange(50.0), np.arange(50.0)),
])
def test_few_rows_and_constant_predictions_or_residuals_have_no_tests(p: np.ndarray, y: np.ndarray) -> None:
    assert AboutLine.of(p, y, np.ones(len(p)), float(len(p))) is None


def test_a_curve_needs_distinct_predictions() -> None:
    p = np.tile([0.0, 1.0, 2.0], 20)
    assert curvature(line(p, p**2 + np.tile(np.linspace(-1, 1, 20), 3))) is None
