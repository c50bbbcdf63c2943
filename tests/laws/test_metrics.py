"""Laws that every registered metric and statistic obeys.

Tolerances: 1e-12 relative, since two orders of summing a hundred float64 terms differ by a few units in the last place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evalpipe.metrics import Metric, Proportion, metric, ratio, registry
from evalpipe.metrics.declare import Registry
from evalpipe.statistics import Rows, Summary, statistics
from laws import samples

CLOSE = 1e-12
every_metric = pytest.mark.parametrize(("name", "options"), samples.CASES, ids=samples.IDS)
every_statistic = pytest.mark.parametrize("name", list(statistics))
OPTIONS = {"epsilon": 1e-15, "digits": 2}

SWAP = {
    "accuracy": "accuracy",
    "misclassifications": "misclassifications",
    "balanced_accuracy": "balanced_accuracy",
    "sensitivity": "specificity",
    "specificity": "sensitivity",
    "false_positive_rate": "false_negative_rate",
    "false_negative_rate": "false_positive_rate",
    "precision": "npv_sample",
    "npv_sample": "precision",
    "ppv": "npv",
    "npv": "ppv",
    "f1": None,
    "f_beta": None,
    "j_index": "j_index",
    "kappa": "kappa",
    "mcc": "mcc",
    "detection_prevalence": None,
    "log_loss": "log_loss",
    "brier": "brier",
    "roc_auc": "roc_auc",
    "gini": "gini",
    "pr_auc": None,
    "average_precision": None,
    "ks": "ks",
    "gain_capture": "gain_capture",
    "error_rate": "error_rate",
    "frequency_bias": None,
    "equitable_threat_score": "equitable_threat_score",
    "yule_q": "yule_q",
    "markedness": "markedness",
    "roc_distance": "roc_distance",
    "critical_success_index": None,
    "positive_likelihood_ratio": None,
    "negative_likelihood_ratio": None,
    "odds_ratio": "odds_ratio",
    "sedi": "sedi",
    "log_likelihood": "log_likelihood",
    "deviance": "deviance",
    "nagelkerke_r2": "nagelkerke_r2",
    "mcfadden_r2": "mcfadden_r2",
    "tjur_r2": "tjur_r2",
    "brier_skill": "brier_skill",
    "brier_reliability": "brier_reliability",
    "brier_refinement": "brier_refinement",
    "brier_resolution": "brier_resolution",
    "brier_uncertainty": "brier_uncertainty",
    "brier_residual": "brier_residual",
    "precision_at_k": None,
    "recall_at_k": None,
    "gain": None,
    "lift": None,
    "partial_roc_auc": None,
}
"""What each metric becomes when events and non-events change places; None where no named metric is meant."""


SHORT_OF_THE_BOUND = {
    "positive_likelihood_ratio", "odds_ratio", "sedi", "brier_resolution", "precision_at_k", "recall_at_k", "gain",
    "lift",
}
"""Metrics whose bound a perfect forecast reaches only in a limit, or only for some prevalences."""

BLIND_TO_SIGN = {"ks", "brier_refinement", "negative_likelihood_ratio"}
"""Metrics to which an inverted forecast is as good as a perfect one, or undefined; a constant one is their worst."""


def assert_close(left: Any, right: Any) -> None:
    np.testing.assert_allclose(left, right, rtol=CLOSE, atol=CLOSE)


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_integer_weights_are_replication(name: str, options: dict[str, Any], ties: bool) -> None:
    data = samples.rows(ties=ties)
    weight = np.random.default_rng(3).integers(0, 4, len(data.truth))
    repeated = samples.take(data, np.repeat(np.arange(len(weight)), weight))
    replicated = samples.value(name, options, repeated, np.ones(weight.sum()))
    assert_close(samples.value(name, options, data, weight), replicated)


@every_metric
def test_the_order_of_rows_changes_nothing(name: str, options: dict[str, Any]) -> None:
    data, weight = samples.rows(), samples.weights(97)
    order = np.random.default_rng(5).permutation(97)
    moved = samples.value(name, options, samples.take(data, order), weight[order])
    assert_close(moved, samples.value(name, options, data, weight))


@every_metric
def test_a_row_of_weight_zero_is_no_row(name: str, options: dict[str, Any]) -> None:
    data, weight = samples.rows(ties=False), samples.weights(97)
    weight[::3] = 0
    kept = np.flatnonzero(weight)
    dropped = samples.value(name, options, samples.take(data, kept), weight[kept])
    assert_close(dropped, samples.value(name, options, data, weight))


@every_metric
def test_the_scale_of_weights_changes_nothing_unless_declared(name: str, options: dict[str, Any]) -> None:
    data, weight = samples.rows(), samples.weights(97)
    factor = 7 if registry[name].extensive and options.get("scale") != "mean" else 1
    scaled = options | {key: 7 * rows for key, rows in options.items() if key == "k"}  # k counts rows, so it grows too
    assert_close(samples.value(name, scaled, data, 7 * weight), factor * samples.value(name, options, data, weight))


@every_metric
def test_weights_do_something(name: str, options: dict[str, Any]) -> None:
    data = samples.rows()
    assert samples.value(name, options, data, samples.weights(97)) != samples.value(name, options, data, np.ones(97))


@every_metric
@pytest.mark.parametrize("ties", [True, False])
def test_a_batch_is_a_loop_to_the_last_bit(name: str, options: dict[str, Any], ties: bool) -> None:
    data = samples.rows(ties=ties)
    batch = np.stack([samples.weights(97, seed) for seed in range(5)])
    together = samples.value(name, options, data, batch)
    assert together.shape == (5,)
    assert together.tolist() == [float(samples.value(name, options, data, weight)) for weight in batch]


@every_metric
def test_a_value_lies_in_the_declared_range(name: str, options: dict[str, Any]) -> None:
    low, high = registry[name].range
    for seed in range(30):
        found = samples.value(name, options, samples.rows(12, seed), samples.weights(12, seed))
        assert math.isnan(found) or low <= found <= high + CLOSE


@every_metric
def test_a_perfect_forecast_reaches_the_best_value(name: str, options: dict[str, Any]) -> None:
    truth = np.array([True, False, False, True, True])
    perfect, inverted = Rows(truth, truth, truth.astype(float)), Rows(truth, ~truth, (~truth).astype(float))
    entry = registry[name]
    best = samples.value(name, options, perfect, np.ones(5))
    if entry.direction == "none":
        constant = {"brier_uncertainty": 0.24, "brier_residual": 0.0, "frequency_bias": 1.0}
        assert best == pytest.approx(constant.get(name, truth.mean()))
        return
    if name in SHORT_OF_THE_BOUND or options.get("standardize") is False:
        assert math.isnan(best) or best >= samples.value(name, options, inverted, np.ones(5))
        return
    expected = entry.best if "epsilon" not in options else -math.log(1 - options["epsilon"])
    assert best == pytest.approx(expected, abs=1e-14)
    blind = Rows(truth, np.ones(5, bool), np.full(5, 0.5))
    worst = samples.value(name, options, blind if name in BLIND_TO_SIGN else inverted, np.ones(5))
    assert math.isnan(worst) or (worst > best if entry.direction == "minimize" else worst < best)


@every_metric
def test_a_ranked_measure_sees_ranks_alone(name: str, options: dict[str, Any]) -> None:
    data, weight = samples.rows(), samples.weights(97)
    assert data.probability is not None
    bent = Rows(data.truth, data.predicted, data.probability**3)
    same = samples.value(name, options, bent, weight) == samples.value(name, options, data, weight)
    assert same == (registry[name].needs != "probabilities" or name == "brier_uncertainty")


@every_metric
def test_events_and_non_events_change_places(name: str, options: dict[str, Any]) -> None:
    data, weight = samples.rows(), samples.weights(97)
    assert data.probability is not None
    swapped = Rows(~data.truth, ~data.predicted, 1 - data.probability)
    partner = SWAP[name]
    mine = samples.value(name, options, swapped, weight)
    if partner is None:
        assert mine != pytest.approx(samples.value(name, options, data, weight), rel=1e-6)
        return
    other = {key: 1 - value if key == "prevalence" else value for key, value in options.items()}
    assert_close(mine, samples.value(partner, other, data, weight))


def test_no_metric_escapes_the_law_of_swapping() -> None:
    assert set(SWAP) == {entry.name for entry in registry}


@every_statistic
def test_a_statistic_adds(name: str) -> None:
    data = samples.rows()
    one, two = samples.weights(97, 1), samples.weights(97, 2)
    left, right, both = (Summary(data, weight)(name, OPTIONS) for weight in (one, two, one + two))
    assert_close(left + right, both)


@every_statistic
def test_no_statistic_is_idle(name: str) -> None:
    assert name in {used for entry in registry for used in entry.statistics}


@pytest.mark.parametrize("entry", list(registry), ids=lambda entry: entry.name)
def test_a_proportion_is_declared_as_one(entry: Metric) -> None:
    summary = Summary(samples.rows(), np.ones(97))
    options = samples.filled(entry, samples.VARIANTS.get(entry.name, ({},))[0])
    outcome = entry.function(*(summary(name, options) for name in entry.statistics), **options)
    assert isinstance(outcome, Proportion) == (entry.interval == "proportion")


@pytest.mark.parametrize("entry", list(registry), ids=lambda entry: entry.name)
def test_a_metric_says_what_people_need(entry: Metric) -> None:
    assert entry.definition.endswith(".")
    assert entry.formula
    assert entry.ref[-1] == ")"
    assert entry.ref[-5:-1].isdigit()
    assert entry.undefined
    assert set(entry.statistics) <= set(statistics)


def test_a_name_is_taken_once() -> None:
    own = Registry()
    own.add(registry["f1"])
    with pytest.raises(ValueError, match="the metric name 'f1' is taken by 'f1'"):
        own.add(registry["f1"])


def _wrong_f1(tp: Any, fp: Any, fn: Any) -> Any:
    return ratio(tp, tp + fn + fp + 1)


def _unweighted_sensitivity(tp: Any, fn: Any) -> Any:
    return ratio(tp > 0, (tp + fn) > 0)


@pytest.mark.parametrize(
    ("mutant", "law"),
    [
        (_wrong_f1, test_the_scale_of_weights_changes_nothing_unless_declared),
        (_unweighted_sensitivity, test_weights_do_something),
    ],
)
def test_the_laws_can_fail(mutant: Any, law: Any) -> None:
    declare = metric(needs="labels", direction="maximize", range=(0, 1), undefined="never", ref="nobody (2000)")
    entry = declare(mutant)
    try:
        with pytest.raises(AssertionError):
            law(entry.name, {})
    finally:
        registry.remove(entry.name)
