"""The figures of Kuhn's chapter on the mushroom data, from `mushroom.yaml` through the whole pipeline.

Values to 1e-6 (the full precision of the table) and mostly to 1e-9 against base R, pROC and yardstick; bootstrap limits
within 0.0005 of R's, which differ in the draw. Where the chapter prints a wrong number, the right one stands here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe.results import Estimate, Results

FOLDER = Path(__file__).resolve().parents[3] / "shared" / "reference" / "mushroom"
SPEC = Path(__file__).with_name("mushroom.yaml")

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the reference data are not beside the project")


@pytest.fixture(scope="module")
def results() -> Results:
    return evalpipe.run(SPEC)


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((FOLDER / "r_reference.json").read_text())
    return document


def row(results: Results, metric: str, **params: Any) -> Estimate:
    return next(r for r in results.rows if r.metric == metric and params.items() <= r.params.items())


def test_the_confusion_matrix(results: Results) -> None:
    assert results.confusion[0].counts == [[2613, 750], [564, 2180]]


BOOK = {
    "accuracy": 0.784837, "kappa": 0.567903, "mcc": 0.568968, "sensitivity": 0.776985, "specificity": 0.794461,
    "log_loss": 0.4549675, "brier": 0.1501661, "roc_auc": 0.8705721, "pr_auc": 0.8987073,
    "average_precision": 0.8987241,
    # The chapter prints the sample's precision and negative predictive value (.822, .744) as PPV and NPV at the
    # prevalence of .555; these are the values at that prevalence.
    "ppv": 0.825012, "npv": 0.740685, "precision": 0.822474, "npv_sample": 0.744027,
}


@pytest.mark.parametrize(("metric", "value"), BOOK.items())
def test_the_figures_of_the_chapter(results: Results, metric: str, value: float) -> None:
    assert row(results, metric).value == pytest.approx(value, abs=1e-6)


R = {
    "balanced_accuracy": "bal_accuracy", "j_index": "j_index", "f1": "f1", "kappa": "kappa", "mcc": "mcc",
    "detection_prevalence": "detection_prevalence", "roc_auc": "roc_auc", "brier": "brier", "log_loss": "log_loss",
    "ks": "ks", "gini": "somers_dxy", "gain_capture": "somers_dxy",
    "positive_likelihood_ratio": "lr_pos", "negative_likelihood_ratio": "lr_neg",
}
PARTIAL = [
    ({"over": "false_positive_rate", "standardize": False}, "pauc_fpr_0_0.1"),
    ({"over": "false_positive_rate", "standardize": True}, "pauc_fpr_0_0.1_mcclish"),
    ({"over": "sensitivity", "standardize": False}, "pauc_sens_0.9_1"),
    ({"over": "sensitivity", "standardize": True}, "pauc_sens_0.9_1_mcclish"),
]
PARTS = {
    "brier_reliability": "reliability", "brier_refinement": "refinement", "brier_resolution": "murphy_resolution",
    "brier_uncertainty": "uncertainty",
}


@pytest.mark.metrics("partial_roc_auc")
@pytest.mark.parametrize(("params", "name"), PARTIAL, ids=[name for _, name in PARTIAL])
def test_proc_agrees_on_partial_areas(
    results: Results, reference: dict[str, Any], params: dict[str, Any], name: str
) -> None:
    assert row(results, "partial_roc_auc", **params).value == pytest.approx(reference["mushroom_val"][name], rel=1e-9)


@pytest.mark.parametrize(("metric", "name"), PARTS.items())
def test_r_agrees_on_the_parts_of_brier(results: Results, reference: dict[str, Any], metric: str, name: str) -> None:
    assert row(results, metric).value == pytest.approx(reference["mushroom_val"]["sanders_round2"][name], rel=1e-9)


@pytest.mark.metrics("nagelkerke_r2")
def test_rms_agrees_on_nagelkerke(results: Results, reference: dict[str, Any]) -> None:
    assert row(results, "nagelkerke_r2").value == pytest.approx(reference["mushroom_val"]["val_prob"]["R2"], rel=1e-9)



@pytest.mark.parametrize(("metric", "name"), R.items())
def test_r_agrees(results: Results, reference: dict[str, Any], metric: str, name: str) -> None:
    assert row(results, metric).value == pytest.approx(reference["mushroom_val"][name], rel=1e-9)


@pytest.mark.parametrize(("beta", "name"), [(2.0, "f2"), (0.5, "f0.5")])
def test_r_agrees_on_f_beta(results: Results, reference: dict[str, Any], beta: float, name: str) -> None:
    assert row(results, "f_beta", beta=beta).value == pytest.approx(reference["mushroom_val"][name], rel=1e-9)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("accuracy", "accuracy"), ("sensitivity", "sens"), ("specificity", "spec"), ("precision", "precision"),
        ("npv_sample", "npv_sample"),
    ],
)
def test_r_agrees_on_clopper_pearson_limits(
    results: Results, reference: dict[str, Any], metric: str, name: str
) -> None:
    found = row(results, metric)
    assert found.method == "exact"
    assert [found.lower, found.upper] == pytest.approx(reference["mushroom_val"][name]["cp90"], abs=1e-9)


def test_r_agrees_on_wilson_limits(reference: dict[str, Any]) -> None:
    overrides = ["metrics=[accuracy]", "intervals={level: 0.95, method: wilson}"]
    found = row(evalpipe.run(SPEC, overrides=overrides), "accuracy")
    assert [found.lower, found.upper] == pytest.approx(reference["mushroom_val"]["accuracy_wilson95"], abs=1e-9)


def test_r_agrees_on_the_bootstrap_limits_of_brier(results: Results, reference: dict[str, Any]) -> None:
    found = row(results, "brier")
    assert found.method == "percentile"
    assert [found.lower, found.upper] == pytest.approx(reference["bootstrap_seed364"]["brier_ci90"], abs=5e-4)


def test_the_bootstrap_of_the_auc_agrees_with_delong(results: Results, reference: dict[str, Any]) -> None:
    found = row(results, "roc_auc")
    # DeLong's normal limits and the percentiles differ by skewness and Monte-Carlo noise, at n = 6,107 below 0.0005.
    assert [found.lower, found.upper] == pytest.approx(reference["mushroom_val"]["auc_ci90_delong"], abs=5e-4)


@pytest.mark.parametrize(("cut", "sensitivity", "specificity"), [("0.1", 0.9738, 0.3528), ("0.9", 0.4526, 0.9723)])
def test_other_cuts(reference: dict[str, Any], cut: str, sensitivity: float, specificity: float) -> None:
    overrides = [f"threshold={cut}", "metrics=[sensitivity, specificity, kappa]", "intervals.method=exact"]
    results = evalpipe.run(SPEC, overrides=overrides)
    theirs = reference["mushroom_val"][f"at_cut_{cut}"]
    assert results.confusion[0].counts == [[theirs["TP"], theirs["FN"]], [theirs["FP"], theirs["TN"]]]
    assert row(results, "sensitivity").value == pytest.approx(sensitivity, abs=5e-5)
    assert row(results, "specificity").value == pytest.approx(specificity, abs=5e-5)
    assert row(results, "kappa").value == pytest.approx(theirs["kappa"], rel=1e-9)


def test_the_share_tested_to_find_half_of_the_events(results: Results, reference: dict[str, Any]) -> None:
    notes = next(curve for curve in results.curves if curve.curve == "gain").notes
    # R takes the first row that reaches one half; the curve is read between two rows, at most one row of 6,107 before.
    theirs = reference["mushroom_val"]["pct_tested_for_half"]
    assert notes.tested_for_half_of_events == pytest.approx(theirs, abs=1.7e-4)


def test_the_reliability_bins_are_those_of_the_expected_calibration_error(
    results: Results, reference: dict[str, Any]
) -> None:
    theirs = reference["mushroom_val"]["ece"]["equal_width_10_right_open"]
    points = next(curve for curve in results.curves if curve.curve == "calibration_uniform").points
    weight, rate, mean = (np.array(points.columns[key], float) for key in ("weight", "event_rate", "mean_probability"))
    assert (weight / weight.sum() * abs(rate - mean)).sum() == pytest.approx(theirs["ece"], rel=1e-9)
    assert abs(rate - mean).max() == pytest.approx(theirs["mce"], rel=1e-9)


def test_r_agrees_on_the_expected_calibration_error(reference: dict[str, Any]) -> None:
    overrides = ["metrics=[{metric: ece, bins: 10}]", "intervals.method=none"]
    found = row(evalpipe.run(SPEC, overrides=overrides), "ece").value
    theirs = reference["mushroom_val"]["ece"]["equal_width_10_right_open"]["ece"]
    assert found == pytest.approx(theirs, rel=1e-9)


def test_the_bootstrap_error_of_kappa_is_that_of_its_formula(reference: dict[str, Any]) -> None:
    """Half the width of a 68.27 % interval is one standard error; with 10,000 replicates it is off by 1.1 %."""
    overrides = ["metrics=[kappa]", "intervals={level: 0.6827, method: percentile, replicates: 10000}"]
    found = row(evalpipe.run(SPEC, overrides=overrides), "kappa")
    assert found.lower is not None
    assert found.upper is not None
    assert (found.upper - found.lower) / 2 == pytest.approx(reference["mushroom_val"]["kappa_se"], rel=0.03)
