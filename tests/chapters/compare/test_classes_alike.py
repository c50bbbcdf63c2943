"""Two models that predict the same class on every row may differ on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from evalpipe.results import Comparison
from evalpipe.run import run

ROWS = 40
TRUTH = np.arange(ROWS) % 2
FIRST = 0.2 + 0.6 * TRUTH + 0.001 * np.arange(ROWS)
"""Probabilities on the right side of 1/2, as those of the other model are: in another order."""


def differences(**keys: Any) -> dict[str, Comparison]:
    """Return the differences of two models with all classes right, by measure."""
    frame = pl.DataFrame({"y": TRUTH, "a": FIRST, "b": 1 - FIRST[::-1], "group": np.repeat(np.arange(10), 4)})
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "alike", "task": "binary", "outcome": {"column": "y", "event": 1}, "threshold": 0.5,
        "datasets": {"test": {"path": "memory"}}, "models": {name: {"probability": name} for name in "ab"},
        "metrics": ["accuracy", "sensitivity", "f1", "roc_auc"], "compare": {"baseline": "a"},
        "report": {"formats": []}}
    return {row.metric: row for row in run(spec | keys, frames={"test": frame}).comparisons}


def test_a_proportion_has_the_differences_that_leave_all_rows_alike() -> None:
    rows = differences()
    for metric, trials in (("accuracy", ROWS), ("sensitivity", ROWS / 2)):
        most = 1 - 0.05 ** (1 / trials)
        row = rows[metric]
        assert (row.verdict, row.method, row.p_value) == ("undecided", "none_differs", 1)
        assert (row.lower, row.upper) == (pytest.approx(-most), pytest.approx(most))


def test_other_measures_of_classes_have_no_limits_and_no_verdict() -> None:
    row = differences()["f1"]
    assert (row.difference, row.lower, row.status, row.verdict) == (0, None, "degenerate", "untested")


def test_models_of_the_same_scores_are_the_same() -> None:
    rows = differences(models={name: {"probability": "a"} for name in "ab"})
    assert {row.verdict for row in rows.values()} == {"same"}
    cut = differences(models={"a": {"probability": "a"}, "b": {"probability": "a", "threshold": 0.6}})
    assert (cut["accuracy"].verdict, cut["roc_auc"].verdict) == ("undecided", "same")


def test_a_margin_may_hold_what_other_rows_could_show() -> None:
    rows = differences(compare={"baseline": "a", "margins": {"accuracy": 0.1, "sensitivity": 0.1}})
    assert (rows["accuracy"].verdict, rows["sensitivity"].verdict) == ("equivalent", "undecided")


def test_few_clusters_give_no_verdict() -> None:
    assert differences(cluster="group")["accuracy"].verdict == "untested"
