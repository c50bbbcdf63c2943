"""Errors of mean scores: against statsmodels and scipy, plain loops, laws of weights, and coverage by simulation."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from scipy import stats
from statsmodels.stats.power import normal_sample_size_one_tail

from evalpipe.chapters.scores.compute_variance import (
    Errors,
    mean_errors,
    paired_errors,
    power_analysis,
    variance_components,
)


class Totals(NamedTuple):
    means: Any
    epochs: Any
    within: Any

    def at(self, rows: Any, models: Any = slice(None)) -> Totals:
        return Totals(*(array[rows][:, models] for array in self))


def totals(scores: Any) -> Totals:
    """Return what is known of scores [items, epochs, models], NaN where an epoch is missing."""
    epochs = (~np.isnan(scores)).sum(axis=1)
    means = np.where(epochs > 0, np.nansum(scores, axis=1), np.nan) / np.maximum(epochs, 1)
    return Totals(means, epochs, np.nansum((scores - means[:, None]) ** 2, axis=1))


def drawn(seed: int, items: int = 30, models: int = 3, most: int = 4, *, unbalanced: bool = True) -> Any:
    """Return scores [items, epochs, models] with items of their own difficulty."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.0, 1.0, (items, 1, 1)) + rng.normal(0.3, 0.7, (items, most, models)) + 5.0
    if unbalanced:
        scores[rng.integers(1, most + 1, (items, models))[:, None] <= np.arange(most)[:, None]] = np.nan
    return scores


WEIGHTS = np.random.default_rng(5).uniform(0.2, 3.0, 30)
CLUSTER = np.random.default_rng(6).integers(0, 7, 30)


def same(result: Any, expected: Any, tolerance: float = 1e-12) -> None:
    for value, wanted in zip(result, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=tolerance, atol=1e-14)


