"""DeLong, the logit scale, predictive values, BCa, the jackknife and Monte-Carlo error against R, scipy and loops."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import beta, bootstrap
from scipy.stats import t as student

import evalpipe
from evalpipe.intervals.analytic import auc_variance, logit_limits, predictive_error
from evalpipe.intervals.binomial import jeffreys
from evalpipe.intervals.bootstrap import bca_limits, logit_bootstrap_limits, monte_carlo_error
from evalpipe.intervals.noise import folded_limits
from evalpipe.intervals.resampling import Design, jackknife_counts
from evalpipe.statistics import Rows, Summary

LEVEL = 0.95


@pytest.mark.parametrize(("x", "n"), [(0, 5), (5, 5), (1, 20), (7, 20), (4793, 6107)])
def test_jeffreys_limits_are_quantiles_of_the_posterior(x: int, n: int) -> None:
    lower, upper = jeffreys(x, n, LEVEL)
    posterior = beta(x + 0.5, n - x + 0.5)
    assert float(lower) == pytest.approx(posterior.ppf(0.025) if x else 0, rel=1e-10)
    assert float(upper) == pytest.approx(posterior.ppf(0.975) if x < n else 1, rel=1e-10)


def variance(truth: Any, score: Any, weights: Any = None) -> float:
    summary = Summary(Rows(truth, None, score=score), np.ones(len(truth)) if weights is None else weights)
    return auc_variance(summary("events_at"), summary("others_at"))


def by_pairs(truth: Any, score: Any) -> float:
    """DeLong's variance as the paper writes it, over all pairs of an event and a non-event."""
    x, y = score[truth], score[~truth]
    wins = (x[:, None] > y) + 0.5 * (x[:, None] == y)
    return float(wins.mean(axis=1).var(ddof=1) / len(x) + wins.mean(axis=0).var(ddof=1) / len(y))


@pytest.mark.parametrize("seed", range(20))
def test_the_variance_over_scores_is_that_over_pairs(seed: int) -> None:
    generator = np.random.default_rng(seed)
    truth = generator.random(80) < 0.3
    truth[:4] = [True, True, False, False]
    score = np.round(generator.normal(truth * 0.7, 1), int(generator.integers(0, 4)))
    assert variance(truth, score) == pytest.approx(by_pairs(truth, score), rel=1e-12)  # sums in another order
    times = generator.integers(1, 4, 80)
    repeated = np.repeat(truth, times), np.repeat(score, times)
    assert variance(truth, score, times.astype(float)) == pytest.approx(by_pairs(*repeated), rel=1e-12)


def test_proc_agrees_on_delong(reference: Path) -> None:
    r = json.loads((reference / "mushroom" / "r_reference.json").read_text())["mushroom_val"]
    data = pl.read_csv(reference / "mushroom" / "val.csv")
    truth, score = (data["class"] == "poisonous").to_numpy(), data[".pred_poisonous"].to_numpy()
    found = variance(truth, score)
    assert found == pytest.approx(r["auc_var_delong"], rel=1e-9)  # R prints 14 digits of a variance near 2e-5
    for level, z in ((90, 1.6448536269514722), (95, 1.959963984540054)):
        plain = r["roc_auc"] - z * math.sqrt(found), r["roc_auc"] + z * math.sqrt(found)
        assert plain == pytest.approx(r[f"auc_ci{level}_delong"], abs=1e-9)
        limits = logit_limits(r["roc_auc"], math.sqrt(found), level / 100)
        assert limits == pytest.approx(r[f"auc_ci{level}_delong"], abs=3e-4)  # the logit bends them a little downwards
        assert limits is not None
        assert limits[0] < plain[0]


def test_logit_limits_are_symmetric_there_and_never_leave_the_unit_interval() -> None:
    lower, upper = logit_limits(0.97, 0.05, LEVEL) or (0, 0)
    centre = math.log(0.97 / 0.03)
    assert math.log(upper / (1 - upper)) - centre == pytest.approx(centre - math.log(lower / (1 - lower)))
    assert 0 < lower < 0.97 < upper < 1
    assert logit_limits(1.0, 0.1, LEVEL) is None
    assert logit_limits(5e-324, 0.0, LEVEL) == (5e-324, 5e-324)  # the exponential of its logit is beyond any number
    tiny = logit_limits(1e-310, 1e-310, LEVEL)
    assert tiny is not None
    assert 0 < tiny[0] < 1e-310 < tiny[1]
    assert logit_limits(0.5, math.nan, LEVEL) is None


def test_the_error_of_predictive_values_is_that_of_many_draws() -> None:
    generator = np.random.default_rng(0)
    se, sp, n1, n0, prior = 0.8, 0.9, 300, 700, 0.1
    drawn_se, drawn_sp = generator.binomial(n1, se, 400_000) / n1, generator.binomial(n0, sp, 400_000) / n0
    for value, error, draws in (
        (se * prior, predictive_error, drawn_se * prior / (drawn_se * prior + (1 - drawn_sp) * (1 - prior))),
        (None, predictive_error, drawn_sp * (1 - prior) / (drawn_sp * (1 - prior) + (1 - drawn_se) * prior)),
    ):
        ppv = value is not None
        at = (se * prior / (se * prior + (1 - sp) * (1 - prior)) if ppv
              else sp * (1 - prior) / (sp * (1 - prior) + (1 - se) * prior))
        found = error(at, *((se, sp) if ppv else (1 - se, 1 - sp)), n1, n0) / (at * (1 - at))
        # 3 %: the delta method is right to first order, and here shares rest on hundreds of rows.
        assert found == pytest.approx(np.log(draws / (1 - draws)).std(), rel=0.03)


