"""Differences of the outcome between datasets, against statsmodels; tolerance 1e-9, the same closed forms."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.proportion import proportions_ztest
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from engine.runs import people, run

SAME = 1e-9


def test_shares_of_the_event_have_the_z_test_of_two_proportions() -> None:
    first, other = people(300, seed=1), people(200, seed=2)
    results = run({"a": first, "b": other}, metrics=["brier"], intervals={"method": "none"})
    (row,) = results.dataset_differences
    counts = [int(frame["y"].sum()) for frame in (other, first)]
    statistic, p_value = proportions_ztest(counts, [200, 300])
    assert (row.dataset, row.baseline, row.level) == ("b", "a", "1")
    assert (row.value, row.baseline_value) == (counts[0] / 200, counts[1] / 300)
    assert (row.statistic, row.p_value) == (pytest.approx(statistic, rel=SAME), pytest.approx(p_value, rel=SAME))


def test_means_have_the_z_test_of_unequal_variances() -> None:
    generator = np.random.default_rng(3)
    frames = {name: pl.DataFrame({"y": generator.normal(k, 1 + k, n), "p": generator.normal(0, 1, n)})
              for name, k, n in (("a", 0, 80), ("b", 1, 120))}
    results = run(frames, task="regression", outcome={"column": "y"}, models={"m": {"prediction": "p"}},
                  metrics=["mae"], intervals={"method": "none"})
    (row,) = results.dataset_differences
    compared = CompareMeans(*(DescrStatsW(frames[name]["y"].to_numpy()) for name in ("b", "a")))
    statistic, p_value = compared.ztest_ind(usevar="unequal")
    assert row.level is None
    assert (row.statistic, row.p_value) == (pytest.approx(statistic, rel=SAME), pytest.approx(p_value, rel=SAME))


def test_clusters_count_as_one_observation_each() -> None:
    frames = {"a": people(300, seed=1), "b": people(200, seed=2)}
    (plain,) = run(frames, metrics=["brier"], intervals={"method": "none"}).dataset_differences
    results = run(frames, metrics=["brier"], intervals={"method": "none"}, cluster="who")
    (clustered,) = results.dataset_differences
    assert clustered.value == plain.value
    sizes = [dataset.clusters or 0 for dataset in results.datasets]
    pooled = (plain.baseline_value * sizes[0] + plain.value * sizes[1]) / sum(sizes)
    error = (pooled * (1 - pooled) * sum(1 / size for size in sizes)) ** 0.5
    assert clustered.statistic == pytest.approx((plain.value - plain.baseline_value) / error, rel=SAME)


def test_equal_and_certain_shares_have_no_test() -> None:
    frame = people(60).with_columns(y=pl.Series([1] + [0] * 59))
    (row,) = run({"a": frame, "b": frame}, metrics=["brier"], intervals={"method": "none"}).dataset_differences
    assert (row.statistic, row.p_value) == (0.0, 1.0)
    assert run(frame, metrics=["brier"], intervals={"method": "none"}).dataset_differences == []