def test_balanced_components_are_those_of_reml() -> None:
    scores = drawn(1, unbalanced=False)
    between_items, of_epochs = variance_components(*totals(scores))

    for model in range(3):
        frame = pd.DataFrame({"score": scores[:, :, model].ravel(), "item": np.repeat(np.arange(30), 4)})
        fit = smf.mixedlm("score ~ 1", frame, groups="item").fit(reml=True)
        # The optimiser of statsmodels stops at a gradient, which leaves four digits.
        assert of_epochs[model] == pytest.approx(fit.scale, rel=1e-4)
        assert between_items[model] == pytest.approx(float(fit.cov_re.iloc[0, 0]), rel=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_unbalanced_components_come_from_the_anova_table(seed: int) -> None:
    scores = drawn(seed)
    between_items, of_epochs = variance_components(*totals(scores))

    for model in range(3):
        frame = pd.DataFrame({"score": scores[:, :, model].ravel(), "item": np.repeat(np.arange(30), 4)}).dropna()
        table = sm.stats.anova_lm(smf.ols("score ~ C(item)", frame).fit())
        counts = frame.groupby("item").size()
        replicates = (counts.sum() - (counts**2).sum() / counts.sum()) / (len(counts) - 1)
        within = table.loc["Residual", "mean_sq"]
        assert of_epochs[model] == pytest.approx(within, rel=1e-9)
        between = (table.loc["C(item)", "mean_sq"] - within) / replicates
        assert between_items[model] == pytest.approx(between, rel=1e-9)


def test_weighted_components_are_unbiased() -> None:
    rng = np.random.default_rng(8)
    epochs, weights = rng.integers(1, 4, 40), rng.uniform(0.1, 4.0, 40)
    scores = rng.normal(0, 1.5, (40, 1, 4000)) + rng.normal(0, 1.0, (40, 3, 4000))
    scores[epochs[:, None] <= np.arange(3)] = np.nan
    between_items, of_epochs = variance_components(*totals(scores), weights)

    assert (between_items > 0).all()
    for estimates, truth in ((between_items, 2.25), (of_epochs, 1.0)):
        assert abs(estimates.mean() - truth) < 4 * estimates.std() / math.sqrt(4000)


def test_a_negative_variance_of_items_is_truncated() -> None:
    scores = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])[:, :, None]

    assert variance_components(*totals(scores)) == (pytest.approx([0]), pytest.approx([0.5]))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_error_for_items_like_these_is_that_of_a_constant_in_statsmodels(weights: Any) -> None:
    data = totals(drawn(2))
    by_item, by_cluster = mean_errors(*data, None, weights), mean_errors(*data, CLUSTER, weights)

    for model in range(3):
        line = sm.WLS(data.means[:, model], np.ones(30), weights=np.ones(30) if weights is None else weights)
        for errors, groups in ((by_item, np.arange(30)), (by_cluster, CLUSTER)):
            fit = line.fit(cov_type="cluster", cov_kwds={"groups": groups})
            assert errors.value[model] == pytest.approx(fit.params[0], rel=1e-12)
            assert errors.like_these[model] == pytest.approx(fit.bse[0], rel=1e-9)
    assert by_cluster.items.tolist() == [30] * 3
    if weights is None:
        assert by_item.like_these == pytest.approx(stats.sem(data.means), rel=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_error_on_this_benchmark_adds_the_noise_of_the_items(weights: Any) -> None:
    scores = drawn(3)
    errors = mean_errors(*totals(scores), CLUSTER, weights)
    share = np.ones(30) if weights is None else weights

    for model in range(3):
        values = [row[~np.isnan(row)] for row in scores[:, :, model]]
        squares = sum(w * ((row - row.mean()) ** 2).sum() for w, row in zip(share, values, strict=True))
        pooled = squares / sum(w * (len(row) - 1) for w, row in zip(share, values, strict=True))
        noise = [row.var(ddof=1) if len(row) > 1 else pooled for row in values]
        variance = sum(w**2 * s / len(row) for w, s, row in zip(share, noise, values, strict=True)) / share.sum() ** 2
        assert errors.benchmark[model] == pytest.approx(math.sqrt(variance), rel=1e-12)
        assert errors.one_epoch[model] == pytest.approx(sum(share**2 * noise) / share.sum() ** 2, rel=1e-12)


def test_pairs_are_the_means_of_differences() -> None:
    scores = drawn(4, models=4)
    scores[3:9, :, 1] = np.nan
    scores[7:12, :, 2] = np.nan
    data = totals(scores)
    differences, correlation = paired_errors(*data, CLUSTER, WEIGHTS)

    single = mean_errors(*data, CLUSTER, WEIGHTS)
    for pair, (first, second) in enumerate([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]):
        both = ~np.isnan(data.means[:, first] - data.means[:, second])
        difference = (data.means[:, first] - data.means[:, second])[both, None]
        alone = mean_errors(difference, np.ones_like(difference), np.zeros_like(difference), CLUSTER[both],
                            WEIGHTS[both])
        for name in ("value", "like_these", "items"):
            assert getattr(differences, name)[pair] == pytest.approx(getattr(alone, name)[0], rel=1e-12), name
        of_models = np.cov(*(data.means[both][:, [first, second]].T), aweights=WEIGHTS[both])
        expected = of_models[0, 1] / math.sqrt(of_models[0, 0] * of_models[1, 1])
        assert correlation[pair] == pytest.approx(expected, rel=1e-12)
    # Items 0 and 3 have all models: there the variances of both means add up.
    assert differences.benchmark[2] == pytest.approx(math.hypot(single.benchmark[0], single.benchmark[3]), rel=1e-12)
    assert differences.one_epoch[2] == pytest.approx(single.one_epoch[0] + single.one_epoch[3], rel=1e-12)


def test_an_item_that_a_model_lacks_is_left_out() -> None:
    scores = drawn(5)
    scores[10:] = np.nan
    data = totals(scores)

    same(mean_errors(*data, CLUSTER, WEIGHTS), mean_errors(*data.at(np.s_[:10]), CLUSTER[:10], WEIGHTS[:10]))
    same(variance_components(*data, WEIGHTS), variance_components(*data.at(np.s_[:10]), WEIGHTS[:10]))


def test_the_order_of_items_and_models_changes_nothing() -> None:
    data, items, models = totals(drawn(6)), np.random.default_rng(0).permutation(30), np.array([2, 0, 1])
    errors, turned = (mean_errors(*data, CLUSTER, WEIGHTS),
                      mean_errors(*data.at(items, models), CLUSTER[items], WEIGHTS[items]))

    same(turned, Errors(*(array[models] for array in errors)))
    pairs, turned_pairs = paired_errors(*data)[0], paired_errors(*data.at(items, models))[0]
    assert turned_pairs.value == pytest.approx(np.array([-1, -1, 1]) * pairs.value[[1, 2, 0]])
    assert turned_pairs.like_these == pytest.approx(pairs.like_these[[1, 2, 0]])


def test_weights_of_items_that_are_drawn_are_copies_in_their_cluster() -> None:
    data, copies = totals(drawn(7)), np.random.default_rng(1).integers(0, 4, 30)
    rows = np.repeat(np.arange(30), copies)
    for cluster, ids in ((CLUSTER, CLUSTER[rows]), (None, rows)):
        weighted, copied = mean_errors(*data, cluster, copies), mean_errors(*data.at(rows), ids)
        for name in ("value", "like_these"):
            np.testing.assert_allclose(getattr(copied, name), getattr(weighted, name), rtol=1e-12)


def test_each_item_twice_with_half_its_weight_changes_nothing() -> None:
    data, twice = totals(drawn(8)), np.tile(np.arange(30), 2)
    once, doubled = (mean_errors(*data, None, WEIGHTS),
                     mean_errors(*data.at(twice), twice, WEIGHTS[twice] / 2))

    for name in ("value", "like_these"):
        np.testing.assert_allclose(getattr(doubled, name), getattr(once, name), rtol=1e-12)


def test_only_ratios_of_weights_count_and_those_of_0_leave_out() -> None:
    data, weights = totals(drawn(9)), np.where(np.arange(30) < 20, WEIGHTS, 0.0)

    for function in (variance_components, lambda *given: mean_errors(*given[:3], CLUSTER[: len(given[0])], given[3])):
        same(function(*data, 7 * WEIGHTS), function(*data, WEIGHTS))
        same(function(*data, weights), function(*data.at(np.s_[:20]), WEIGHTS[:20]))


def covers(errors: Errors, truth: float, quantile: float, name: str) -> float:
    return float((np.abs(errors.value - truth) <= quantile * getattr(errors, name)).mean())


def test_the_two_errors_cover_what_each_is_for() -> None:
    rng, replicates, items = np.random.default_rng(10), 4000, 60
    chance = rng.beta(1.0, 0.6, (items, 1))
    scores = (rng.random((items, 3, replicates)) < chance[:, :, None]).astype(float)
    scores[::4, 1:] = np.nan  # one epoch
    fixed = mean_errors(*totals(scores))
    drawn_chance = rng.beta(1.0, 0.6, (12, 1, 1, replicates)).repeat(5, axis=1)  # 12 topics of 5 items
    scores = (rng.random((12, 5, 3, replicates)) < drawn_chance).astype(float).reshape(items, 3, replicates)
    random = mean_errors(*totals(scores), np.arange(items) // 5)

    # 4,000 replicates have an error of 0.3 points.
    assert 0.935 <= covers(fixed, float(chance.mean()), 1.96, "benchmark") <= 0.965
    assert covers(fixed, float(chance.mean()), 1.96, "like_these") > 0.99
    assert 0.93 <= covers(random, 1 / 1.6, float(stats.t.ppf(0.975, 11)), "like_these") <= 0.965
    assert covers(random, 1 / 1.6, 1.96, "benchmark") < 0.75


def test_the_smallest_difference_is_shown_in_four_runs_of_five() -> None:
    rng, replicates, items = np.random.default_rng(11), 3000, 200
    true = 0.09
    item = rng.normal(0, 1.0, (items, 1, replicates))
    first, second = (item + rng.normal(shift, 0.3, item.shape) + rng.normal(0, 0.6, (items, 2, replicates))
                     for shift in (0.0, true))
    difference, epochs = (first - second).mean(axis=1), np.ones((items, replicates))
    errors = mean_errors(difference, epochs, np.zeros_like(epochs))
    power = float((np.abs(errors.value) > 1.96 * errors.like_these).mean())

    shown = stats.norm.cdf(true / errors.like_these.mean() - 1.96)
    assert power == pytest.approx(shown, abs=0.03)
    assert power_analysis(errors, power=float(shown))[0].mean() == pytest.approx(true, rel=0.01)


def test_designs_are_those_of_millers_formula() -> None:
    data = totals(drawn(12, unbalanced=False))
    smallest, items, epochs = power_analysis(paired_errors(*data)[0], 0.2, alpha=0.01, power=0.9)

    for pair, (first, second) in enumerate([(0, 1), (0, 2), (1, 2)]):
        differences = data.means[:, first] - data.means[:, second]
        needed = normal_sample_size_one_tail(0.2, 0.9, 0.005, differences.std(ddof=1))
        assert items[pair] == math.ceil(needed)
        noise = data.within[:, [first, second]].sum(axis=1).mean() / 3
        z = stats.norm.ppf(0.995) + stats.norm.ppf(0.9)
        of_items = max(differences.var(ddof=1) - noise / 4, 0.0)
        left = 30 * (0.2 / z) ** 2 - of_items
        assert epochs[pair] == (math.ceil(noise / left) if left > 0 else math.inf)
        assert smallest[pair] == pytest.approx(z * differences.std(ddof=1) / math.sqrt(30), rel=1e-9)


def test_what_shows_the_smallest_difference_is_what_there_is() -> None:
    errors = mean_errors(*totals(drawn(13, unbalanced=False)), CLUSTER)
    for model in range(3):
        of_model = Errors(*(array[model : model + 1] for array in errors))
        _, items, epochs = power_analysis(of_model, float(power_analysis(of_model)[0][0]))
        assert (items[0], epochs[0]) == (30, 4)


@pytest.mark.parametrize(
    ("scores", "weights", "cluster", "expected"),
    [
        ([[1.0, 0.0]], None, None, (0.5, 0.5, math.nan)),  # one item
        ([[1.0], [0.0]], None, None, (0.5, math.nan, 0.5)),  # one epoch
        ([[0.1, 0.1], [0.1, 0.1], [0.1, 0.1]], None, None, (0.1, 0.0, 0.0)),  # one score
        ([[1.0, 0.0], [1.0, 1.0]], None, [0, 0], (0.75, 0.25, math.nan)),  # one cluster
        ([[1.0, 0.0], [1.0, 1.0]], [0.0, 0.0], None, (math.nan, math.nan, math.nan)),
        ([[1.0, 0.0], [1.0, 1.0]], [0.0, 2.0], [3, 5], (1.0, 0.0, math.nan)),
        ([[math.nan, math.nan], [1.0, 0.0]], None, [0, 0], (0.5, 0.5, math.nan)),
    ],
)
def test_what_cannot_be_estimated_is_nan(scores: Any, weights: Any, cluster: Any, expected: Any) -> None:
    data = totals(np.repeat(np.array(scores)[:, :, None], 2, axis=2))
    given = (None if cluster is None else np.array(cluster), None if weights is None else np.array(weights))
    errors = mean_errors(*data, *given)
    pairs, _ = paired_errors(*data, *given)
    _, items, epochs = power_analysis(pairs)

    value, benchmark, like_these = expected
    for result, number in ((errors.value, value), (errors.benchmark, benchmark), (errors.like_these, like_these)):
        assert result == pytest.approx([number] * 2, nan_ok=True)
    assert pairs.value == pytest.approx([value * 0], nan_ok=True)
    assert pairs.like_these == pytest.approx([like_these * 0], nan_ok=True)
    assert pairs.benchmark == pytest.approx([math.sqrt(2) * benchmark], nan_ok=True)
    assert np.isnan(items[0]) == np.isnan(like_these)
    assert np.isnan(epochs[0]) == (np.isnan(like_these) or np.isnan(benchmark))


def test_scores_that_never_vary_have_errors_of_exactly_0() -> None:
    data = totals(np.full((7, 3, 2), 0.1))._replace(within=np.zeros((7, 2)))
    pairs, correlation = paired_errors(*data)

    assert mean_errors(*data).like_these.tolist() == [0.0, 0.0]
    assert [variance.tolist() for variance in variance_components(*data)] == [[0.0, 0.0]] * 2
    assert np.isnan(correlation).all()
    assert power_analysis(pairs)[1].tolist() == [1.0]


def test_one_model_has_no_pair() -> None:
    pairs, correlation = paired_errors(*totals(drawn(14, models=1)))

    assert all(array.shape == (0,) for array in (correlation, *pairs))


def test_components_need_an_item_with_two_epochs_and_two_items() -> None:
    once = variance_components(*totals(drawn(15, most=1)))
    single, weighted = (variance_components(*totals(np.array([[[1.0], [2.0]]])), weights)
                        for weights in (None, np.array([0.1])))

    assert all(np.isnan(array).all() for array in once)
    assert single[1].tolist() == [0.5]
    assert np.isnan([single[0], weighted[0]]).all()
