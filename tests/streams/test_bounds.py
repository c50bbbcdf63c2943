"""The stated bound of a measure of ranks holds: of coarse cells too, where it is far from nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

RANKED = [
    "roc_auc", "gini", "ks", "average_precision", "pr_auc", "gain_capture", {"metric": "gain", "at": 0.2},
    {"metric": "lift", "at": 0.1}, {"metric": "precision_at_k", "k": 100}, {"metric": "partial_roc_auc", "high": 0.3},
    {"metric": "sensitivity_at_specificity", "at": 0.9}, "brier_discrimination", "brier_miscalibration", "ece",
    "calibration_slope", "calibration_in_the_large", "brier_reliability", "brier_refinement", "brier_resolution",
    "brier_residual", "probability_mad", "ace", {"metric": "ece", "strategy": "quantile", "bins": 7},
    {"metric": "ece", "strategy": "quantile", "norm": "l2"}, "hosmer_lemeshow",
]


def crowded(n: int = 3000, seed: int = 5) -> pl.DataFrame:
    """Return rows whose probabilities crowd in a hundredth of their range, so that many share a cell."""
    frame, generator = rows(n, seed), np.random.default_rng(seed)
    near = frame["p"].to_numpy() / 100 + 0.3 + generator.normal(0, 1e-4, n)
    return frame.with_columns(p=pl.Series(near), q=pl.Series(1 - near / 2))


@pytest.mark.parametrize("seed", range(5, 11))
def test_values_are_within_their_bounds(tmp_path: Path, seed: int) -> None:
    path = write(crowded(seed=seed), tmp_path / "d", [500])
    streamed, held = (run(path, mode, metrics=RANKED, intervals={"method": "none"}) for mode in ("grid", "exact"))
    bounds = {}
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        bounds[row.model, row.metric] = row.error_bound
        assert row.error_bound is not None, row.metric
        # Beyond the bound, rounding of sums of thousands of terms.
        assert abs(row.value - exact.value) <= row.error_bound + 1e-12, (row.metric, row.value, exact.value)
    assert min(bounds["p", name] for name in ("roc_auc", "ks", "average_precision")) > 1e-4


def test_bounds_of_many_rows_are_small(tmp_path: Path) -> None:
    path = write(rows(20_000), tmp_path / "d", [])
    estimates = run(path, metrics=["roc_auc", "average_precision", "ks", "ece"], intervals={"method": "none"}).rows
    # 2^-16 is the width of a cell; of scores spread over the whole range about half as much is tied.
    assert max(row.error_bound for row in estimates if row.metric == "roc_auc") < 2e-5
    assert max(row.error_bound for row in estimates) < 1e-3


def test_sums_over_rows_have_no_bound(tmp_path: Path) -> None:
    path = write(rows(500), tmp_path / "d", [])
    assert all(row.error_bound is None for row in run(path, metrics=["accuracy", "brier", "log_loss"]).rows)
