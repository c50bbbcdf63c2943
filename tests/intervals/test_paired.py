"""Paired tests against R's DeLong, all pairs, statsmodels and scipy; their edges; what a difference means."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom, norm, ttest_rel
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from evalpipe.intervals.contrasts import diebold_mariano, mcnemar, paired_auc

LEVEL = 0.9


def sample(seed: int, n: int = 60, models: int = 3) -> tuple[Any, Any]:
    """Return truth [n] and tied scores [models, n] of which each tells a little more than the one before."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.35
    truth[:4] = [True, True, False, False]
    common = generator.normal(0, 1, n)
    noise = generator.normal(0, 1, (models, n))
    return truth, np.round(common + noise + truth * np.linspace(0.3, 1.2, models)[:, None], seed % 3)


def by_pairs(truth: Any, scores: Any) -> Any:
    """DeLong's covariance as the paper writes it, over all pairs of an event and a non-event."""
    wins = [
        (score[truth][:, None] > score[~truth]) + 0.5 * (score[truth][:, None] == score[~truth]) for score in scores
    ]
    parts = [np.atleast_2d(np.cov([win.mean(axis=axis) for win in wins])) for axis in (1, 0)]
    return parts[0] / truth.sum() + parts[1] / (~truth).sum()


@pytest.mark.parametrize("seed", range(6))
def test_weights_are_repeated_rows_of_the_paired_test_of_areas(seed: int) -> None:
    truth, scores = sample(seed)
    times = np.random.default_rng(seed).integers(0, 4, len(truth))
    times[:4] = 1
    many, repeated = np.repeat(truth, times), np.repeat(scores, times, axis=1)
    ours = paired_auc(truth, scores[0], scores[1], times)
    plain = paired_auc(many, repeated[0], repeated[1])
    # 1e-12: the same sums of some sixty terms in another order.
    assert (ours.value, ours.error) == pytest.approx((plain.value, plain.error), abs=1e-12)


