"""Random rows for the laws: asymmetric, tied and weighted, so that a wrong formula has nowhere to hide."""

from __future__ import annotations

from typing import Any

import numpy as np

from evalpipe.metrics import Metric, registry
from evalpipe.statistics import Rows, Summary

VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "ppv": ({"prevalence": 0.2}, {"prevalence": 0.7}),
    "npv": ({"prevalence": 0.2}, {"prevalence": 0.7}),
    "f_beta": ({"beta": 0.5}, {"beta": 2.0}),
    "deviance": ({"scale": "sum"}, {"scale": "mean"}),
    "brier_reliability": ({"digits": 1}, {"digits": 2}),
    "brier_refinement": ({"digits": 1},),
    "brier_resolution": ({"digits": 1},),
    "brier_residual": ({"digits": 1},),
    "precision_at_k": ({"k": 7}, {"k": 30}),
    "recall_at_k": ({"k": 7}, {"k": 30}),
    "gain": ({"at": 0.1}, {"at": 0.33}),
    "lift": ({"at": 0.1}, {"at": 0.33}),
    "partial_roc_auc": (
        {"high": 0.2},
        {"low": 0.1, "high": 0.4, "standardize": False},
        {"over": "sensitivity", "low": 0.8},
        {"over": "sensitivity", "low": 0.6, "high": 0.9, "standardize": False},
    ),
    "log_loss": ({"base": "e"}, {"base": 2}, {"base": 10}, {"epsilon": 0.01}),
}
"""Every option value that the laws and references cover; a metric without an entry is tested with its defaults."""

CASES = [(entry.name, options) for entry in registry for options in VARIANTS.get(entry.name, ({},))]
IDS = [f"{name}-{'-'.join(map(str, options.values()))}".rstrip("-") for name, options in CASES]


def rows(n: int = 97, seed: int = 0, *, ties: bool = True) -> Rows:
    """Return n rows whose classes, cells and scores are all of unequal size."""
    generator = np.random.default_rng(seed)
    truth = generator.random(n) < 0.3
    score = np.clip(generator.normal(0.35 + 0.25 * truth, 0.2), 0.001, 0.999)
    probability = np.round(score, 1 if ties else 12).clip(0.001, 0.999)
    return Rows(truth, probability >= 0.4, probability)


def weights(n: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return unequal positive weights."""
    return np.random.default_rng(seed).gamma(2.0, 1.0, n) + 0.05


def filled(metric: Metric, options: dict[str, Any]) -> dict[str, Any]:
    """Complete the options with their defaults."""
    return metric.options(**options).model_dump()


def value(name: str, options: dict[str, Any], data: Rows, weight: Any) -> Any:
    """Compute one metric."""
    metric = registry[name]
    return Summary(data, np.asarray(weight, float)).value(metric, filled(metric, options))


def take(data: Rows, index: Any) -> Rows:
    """Return some of the rows, in that order."""
    assert data.probability is not None
    return Rows(data.truth[index], data.predicted[index], data.probability[index])
