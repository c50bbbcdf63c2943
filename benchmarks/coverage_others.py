"""Limits at 95 % of the measures of one data set, by evalpipe and by each peer; `coverage_peers.py` counts them.

Columns are ``y`` of 0 and 1 with ``p``, the probability of 1, and perhaps ``cluster``; or with ``predicted`` and
``group``, and the measures are then the disparities of the groups.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

import evalpipe

Array = np.ndarray[Any, Any]
Columns = Mapping[str, Array]
Limits = dict[str, tuple[float, float]]

LEVEL, REPLICATES, BINS = 0.95, 200, 15
ENDS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
MOST_GROUPS, FEWER_REPLICATES = 3, 100
"""What is asked of fairlearn, for its time: 100 replicates of three groups take it a second, of 20 groups several."""


def by_evalpipe(measures: Sequence[str], columns: Columns, seed: int) -> Limits:
    """Return the limits of a run, with the methods that it takes by default."""
    grouped = "group" in columns
    spec = {
        "evalpipe": 1, "name": "coverage", "task": "binary", "seed": seed, "outcome": {"column": "y", "event": 1},
        "datasets": {"data": {"path": "memory"}}, "report": {"formats": []}, "engine": {"workers": 1},
        "intervals": {"level": LEVEL, "replicates": REPLICATES, "bands": False},
        "models": {"model": {"prediction": "predicted"} if grouped else {"probability": "p"}},
        "metrics": ["accuracy", "sensitivity", "detection_prevalence"] if grouped else list(measures),
    }
    if grouped:
        spec |= {"slices": ["group"], "slice_rules": {"disparities": list(measures)}}
    if "cluster" in columns:
        spec["cluster"] = "cluster"
    results = evalpipe.run(spec, frames={"data": pl.DataFrame(dict(columns))})
    rows = {row.disparity: row for row in results.disparities} if grouped else {row.metric: row for row in results.rows}
    return {name: (row.lower, row.upper) for name, row in rows.items() if None not in (row.lower, row.upper)}


def by_fairlearn(measures: Sequence[str], columns: Columns, seed: int) -> Limits:
    """Return the quantiles of the differences of a MetricFrame, of few groups alone."""
    from fairlearn.metrics import MetricFrame

    if "group" not in columns or columns["group"].max() >= MOST_GROUPS:
        return {}
    calls = {"accuracy": lambda y, predicted: np.mean(y == predicted),
             "demographic_parity": lambda _, predicted: np.mean(predicted),
             "equal_opportunity": lambda y, predicted: np.mean(predicted[y == 1])}
    frame = MetricFrame(metrics={name: calls[name] for name in measures}, y_true=columns["y"],
                        y_pred=columns["predicted"], sensitive_features=columns["group"], n_boot=FEWER_REPLICATES,
                        ci_quantiles=ENDS, random_state=seed)
    lower, upper = frame.difference_ci()
    return {name: (float(lower[name]), float(upper[name])) for name in measures}


def by_confidenceinterval(measures: Sequence[str], columns: Columns, seed: int) -> Limits:  # noqa: ARG001 - none drawn
    """Return limits by the package's default methods: DeLong's of the AUC, Wilson's of accuracy."""
    import confidenceinterval as ci

    if "group" in columns:
        return {}
    y, p = columns["y"], columns["p"]
    calls = {"roc_auc": lambda: ci.roc_auc_score(y, p),
             "accuracy": lambda: ci.accuracy_score(y, (p >= 0.5).astype(int))}
    limits = {name: calls[name]()[1] for name in measures if name in calls}
    return {name: (float(lower), float(upper)) for name, (lower, upper) in limits.items()}


def by_torchmetrics(measures: Sequence[str], columns: Columns, seed: int) -> Limits:
    """Return the quantiles of a BootStrapper, with its default: each row counts as often as Poisson's law draws."""
    import torch
    from torchmetrics import classification
    from torchmetrics.wrappers import BootStrapper

    if "group" in columns:
        return {}
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    kinds = {"roc_auc": classification.BinaryAUROC, "average_precision": classification.BinaryAveragePrecision,
             "ece": partial(classification.BinaryCalibrationError, n_bins=BINS),
             "accuracy": classification.BinaryAccuracy}
    limits = {}
    for name in measures:
        wrapper = BootStrapper(kinds[name](validate_args=False), REPLICATES, quantile=torch.tensor(ENDS))
        wrapper.update(torch.tensor(columns["p"], dtype=torch.float32), torch.tensor(columns["y"]))
        lower, upper = wrapper.compute()["quantile"].tolist()
        limits[name] = (lower, upper)
    return limits


def by_loop(measures: Sequence[str], columns: Columns, seed: int) -> Limits:
    """Return quantiles over draws of rows; a draw in which a measure is undefined is left out of its quantiles."""
    generator = np.random.default_rng(seed)
    n, values = len(columns["y"]), []
    measure = disparities if "group" in columns else scored
    for _ in range(REPLICATES):
        rows = generator.integers(0, n, n)
        values.append(measure(measures, {name: column[rows] for name, column in columns.items()}))
    limits = {name: np.nanquantile([value[name] for value in values], ENDS) for name in measures}
    return {name: (float(lower), float(upper)) for name, (lower, upper) in limits.items()}


def disparities(measures: Sequence[str], columns: Columns) -> dict[str, float]:
    """Return the ranges of measures over the groups."""
    y, predicted = columns["y"], columns["predicted"]
    shares = {"accuracy": (y == predicted, np.ones(len(y))), "equal_opportunity": (predicted * y, y),
              "demographic_parity": (predicted, np.ones(len(y)))}
    rates = {name: np.divide(*(np.bincount(columns["group"], part) for part in shares[name])) for name in measures}
    return {name: float(np.nanmax(rate) - np.nanmin(rate)) for name, rate in rates.items()}


def scored(measures: Sequence[str], columns: Columns) -> dict[str, float]:
    """Return measures by scikit-learn, and the ECE, which it lacks, by bins of equal width."""
    from sklearn import metrics as sk

    y, p = columns["y"], columns["p"]
    calls = {
        "roc_auc": lambda: sk.roc_auc_score(y, p), "average_precision": lambda: sk.average_precision_score(y, p),
        "accuracy": lambda: sk.accuracy_score(y, p >= 0.5),
        "ece": lambda: np.abs(np.bincount((p * BINS).astype(int).clip(max=BINS - 1), y - p)).sum() / len(y)}
    return {name: float(calls[name]()) for name in measures}


LOOP = "loop that draws rows"
TOOLS: dict[str, Callable[[Sequence[str], Columns, int], Limits]] = {
    "evalpipe": by_evalpipe, "fairlearn": by_fairlearn, "confidenceinterval": by_confidenceinterval,
    "torchmetrics": by_torchmetrics, LOOP: by_loop,
}
