"""Random rows for the laws: asymmetric, tied and weighted, so that a wrong formula has nowhere to hide."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evalpipe.metrics import Metric, registry
from evalpipe.statistics import ClassRows, Rows, Summary
from evalpipe.tasks import MANY
from reference.test_plain import PLAIN

LEVELS = 4
COSTS = ((0.0, 3.0, 1.0, 7.0), (2.0, 0.0, 5.0, 1.0), (4.0, 1.0, 0.0, 2.0), (9.0, 6.0, 1.0, 0.0))
"""What each predicted class (inner) costs for each true class; the corner of it serves two classes."""

VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    **{name: (options,) for name, (options, _) in PLAIN.items()},
    "ppv": ({"prevalence": 0.2}, {"prevalence": 0.7}),
    "npv": ({"prevalence": 0.2}, {"prevalence": 0.7}),
    "f_beta": ({"beta": 0.5}, {"beta": 2.0}),
    "deviance": ({"scale": "sum"}, {"scale": "mean"}),
    "brier": ({"scale": "half"}, {"scale": "sum"}, {"scale": "classes"}),
    "brier_reliability": ({"digits": 1}, {"digits": 2}),
    "brier_refinement": ({"digits": 1},),
    "brier_resolution": ({"digits": 1},),
    "brier_residual": ({"digits": 1},),
    "precision_at_k": ({"k": 7}, {"k": 30}),
    "recall_at_k": ({"k": 7}, {"k": 30}),
    "top_k_accuracy": ({"k": 2}, {"k": 3}),
    "ece": (
        {"bins": 7}, {"bins": 13}, {"bins": 7, "norm": "l2"}, {"bins": 7, "norm": "max"},
        {"bins": 7, "norm": "l2", "debiased": True}, {"bins": 7, "strategy": "quantile"},
        {"bins": 5, "strategy": "quantile", "norm": "max"},
        {"bins": 4, "strategy": "quantile", "norm": "l2", "debiased": True},
    ),
    "mce": ({"bins": 7}, {"bins": 13}),
    "ace": ({"bins": 7}, {"bins": 4}),
    "rmsce": ({"bins": 7}, {"bins": 13}),
    "top_label_ece": ({"bins": 7}, {"bins": 13}),
    "ici": ({"smooth": "spline"}, {"smooth": "logistic"}, {"smooth": "isotonic"}),
    "e90": ({"smooth": "spline"}, {"smooth": "logistic"}, {"smooth": "isotonic"}),
    "emax": ({"smooth": "spline"}, {"smooth": "logistic"}, {"smooth": "isotonic"}),
    "hosmer_lemeshow": ({"groups": 4}, {"groups": 10}),
    "hosmer_lemeshow_p": ({"groups": 4}, {"groups": 10}),
    "sensitivity_at_specificity": ({"at": 0.9}, {"at": 0.5}),
    "specificity_at_sensitivity": ({"at": 0.9}, {"at": 0.5}),
    "net_benefit": ({"threshold": 0.3}, {"threshold": 0.6}),
    "gain": ({"at": 0.1}, {"at": 0.33}),
    "lift": ({"at": 0.1}, {"at": 0.33}),
    "partial_roc_auc": (
        {"high": 0.2},
        {"low": 0.1, "high": 0.4, "standardize": False},
        {"over": "sensitivity", "low": 0.8},
        {"over": "sensitivity", "low": 0.6, "high": 0.9, "standardize": False},
    ),
    "log_loss": ({"base": "e"}, {"base": 2}, {"base": 10}, {"epsilon": 0.01}),
    "self_information": ({"base": 2}, {"base": "e"}),
    "entropy": ({"base": 2}, {"base": 10}),
    "hand_till_auc": ({"pairs": "equal"}, {"pairs": "by_size"}),
    "weighted_kappa": ({"weights": "linear"}, {"weights": "quadratic"}),
    "cost": ({"costs": COSTS},),
    "expected_cost": ({"costs": COSTS},),
    "cost_saved": ({"costs": COSTS},),
}
"""Every option value that the laws cover: that of the plain loop, or those below; else they take the defaults."""

CLASSES = [entry for entry in registry if entry.sees in ("event", "classes")]
"""The metrics of outcomes that have levels; those of numbers have laws of their own."""

CASES = [
    (entry.name, options, task)
    for entry in CLASSES
    for task in ("binary", "many")
    if (task == "binary" and (entry.sees == "event" or "binary" in entry.tasks))
    or (task == "many" and entry.sees == "classes" and set(MANY) & set(entry.tasks))
    for options in VARIANTS.get(entry.name, ({},))
    if entry.name != "reportable_rate"  # without an equivocal zone it is 1: `test_equivocal.py` has its laws
]
IDS = ["-".join([name, task, *(str(v) for v in options.values() if not isinstance(v, tuple))])
       for name, options, task in CASES]


COUNTING = ("precision_at_k", "recall_at_k", "spiegelhalter_z", "spiegelhalter_p", "hosmer_lemeshow_p")
"""Metrics that depend on how many rows there are, and not in proportion to them."""


def counts_rows(name: str, options: dict[str, Any]) -> bool:
    """Tell whether a metric's weights count rows: seven times the weights are then seven times the rows."""
    return name in COUNTING or bool(options.get("debiased"))


