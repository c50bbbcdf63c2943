"""Recalibrators against R, scikit-learn, statsmodels, betacal and venn-abers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

import evalpipe
from evalpipe.calibration import Fitted, Training, registry
from evalpipe.calibration.scales import events_of, logistic_fit
from evalpipe.intervals.resampling import stream
from evalpipe.results import Results


def fit(method: str, truth: Any, prediction: Any, weight: Any = None, **options: Any) -> Fitted:
    n = len(truth)
    given = np.ones(n) if weight is None else weight

    def resampled(bags: int) -> Any:
        generator = stream(364, "bags")
        return (generator.multinomial(n, np.full(n, 1 / n), size=50) for _ in range(bags // 50))

    return registry[method].fit(Training(np.asarray(truth), np.asarray(prediction), given, resampled), **options)


Rows = tuple[Any, Any]


@pytest.fixture(scope="module")
def mushrooms(reference: Path) -> tuple[Rows, Rows]:
    def read(name: str) -> Rows:
        with (reference / "mushroom" / name).open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        truth = np.array([row["class"] == "poisonous" for row in rows])
        return truth, np.array([float(row[".pred_poisonous"]) for row in rows])

    return read("cal.csv"), read("val.csv")


@pytest.fixture(scope="module")
def r(reference: Path) -> dict[str, Any]:
    document = json.loads((reference / "mushroom" / "r_reference.json").read_text(encoding="utf-8"))
    return dict(document["calibration_cal_to_val"])


def brier(truth: Any, prediction: Any) -> float:
    return float(np.mean((truth - prediction) ** 2))


def log_loss(truth: Any, prediction: Any) -> float:
    return -float(np.mean(np.log(np.where(truth, prediction, 1 - prediction))))


@pytest.mark.parametrize(
    ("method", "options", "key"),
    [
        ("logistic", {}, "logistic_on_logit"),
        ("logistic_probability", {}, "logistic_on_prob"),
        ("platt", {}, "platt_targets_on_logit"),
        ("platt", {"on": "probability"}, "platt_targets_on_prob"),
        ("beta", {}, "beta_abm"),
        ("isotonic", {}, "isotonic_stepfun_correct"),
        ("isotonic", {"interpolate": "linear"}, "isotonic_linear_interp_sklearn_style"),
    ],
)
def test_r_agrees_on_the_mushrooms(
    mushrooms: tuple[Rows, Rows], r: dict[str, Any], method: str, options: dict[str, Any], key: str
) -> None:
    (truth, prediction), (later, given) = mushrooms
    fitted, expected = fit(method, truth, prediction, **options), r[key]
    found = fitted(given)

    # 1e-6: R stops its iterations at a relative change of 1e-8.
    assert brier(later, found) == pytest.approx(expected["brier"], abs=1e-6)
    assert len(np.unique(found)) == expected["n_unique"]
    assert fitted.clipped == 0
    for name in {"intercept", "slope", "a", "b"} & set(fitted.parameters) & set(expected):
        assert fitted.parameters[name] == pytest.approx(expected[name], abs=1e-6), name
    if method != "isotonic":  # whose levels are 0 and 1 at the ends
        assert log_loss(later, found) == pytest.approx(expected["log_loss"], abs=1e-6)
        assert (found.min(), found.max()) == (pytest.approx(expected["min"], rel=1e-5),
                                              pytest.approx(expected["max"], rel=1e-9))


def test_the_uncalibrated_mushrooms(mushrooms: tuple[Rows, Rows], r: dict[str, Any]) -> None:
    later, given = mushrooms[1]

    assert brier(later, given) == pytest.approx(r["uncalibrated"]["brier"], abs=1e-12)
    assert log_loss(later, given) == pytest.approx(r["uncalibrated"]["log_loss"], abs=1e-12)


def test_mgcv_agrees_on_the_spline(mushrooms: tuple[Rows, Rows], r: dict[str, Any]) -> None:
    (truth, prediction), (later, given) = mushrooms
    fitted, expected = fit("logistic_spline", truth, prediction), r["gam_smooth"]

    # 2e-4: mgcv's basis is a thin plate, ours has knots at quantiles; both have ten dimensions and one criterion.
    assert brier(later, fitted(given)) == pytest.approx(expected["brier"], abs=2e-4)
    assert fitted.parameters["edf"] == pytest.approx(expected["edf"], abs=0.1)


def test_the_bagged_isotonic_mushrooms(mushrooms: tuple[Rows, Rows]) -> None:
    (truth, prediction), (later, given) = mushrooms
    found = fit("isotonic_bagged", truth, prediction)(given)

    assert brier(later, found) == pytest.approx(0.1463, abs=3e-4)  # 1,000 bags of an independent computation
    assert len(np.unique(found)) > 36  # more levels than one isotonic fit has


def test_the_reference_for_beta_without_an_intercept_is_not_the_paper_s(
    mushrooms: tuple[Rows, Rows], r: dict[str, Any]
) -> None:
    """Kull et al. (2017) and both betacal packages fix the midpoint at 1/2, on ln 2p; this reference took ln p."""
    (truth, prediction), (later, given) = mushrooms
    expected = r["beta_ab"]
    table = events_of(Training(truth, prediction, np.ones(len(truth)), iter))  # type: ignore[arg-type]
    columns = np.array([np.log(table.at), -np.log1p(-table.at)])
    a, b = logistic_fit(columns, table.events, table.others, intercept=False)

    assert (a, b) == (pytest.approx(expected["a"], abs=1e-6), pytest.approx(expected["b"], abs=1e-6))
    design = np.column_stack([np.log(2 * prediction), -np.log(2 * (1 - prediction))])
    oracle = sm.GLM(truth.astype(float), design, family=sm.families.Binomial()).fit().params
    fitted = fit("beta", truth, prediction, parameters="ab")
    assert [fitted.parameters[name] for name in ("a", "b")] == pytest.approx(oracle.tolist(), abs=1e-6)
    assert brier(later, fitted(given)) == pytest.approx(expected["brier"], abs=3e-4)


@pytest.fixture(scope="module")
def segment(reference: Path) -> Rows:
    with (reference / "calibration" / "segment_logistic.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([row["Class"] == "good" for row in rows]), np.array([float(row[".pred_good"]) for row in rows])


@pytest.mark.parametrize(
    ("method", "key", "values", "tolerance"),
    [
        ("logistic_probability", "logistic_plain", "here", 1e-7),
        ("beta", "beta", "here", 1e-7),
        ("isotonic", "isotonic", "here_isoreg_stepfun", 1e-9),
        # Another basis than mgcv's: the mean is that of the events under either, for a line has no penalty.
        ("logistic_spline", "logistic_spline", "here", 1e-4),
    ],
)
def test_r_agrees_on_segment_logistic(
    reference: Path, segment: Rows, method: str, key: str, values: str, tolerance: float
) -> None:
    expected = json.loads((reference / "calibration" / "expected.json").read_text(encoding="utf-8"))[key][values]
    truth, prediction = segment
    found = fit(method, truth, prediction)(prediction)

    assert found.mean() == pytest.approx(expected["mean"], abs=min(tolerance, 1e-7))
    assert found.std(ddof=1) == pytest.approx(expected["sd"], abs=tolerance)


def rows(seed: int, n: int = 400) -> tuple[Any, Any, Any]:
    """Return truth, predictions with ties, and weights from 0.5 to 2.5."""
    generator = np.random.default_rng(seed)
    odds = generator.normal(0, 1 + seed / 5, n)
    truth = generator.random(n) < 1 / (1 + np.exp(-0.6 * odds - 0.3))
    return truth, np.round(1 / (1 + np.exp(-odds)), 2 + seed % 3), generator.uniform(0.5, 2.5, n)


class Scores(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose decision function is its only column."""

    def __init__(self) -> None:
        self.classes_ = np.array([False, True])
        self.is_fitted_ = True

    def fit(self, features: Any, truth: Any) -> Scores:  # noqa: ARG002 - scikit-learn's signature
        return self

    def decision_function(self, features: Any) -> Any:
        return features[:, 0]

    def predict(self, features: Any) -> Any:
        return features[:, 0] >= 0.5


