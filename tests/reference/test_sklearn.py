"""scikit-learn agrees on all shared measures of a binary outcome, over 200 random data sets with weights and ties.

Tolerance 1e-12, absolute and relative: both sum a few hundred float64 terms, in different orders. Data sets without a
predicted event and the like are part of the draw; where scikit-learn puts a number for what is undefined, nothing is
compared, and the number of comparisons is checked so that this cannot hollow the test.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from evalpipe.metrics import registry
from evalpipe.statistics import Rows, Summary

EPSILON = float(np.finfo(float).eps)


def pr_trapezoid(y: Any, p: Any, w: Any) -> float:
    precision, recall, _ = sk.precision_recall_curve(y, p, sample_weight=w)
    return float(sk.auc(recall, precision))


def ks(y: Any, p: Any, w: Any) -> float:
    fpr, tpr, _ = sk.roc_curve(y, p, sample_weight=w, drop_intermediate=False)
    return float(np.abs(tpr - fpr).max())


def rates(y: Any, d: Any, w: Any) -> tuple[float, float, float, float]:
    tn, fp, fn, tp = sk.confusion_matrix(y, d, sample_weight=w, labels=[False, True]).ravel()
    return tp, fp, fn, tn


def shares(y: Any, w: Any) -> Any:
    """Return the weighted shares of events and non-events."""
    return np.average(np.column_stack([y, ~y]), axis=0, weights=w)


def impurity(y: Any, w: Any) -> float:
    """Return the Brier score, over both classes, of a forecast that always gives their shares."""
    constant = np.full(len(y), shares(y, w)[0])
    return float(sk.brier_score_loss(y, constant, sample_weight=w, labels=[False, True], scale_by_half=False))


def null_log_loss(y: Any, w: Any) -> float:
    """Return the total log loss of a forecast that always gives the shares of the classes."""
    constant = np.full(len(y), shares(y, w)[0])
    return float(sk.log_loss(y, constant, sample_weight=w, labels=[False, True], normalize=False))


def middle(sizes: Any, w: Any) -> float:
    """Return the weighted median, the mean of the two middle ones where half of the weight lies below."""
    order, total = sorted(zip(sizes, w, strict=True)), float(np.sum(w))
    below = 0.0
    for place, (size, weight) in enumerate(order):
        below += weight
        if below == pytest.approx(total / 2, rel=1e-13):
            following = next((other for other, _ in order[place + 1:]), size)
            return float(size + following) / 2
        if below > total / 2:
            return float(size)
    raise AssertionError("no row has weight")


PEERS: dict[str, tuple[dict[str, Any], Any]] = {
    "accuracy": ({}, lambda y, d, p, w: sk.accuracy_score(y, d, sample_weight=w)),
    "misclassifications": ({}, lambda y, d, p, w: sk.zero_one_loss(y, d, sample_weight=w, normalize=False)),
    "balanced_accuracy": ({}, lambda y, d, p, w: sk.balanced_accuracy_score(y, d, sample_weight=w)),
    "sensitivity": ({}, lambda y, d, p, w: sk.recall_score(y, d, sample_weight=w, zero_division=np.nan)),
    "specificity": ({}, lambda y, d, p, w: sk.recall_score(~y, ~d, sample_weight=w, zero_division=np.nan)),
    "false_positive_rate": ({}, lambda y, d, p, w: rates(y, d, w)[1] / (rates(y, d, w)[1] + rates(y, d, w)[3])),
    "false_negative_rate": ({}, lambda y, d, p, w: rates(y, d, w)[2] / (rates(y, d, w)[2] + rates(y, d, w)[0])),
    "precision": ({}, lambda y, d, p, w: sk.precision_score(y, d, sample_weight=w, zero_division=np.nan)),
    "npv_sample": ({}, lambda y, d, p, w: sk.precision_score(~y, ~d, sample_weight=w, zero_division=np.nan)),
    "f1": ({}, lambda y, d, p, w: sk.f1_score(y, d, sample_weight=w, zero_division=np.nan)),
    "f_beta": ({"beta": 2.0}, lambda y, d, p, w: sk.fbeta_score(y, d, beta=2, sample_weight=w, zero_division=np.nan)),
    "j_index": ({}, lambda y, d, p, w: sk.balanced_accuracy_score(y, d, sample_weight=w, adjusted=True)),
    "kappa": ({}, lambda y, d, p, w: sk.cohen_kappa_score(y, d, sample_weight=w)),
    "mcc": ({}, lambda y, d, p, w: sk.matthews_corrcoef(y, d, sample_weight=w)),
    "log_loss": ({"epsilon": EPSILON}, lambda y, d, p, w: sk.log_loss(y, p, sample_weight=w, labels=[False, True])),
    "brier": ({}, lambda y, d, p, w: sk.brier_score_loss(y, p, sample_weight=w, pos_label=True, labels=[False, True])),
    "roc_auc": ({}, lambda y, d, p, w: sk.roc_auc_score(y, p, sample_weight=w)),
    "gini": ({}, lambda y, d, p, w: 2 * sk.roc_auc_score(y, p, sample_weight=w) - 1),
    "gain_capture": ({}, lambda y, d, p, w: 2 * sk.roc_auc_score(y, p, sample_weight=w) - 1),
    "pr_auc": ({}, lambda y, d, p, w: pr_trapezoid(y, p, w)),
    "average_precision": ({}, lambda y, d, p, w: sk.average_precision_score(y, p, sample_weight=w)),
    "ks": ({}, lambda y, d, p, w: ks(y, p, w)),
    "error_rate": ({}, lambda y, d, p, w: sk.zero_one_loss(y, d, sample_weight=w)),
    "markedness": ({}, lambda y, d, p, w: sk.precision_score(y, d, sample_weight=w, zero_division=np.nan)
                   + sk.precision_score(~y, ~d, sample_weight=w, zero_division=np.nan) - 1),
    "critical_success_index": ({}, lambda y, d, p, w: sk.jaccard_score(y, d, sample_weight=w)),
    "positive_likelihood_ratio": ({}, lambda y, d, p, w: sk.class_likelihood_ratios(y, d, sample_weight=w)[0]),
    "negative_likelihood_ratio": ({}, lambda y, d, p, w: sk.class_likelihood_ratios(y, d, sample_weight=w)[1]),
    "log_likelihood": ({"epsilon": EPSILON}, lambda y, d, p, w: -sk.log_loss(y, p, sample_weight=w, normalize=False)),
    "deviance": ({"epsilon": EPSILON}, lambda y, d, p, w: 2 * sk.log_loss(y, p, sample_weight=w, normalize=False)),
    "mcfadden_r2": ({"epsilon": EPSILON}, lambda y, d, p, w: sk.d2_log_loss_score(y, p, sample_weight=w)),
    "brier_skill": ({}, lambda y, d, p, w: sk.d2_brier_score(y, p, sample_weight=w)),
    "partial_roc_auc": ({"high": 0.3}, lambda y, d, p, w: sk.roc_auc_score(y, p, sample_weight=w, max_fpr=0.3)),
    "gini_impurity": ({}, lambda y, d, p, w: impurity(y, w)),
    "majority_error": ({}, lambda y, d, p, w: min(shares(y, w))),
    "null_deviance": ({}, lambda y, d, p, w: 2 * null_log_loss(y, w)),
    "deviance_reduction": ({"epsilon": EPSILON}, lambda y, d, p, w: 2 * (
        null_log_loss(y, w) - sk.log_loss(y, p, sample_weight=w, normalize=False))),
    "predicted_gini": ({}, lambda y, d, p, w: np.average(2 * p * (1 - p), weights=w)),
    "predicted_entropy": ({"base": 2}, lambda y, d, p, w: np.average(stats.entropy([p, 1 - p], base=2), weights=w)),
    "predicted_error": ({}, lambda y, d, p, w: np.average(np.minimum(p, 1 - p), weights=w)),
    "probability_rmse": ({}, lambda y, d, p, w: sk.root_mean_squared_error(y, p, sample_weight=w)),
    "probability_mae": ({}, lambda y, d, p, w: sk.mean_absolute_error(y, p, sample_weight=w)),
    "probability_mad": ({}, lambda y, d, p, w: middle(np.abs(y - p), w)),
    "entropy": ({}, lambda y, d, p, w: stats.entropy(shares(y, w), base=2)),
    "self_information": ({}, lambda y, d, p, w: -stats.bernoulli.logpmf(1, shares(y, w)[0]) / math.log(2)),
}


every_amount = pytest.mark.parametrize("sets", [24, pytest.param(60, marks=pytest.mark.nightly)])
"""Every six data sets hold each combination of what `draw` varies, ties and kinds of weights; the rest is by chance."""


@cache
def draw(seed: int) -> tuple[Any, Any, Any, Any]:
    """Return truth, predicted classes, probabilities and weights: of odd seeds tied, of every third whole weights."""
    generator = np.random.default_rng(seed)
    n = int(generator.integers(8, 400))
    y = generator.random(n) < generator.uniform(0.1, 0.9)
    y[:2] = [True, False]  # both classes, where scikit-learn is of use
    p = np.clip(generator.normal(0.4 + 0.2 * y, 0.25), 0, 1)
    p = np.round(p, int(generator.integers(1, 4))) if seed % 2 else p
    w = generator.gamma(1.0, 2.0, n) if seed % 3 else generator.integers(1, 5, n).astype(float)
    return y, p >= generator.uniform(0.05, 0.95), p, w


@cache
def summary(seed: int) -> Summary:
    """Return the statistics of a data set, which all measures share."""
    y, d, p, w = draw(seed)
    return Summary(Rows(y, d, p), w)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")  # undefined values are not compared
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # the same, within scikit-learn
@pytest.mark.filterwarnings("ignore:A single label:UserWarning")
@pytest.mark.parametrize("name", PEERS)
@every_amount
def test_scikit_learn_agrees(name: str, sets: int) -> None:
    metric, (options, peer) = registry[name], PEERS[name]
    compared = 0
    for seed in range(sets):
        y, d, p, w = draw(seed)
        found = float(summary(seed).value(metric, metric.options(**options).model_dump()))
        if math.isnan(found):
            continue
        compared += 1
        assert found == pytest.approx(peer(y, d, p, w), rel=1e-12, abs=1e-12), f"data set {seed}"
    assert compared >= 0.95 * sets
