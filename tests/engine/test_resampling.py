"""Clusters and strata through `evalpipe.evaluate`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe.errors import SpecError

FEW = {"replicates": 2000}


def clustered(seed: int = 0) -> tuple[Any, Any, Any]:
    """Return truth, probability and cluster of 60 clusters of 10 rows that are right or wrong together."""
    generator = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(60), 10)
    right = np.repeat(generator.random(60) < 0.7, 10)
    truth = generator.integers(0, 2, 600)
    return truth, np.where(right == (truth == 1), 0.9, 0.1), np.char.add("c", cluster.astype(str))


def accuracy(**options: Any) -> Any:
    truth, probability, _ = clustered()
    given = {"event": 1, "metrics": ["accuracy"], "intervals": FEW} | options
    return evalpipe.evaluate(truth, probability, **given).rows[0]


def test_clusters_widen_the_interval_by_the_design_effect() -> None:
    truth, probability, cluster = clustered()
    alone, together = accuracy(intervals={"method": "percentile"} | FEW), accuracy(cluster=cluster)
    assert (alone.method, together.method) == ("percentile", "percentile")
    widths = [row.upper - row.lower for row in (alone, together)]
    assert widths[1] / widths[0] == pytest.approx(np.sqrt(10), rel=0.1)  # all ten rows of a cluster say the same
    hits = ((probability >= 0.5) == (truth == 1)).reshape(60, 10).mean(axis=1)
    assert widths[1] == pytest.approx(2 * 1.96 * hits.std() / np.sqrt(60), rel=0.1)


def test_without_the_key_limits_in_closed_form_hold_and_with_it_they_do_not() -> None:
    assert accuracy().method == "exact"
    methods = evalpipe.evaluate(
        [1, 0, 1, 0], [0.9, 0.2, 0.6, 0.4], event=1, cluster=["a", "a", "b", "b"], metrics=["accuracy", "roc_auc"],
        intervals={"replicates": 100},
    ).intervals.methods
    said = ("rows of a cluster are not independent, so whole clusters are resampled; of at most 40 of them the limits "
            "are Student's")
    assert {metric: [(one.method, one.reason) for one in chosen] for metric, chosen in methods.items()} == {
        "accuracy": [("cluster_t", said)], "roc_auc": [("cluster_t", said)]}


def test_a_single_cluster_is_told_and_its_intervals_are_degenerate() -> None:
    results = evalpipe.evaluate(
        [1, 0, 1, 0], [0.9, 0.2, 0.6, 0.4], event=1, cluster=["a"] * 4, metrics=["brier"], intervals={"replicates": 100}
    )
    assert [warning.code for warning in results.warnings] == ["one-cluster"]
    row = results.rows[0]
    assert (row.status, row.method, row.lower, row.upper) == ("degenerate", "none", None, None)
    assert row.reason == "all rows are in one cluster, so the uncertainty is unknown"
    assert results.datasets[0].clusters == 1


def test_the_order_of_rows_changes_no_byte() -> None:
    truth, probability, cluster = clustered()
    order = np.random.default_rng(1).permutation(600)
    one = evalpipe.evaluate(truth, probability, event=1, cluster=cluster, metrics=["brier"], intervals=FEW)
    two = evalpipe.evaluate(truth[order], probability[order], event=1, cluster=cluster[order], metrics=["brier"],
                            intervals=FEW)
    assert one.to_json() == two.to_json()


def test_stratified_replicates_keep_the_prevalence() -> None:
    truth, probability, _ = clustered()
    free, kept = (
        evalpipe.evaluate(truth, probability, event=1, metrics=["brier_uncertainty"],
                          intervals={"method": "percentile", "stratify": stratify, "replicates": 200}).rows[0]
        for stratify in (False, True)
    )
    assert free.upper > free.lower
    assert kept.upper == pytest.approx(kept.lower, abs=1e-15)


def test_clusters_and_strata_exclude_each_other() -> None:
    with pytest.raises(SpecError) as caught:
        accuracy(cluster=clustered()[2], intervals={"stratify": True})
    assert str(caught.value).startswith("error[two-resamplings]: intervals.stratify: clusters are resampled whole")
