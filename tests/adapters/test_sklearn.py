"""`evalpipe.sklearn.card` against the real scikit-learn: its numbers, its event, and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, log_loss, mean_squared_error, roc_auc_score
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import evalpipe.sklearn
from evalpipe.errors import UsageError

GENERATOR = np.random.default_rng(5)
X = GENERATOR.normal(size=(240, 3))
LABELS = np.where(X[:, 0] + GENERATOR.normal(size=240) > 0.3, "yes", "no")
FEATURES = "X has 3 features, but LogisticRegression is expecting 2 features as input"
OF_EACH = "give the predictions of each to evalpipe.evaluate"
AS_FITTED = "give it rows with the columns that it was fitted on; a search needs refit=True"
LIGHT: dict[str, Any] = {"intervals": {"method": "none"}, "report": {"formats": []}}


def value(results: evalpipe.Results, metric: str) -> float | None:
    return next(row.value for row in results.rows if row.metric == metric)


@pytest.mark.parametrize("event", ["yes", "no"])
def test_a_classifier_has_the_numbers_of_scikit_learn_for_the_event_that_is_named(event: str) -> None:
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[:120], LABELS[:120])
    results = evalpipe.sklearn.card(model, X[120:], LABELS[120:], event=event, metrics=["roc_auc", "log_loss"], **LIGHT)
    chance = model.predict_proba(X[120:])[:, list(model.classes_).index(event)]
    truth = LABELS[120:] == event
    # sums of 120 numbers in another order
    assert value(results, "roc_auc") == pytest.approx(roc_auc_score(truth, chance), rel=1e-12)
    assert value(results, "log_loss") == pytest.approx(log_loss(truth, chance), rel=1e-12)
    assert (results.event, [model.name for model in results.models]) == (event, ["LogisticRegression"])


@pytest.mark.parametrize("event", ["yes", "no"])
def test_a_classifier_without_probabilities_is_judged_by_its_scores(event: str) -> None:
    model = LinearSVC().fit(X, LABELS)
    results = evalpipe.sklearn.card(model, X, LABELS, event=event, metrics=["roc_auc"], **LIGHT)
    assert value(results, "roc_auc") == pytest.approx(roc_auc_score(LABELS, model.decision_function(X)), rel=1e-12)


@pytest.mark.parametrize("event", ["yes", "no"])
@pytest.mark.parametrize("estimator", [
    RandomForestClassifier(n_estimators=4, random_state=0), KNeighborsClassifier(4), LinearSVC(),
    make_pipeline(StandardScaler(), LinearSVC()), CalibratedClassifierCV(LinearSVC()),
    FixedThresholdClassifier(LogisticRegression(), threshold=0.3), GridSearchCV(LogisticRegression(), {"C": [0.1, 1]}),
    OneVsRestClassifier(LogisticRegression()),
], ids=lambda estimator: type(estimator).__name__)
def test_the_accuracy_is_that_of_score(estimator: Any, event: str) -> None:
    model = estimator.fit(X[:120], LABELS[:120])
    results = evalpipe.sklearn.card(model, X[120:], LABELS[120:], event=event, metrics=["accuracy"], **LIGHT)
    assert value(results, "accuracy") == model.score(X[120:], LABELS[120:])


def test_a_tie_of_votes_is_met_above() -> None:
    forest = RandomForestClassifier(n_estimators=4, random_state=0).fit(X[:120], LABELS[:120])
    assert (forest.predict_proba(X[120:])[:, 1] == 0.5).any()


def test_a_threshold_makes_the_classes_in_the_units_of_what_the_estimator_gives() -> None:
    model, margin = LogisticRegression().fit(X, LABELS), LinearSVC().fit(X, LABELS)
    chance, distance = model.predict_proba(X)[:, 1], margin.decision_function(X)
    for estimator, score, cut in ((model, chance, 0.3), (margin, distance, 0.4)):
        results = evalpipe.sklearn.card(estimator, X, LABELS, event="yes", threshold=cut, metrics=["accuracy"], **LIGHT)
        assert value(results, "accuracy") == accuracy_score(LABELS == "yes", score >= cut)


def test_several_classes_of_which_each_is_fitted_alone() -> None:
    levels = np.digitize(X[:, 0], [-0.5, 0.5])
    for model in (OneVsRestClassifier(LinearSVC()).fit(X, levels), KNeighborsClassifier(4).fit(X, levels)):
        results = evalpipe.sklearn.card(model, X, levels, metrics=["accuracy"], **LIGHT)
        assert value(results, "accuracy") == model.score(X, levels)


def test_several_classes_and_numbers() -> None:
    levels = np.digitize(X[:, 0], [-0.5, 0.5])
    model = LogisticRegression().fit(X, levels)
    results = evalpipe.sklearn.card(model, X, levels, metrics=["log_loss"], **LIGHT)
    assert value(results, "log_loss") == pytest.approx(log_loss(levels, model.predict_proba(X)), rel=1e-12)
    numbers = LinearRegression().fit(X, X[:, 1] * 2)
    results = evalpipe.sklearn.card(numbers, X, X[:, 1] * 2 + 1, metrics=["mse"], **LIGHT)
    assert value(results, "mse") == pytest.approx(mean_squared_error(X[:, 1] * 2 + 1, numbers.predict(X)), rel=1e-12)


def test_the_folder_has_the_card_and_slices_of_further_columns(tmp_path: Path) -> None:
    model = LogisticRegression().fit(X, LABELS)
    results = evalpipe.sklearn.card(
        model, X, LABELS, event="yes", out=tmp_path / "card", columns={"side": np.where(X[:, 2] > 0, "r", "l")},
        slices=["side"], metrics=["brier"], intervals={"method": "none"}, report={"formats": ["markdown"]})
    assert (tmp_path / "card" / "card.md").exists()
    assert {tuple((row.slice or {}).values()) for row in results.rows} == {(), ("l",), ("r",)}


@pytest.mark.parametrize(("estimator", "event", "message", "hint"), [
    (LogisticRegression().fit(X, LABELS), None, "which of the classes 'no' and 'yes' is the event is not said",
     "give it, as in event='yes'"),
    (LogisticRegression().fit(X, LABELS), "yess", "the event 'yess' is none of the classes 'no' and 'yes'",
     "did you mean 'yes'?"),
    (LogisticRegression(), "yes", "the LogisticRegression is not fitted",
     "call its fit(X, y) first, on other rows than these"),
    (LinearRegression().fit(X, X[:, 0]), 1, "'event' has no effect: a regressor predicts numbers", "remove it"),
    (MultiOutputClassifier(LogisticRegression()).fit(X, np.stack([LABELS, LABELS], axis=1)), "yes",
     "the MultiOutputClassifier predicts 2 outcomes of each row, and a card is of one", OF_EACH),
    (RandomForestClassifier(2).fit(X, np.stack([LABELS, LABELS], axis=1)), "yes",
     "the RandomForestClassifier predicts 2 outcomes of each row, and a card is of one", OF_EACH),
    (OneVsRestClassifier(LinearSVC()).fit(X, X[:, :2] > 0), None,
     "the OneVsRestClassifier predicts 2 outcomes of each row, and a card is of one", OF_EACH),
    (LinearRegression().fit(X, X[:, :2]), None,
     "the LinearRegression predicts 2 outcomes of each row, and a card is of one", OF_EACH),
    (GridSearchCV(LogisticRegression(), {"C": [1]}), "yes", "the GridSearchCV is not fitted",
     "call its fit(X, y) first, on other rows than these"),
    (GridSearchCV(LogisticRegression(), {"C": [1]}, refit=False).fit(X, LABELS), "yes",
     "the GridSearchCV cannot predict these rows: This 'GridSearchCV' has no attribute 'predict'", AS_FITTED),
    (LogisticRegression().fit(X[:, :2], LABELS), "yes", f"the LogisticRegression cannot predict these rows: {FEATURES}",
     AS_FITTED),
    (DummyClassifier().fit(X, np.full(240, "yes")), "yes", "the DummyClassifier was fitted on one class, 'yes', alone",
     "fit it on rows of all classes"),
    (KMeans(2, n_init=1).fit(X), None, "KMeans is neither a classifier nor a regressor of scikit-learn",
     "give its predictions to evalpipe.evaluate"),
])
def test_what_it_refuses(estimator: Any, event: Any, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        evalpipe.sklearn.card(estimator, X, LABELS, event=event, **LIGHT)
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (message, hint)


def test_the_module_does_not_stand_in_the_way_of_scikit_learn() -> None:
    assert Path(sklearn.__file__).parent != Path(evalpipe.sklearn.__file__).parent
    assert sklearn.base.is_classifier(LogisticRegression())