def evaluate(truth: Any, probability: Any, **options: Any) -> Any:
    given = {"event": 1, "intervals": {"replicates": 400}} | options
    return evalpipe.evaluate(truth, probability, **given).rows[0]


def test_an_area_of_one_falls_back_to_the_smaller_class() -> None:
    truth = np.r_[np.ones(20, int), np.zeros(50, int)]
    row = evaluate(truth, truth * 0.8 + 0.1, metrics=["roc_auc"])
    assert (row.value, row.method, row.upper) == (1.0, "exact", 1.0)
    assert row.lower == pytest.approx(0.025 ** (1 / 20))  # 20 of 20 successes


def test_importance_weights_leave_the_closed_forms() -> None:
    generator = np.random.default_rng(1)
    truth = generator.integers(0, 2, 200)
    score = generator.random(200)
    for kind, method in (("importance", "percentile"), ("frequency", "delong")):
        row = evaluate(truth, score, metrics=["roc_auc"], weight=np.full(200, 2), weight_kind=kind)
        assert row.method == method


def test_ppv_has_limits_by_the_delta_method_where_both_shares_are_inside() -> None:
    generator = np.random.default_rng(2)
    truth = generator.integers(0, 2, 500)
    score = np.clip(generator.normal(0.4 + 0.2 * truth, 0.2), 0, 1)
    row = evaluate(truth, score, metrics=["ppv"], prevalence=0.1)
    many = {"method": "percentile", "replicates": 4000}
    drawn = evaluate(truth, score, metrics=["ppv"], prevalence=0.1, intervals=many)
    assert row.method == "logit"
    assert (row.lower, row.upper) == pytest.approx((drawn.lower, drawn.upper), abs=0.02)
    perfect = evaluate(truth, truth * 1.0, metrics=["ppv"], prevalence=0.1)
    assert (perfect.value, perfect.status, perfect.lower) == (1.0, "degenerate", None)


@pytest.mark.parametrize("n", [7, 1000, 2500])
def test_the_jackknife_leaves_each_row_out_once(n: int) -> None:
    weights = np.concatenate(list(jackknife_counts(Design(n), np.random.default_rng(1))))
    assert weights.shape == (min(n, 1000), n)
    assert ((1 - weights).sum(axis=0) == 1).all()
    sizes = (1 - weights).sum(axis=1)
    assert sizes.max() - sizes.min() <= 1


def test_groups_of_sorted_rows_vary_as_random_ones() -> None:
    """The jackknife of groups has the variance and the acceleration of the mean of the rows, whatever their order.

    Tolerances are 5 standard errors of a variance and of a third moment of 1,000 nearly normal values.
    """
    n, groups = 5000, 1000
    losses = np.sort(np.random.default_rng(8).exponential(size=n))
    weights = np.concatenate(list(jackknife_counts(Design(n), np.random.default_rng(2))))
    away = (weights @ losses) / weights.sum(axis=1)
    away = away.mean() - away
    assert (groups - 1) / groups * (away**2).sum() == pytest.approx(losses.var() / n, rel=5 * np.sqrt(2 / groups))
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    centred = losses - losses.mean()
    expected = (centred**3).sum() / (6 * (centred**2).sum() ** 1.5)
    assert acceleration == pytest.approx(expected, abs=5 * np.sqrt(15 / groups) / (6 * np.sqrt(groups)))
    assert expected > 2 * np.sqrt(15 / groups) / (6 * np.sqrt(groups))


def test_bca_limits_are_scipys() -> None:
    """scipy draws its own replicates: with 20,000 each, limits agree within 4 % of the interval's width."""
    generator = np.random.default_rng(3)
    truth, score = generator.integers(0, 2, 120), generator.beta(0.4, 3, 120)  # a skewed loss
    losses = (truth - score) ** 2
    theirs = bootstrap((losses,), np.mean, n_resamples=20_000, method="BCa", rng=4).confidence_interval
    drawn = {"replicates": 20_000, "bands": False}
    row, plain = (
        evaluate(truth, score, metrics=["brier"], intervals=drawn | {"method": method})
        for method in ("bca", "percentile")
    )
    width = theirs.high - theirs.low
    assert row.method == "bca"
    assert (row.lower, row.upper) == pytest.approx((theirs.low, theirs.high), abs=0.04 * width)
    assert row.lower > plain.lower


