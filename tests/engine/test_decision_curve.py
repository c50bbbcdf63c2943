"""Net benefit and its curve: against the formula on random data, and the curve against the measure."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import BOTH, people, run
from evalpipe.results import Curve, Results

EASY: dict[str, Any] = {"metrics": ["accuracy"], "intervals": {"method": "none"}}


def curves(results: Results) -> dict[str, Curve]:
    return {curve.model: curve for curve in results.curves if curve.curve == "net_benefit"}


def formula(truth: Any, chance: Any, threshold: float, weight: Any) -> float:
    """Vickers & Elkin (2006): true positives less false positives at the odds of the threshold, for each row."""
    acted = chance >= threshold
    found, alarmed = weight[acted & (truth == 1)].sum(), weight[acted & (truth == 0)].sum()
    return float(found / weight.sum() - alarmed / weight.sum() * (threshold / (1 - threshold)))


@pytest.mark.parametrize("seed", range(50))
def test_net_benefit_against_the_formula_on_50_random_data_sets(seed: int) -> None:
    """At every threshold of the curve, with ties on thresholds; 1e-12 for sums in another order."""
    frame = people(40 + 3 * seed, seed, digits=2 if seed % 2 else 9)
    weighted = seed % 3 == 0
    results = run(frame, calibration={"smoother": "logistic"}, **EASY, **({"weight": "heavy"} if weighted else {}))
    weight = frame["heavy"].to_numpy() if weighted else np.ones(len(frame))
    points, truth = curves(results)["p"].points, frame["y"].to_numpy()
    assert points.threshold == [k / 100 for k in range(1, 100)]
    for name, chance in (("net_benefit", frame["p"].to_numpy()), ("treat_all", np.ones(len(frame)))):
        expected = [formula(truth, chance, k / 100, weight) for k in range(1, 100)]
        assert points.columns[name] == pytest.approx(expected, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(("more", "method"), [
    ({}, "newcombe"), ({"intervals": {"replicates": 200, "method": "percentile"}}, "percentile"),
    ({"weight": "heavy"}, "percentile")])
def test_the_measure_and_its_limits_are_the_curve_at_its_threshold(more: dict[str, Any], method: str) -> None:
    """Both come from the same counts or replicates, so the limits agree to rounding."""
    asked = [{"metric": "net_benefit", "threshold": t} for t in (0.07, 0.5, 0.9)]
    results = run(people(300), **{"models": BOTH, "metrics": asked, "intervals": {"replicates": 200}} | more)
    for row in results.rows:
        assert row.method == method
        points = curves(results)[row.model].points
        place = points.threshold.index(row.params["threshold"])
        assert [row.value, row.lower, row.upper] == pytest.approx(
            [points.columns[name][place] for name in ("net_benefit", "lower", "upper")], rel=1e-12, abs=1e-14)


def test_on_a_grid_cells_end_at_the_thresholds() -> None:
    """So counts are those of the rows: curve and measure agree, to rounding."""
    results = run(people(20_000, digits=9), metrics=[{"metric": "net_benefit", "threshold": 0.3}],
                  intervals={"replicates": 100}, engine={"mode": "grid"})
    (row,), points = results.rows, curves(results)["p"].points
    assert (row.method, row.error_bound) == ("newcombe", None)
    assert [row.lower, row.upper] == pytest.approx([points.lower[29], points.upper[29]], abs=1e-12)


def test_the_curve_says_where_the_model_gains_most() -> None:
    curve = curves(run(people(300), **EASY))["p"]
    best = [max(everybody, 0.0) for everybody in curve.points.treat_all]
    gains = np.subtract(curve.points.net_benefit, best)
    assert curve.notes.largest_gain == gains.max() > 0
    assert curve.notes.largest_gain_at == curve.points.threshold[int(gains.argmax())]


def test_a_perfect_forecast_earns_the_prevalence_at_every_threshold() -> None:
    frame = people(100).with_columns(pl.col("y").cast(float).alias("p"))
    points = curves(run(frame, **EASY))["p"].points
    assert points.net_benefit == pytest.approx([frame["y"].mean()] * 99)


def test_without_bands_there_are_no_limits_and_without_probabilities_no_curve() -> None:
    models = {"p": {"probability": "p"}, "rank": {"score": "q", "threshold": 0.5}}
    found = curves(run(people(100), models=models, **EASY))
    assert set(found) == {"p"}
    assert found["p"].points.lower == [None] * 99
    assert found["p"].notes.level is None