def rows(task: str = "binary", n: int = 97, seed: int = 0, *, ties: bool = True) -> Rows | ClassRows:
    """Return n rows whose classes, cells and scores are all of unequal size; of two levels, or of four ("many").

    With "equivocal" before that, some rows at random have no class.
    """
    generator = np.random.default_rng(seed)
    if task.startswith("equivocal"):
        flags = np.random.default_rng([seed, 5]).random(n) < 0.7
        return replace(rows(task.removeprefix("equivocal").strip() or "binary", n, seed, ties=ties), reportable=flags)
    if task == "many":
        return many(generator, n, ties=ties)
    truth = generator.random(n) < 0.3
    score = np.clip(generator.normal(0.35 + 0.25 * truth, 0.2), 0.001, 0.999)
    probability = np.round(score, 1 if ties else 12).clip(0.001, 0.999)
    return Rows(truth, probability >= 0.4, probability)


def many(generator: np.random.Generator, n: int, *, ties: bool) -> ClassRows:
    """Return rows of four levels; no two levels of a row are equally probable, but many rows are alike."""
    truth = generator.choice(LEVELS, n, p=[0.4, 0.3, 0.2, 0.1])
    chances = generator.dirichlet([0.6, 0.9, 1.1, 1.7], n)
    chances[np.arange(n), truth] += 0.15
    if ties:
        chances = np.round(chances, 1) + np.array([0.011, 0.013, 0.017, 0.023])
    chances /= chances.sum(axis=1, keepdims=True)
    predicted = np.where(generator.random(n) < 0.1, (truth + 1) % LEVELS, chances.argmax(axis=1))
    return ClassRows(truth, LEVELS, predicted, chances)


def weights(n: int, seed: int = 1) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return unequal positive weights."""
    return np.random.default_rng(seed).gamma(2.0, 1.0, n) + 0.05


def filled(metric: Metric, options: dict[str, Any], levels: int = 2) -> dict[str, Any]:
    """Complete the options with their defaults; of a matrix over levels, its corner."""
    cut = {
        key: tuple(row[:levels] for row in value[:levels]) if isinstance(value, tuple) else value
        for key, value in options.items()
    }
    return metric.options(**cut).model_dump()


def value(name: str, options: dict[str, Any], data: Any, weight: Any) -> Any:
    """Compute one metric."""
    metric = registry[name]
    return Summary(data, np.asarray(weight, float)).value(metric, filled(metric, options, data.levels))


def take(data: Any, index: Any) -> Any:
    """Return some of the rows, in that order."""
    kept = {name: values[index] for name, values in vars(data).items()
            if name in type(data).__dataclass_fields__ and isinstance(values, np.ndarray)}
    return replace(data, **kept)
