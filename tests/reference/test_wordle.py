"""The figures of Kuhn's chapter on the Wordle data, an outcome of six ordered levels, through the whole pipeline.

Values to 1e-9, relative, against base R and yardstick, whose figures are given to 15 digits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

import evalpipe
from evalpipe.results import Estimate, Results

METRICS = [
    "accuracy", "kappa", {"metric": "weighted_kappa", "weights": "linear"},
    {"metric": "weighted_kappa", "weights": "quadratic"}, "rps", "brier", {"metric": "brier", "scale": "sum"},
    {"metric": "brier", "scale": "classes"}, "ordinal_mae", "ordinal_mse", "ordinal_rmse", "log_loss", "hand_till_auc",
]


def spec(folder: Path, *, predicted: bool = True) -> dict[str, Any]:
    classes = {"prediction": ".pred_class"} if predicted else {}
    return {
        "evalpipe": 1, "name": "wordle", "task": "ordinal",
        "outcome": {"column": "tries", "levels": [2, 3, 4, 5, 6, "X"]},
        "datasets": {"test": {"path": str(folder / "rule_test.csv")}},
        "models": {"rules": {"probabilities": ".pred_{level}"} | classes},
        "metrics": METRICS, "intervals": {"replicates": 200}, "report": {"formats": []},
    }


@pytest.fixture(scope="module")
def folder(reference: Path) -> Path:
    return reference / "wordle"


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return evalpipe.run(spec(folder))


def row(results: Results, metric: str, **params: Any) -> Estimate:
    return next(r for r in results.rows if r.metric == metric and params.items() <= r.params.items())


CHAPTER = [
    ("accuracy", {}, 95 / 118), ("kappa", {}, 0.722097071472455),
    ("weighted_kappa", {"weights": "linear"}, 0.750141163184641),
    ("weighted_kappa", {"weights": "quadratic"}, 0.791217629081551), ("rps", {}, 0.045824949849568),
    ("brier", {"scale": "half"}, 0.162073674432925), ("ordinal_mse", {}, 44 / 118),
    ("ordinal_rmse", {}, 0.610640119818706),  # which the chapter calls the mean squared error
]


@pytest.mark.parametrize(("metric", "params", "value"), CHAPTER)
def test_the_figures_of_the_chapter(results: Results, metric: str, params: dict[str, Any], value: float) -> None:
    assert row(results, metric, **params).value == pytest.approx(value, rel=1e-9)


R = [
    ("accuracy", {}, "accuracy"), ("kappa", {}, "kap"), ("weighted_kappa", {"weights": "linear"}, "kap_lin"),
    ("weighted_kappa", {"weights": "quadratic"}, "kap_quad"), ("brier", {"scale": "half"}, "brier_sum_over_2n"),
    ("brier", {"scale": "sum"}, "brier_sum_over_n"), ("brier", {"scale": "classes"}, "brier_sum_over_nC"),
    ("rps", {}, "rps"), ("ordinal_mse", {}, "mse"), ("ordinal_rmse", {}, "rmse"), ("ordinal_mae", {}, "mae"),
    ("log_loss", {}, "logloss"), ("hand_till_auc", {}, "hand_till_present_classes"),
]


@pytest.mark.parametrize(("metric", "params", "name"), R, ids=[f"{metric}-{name}" for metric, _, name in R])
def test_r_agrees(results: Results, folder: Path, metric: str, params: dict[str, Any], name: str) -> None:
    theirs = json.loads((folder / "reference.json").read_text())
    assert row(results, metric, **params).value == pytest.approx(theirs[name], rel=1e-9)


def test_the_limits_of_the_accuracy_are_those_of_95_of_118(results: Results) -> None:
    found = row(results, "accuracy")
    assert (found.method, found.n) == ("exact", 118)
    theirs = binomtest(95, 118).proportion_ci(0.95, "exact")
    # 1e-6: scipy searches for the limits, with a tolerance of its own; here they are quantiles of a beta distribution.
    assert [found.lower, found.upper] == pytest.approx([theirs.low, theirs.high], abs=1e-6)


def test_the_level_that_never_occurs_is_left_out_of_hand_and_till(results: Results) -> None:
    found = row(results, "hand_till_auc")
    assert (found.classes_used, found.status) == (5, "degenerate")
    assert found.reason == "over 5 of 6 classes; no value for 'X'"


def test_the_levels_and_the_confusion_matrix(results: Results) -> None:
    assert results.levels == ["2", "3", "4", "5", "6", "X"]
    counts = results.confusion[0].counts
    assert sum(map(sum, counts)) == 118
    assert sum(counts[place][place] for place in range(6)) == 95
    assert sum(counts[i][j] * (i - j) ** 2 for i in range(6) for j in range(6)) == 44


def test_the_most_probable_level_is_the_predicted_one(results: Results, folder: Path) -> None:
    of_chances = evalpipe.run(spec(folder, predicted=False))
    assert of_chances.confusion[0].counts == results.confusion[0].counts
    assert of_chances.confusion[0].tied == 0
