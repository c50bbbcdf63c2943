"""Residuals against columns of the data and in the order of one, against plain loops and statsmodels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from statsmodels.stats.stattools import durbin_watson
from statsmodels.tsa.stattools import acf

from engine.runs import BINARY, people, run
from evalpipe.errors import DataError, SpecError
from evalpipe.results import Results
from evalpipe.run import run as run_spec

LEVELS = ["x", "z"]


def curve(results: Results, name: str) -> Any:
    (only,) = [c for c in results.curves if c.curve == name]
    return only


def measured(frame: pl.DataFrame, residuals: Any, **keys: Any) -> Results:
    return run(frame, curves={"residuals": residuals}, **{
        "metrics": ["brier"], "intervals": {"method": "none"}, **keys})


def column(results: Results, place: int) -> dict[str, np.ndarray]:
    points = curve(results, "residual_against").points.columns
    kept = [k for k, of in enumerate(points["column"]) if of == place]
    return {name: np.array([values[k] for k in kept], float) for name, values in points.items()}


def test_a_column_of_numbers_is_cut_into_groups_of_equal_weight() -> None:
    frame = people(1000)
    groups = column(measured(frame, {"against": ["age", "s"]}), 0)
    order = np.argsort(frame["age"].to_numpy())
    residual = (frame["y"] - frame["p"]).to_numpy()[order].reshape(20, 50)
    assert groups["value"] == pytest.approx(frame["age"].to_numpy()[order].reshape(20, 50).mean(axis=1), rel=1e-12)
    assert groups["mean"] == pytest.approx(residual.mean(axis=1), rel=1e-9)
    assert groups["weight"] == pytest.approx([50] * 20)
    assert groups["median"] == pytest.approx(np.quantile(residual, 0.5, axis=1, method="averaged_inverted_cdf"))
    assert groups["low"] == pytest.approx(np.quantile(residual, 0.1, axis=1, method="averaged_inverted_cdf"))
    assert set(groups["expected"]) == {0.0}


def test_a_column_of_text_has_its_levels_in_the_order_of_people() -> None:
    frame = people(600).with_columns(s=pl.Series(["b10"] * 300 + ["b2"] * 290 + ["rare"] * 10))
    results = measured(frame, {"against": ["age", "s"]})
    notes, groups = curve(results, "residual_against").notes, column(results, 1)
    assert notes.levels == {"s": ("b2", "b10", "rare")}
    assert notes.few == {"s": 1}  # ten rows are too few for a slice, and so for a box
    assert list(groups["value"]) == [0, 1]
    residual = (frame["y"] - frame["p"]).to_numpy()
    assert groups["mean"] == pytest.approx([residual[300:590].mean(), residual[:300].mean()], rel=1e-9)
    assert np.isnan(groups["smooth"]).all()


def test_no_value_of_a_single_row_is_in_the_results() -> None:
    frame = people(200).with_columns(age=pl.col("age").round(6))
    text = measured(frame, {"against": ["age"], "order": "age"}).to_json()
    numbers = {n for c in json.loads(text)["curves"] if c["curve"] in ("residual_against", "residual_order")
               for values in c["points"].values() for n in values}
    assert not numbers & set(frame["age"])
    assert min(curve(measured(frame, {"against": ["age"]}), "residual_against").points.weight) >= 30


def test_a_row_of_weight_three_is_three_rows_in_any_order() -> None:
    frame = people(300)
    asked = {"against": ["age", "s"], "order": "who"}
    once = measured(frame, asked, weight={"column": "times", "kind": "frequency"})
    times = frame.select(pl.all().repeat_by("times").explode())
    every = measured(times.sample(fraction=1, shuffle=True, seed=2), asked)
    for name in ("residual_against", "residual_order"):
        one, other = curve(once, name), curve(every, name)
        for key, values in one.points.columns.items():
            if key != "smooth":
                assert values == pytest.approx(other.points.columns[key], rel=1e-9, abs=1e-12), (name, key)
        said, again = one.notes.model_dump(), other.notes.model_dump()
        assert all(said[key] == pytest.approx(again[key], rel=1e-9) if isinstance(said[key], float)
                   else said[key] == again[key] for key in said)


@pytest.mark.parametrize("task", ["regression", "count"])
def test_statsmodels_agrees_on_what_neighbours_have_to_do_with_each_other(task: str) -> None:
    rng = np.random.default_rng(8)
    days = pl.date_range(pl.date(2025, 1, 1), pl.date(2025, 9, 1), eager=True)
    p = rng.uniform(3, 9, len(days))
    drift = np.convolve(rng.normal(size=len(days)), [0.8, 0.6], mode="same")
    y = np.round(np.maximum(p + drift, 0)) if task == "count" else p + drift
    frame = pl.DataFrame({"day": days, "y": y, "p": p}).sample(fraction=1, shuffle=True, seed=4)
    results = measured(frame, {"order": "day"}, task=task, outcome={"column": "y"}, models={"m": {"prediction": "p"}},
                       metrics=["rmse"])
    notes, points = curve(results, "residual_order").notes, curve(results, "residual_order").points
    residual = (y - p) / np.sqrt(p) if task == "count" else y - p
    assert notes.values == len(days)
    assert notes.durbin_watson == pytest.approx(durbin_watson(residual), rel=1e-9)
    assert notes.autocorrelation == pytest.approx(acf(residual, nlags=1, fft=False)[1], rel=1e-9)
    places = np.array_split(np.arange(1, len(days) + 1), len(points.value))
    assert points.value == pytest.approx([part.mean() for part in places], abs=2)
    assert points.value == sorted(points.value)


def test_rows_of_one_value_count_as_their_mean() -> None:
    frame = people(400).with_columns(week=pl.Series(np.arange(400) // 10))
    notes = curve(measured(frame, {"order": "week"}), "residual_order").notes
    means = (frame["y"] - frame["p"]).to_numpy().reshape(40, 10).mean(axis=1)
    assert notes.values == 40
    assert notes.durbin_watson == pytest.approx(durbin_watson(means), rel=1e-9)


def test_of_several_levels_the_mean_is_held_to_what_the_probabilities_expect() -> None:
    frame = people(600).with_columns(rest=1 - pl.col("p"))
    groups = column(measured(frame, {"against": ["age"]}, task="multiclass", metrics=["log_loss"],
                             outcome={"column": "h", "levels": LEVELS},
                             models={"m": {"probabilities": {"x": "p", "z": "rest"}}}), 0)
    order, p = np.argsort(frame["age"].to_numpy()), frame["p"].to_numpy()
    assert groups["expected"] == pytest.approx((2 * p * (1 - p))[order].reshape(20, 30).mean(axis=1), rel=1e-9)


def test_rows_without_a_value_are_counted_and_left_out() -> None:
    frame = people(500).with_columns(age=pl.when(pl.int_range(pl.len()) < 20).then(None).otherwise("age"))
    results = measured(frame, {"against": ["age"], "order": "age"})
    assert curve(results, "residual_against").notes.missing == {"age": 20}
    assert curve(results, "residual_order").notes.missing == 20
    assert sum(curve(results, "residual_against").points.weight) == 480
    few = measured(people(20), {"against": ["age"], "order": "age"})
    assert curve(few, "residual_against").points.value == []


def test_the_columns_change_no_other_number() -> None:
    frame = people(300).select("y", "p", "age", "s")
    keys: dict[str, Any] = {"intervals": {"replicates": 100}}
    with_columns = measured(frame, {"against": ["age", "s"], "order": "age"}, **keys)
    without = measured(frame, {}, **keys)
    assert with_columns.rows == without.rows
    assert [c for c in with_columns.curves if c.curve not in ("residual_against", "residual_order")] == without.curves


def test_the_fewest_rows_of_a_group_can_be_named_and_stand_in_the_results() -> None:
    results = measured(people(200), {"against": ["age"], "order": "age", "min_rows": 10})
    assert set(curve(results, "residual_against").points.weight) == {10.0}
    assert curve(results, "residual_order").notes.least == 10
    assert results.spec["curves"]["residuals"] == {"against": ["age"], "order": "age", "min_rows": 10}


def test_a_csv_tells_numbers_from_text(tmp_path: Path) -> None:
    people(400).with_columns(day=pl.lit("2026-01-0") + (pl.int_range(pl.len()) % 9 + 1).cast(pl.String)).write_csv(
        tmp_path / "d.csv")
    results = run_spec({
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [0, 1]},
        "datasets": {"d": {"path": str(tmp_path / "d.csv")}}, "models": {"p": {"probability": "p"}},
        "metrics": ["brier"], "intervals": {"method": "none"}, "report": {"formats": []},
        "curves": {"residuals": {"against": ["age", "s"], "order": "day"}}})
    assert list(curve(results, "residual_against").notes.levels) == ["s"]
    assert curve(results, "residual_order").notes.values == 9


def test_what_cannot_be_shown_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as error:
        measured(people(300).with_columns(s=pl.int_range(pl.len()).cast(pl.String)), {"against": ["s"]})
    assert "'s' of dataset 'd' has 300 levels, more than the 50 that residuals are set against" in str(error.value)
    with pytest.raises(DataError) as error:
        measured(people(300), {"order": "when"})
    assert "dataset 'd' (memory) has no column 'when'" in str(error.value)
    people(300).write_parquet(tmp_path / "d.parquet")
    with pytest.raises(SpecError) as refused:
        run_spec({"evalpipe": 1, "name": "x", **BINARY, "datasets": {"d": {"path": str(tmp_path / "d.parquet")}},
                  "engine": {"mode": "grid"}, "curves": {"residuals": {"against": ["age"]}}})
    assert "the residual against column 'age' needs all rows at once, but engine.mode is grid" in str(refused.value)
