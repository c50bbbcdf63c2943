"""What is drawn together on a grid: slices, other slicings and other models change no replicate of the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from engine.runs import intervals, numbers, people, run
from evalpipe.results import Results

N = 3000
GRID: dict[str, Any] = {
    "metrics": ["brier", "roc_auc", "f1"], "intervals": intervals(100, method="percentile"), "engine": {"mode": "grid"}}
CUT = {"column": "age", "cuts": [62]}


def frame(n: int = N) -> pl.DataFrame:
    generator = np.random.default_rng(3)
    table = people(n)
    near = np.clip(table["p"].to_numpy() + generator.normal(0, 0.05, n), 0, 1)
    return table.with_columns(near=pl.Series(near), part=pl.Series(generator.choice(["a", "b", "c"], n)))


def of(results: Results, model: str = "p", **labels: str) -> list[Any]:
    return [(row.metric, row.lower, row.upper) for row in results.rows
            if row.model == model and dict(row.slice or {}) == labels]


def test_slices_change_no_replicate_of_all_rows_and_none_of_other_slicings() -> None:
    plain, one, two = (run(frame(), **GRID, slices=slices) for slices in ([], ["part"], [CUT, "part"]))
    assert of(plain) == of(one) == of(two)
    assert len(of(one, part="a")) == 3
    assert of(one, part="a") == of(two, part="a")
    bands = [[curve.columns for curve in results.curves if curve.curve == "roc_band"] for results in (plain, two)]
    assert bands[0] == bands[1]


def test_another_model_changes_no_replicate_unless_they_are_compared() -> None:
    both = {"p": {"probability": "p"}, "near": {"probability": "near"}}
    alone, beside, compared = (
        run(frame(), **GRID, slices=["part"], models=models, **keys) for models, keys in (
            ({"p": both["p"]}, {}), (both, {}), (both, {"compare": {"baseline": "p"}})))
    assert of(alone) == of(beside) != of(compared)
    assert of(alone, part="b") == of(beside, part="b")
    models = [[draw.models for draw in results.intervals.draws] for results in (beside, compared)]
    assert models == [[["p"], ["p"], ["near"], ["near"]], [["near", "p"], ["near", "p"]]]


def test_what_is_drawn_is_told() -> None:
    draws = run(frame(), **GRID, slices=["part"]).intervals.draws
    assert [(draw.slicing, draw.mode, draw.reason) for draw in draws] == [
        (None, "cells", "engine.mode is grid"), ("part", "cells", "engine.mode is grid")]
    assert all(0 < draw.lost <= 1e-3 for draw in draws)
    assert draws[0].units <= N // 2


def test_a_slice_against_all_rows_varies_less_than_if_these_were_drawn_apart() -> None:
    exact, grid = (
        run(frame(), **(GRID | {"engine": {"mode": mode}}), slices=[CUT]) for mode in ("exact", "grid"))
    for one, other in zip(exact.slice_differences, grid.slice_differences, strict=True):
        assert one.difference == other.difference
        # Of so few replicates a width has a standard error of a tenth; drawn apart it would be far wider in the larger
        # slice, which is nearly all rows.
        assert (other.upper - other.lower) / (one.upper - one.lower) == pytest.approx(1, abs=0.5)


def test_many_models_that_are_compared_are_drawn_in_cells_too() -> None:
    generator = np.random.default_rng(0)
    table = frame(20_000)
    names = [f"m{k}" for k in range(5)]
    for name in names:
        noisy = np.clip(table["p"].to_numpy() + generator.normal(0, 0.1, len(table)), 0, 1)
        table = table.with_columns(pl.Series(name, noisy))
    results = run(table, **GRID, models={name: {"probability": name} for name in names},
                  compare={"baseline": "m0"})
    draw, = results.intervals.draws
    assert (draw.mode, draw.units <= 10_000, draw.reason) == ("cells", True, "engine.mode is grid")
    assert draw.lost < 0.05


@pytest.mark.parametrize("keys", [{}, {"slices": [CUT, "part"]}, {"weight": {"column": "times", "kind": "frequency"}}])
def test_folds_counted_straight_into_cells_are_those_of_all_units(
    keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: dict[str, Any] = {
        "metrics": ["brier", "roc_auc", "f1"], "intervals": intervals(100, method="studentised")} | keys
    straight = run(frame(300), **asked)
    monkeypatch.setattr("evalpipe.engine.draws.HELD", 0)
    assert numbers(straight) == numbers(run(frame(300), **asked))
    assert all(row.method == "studentised" for row in straight.rows if row.status == "ok")
