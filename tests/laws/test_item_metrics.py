"""Laws of the measures of items: weights are replication, order, batches, and what happens at the edges."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import registry
from evalpipe.statistics import ScoreRows, Summary
from evalpipe.statistics.ranked_lists import Queries, RankedLists

N = 24
ENTRIES = [entry for entry in registry if entry.sees == "items"]
OPTIONS: dict[str, dict[str, Any]] = {
    "pass_at": {"k": 2}, "pass_all": {"k": 3}, "quantile": {"q": 0.3}, "share_at_least": {"limit": 0.5},
    "precision_at": {"k": 3}, "recall_at": {"k": 3}, "hit_rate_at": {"k": 1},
    "mean_usage": {"usage": "cost"}, "usage_per_success": {"usage": "cost"}}
NEAR = 1e-12
"""Sums of a few dozen numbers near 1 in another order differ by no more."""


def epochs_of_items(seed: int = 0, fewest: int = 3) -> list[np.ndarray[Any, np.dtype[np.float64]]]:
    """Return the 0/1 scores of the epochs of each item."""
    rng = np.random.default_rng(seed)
    return [(rng.random(int(rng.integers(fewest, 6))) < rng.random()).astype(float) for _ in range(N)]


def rows(items: list[np.ndarray[Any, np.dtype[np.float64]]], seed: int = 1) -> ScoreRows:
    """Bring the epochs of items together."""
    rng, documents = np.random.default_rng(seed + 7), np.repeat(np.arange(len(items)), 6)
    relevance = rng.integers(0, 3, len(documents)).astype(float)
    relevance[::6] = 2
    lists = RankedLists.of(documents, relevance, rng.integers(0, 4, len(documents)).astype(float))
    equal = [sum(first == second for first, second in combinations(item, 2)) for item in items]
    return ScoreRows(
        np.array([item.mean() for item in items]), np.array([float(len(item)) for item in items]),
        np.array([((item - item.mean()) ** 2).sum() for item in items]), np.array(equal, float),
        np.array([item.sum() for item in items]), np.random.default_rng(seed).random(len(items)),
        np.arange(float(len(items))), Queries(lists), rng.lognormal(size=(len(items), 2)), ("seconds", "cost"))


def value(name: str, data: ScoreRows, weight: Any = None, **options: Any) -> Any:
    """Return a measure under weights [..., n], by default 1."""
    weight = np.ones(len(data.score)) if weight is None else np.asarray(weight)
    summary = Summary(data, weight)
    metric = registry[name]
    options = metric.options(**(OPTIONS.get(name, {}) | options)).model_dump()
    return metric(*summary.inputs(metric, options), **options)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
class TestLaws:
    def test_a_weight_is_so_many_items(self, entry: Any) -> None:
        data, weight = rows(epochs_of_items()), np.random.default_rng(2).integers(0, 4, N)
        assert value(entry.name, data, weight) == pytest.approx(
            float(value(entry.name, data.at(np.repeat(np.arange(N), weight)))), rel=NEAR)

    def test_the_order_of_items_changes_nothing(self, entry: Any) -> None:
        data, order = rows(epochs_of_items()), np.random.default_rng(3).permutation(N)
        assert value(entry.name, data.at(order)) == pytest.approx(float(value(entry.name, data)), rel=NEAR)

    def test_a_batch_is_a_loop(self, entry: Any) -> None:
        data, weights = rows(epochs_of_items()), np.random.default_rng(4).integers(0, 3, (5, N))
        one_by_one = [float(value(entry.name, data, weight)) for weight in weights]
        assert value(entry.name, data, weights).tolist() == pytest.approx(one_by_one, rel=NEAR)

    def test_without_items_there_is_no_value(self, entry: Any) -> None:
        assert math.isnan(value(entry.name, rows(epochs_of_items()), np.zeros(N)))

    def test_a_value_lies_within_the_range(self, entry: Any) -> None:
        low, high = entry.range
        for seed in range(20):
            found = float(value(entry.name, rows(epochs_of_items(seed))))
            assert low <= found <= high


def test_one_pass_is_the_mean_of_scores_of_0_and_1() -> None:
    data = rows(epochs_of_items())
    assert value("pass_at", data, k=1) == pytest.approx(float(value("mean", data)), rel=NEAR)
    assert value("pass_all", data, k=1) == pytest.approx(float(value("mean", data)), rel=NEAR)


def test_passes_need_k_epochs_of_every_item() -> None:
    data = rows(epochs_of_items(fewest=2))
    assert data.epochs.min() == 2
    assert math.isnan(value("pass_at", data, k=3))
    assert value("pass_at", data, k=3, weight=data.epochs >= 3) > 0


def test_items_of_one_epoch_do_not_count_for_flips() -> None:
    items = [np.array([1.0]), np.array([1.0, 0.0]), np.array([1.0, 1.0])]
    assert value("flip_rate", rows(items)) == 0.5
    assert math.isnan(value("flip_rate", rows(items[:1])))
    assert math.isnan(value("intraclass_correlation", rows(items[:1] * 3)))


def test_the_intraclass_correlation_is_that_of_shrout_and_fleiss() -> None:
    # Shrout & Fleiss (1979), table 2: six targets, four judges; ICC(1,1) = .17 in table 4, .1657 in full.
    ratings = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float)
    between = 4 * ratings.mean(axis=1).var(ddof=1)
    within = ratings.var(axis=1, ddof=1).mean()
    found = value("intraclass_correlation", rows(list(ratings)))
    assert found == pytest.approx((between - within) / (between + 3 * within), rel=NEAR)
    assert found == pytest.approx(0.17, abs=0.005)


def test_large_scores_do_not_cancel() -> None:
    near = np.array([1.0, 2.0, 4.0])
    far = ScoreRows(near + 1e9, np.ones(3), np.zeros(3), np.zeros(3))
    # Numbers near 1e9 are whole multiples of 1e-7, a relative error of 1e-7 of differences of 1.
    assert value("standard_deviation", far) == pytest.approx(near.std(ddof=1), rel=1e-7)
