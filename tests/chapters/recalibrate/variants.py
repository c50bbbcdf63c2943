"""Recalibration made by hand, to be added to results: variants of every model, their differences and their curves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.results import Applied, Comparison, Recalibration

if TYPE_CHECKING:
    from evalpipe.results import DatasetSummary, Estimate, Results

PARAMETERS: dict[str, dict[str, Any]] = {
    "logistic": {"intercept": 0.6356, "slope": 0.1021},
    "isotonic": {"interpolate": "step", "at": [0.1, 0.3, 0.7], "value": [0.0, 0.4, 0.9]},
    "beta": {"a": 1.5528, "b": 0.0, "intercept": 1.5925},
}
"""The variants, called as their methods, and what was fitted."""

CALIBRATION = ("calibration", 1588, 1073)
"""The dataset that they were fitted on, with its rows and events."""


def change(
    dataset: str, model: str, variant: str, metric: str, value: float | None, verdict: str = "better", **changes: Any
) -> Comparison:
    """Return the difference of a variant less its original; its interval reaches 0.006 to both sides."""
    return Comparison.model_validate({
        "dataset": dataset, "metric": metric, "params": {}, "model": model, "variant": variant, "baseline": model,
        "difference": value, "lower": None if value is None else value - 0.006,
        "upper": None if value is None else value + 0.006, "level": 0.95, "method": "percentile", "p_value": 0.0001,
        "test": "diebold_mariano" if metric == "brier" else "bootstrap", "p_adjusted": 0.0011, "margin": None,
        "verdict": verdict, "n": 6107, "status": "ok" if value is not None else "undefined", **changes,
    })


def recalibrations(results: Results, folds: int | None = None, **changes: Any) -> list[Recalibration]:
    """Return a recalibrator of every model and method, judged on every dataset."""
    found = []
    for dataset in results.datasets if folds else results.datasets[:1]:
        name, n, events = (dataset.name, dataset.n, dataset.events) if folds else CALIBRATION
        for model in results.models:
            for method, parameters in PARAMETERS.items():
                judged: list[DatasetSummary] = [dataset] if folds else results.datasets
                found.append(Recalibration.model_validate({
                    "model": model.name, "variant": method, "method": method, "options": {}, "fitted_on": name,
                    "folds": folds, "n": n, "events": events, "clipped": 26, "parameters": parameters,
                    "applied": [
                        Applied(dataset=one.name, distinct_before=990, distinct_after=3, clipped=30) for one in judged
                    ], **changes,
                }))
    return found


def differences(results: Results, model: str) -> list[Comparison]:
    """Return the differences of the variants of a model: a gain by the Brier score, else undecided."""
    found = []
    for dataset in results.datasets:
        for metric in (m.name for m in results.metrics):
            for place, variant in enumerate(PARAMETERS):
                value, verdict = (-0.02 - place / 1000, "better") if metric == "brier" else (0.001, "undecided")
                found.append(change(dataset.name, model, variant, metric, value, verdict))
    return found


def moved(e: Estimate, variant: str, place: int) -> Estimate:
    """Return an estimate of a variant, moved a little from that of the original."""
    ends = {name: getattr(e, name) for name in ("value", "lower", "upper")}
    away = {name: end - 0.01 * (place + 1) for name, end in ends.items() if end is not None}
    return e.model_copy(update={"variant": variant, **away})


def recalibrated(results: Results, folds: int | None = None) -> Results:
    """Return the results with three variants of every model."""
    rows = [
        each for e in results.rows for each in (e, *(moved(e, v, i) for i, v in enumerate(PARAMETERS)))
    ]
    curves = [
        each for c in results.curves for each in (c, *(c.model_copy(update={"variant": v}) for v in PARAMETERS))
    ]
    gains = [row for model in results.models for row in differences(results, model.name)]
    return results.model_copy(update={
        "rows": rows, "curves": curves, "comparisons": [*results.comparisons, *gains],
        "recalibration": recalibrations(results, folds),
    })
