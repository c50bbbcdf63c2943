"""Numbers with their replicates: what is computed of them, and that few clusters are told of in every table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import BOTH, intervals, people, run
from evalpipe.engine.support import Drawn, range_of, smallest_over_largest
from evalpipe.intervals.bootstrap import percentile_limits

FEW = "12 clusters, fewer than 20: limits from so few cover the true value less often than 95%"
ONE = "all rows are in one cluster, so the uncertainty is unknown"


def number(value: float, *replicates: float, units: int = 50, clustered: bool = False) -> Drawn:
    return Drawn(value, np.array(replicates), units, clustered, "no events")


def test_numbers_subtract_divide_and_lie_apart_replicate_by_replicate() -> None:
    first, second = number(0.6, 0.5, 0.7, math.nan), number(0.3, 0.25, 0.5, 0.2, units=20)
    difference, ratio = first - second, first / second
    assert (difference.value, difference.units, difference.missing) == (pytest.approx(0.3), 20, 1)
    assert difference.known[:2] == pytest.approx([0.25, 0.2])
    assert ratio.value == pytest.approx(2)
    assert ratio.known[:2] == pytest.approx([2, 1.4])
    assert range_of([second, first]).known[:2] == pytest.approx([0.25, 0.2])
    assert smallest_over_largest([second, first]).known[:2] == pytest.approx([0.5, 5 / 7])
    assert math.isnan((number(0.6, 0.5) / number(0.0, 0.0)).value)


@pytest.mark.parametrize(
    ("drawn", "status", "reason"),
    [
        (number(math.nan, 0.1, 0.2), "undefined", "no events"),
        (number(0.2, *[0.1, 0.3] * 10), "ok", None),
        (number(0.2, *[0.1, 0.3] * 9, 0.1, math.nan), "ok", None),
        (number(0.2, *[0.1, 0.3] * 9, math.nan, math.nan), "degenerate", "undefined in 2 of 20 replicates: no events"),
        (number(0.2, *[0.1, 0.3] * 10, units=12, clustered=True), "degenerate", FEW),
        (number(0.2, *[0.1, 0.3] * 10, units=20, clustered=True), "ok", None),
        (number(0.2, 0.2, 0.2, units=1, clustered=True), "degenerate", ONE),
        (number(0.4, *[0.1, 0.3] * 10), "degenerate",
         "the value is above its bootstrap limits: resampling biases the measure"),
    ],
)
def test_a_number_knows_what_is_wrong_with_its_limits(drawn: Drawn, status: str, reason: str | None) -> None:
    limited = drawn.limited(0.95, lambda _, known, level: percentile_limits(known, level))
    assert (limited.status, limited.reason) == (status, reason)
    assert (limited.limits is None) == (status == "undefined" or reason == ONE)


def clustered(clusters: int) -> dict[str, Any]:
    """Return the tables of two models on rows of so many clusters, each with its status and reason."""
    frame, other = (people(600, seed).with_columns(pl.Series("who", np.arange(600) % clusters)) for seed in (3, 4))
    rule = {"maximize": "youden", "on": "c"}
    results = run(
        {"d": frame, "c": other}, models={name: BOTH[name] | {"threshold": rule} for name in BOTH}, cluster="who",
        datasets={"d": {"path": "memory"}, "c": {"path": "memory", "role": "calibrate"}},
        metrics=["brier", "roc_auc"], intervals=intervals(200), compare={"baseline": "p"}, slices=["h"],
        slice_rules={"disparities": ["brier"]}, desirability=[{"metric": "brier", "minimize": {"low": 0, "high": 1}}],
    )
    return {
        "estimates": results.rows, "comparisons": results.comparisons, "disparities": results.disparities,
        "slice differences": results.slice_differences, "desirability": results.desirability.overall,
        "thresholds": results.thresholds,
    }


@pytest.mark.parametrize(("clusters", "reason"), [(1, ONE), (12, FEW), (24, None)])
def test_few_clusters_are_told_of_in_every_table(clusters: int, reason: str | None) -> None:
    tables = clustered(clusters)
    if reason == FEW:  # the limits of measures are Student's
        assert {(row.status, row.method) for row in tables.pop("estimates")} == {("ok", "cluster_t")}
    for name, rows in tables.items():
        told = {(row.status, row.reason) for row in rows}
        assert told == {("ok" if reason is None else "degenerate", reason)}, name


def test_no_verdict_stands_on_few_clusters() -> None:
    few, enough = (clustered(clusters)["comparisons"] for clusters in (12, 24))
    assert {row.verdict for row in few} == {"untested"}
    assert all(row.lower is not None and row.p_value is None for row in few)
    assert "untested" not in {row.verdict for row in enough}