def by_sklearn(method: str, truth: Any, score: Any, weight: Any, given: Any) -> Any:
    machine = CalibratedClassifierCV(FrozenEstimator(Scores()), method=method)
    return machine.fit(score[:, None], truth, sample_weight=weight).predict_proba(given[:, None])[:, 1]


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept sample_weight")
@pytest.mark.parametrize("seed", range(10))
def test_scikit_learn_agrees_on_isotonic_calibration(seed: int) -> None:
    truth, prediction, weight = rows(seed)
    given = np.linspace(0, 1, 997)
    expected = by_sklearn("isotonic", truth, prediction, weight, given)

    # 1e-12: running means there, means of totals here.
    found = fit("isotonic", truth, prediction, weight, interpolate="linear")(given)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:Since FrozenEstimator does not appear to accept sample_weight")
@pytest.mark.parametrize("seed", range(10))
def test_scikit_learn_agrees_on_platt_scaling(seed: int) -> None:
    truth, prediction, weight = rows(seed)
    given = np.linspace(0.001, 0.999, 97)
    expected = by_sklearn("sigmoid", truth, prediction, weight, given)

    # 1e-7: scikit-learn stops at a small gradient.
    found = fit("platt", truth, prediction, weight, on="probability")(given)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_agrees_on_isotonic_regression_of_numbers(seed: int) -> None:
    generator = np.random.default_rng(seed)
    prediction, weight = np.round(generator.gamma(2, 3, 500), 1), generator.uniform(0.5, 2, 500)
    truth = generator.poisson(prediction).astype(float)
    given = np.linspace(-1, 30, 333)
    oracle = IsotonicRegression(out_of_bounds="clip").fit(prediction, truth, sample_weight=weight)

    found = fit("isotonic", truth, prediction, weight, interpolate="linear")(given)
    np.testing.assert_allclose(found, oracle.predict(given), rtol=0, atol=1e-9)  # sums in another order


