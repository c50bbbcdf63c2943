"""Two models that predict the same class on every row may differ on others."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import norm

from evalpipe.results import Comparison
from evalpipe.run import run

ROWS = 40
TRUTH = np.arange(ROWS) % 2
FIRST = 0.2 + 0.6 * TRUTH + 0.001 * np.arange(ROWS)
"""Probabilities on the right side of 1/2, as those of the other model are: in another order."""


def differences(**keys: Any) -> dict[str, Comparison]:
    """Return the differences of two models with all classes right, by measure."""
    frame = pl.DataFrame({"y": TRUTH, "a": FIRST, "b": 1 - FIRST[::-1], "group": np.repeat(np.arange(10), 4),
                          "pair": np.repeat(np.arange(20), 2)})
    spec: dict[str, Any] = {
        "evalpipe": 1, "name": "alike", "task": "binary", "outcome": {"column": "y", "event": 1}, "threshold": 0.5,
        "datasets": {"test": {"path": "memory"}}, "models": {name: {"probability": name} for name in "ab"},
        "metrics": ["accuracy", "sensitivity", "f1", "roc_auc"], "compare": {"baseline": "a"},
        "report": {"formats": []}}
    return {row.metric: row for row in run(spec | keys, frames={"test": frame}).comparisons}


def test_a_proportion_has_the_limits_of_two_without_a_discordant_row() -> None:
    rows = differences()
    for metric, trials in (("accuracy", ROWS), ("sensitivity", ROWS / 2)):
        row = rows[metric]
        assert (row.verdict, row.method, row.p_value) == ("undecided", "tango", 1)
        # Tango (1998): with b = c = 0 the limits are z^2 / (n + z^2).
        assert row.upper == pytest.approx(norm.ppf(0.975) ** 2 / (trials + norm.ppf(0.975) ** 2))
        assert row.lower == pytest.approx(-row.upper)


def test_other_measures_of_classes_have_no_limits_and_no_verdict() -> None:
    row = differences()["f1"]
    assert (row.difference, row.lower, row.status, row.verdict) == (0, None, "degenerate", "untested")


def test_models_of_the_same_scores_are_the_same() -> None:
    rows = differences(models={name: {"probability": "a"} for name in "ab"})
    assert {row.verdict for row in rows.values()} == {"same"}
    cut = differences(models={"a": {"probability": "a"}, "b": {"probability": "a", "threshold": 0.6}})
    assert (cut["accuracy"].verdict, cut["roc_auc"].verdict) == ("undecided", "same")


def test_a_margin_may_hold_what_other_rows_could_show() -> None:
    rows = differences(compare={"baseline": "a", "margins": {"accuracy": 0.15, "sensitivity": 0.15}})
    assert (rows["accuracy"].verdict, rows["sensitivity"].verdict) == ("equivalent", "undecided")


def test_clusters_count_as_one_row_each_and_few_give_no_verdict() -> None:
    assert differences(cluster="group")["accuracy"].verdict == "untested"
    row = differences(cluster="pair")["accuracy"]
    assert (row.verdict, row.method) == ("undecided", "none_differs")
    assert row.upper == pytest.approx(1 - 0.025 ** (1 / 20))
