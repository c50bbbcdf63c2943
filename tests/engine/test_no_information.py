"""The value without information: against R's exact expectations, every permutation of small data, and plain loops."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.engine.averages import values
from evalpipe.engine.no_information import Independent
from evalpipe.metrics import registry
from evalpipe.plan import MetricPlan
from evalpipe.statistics import Summary
from laws import samples

BENT = {
    "ace", "average_precision", "brier_discrimination", "brier_miscalibration", "brier_refinement", "brier_reliability",
    "brier_residual", "brier_resolution", "calibration_in_the_large", "calibration_intercept", "calibration_slope",
    "critical_success_index", "e90", "ece", "emax", "equitable_threat_score", "gain", "gain_capture", "hand_till_auc",
    "hosmer_lemeshow", "hosmer_lemeshow_p", "ici", "ks", "lift", "mce", "nagelkerke_r2", "negative_likelihood_ratio",
    "npv", "odds_ratio", "ordinal_rmse", "partial_roc_auc", "positive_likelihood_ratio", "ppv", "pr_auc",
    "precision_at_k", "recall_at_k", "rmsce", "roc_distance", "sedi", "sensitivity_at_specificity",
    "specificity_at_sensitivity", "spiegelhalter_p", "top_label_ece", "yule_q",
}
"""Measures of levels whose mean over all pairings is not their value at the mean statistics."""

LINEAR = [case for case in samples.CASES if registry[case[0]].linear]


@pytest.mark.parametrize(("name", "options", "task"), LINEAR, ids=[f"{c[0]}-{c[2]}-{i}" for i, c in enumerate(LINEAR)])
def test_the_exact_mean_is_that_of_all_pairings(name: str, options: dict[str, Any], task: str) -> None:
    """Tolerance 1e-10: the mean is over 720 sums, and a kappa of them cancels."""
    data = samples.take(samples.rows(task, 60, 3, ties=False), np.array([0, 7, 13, 21, 33, 47]))
    entry = registry[name]
    filled = samples.filled(entry, options, data.levels)
    found = [
        float(Summary(data.paired(np.array(order)), np.ones(6)).value(entry, filled))
        for order in itertools.permutations(range(6))
    ]
    assert not np.isnan(found).any()
    exact = float(Independent(data, np.ones(6)).value(entry, filled))
    assert exact == pytest.approx(np.mean(found), abs=1e-10, rel=1e-10)


def test_a_measure_is_averaged_over_random_pairings_only_where_it_must_be() -> None:
    assert {entry.name for entry in samples.CLASSES if not entry.linear} == BENT


def test_the_exact_mean_follows_the_weights() -> None:
    data, times = samples.rows("many", 40), np.random.default_rng(1).integers(1, 4, 40)
    repeated = samples.take(data, np.repeat(np.arange(40), times))
    for name in ("accuracy", "brier", "kappa", "log_loss"):
        entry = registry[name]
        weighted = Independent(data, times.astype(float)).value(entry, samples.filled(entry, {}))
        plain = Independent(repeated, np.ones(times.sum())).value(entry, samples.filled(entry, {}))
        assert float(weighted) == pytest.approx(float(plain), rel=1e-12)


@pytest.mark.parametrize("average", ["macro", "macro_weighted", "none"])
def test_averages_are_over_what_each_class_would_be(average: str) -> None:
    data, entry = samples.rows("many"), registry["sensitivity"]
    asked = MetricPlan(entry, {}, "none", "", average, ({},) * 4)
    found = values(Independent(data, np.ones(97)), asked)  # type: ignore[arg-type]
    each = [(data.predicted == k).mean() for k in range(4)]  # a blind sensitivity is the share predicted
    by_size = np.average(each, weights=np.bincount(data.truth))
    expected = {"none": each, "macro": np.mean(each), "macro_weighted": by_size}
    assert found == pytest.approx(expected[average], rel=1e-12)


def test_r_agrees_on_the_mushrooms(reference: Path) -> None:
    r = json.loads((reference / "mushroom" / "r_reference.json").read_text())["permutation_exact"]
    data = pl.read_csv(reference / "mushroom" / "val.csv")
    results = evalpipe.evaluate(
        data["class"], data[".pred_poisonous"], event="poisonous", metrics=["log_loss", "brier", "roc_auc"],
        intervals={"method": "none"}, no_information=True,
    )
    found = {row.metric: row for row in results.rows}
    assert found["log_loss"].no_information == pytest.approx(r["logloss"], rel=1e-9)
    assert found["brier"].no_information == pytest.approx(r["brier"], rel=1e-9)
    assert found["roc_auc"].no_information == pytest.approx(0.5, rel=1e-12)
    assert found["roc_auc"].skill == pytest.approx(2 * found["roc_auc"].value - 1, rel=1e-12)
    assert found["brier"].skill == pytest.approx(1 - found["brier"].value / r["brier"], rel=1e-9)


def regression(**options: Any) -> Any:
    generator = np.random.default_rng(2)
    y = generator.normal(5, 2, 300)
    given = {"task": "regression", "metrics": ["mse", "rmse", "c_index", "r2"], "intervals": {"method": "none"}}
    return evalpipe.evaluate(y, prediction=y + generator.normal(0, 1, 300), no_information=True, **(given | options)), y


def test_other_measures_are_averaged_over_random_pairings() -> None:
    results, y = regression()
    p = results.rows[0]
    found = {row.metric: row for row in results.rows}
    assert p.no_information is not None
    generator = np.random.default_rng(2)
    y = generator.normal(5, 2, 300)
    prediction = y + generator.normal(0, 1, 300)
    exact = ((y[:, None] - prediction) ** 2).mean()
    assert found["mse"].no_information == pytest.approx(exact, rel=0.02)  # 200 pairings of 300 rows: about 0.5 %
    assert found["c_index"].no_information == pytest.approx(0.5, abs=0.01)
    assert found["rmse"].no_information == pytest.approx(math.sqrt(exact), rel=0.01)
    assert found["r2"].skill is not None
    assert found["r2"].skill > 0


def test_random_pairings_are_the_same_every_time_and_follow_the_seed() -> None:
    assert regression()[0].to_json() == regression()[0].to_json()
    one, two = (regression(seed=seed)[0].rows[0].no_information for seed in (1, 2))
    assert one != two


def test_without_the_key_nothing_is_said() -> None:
    given = {"event": 1, "metrics": ["brier"], "intervals": {"method": "none"}}
    row = evalpipe.evaluate([1, 0, 1], [0.9, 0.2, 0.4], **given).rows[0]
    assert (row.no_information, row.skill) == (None, None)
