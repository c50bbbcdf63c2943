"""Rows to learn from, and every method with every value of its options."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from evalpipe.calibration import Training

CASES: list[tuple[str, dict[str, Any], str]] = [
    ("logistic", {}, "binary"),
    ("logistic_probability", {}, "binary"),
    ("platt", {"on": "logit"}, "binary"),
    ("platt", {"on": "probability"}, "binary"),
    ("logistic_spline", {"on": "probability"}, "binary"),
    ("logistic_spline", {"on": "logit", "knots": 6}, "binary"),
    ("isotonic", {"interpolate": "step"}, "binary"),
    ("isotonic", {"interpolate": "linear"}, "binary"),
    ("isotonic_bagged", {"bags": 20}, "binary"),
    ("beta", {"parameters": "abm"}, "binary"),
    ("beta", {"parameters": "ab"}, "binary"),
    ("beta", {"parameters": "am"}, "binary"),
    ("temperature", {}, "binary"),
    ("histogram", {"strategy": "quantile"}, "binary"),
    ("histogram", {"strategy": "uniform", "bins": 20}, "binary"),
    ("venn_abers", {}, "binary"),
    ("prior_shift", {"to": 0.1}, "binary"),
    ("prior_shift", {"to": 0.9, "from": 0.3}, "binary"),
    ("prior_shift", {"to": [0.5, 0.2, 0.3]}, "multiclass"),
    ("temperature", {}, "multiclass"),
    ("multinomial", {}, "ordinal"),
    ("one_vs_rest", {"each": "logistic"}, "multiclass"),
    ("one_vs_rest", {"each": "isotonic"}, "multiclass"),
    ("one_vs_rest", {"each": "beta"}, "ordinal"),
    ("one_vs_rest", {"each": "platt"}, "multiclass"),
    ("linear", {}, "regression"),
    ("linear", {}, "count"),
    ("isotonic", {"interpolate": "step"}, "regression"),
    ("isotonic", {"interpolate": "linear"}, "count"),
]

NEW = np.array([0.0, 1e-13, 0.001, 0.25, 0.255, 0.5, 0.61, 0.93, 0.9999, 1.0])


def resampled(n: int, weight: Any = 1.0) -> Any:
    """Return a function of the number of resamples that yields their weights, in batches."""

    def draw(bags: int) -> Iterator[Any]:
        generator = np.random.default_rng(7)
        for start in range(0, bags, 16):
            counts = generator.multinomial(n, np.full(n, 1 / n), size=min(16, bags - start))
            yield counts * weight

    return draw


def training(truth: Any, prediction: Any, weight: Any = None) -> Training:
    truth = np.asarray(truth)
    given = np.ones(len(truth)) if weight is None else np.asarray(weight, float)
    return Training(truth, np.asarray(prediction, float), given, resampled(len(truth), given))


def sample(task: str, n: int = 300, seed: int = 1) -> Training:
    """Return rows of a task, with ties in the predictions and whole weights from 1 to 3."""
    generator = np.random.default_rng(seed)
    weight = generator.integers(1, 4, n).astype(float)
    if task in {"multiclass", "ordinal"}:
        odds = generator.normal(0, 1.5, (n, 3))
        chance = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
        truth = (chance.cumsum(axis=1) < generator.random(n)[:, None]).sum(axis=1)
        bold = np.round(chance**1.7 / (chance**1.7).sum(axis=1, keepdims=True), 2)
        bold[:, 2] = 1 - bold[:, 0] - bold[:, 1]
        return training(truth, np.clip(bold, 0, 1), weight)
    if task in {"regression", "count"}:
        prediction = np.round(generator.gamma(2, 2, n), 1)
        return training(generator.poisson(1 + prediction / 2).astype(float), prediction, weight)
    odds = generator.normal(0, 1, n)
    truth = generator.random(n) < 1 / (1 + np.exp(-odds))
    prediction = np.round(1 / (1 + np.exp(-1.8 * odds)), 2)
    return training(truth, prediction, weight)


def new(task: str) -> Any:
    """Return predictions of a task that no fit has seen, some of them at the ends."""
    if task in {"multiclass", "ordinal"}:
        return np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5], [0.2, 0.3, 0.5], [0.333, 0.333, 0.334], [1e-13, 0.9, 0.1]])
    return NEW if task == "binary" else np.array([-3.0, 0.0, 0.123, 2.5, 7.77, 1e6])
