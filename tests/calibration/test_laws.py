"""Laws of every recalibrator: weights are repeated rows, order is nothing, JSON keeps every byte."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

from calibration.trainings import CASES, new, resampled, sample
from evalpipe.calibration import Fitted, Training, fitted_from, registry
from evalpipe.tasks import Task

pytestmark = pytest.mark.parametrize(
    ("method", "options", "task"), CASES, ids=[f"{m}-{'-'.join(map(str, o.values()))}-{t}" for m, o, t in CASES]
)


def test_a_weight_is_so_many_rows(method: str, options: dict[str, Any], task: str) -> None:
    rows = sample(task)
    times = rows.weight.astype(int)
    counts = list(resampled(len(times), 1.0)(20))
    spread = Training(
        np.repeat(rows.truth, times), np.repeat(rows.prediction, times, axis=0), np.ones(times.sum()),
        lambda bags: [np.repeat(batch, times, axis=1) for batch in counts],
    )
    rows = replace(rows, resampled=lambda bags: [batch * rows.weight for batch in counts])
    one, two = (registry[method].fit(each, **options)(new(task)) for each in (rows, spread))

    # 1e-10: the totals of whole weights are the same; rows of several levels are summed one by one instead.
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-10 if task in {"multiclass", "ordinal"} else 0)


def test_a_weight_may_be_split(method: str, options: dict[str, Any], task: str) -> None:
    rows = sample(task)
    share = np.random.default_rng(3).random(len(rows.truth))
    counts = list(resampled(len(share), 1.0)(20))
    split = Training(
        np.r_[rows.truth, rows.truth], np.concatenate([rows.prediction, rows.prediction]),
        np.r_[rows.weight * share, rows.weight * (1 - share)],
        lambda bags: [np.hstack([batch * rows.weight * share, batch * rows.weight * (1 - share)]) for batch in counts],
    )
    rows = replace(rows, resampled=lambda bags: [batch * rows.weight for batch in counts])
    one, two = (registry[method].fit(each, **options)(new(task)) for each in (rows, split))

    np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)


def test_the_order_of_rows_changes_no_byte(method: str, options: dict[str, Any], task: str) -> None:
    rows = sample(task)
    rows = replace(rows, weight=np.round(rows.weight * 0.37, 2))  # sums of these depend on their order
    counts = list(resampled(len(rows.truth), 1.0)(20))
    order = np.random.default_rng(5).permutation(len(rows.truth))
    turned = Training(
        rows.truth[order], rows.prediction[order], rows.weight[order],
        lambda bags: [batch[:, order] for batch in counts],
    )
    one, two = (registry[method].fit(each, **options)
                for each in (replace(rows, resampled=lambda bags: counts), turned))

    assert json.dumps(one.parameters) == json.dumps(two.parameters)


def test_json_keeps_every_byte(method: str, options: dict[str, Any], task: str) -> None:
    fitted = registry[method].fit(sample(task), **options)
    text = json.dumps([fitted.method, fitted.options, fitted.parameters, fitted.clipped], allow_nan=False)
    again = fitted_from(*json.loads(text))

    assert again == fitted
    assert again(new(task)).tobytes() == fitted(new(task)).tobytes()


def test_the_shape_stays_and_the_input_too(method: str, options: dict[str, Any], task: str) -> None:
    rows, given = sample(task), new(task)
    before = [np.array(part) for part in (rows.truth, rows.prediction, rows.weight, given)]
    found = registry[method].fit(rows, **options)(given)

    assert (found.shape, found.dtype) == (given.shape, np.float64)
    for one, two in zip((rows.truth, rows.prediction, rows.weight, given), before, strict=True):
        np.testing.assert_array_equal(one, two)


def test_probabilities_stay_probabilities(method: str, options: dict[str, Any], task: str) -> None:
    found = registry[method].fit(sample(task), **options)(new(task))

    assert np.isfinite(found).all()
    if task not in {"regression", "count"}:
        assert found.min() >= 0
        assert found.max() <= 1
    if task in {"multiclass", "ordinal"}:
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=0, atol=1e-15)  # a division by the sum


def test_a_monotone_method_is_monotone(method: str, options: dict[str, Any], task: str) -> None:
    found = registry[method].fit(sample(task), **options)(new(task))

    if found.ndim == 1 and method not in {"logistic_spline", "histogram"}:
        assert (np.diff(found) >= 0).all()
        assert found[-1] > found[0]


def test_recalibration_lowers_the_log_loss_of_bold_predictions(method: str, options: dict[str, Any], task: str) -> None:
    rows, other = sample(task, 3000), sample(task, 3000, seed=2)
    fitted = registry[method].fit(rows, **options)
    found, mix = fitted(other.prediction), np.ones(3000)
    if method == "prior_shift":  # for rows of the mix that it shifts to
        codes = np.where(other.truth, 0, 1) if task == "binary" else other.truth
        mix = (np.array(fitted.parameters["to"]) / np.bincount(codes))[codes]

    def loss(prediction: Any) -> float:
        if task in {"regression", "count"}:
            return float(np.mean((other.truth - prediction) ** 2))
        inside = np.clip(prediction, 1e-3, 1 - 1e-3)
        if task == "binary":
            return -float(np.average(np.log(np.where(other.truth, inside, 1 - inside)), weights=mix))
        return -float(np.average(np.log(inside[np.arange(len(inside)), other.truth]), weights=mix))

    keeps_half = method == "beta" and options["parameters"] == "ab"
    wrong_curve = options.get("on") == "probability" or method == "logistic_probability"
    assert loss(found) < loss(other.prediction) * (1.02 if keeps_half or wrong_curve else 0.995)


def test_rows_at_0_and_1_are_counted(method: str, options: dict[str, Any], task: str) -> None:
    rows = sample(task)
    if task in {"regression", "count"}:
        takes_logarithms, ends = False, rows.prediction[:0]
    else:
        takes_logarithms = method in {"logistic", "beta", "temperature", "multinomial"} or (
            options.get("on") == "logit" or options.get("each") in {"logistic", "beta", "platt"})
        ends = (rows.prediction < 1e-12) | (rows.prediction > 1 - 1e-12)
    fitted: Fitted = registry[method].fit(rows, **options)

    assert fitted.clipped == (np.count_nonzero(ends.any(axis=1) if ends.ndim == 2 else ends) if takes_logarithms else 0)
    assert fitted.clips(new(task)) == (3 if takes_logarithms else 0)


def test_every_method_names_its_tasks_and_a_source(method: str, options: dict[str, Any], task: str) -> None:
    entry = registry[method]

    assert set(options) <= set(entry.options.model_fields)
    assert task in entry.tasks <= set(get_args(Task))
    assert entry.title
    assert entry.definition.endswith(".")
    assert any(character.isdigit() for character in entry.reference)