@pytest.mark.parametrize("seed", range(3))
def test_statsmodels_agrees_on_weighted_logistic_recalibration(seed: int) -> None:
    truth, prediction, weight = rows(seed)
    inside = np.clip(prediction, 1e-12, 1 - 1e-12)
    design = sm.add_constant(np.log(inside / (1 - inside)))
    oracle = sm.GLM(truth.astype(float), design, family=sm.families.Binomial(), freq_weights=weight).fit(tol=1e-14)
    fitted = fit("logistic", truth, prediction, weight)

    found = [fitted.parameters["intercept"], fitted.parameters["slope"]]
    assert found == pytest.approx(oracle.params.tolist(), abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_scikit_learn_agrees_on_multinomial_recalibration(seed: int) -> None:
    generator = np.random.default_rng(seed)
    odds = generator.normal(0, 1, (600, 4))
    prediction = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    truth = (np.cumsum(prediction, axis=1) < generator.random(600)[:, None]).sum(axis=1)
    weight = generator.uniform(0.5, 2.5, 600)
    oracle = LogisticRegression(C=1e9, solver="newton-cg", tol=1e-10, max_iter=1000)
    oracle.fit(np.log(prediction), truth, sample_weight=weight)

    # 1e-5: the ridge of the one and of the other.
    found = fit("multinomial", truth, prediction, weight)(prediction)
    np.testing.assert_allclose(found, oracle.predict_proba(np.log(prediction)), rtol=0, atol=1e-5)


def formula(n: int, digits: int) -> Rows:
    """Return rows made by a formula, so that packages no test installs could see the same."""
    i = np.arange(1, n + 1)
    prediction = np.round(np.modf(i * 0.6180339887498949)[0] * 0.98 + 0.01, digits)
    return np.modf(i * 1.4142135623730951)[0] < prediction**2, prediction


GIVEN = np.array([0.001, 0.05, 0.255, 0.5, 0.61, 0.777, 0.93, 0.999])

# venn-abers 1.5.4, VennAbers().fit(...).predict_proba(...)[0][:, 1], on Python 3.11.
VENN_ABERS = {
    (40, 1): [0.0588235294, 0.0588235294, 0.1111111111, 0.2465753425, 0.4230769231, 0.5714285714, 0.8333333333,
              0.8333333333],
    (60, 2): [0.037037037, 0.04, 0.0909090909, 0.3307086614, 0.3846153846, 0.6153846154, 0.875, 0.9166666667],
    (101, 6): [0.05, 0.0588235294, 0.1052631579, 0.3214285714, 0.3689320388, 0.7, 0.9166666667, 0.9444444444],
}

# betacal 1.1.0, BetaCalibration(parameters).fit(...).predict(...), with scikit-learn 1.9.1.
BETACAL = {
    (40, 1, "abm"): [0.0, 6.2e-05, 0.007268, 0.102185, 0.264074, 0.7381, 0.988902, 1.0],
    (40, 1, "am"): [0.0, 5.9e-05, 0.007217, 0.102413, 0.264658, 0.73791, 0.98871, 1.0],
    (60, 2, "abm"): [0.0, 0.000486, 0.02559, 0.184954, 0.348942, 0.702501, 0.961838, 0.999976],
    (60, 2, "am"): [0.0, 0.000862, 0.028666, 0.182369, 0.341522, 0.701509, 0.967056, 0.99999],
    (101, 6, "abm"): [0.000801, 0.013497, 0.06838, 0.222913, 0.365118, 0.704441, 0.973181, 0.999998],
    (101, 6, "ab"): [0.0, 0.002599, 0.139238, 0.5, 0.643027, 0.802817, 0.90866, 0.98399],
    (101, 6, "am"): [6e-06, 0.003197, 0.057208, 0.246272, 0.397431, 0.698794, 0.949945, 0.99994],
}


@pytest.mark.parametrize(("n", "digits"), VENN_ABERS)
def test_the_venn_abers_package_agrees(n: int, digits: int) -> None:
    assert fit("venn_abers", *formula(n, digits))(GIVEN).tolist() == pytest.approx(VENN_ABERS[n, digits], abs=1e-10)


@pytest.mark.parametrize(("n", "digits", "terms"), BETACAL)
def test_betacal_agrees(n: int, digits: int, terms: str) -> None:
    found = fit("beta", *formula(n, digits), parameters=terms)(GIVEN)

    # 5e-4: betacal takes scikit-learn's logistic regression at its default tolerance.
    np.testing.assert_allclose(found, BETACAL[n, digits, terms], rtol=0, atol=5e-4)


@pytest.fixture(scope="module")
def run(reference: Path) -> Results:
    """Return a run of the book's example: fitted on cal.csv, judged on val.csv, 5,000 replicates, limits at 90 %."""
    files = {name: str(reference / "mushroom" / f"{name}.csv") for name in ("val", "cal")}
    return evalpipe.run({
        "evalpipe": 1, "name": "mushrooms", "seed": 364, "task": "binary",
        "outcome": {"column": "class", "event": "poisonous"},
        "datasets": {"val": {"path": files["val"]}, "cal": {"path": files["cal"], "role": "calibrate"}},
        "models": {"naive_bayes": {"probability": ".pred_poisonous"}}, "metrics": ["brier", "roc_auc", "sensitivity"],
        "intervals": {"level": 0.9, "replicates": 5000, "bands": False}, "report": {"formats": []},
        "recalibrate": {"fit_on": "cal", "methods": ["logistic_spline", "isotonic", "isotonic_bagged"]},
    })


def test_the_paired_difference_of_the_book(run: Results) -> None:
    """Original less spline, 90 %: (.00234, .00493); both sides' Monte-Carlo errors and splines allow .0003."""
    (row,) = [c for c in run.comparisons if (c.metric, c.variant) == ("brier", "logistic_spline")]
    assert (-(row.upper or 0), -(row.lower or 0)) == pytest.approx((0.00234, 0.00493), abs=3e-4)
    assert row.verdict == "better"


def test_a_run_recalibrates_the_mushrooms_as_the_book_does(run: Results, r: dict[str, Any]) -> None:
    values = {(e.variant, e.metric): e.value for e in run.rows}
    assert values["original", "brier"] == pytest.approx(r["uncalibrated"]["brier"], abs=1e-12)
    assert values["logistic_spline", "brier"] == pytest.approx(r["gam_smooth"]["brier"], abs=2e-4)
    # Classes are made of the recalibrated probabilities, many of which lie near the threshold: splines with other knots
    # part them a little differently.
    assert values["original", "sensitivity"] == pytest.approx(0.777, abs=5e-4)
    assert values["logistic_spline", "sensitivity"] == pytest.approx(r["gam_smooth"]["sens"], abs=0.0125)
    assert values["isotonic", "brier"] == pytest.approx(r["isotonic_stepfun_correct"]["brier"], abs=1e-6)
    assert values["isotonic_bagged", "brier"] == pytest.approx(0.1463, abs=3e-4)
    applied = {record.variant: record.applied[0] for record in run.recalibration}
    assert applied["isotonic"].distinct_before == r["uncalibrated"]["n_unique"]
    assert applied["isotonic"].distinct_after == r["isotonic_stepfun_correct"]["n_unique"]


def test_rows_of_both_files_that_look_alike_are_told(run: Results) -> None:
    (warned,) = [warning.message for warning in run.warnings if warning.code == "alike-rows"]
    assert warned.startswith("20 rows of dataset 'val' look like rows of dataset 'cal'")