def test_bca_moves_the_quantiles_for_bias_and_skew() -> None:
    drawn = np.random.default_rng(5).normal(0, 1, 50_000)
    straight = bca_limits(drawn, float(np.median(drawn)), np.array([-1.0, 0.0, 1.0]), LEVEL)
    assert straight == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-9)
    moved = bca_limits(drawn, 0.2, np.array([-1.0, 0.0, 1.0]), LEVEL)
    bias = 2 * 0.2  # limits move by twice the bias of the median, as z does
    assert moved == pytest.approx((-1.96 + bias, 1.96 + bias), abs=0.06)  # 50,000 draws in the tails
    assert bca_limits(drawn[:1], 0.0, np.zeros(3), LEVEL) is None
    assert bca_limits(drawn, 99.0, np.zeros(3), LEVEL) is None


def test_the_monte_carlo_error_is_that_of_repeated_draws() -> None:
    generator = np.random.default_rng(6)
    repeated = generator.normal(0, 1, (2000, 1000))
    limits = np.quantile(repeated, [0.025, 0.975], axis=1)
    expected = limits.std(axis=1).mean()
    found = np.mean([monte_carlo_error(drawn, LEVEL) for drawn in repeated])
    assert found == pytest.approx(expected, rel=0.2)  # it takes the larger of two noisy errors
    assert monte_carlo_error(np.array([np.nan, 1.0]), LEVEL) is None


def test_a_bootstrapped_estimate_tells_its_monte_carlo_error() -> None:
    generator = np.random.default_rng(7)
    truth, score = generator.integers(0, 2, 300), generator.random(300)
    few, many = (
        evaluate(truth, score, metrics=["brier"], intervals={"replicates": b, "bands": False}) for b in (200, 20_000)
    )
    assert few.monte_carlo_error == pytest.approx(10 * many.monte_carlo_error, rel=0.6)  # 1 / sqrt(B), and noise
    assert evaluate(truth, score, metrics=["accuracy"]).monte_carlo_error is None


def test_the_logit_bootstrap_is_spelled_out_and_needs_values_inside() -> None:
    drawn = np.random.default_rng(8).beta(30, 10, 1000)
    low, high = np.quantile(drawn, [0.025, 0.975])
    error = (high - low) / (2 * 1.959963984540054) / (0.75 * 0.25)
    centre = np.log(0.75 / 0.25)
    for rarest, clusters, freedom, more in ((13, None, 12, 1.0), (13, 8, 7, np.sqrt(8 / 7)), (5, 8, 4, np.sqrt(8 / 7))):
        reach = student.ppf(0.975, freedom) * error * more
        expected = 1 / (1 + np.exp(reach - centre)), 1 / (1 + np.exp(-reach - centre))
        assert logit_bootstrap_limits(drawn, 0.75, rarest, clusters, 0.95) == pytest.approx(expected, rel=1e-12)
    assert logit_bootstrap_limits(np.append(drawn, 1.0), 0.75, 13, None, 0.95) is not None
    assert logit_bootstrap_limits(drawn, 1.0, 13, None, 0.95) is None
    assert logit_bootstrap_limits(drawn[:1], 0.75, 13, None, 0.95) is None


def test_the_limits_of_folded_gaps_are_where_the_observed_sum_is_a_quantile() -> None:
    """By simulation at both limits: 100,000 draws leave 0.05 points of noise; the sum of 15 distances is taken for
    normal, and its skewness moves the 2.5 % on either side to 3.2 and 2.2."""
    errors = np.random.default_rng(9).uniform(0.004, 0.012, 15)
    gaps = errors * np.random.default_rng(10).normal(1.5, 1, 15)
    lower, upper = folded_limits(gaps, errors, 0.95)
    observed, noise = np.abs(gaps).sum(), np.random.default_rng(11).normal(size=(100_000, 15))
    assert 0 < lower < observed
    for limit, side in ((lower, 1), (upper, -1)):
        drawn = np.abs(limit / errors.sum() * errors + errors * noise).sum(axis=1)
        assert (side * (drawn - observed) >= 0).mean() == pytest.approx(0.025, abs=0.01)


def test_folded_gaps_may_be_none_at_all() -> None:
    errors = np.full(10, 0.01)
    lower, upper = folded_limits(errors * 0.8, errors, 0.95)  # what noise alone gives on average
    assert lower == 0
    assert 0.02 < upper < 0.15
    assert folded_limits(np.array([0.1]), np.zeros(1), 0.95) == (0.1, 0.1)


@pytest.mark.parametrize("sets", [30, pytest.param(200, marks=pytest.mark.nightly)])
def test_the_calibration_error_is_covered_where_its_replicates_miss(sets: int) -> None:
    """A calibrated model: the true value is 0; each set of 300 rows has an error above it, as have its replicates."""
    covered = 0
    for seed in range(sets):
        generator = np.random.default_rng(seed)
        chance = generator.beta(2, 2, 300)
        truth = (generator.random(300) < chance).astype(int)
        row = evaluate(truth, chance, metrics=["ece"], intervals={"replicates": 100, "bands": False})
        assert row.method == "folded"
        covered += row.lower == 0.0
    # One-sided at 97.5 %, less three standard errors of the simulation: 3.3 points of 200 sets, 8.6 of 30.
    assert covered / sets >= 0.975 - 3 * math.sqrt(0.975 * 0.025 / sets)