def test_proc_agrees_on_the_variance_of_an_area(reference: Path) -> None:
    r = json.loads((reference / "mushroom" / "r_reference.json").read_text())["mushroom_val"]
    data = pl.read_csv(reference / "mushroom" / "val.csv")
    truth, score = (data["class"] == "poisonous").to_numpy(), data[".pred_poisonous"].to_numpy()
    opposite = paired_auc(truth, score, -score)  # differs from its opposite by twice the area, less one
    # 1e-9: R prints 14 digits of a variance near 2e-5.
    assert opposite.error**2 == pytest.approx(4 * r["auc_var_delong"], rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_the_paired_test_of_areas_is_the_normal_test_of_their_contrast(seed: int) -> None:
    truth, scores = sample(seed)
    covariance = by_pairs(truth, scores)
    error = math.sqrt(covariance[2, 2] + covariance[0, 0] - 2 * covariance[0, 2])
    value = roc_auc_score(truth, scores[2]) - roc_auc_score(truth, scores[0])
    difference = paired_auc(truth, scores[2], scores[0])
    limits = difference.limits(LEVEL)
    # 1e-12: the same sums of some sixty terms in another order; the p-value follows from value and error.
    assert (difference.value, difference.error) == pytest.approx((value, error), abs=1e-12)
    assert difference.p(0.0) == pytest.approx(2 * norm.sf(abs(value / error)), rel=1e-9)
    assert limits == pytest.approx(norm.interval(LEVEL, value, error), abs=1e-12)
    assert (limits is not None and limits[0] <= 0 <= limits[1]) == (difference.p(0.0) >= 1 - LEVEL)


def test_scores_in_the_same_order_differ_by_exactly_nothing() -> None:
    truth, scores = sample(4, n=500)
    difference = paired_auc(truth, scores[0], np.exp(3 * scores[0] + 1))
    assert (difference.value, difference.error) == (0.0, 0.0)


@pytest.mark.parametrize(("second", "value"), [([2.0, 1, 3, 4], 0.0), ([0.0, 0, 0, 0], 0.5)])
def test_a_difference_of_areas_that_does_not_vary_has_no_test(second: list[float], value: float) -> None:
    truth = np.array([False, False, True, True])
    difference = paired_auc(truth, np.array([1.0, 2, 3, 4]), np.array(second))
    assert (difference.value, difference.error, difference.limits(LEVEL)) == (value, 0.0, None)
    assert math.isnan(difference.p(0.0))


def test_too_few_rows_of_a_class_leave_no_test_of_areas() -> None:
    truth, scores = np.array([True, False, False]), np.array([[3.0, 1, 2], [1.0, 2, 3]])
    one = paired_auc(truth, *scores)
    assert (one.value, one.limits(LEVEL)) == (1.0, None)
    assert np.isnan([one.error, one.p(0.0)]).all()
    assert math.isnan(paired_auc(np.zeros(3, bool), *scores).value)


@pytest.mark.parametrize(("b", "c"), [(0, 1), (1, 7), (7, 1), (5, 5), (0, 30), (12, 25), (480, 560), (3000, 3100)])
def test_mcnemars_test_is_that_of_statsmodels_and_the_mid_p_value_its_definition(b: int, c: int) -> None:
    exact, mid = mcnemar(b, c)
    theirs = statsmodels_mcnemar([[0, b], [c, 0]], exact=True).pvalue
    seen = binom.pmf(b, b + c, 0.5)
    # 1e-9: tails of thousands of rows by different series.
    assert exact == pytest.approx(min(1, theirs), rel=1e-9)
    assert mid == pytest.approx(theirs - seen if b != c else 1 - seen / 2, rel=1e-9)


def test_mcnemars_test_has_the_figures_of_the_paper() -> None:
    """Airway hyper-responsiveness of 21 children, b = 1 and c = 7: 2 * 9 / 256, less 8 / 256."""
    assert mcnemar(1, 7) == pytest.approx((0.0703125, 0.0390625), abs=1e-15)


def test_models_that_never_disagree_have_p_values_of_one() -> None:
    assert mcnemar(0, 0) == (1.0, 1.0)


@pytest.mark.parametrize("n", [2, 5, 400])
def test_diebold_and_mariano_corrected_are_the_paired_t_test(n: int) -> None:
    first, second = np.random.default_rng(n).gamma(1, 1, (2, n))
    difference, theirs = diebold_mariano(first, second), ttest_rel(first, second)
    limits, statistic = theirs.confidence_interval(LEVEL), difference.value / difference.error
    # The uncorrected statistic divides by the standard deviation over n; the correction is sqrt((n - 1) / n).
    plain = (first - second).mean() / ((first - second).std() / math.sqrt(n))
    assert statistic == pytest.approx(plain * math.sqrt((n - 1) / n), rel=1e-12)
    assert (statistic, difference.p(0.0)) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    assert difference.limits(LEVEL) == pytest.approx((limits.low, limits.high), rel=1e-9)
    assert difference.error == pytest.approx((first - second).std(ddof=1) / math.sqrt(n), rel=1e-12)


def test_diebold_and_mariano_with_weights_are_those_of_repeated_rows() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.gamma(1, 1, (2, 80))
    times = generator.integers(0, 4, 80)
    rows = diebold_mariano(np.repeat(first, times), np.repeat(second, times))
    weighted = diebold_mariano(first, second, times)
    # 1e-9: sums in another order.
    for name in ("value", "error", "freedom"):
        assert getattr(weighted, name) == pytest.approx(getattr(rows, name), rel=1e-9)
    assert rows.limits(0.95) == pytest.approx(student.interval(0.95, times.sum() - 1, rows.value, rows.error), rel=1e-9)


def test_losses_that_are_equal_in_every_row_differ_by_nothing() -> None:
    losses = np.random.default_rng(6).random(30)
    difference = diebold_mariano(losses, losses)
    assert (difference.value, difference.error) == (0.0, 0.0)


@pytest.mark.parametrize("gaps", [np.full(30, 0.1), np.ones(1), np.ones(0)])
def test_a_difference_of_losses_that_does_not_vary_has_no_test(gaps: Any) -> None:
    difference = diebold_mariano(gaps, np.zeros(len(gaps)))
    assert math.isnan(difference.p(0.0))
    assert difference.limits(LEVEL) is None


def test_a_difference_of_losses_that_does_not_vary_is_the_mean_of_them() -> None:
    assert diebold_mariano(np.full(30, 0.1), np.zeros(30)).value == pytest.approx(0.1, rel=1e-12)
