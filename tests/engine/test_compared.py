"""Differences of two models have the limits of replicates that draw every row and keep every score apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import run

MEASURES: list[Any] = [
    "accuracy", "f1", "sensitivity", "brier", "log_loss", "roc_auc", "average_precision", "pr_auc", "ks",
    "gain_capture", "brier_skill", "tjur_r2", "mcfadden_r2", "nagelkerke_r2", "log_likelihood", "ece",
    {"metric": "ece", "bins": 7},
    {"metric": "ece", "norm": "l2"}, {"metric": "ece", "norm": "l2", "debiased": True},
    {"metric": "ece", "strategy": "quantile", "bins": 7}, {"metric": "ece", "strategy": "quantile", "norm": "max"},
    {"metric": "ece", "strategy": "quantile", "norm": "l2"}, "mce", {"metric": "mce", "bins": 20}, "ace",
    {"metric": "rmsce", "bins": 3}, "brier_reliability", "brier_refinement", "brier_resolution", "brier_residual",
    {"metric": "brier_reliability", "digits": 1}, "brier_miscalibration", "brier_discrimination",
    "sensitivity_at_specificity", "specificity_at_sensitivity", {"metric": "net_benefit", "threshold": 0.4},
    "calibration_in_the_large", "calibration_intercept", "calibration_slope", "ici", "e90", "emax",
    {"metric": "ici", "smooth": "isotonic"}, {"metric": "emax", "smooth": "isotonic"}, "probability_rmse",
    "probability_mae", "probability_mad", "predicted_gini", "predicted_entropy", "predicted_error", "spiegelhalter_z",
    "hosmer_lemeshow", {"metric": "precision_at_k", "k": 100}, {"metric": "recall_at_k", "k": 100}, "gain", "lift",
    {"metric": "partial_roc_auc", "high": 0.3},
]
"""Every measure of scores and of probabilities but p-values, whose differences mean nothing."""


def rows(n: int, seed: int) -> pl.DataFrame:
    """Return n rows of two models, of which one is too steep and one too flat, with a prevalence by seed."""
    generator = np.random.default_rng([30, 7, seed])
    odds = generator.normal(0, 1.2, n) - (0.5, 2.5, 1.0)[seed % 3]
    steep, flat = (1 / (1 + np.exp(-(slope * odds + generator.normal(shift, noise, n))))
                   for slope, shift, noise in ((1.1, 0.0, 0.5), (0.8, 0.2, 0.8)))
    event = generator.random(n) < 1 / (1 + np.exp(-odds))
    return pl.DataFrame({"p": steep, "q": flat, "y": event.astype(int)})


def compared(table: pl.DataFrame, mode: str, replicates: int, metrics: list[Any]) -> Any:
    return run(table, models={"p": {"probability": "p"}, "q": {"probability": "q"}}, compare={"baseline": "p"},
               threshold=0.4, metrics=metrics, engine={"mode": mode}, intervals={"replicates": replicates})


@pytest.mark.parametrize(("models", "n", "drawn"), [
    (2, 16_385, [("rows", "16,385 rows, at most 65,536")]),
    (2, 65_537, [("cells", "65,537 rows, more than 65,536")]),
    (1, 16_385, [("cells", "16,385 rows, more than 16,384")]),
])
def test_models_that_are_compared_are_drawn_row_by_row_while_that_costs_no_more(
    models: int, n: int, drawn: list[tuple[str, str]]
) -> None:
    asked = {name: {"probability": name} for name in "pq"[:models]}
    compare = {"compare": {"baseline": "p"}} if models > 1 else {}
    results = run(rows(n, 0), models=asked, metrics=["ks"], intervals={"replicates": 100}, **compare)
    assert [(draw.mode, draw.reason) for draw in results.intervals.draws] == drawn


def test_cells_end_where_bins_do() -> None:
    # All probabilities are about an edge of 3 bins, where no cell would end by itself, and events lie above it.
    generator = np.random.default_rng(5)
    table = rows(6000, 0).with_columns(p=1 / 3 + generator.uniform(-1, 1, 6000) * 1e-3)
    table = table.with_columns(y=(pl.col("p") >= 1 / 3).cast(pl.Int64))
    metrics = [{"metric": "mce", "bins": 3}, {"metric": "ece", "bins": 3}]
    exact, gathered = (compared(table, mode, 200, metrics).comparisons for mode in ("exact", "auto"))
    for one, other in zip(exact, gathered, strict=True):
        # Both draw the same rows; what is left are means of cells. Where cells cross the edge it is 0.03 and 0.01.
        assert (other.upper - other.lower) / (one.upper - one.lower) == pytest.approx(1, abs=0.003)


@pytest.mark.nightly
@pytest.mark.parametrize(("n", "seed"), [(20_000, 1), (20_000, 2), (30_000, 3), (40_000, 4)])
def test_differences_of_all_measures_have_the_limits_of_rows(n: int, seed: int) -> None:
    table = rows(n, seed)
    exact, gathered = (compared(table, mode, 100, MEASURES).comparisons for mode in ("exact", "auto"))
    off = {}
    for one, other in zip(exact, gathered, strict=True):
        ratio = (other.upper - other.lower) / (one.upper - one.lower)
        print(f"{one.metric:28s} {one.params!s:60s} {ratio:.3f}")
        # Both draw the same rows, so that the ratio has none of the noise of 100 replicates but what cells add.
        off |= {} if 0.9 <= ratio <= 1.1 else {f"{one.metric} {one.params}": ratio}
    assert off == {}
