"""Replicates on a grid against replicates of every row: the same limits, within what so few draws can tell."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe.engine.replicates as engine
from engine.runs import BOTH, intervals, numbers, people, read_sample, run
from evalpipe.engine.coarsening import cells_of
from evalpipe.intervals import resampling
from evalpipe.results import Results
from few_by_day import few_by_day

N, DRAWS = 20_000, 300
MEASURES = [
    "accuracy", "sensitivity", "precision", "f1", "kappa", "mcc", "brier", "log_loss", "roc_auc", "average_precision",
    "ks",
]
BOOTSTRAP = intervals(DRAWS, method="percentile")
NUMBERS: dict[str, Any] = {
    "task": "regression", "outcome": {"column": "t"}, "models": {"m": {"prediction": "u"}},
    "metrics": ["mse", "r2", "mae", "mean_error"], "intervals": {"replicates": DRAWS, "method": "percentile"},
}
SMALL_SLICES = {"slices": [{"column": "age", "cuts": [62]}], "slice_rules": {"reference": "rest"}}

KINDS: dict[str, dict[str, Any]] = {
    "one model": {},
    "equivocal zone": {"models": BOTH, "equivocal": {"below": 0.1, "above": 0.05}},
    "two models and slices": {"models": BOTH, "compare": {"baseline": "q"}} | SMALL_SLICES,
    "frequency weights": {"weight": {"column": "times", "kind": "frequency"}},
    "heavy tails": {"models": {"p": {"probability": "tails"}}, "metrics": ["log_loss", "brier", "roc_auc"]},
    "poisson counts": {"intervals": BOOTSTRAP | {"resampling": "poisson"}, "metrics": ["log_loss", "deviance", "f1"]},
    "strata": {"intervals": BOOTSTRAP | {"stratify": True}, "metrics": ["brier", "roc_auc", "sensitivity"]},
    "numbers": NUMBERS,
}


@cache
def rows() -> pl.DataFrame:
    frame, generator = people(N, digits=9), np.random.default_rng(1)
    # Probabilities from 1e-12 to 1 - 1e-12, of which about one in a thousand is surely wrong: rare, enormous losses.
    tails = np.clip(1 / (1 + np.exp(-generator.normal(0, 9, N))), 1e-12, 1 - 1e-12)
    right = np.where(frame["y"].to_numpy() == 1, np.maximum(tails, 1 - tails), np.minimum(tails, 1 - tails))
    truth = generator.gamma(2, 2, N)
    return frame.with_columns(
        tails=pl.Series(np.where(generator.random(N) < 0.999, right, 1 - right)), t=pl.Series(truth),
        u=pl.Series(0.8 * truth + generator.normal(0, 1.5, N)),
    )


@cache
def results(kind: str, mode: str) -> Results:
    keys = {"metrics": MEASURES, "intervals": BOOTSTRAP} | KINDS[kind]
    return run(rows(), **keys, engine={"mode": mode})


def off(one: Any, other: Any, error: float) -> float:
    """Return by how many Monte-Carlo errors two pairs of limits lie apart at most."""
    return max(abs(one.lower - other.lower), abs(one.upper - other.upper)) / error


@pytest.mark.parametrize("kind", few_by_day(KINDS, {"two models and slices", "heavy tails", "numbers"}))
def test_limits_of_the_grid_are_those_of_all_rows(kind: str) -> None:
    exact, grid = results(kind, "exact"), results(kind, "grid")
    assert exact.intervals.units == {}
    assert 0 < grid.intervals.units["d"] <= min(32_768, grid.datasets[0].rows // 2)
    assert len(exact.rows) == len(grid.rows) > 2
    for one, other in zip(exact.rows, grid.rows, strict=True):
        assert (one.value, one.n, one.status) == (other.value, other.n, other.status)
        assert one.error_bound is None
        # 5 standard errors, of both draws together, for each of the two limits.
        error = np.hypot(one.monte_carlo_error or 0, other.monte_carlo_error or 0)
        assert off(one, other, error) < 5, one
        # What the grid takes from a value, before it is put back, is less than half the interval's width.
        assert other.error_bound is not None
        assert other.error_bound < (one.upper - one.lower) / 2


def test_classes_are_counted_on_the_grid_without_any_loss() -> None:
    found = {row.metric: row for row in results("one model", "grid").rows}
    for name in ("accuracy", "sensitivity", "precision", "f1", "kappa", "mcc"):
        assert found[name].error_bound == 0.0
    for name in ("brier", "log_loss", "roc_auc", "average_precision", "ks"):
        assert 0 < (found[name].error_bound or 0) < 1e-3


def test_paired_differences_on_the_grid_are_those_of_all_rows() -> None:
    exact, grid = (results("two models and slices", mode).comparisons for mode in ("exact", "grid"))
    assert len(exact) == len(grid) == 3 * len(MEASURES)
    for one, other in zip(exact, grid, strict=True):
        assert one.difference == other.difference
        # Of a normal statistic the standard error of such a limit is the interval's width times 0.68 / sqrt(DRAWS):
        # sqrt(0.025 * 0.975) / 0.0584 (the density there) / 3.92; 5 of those of both draws together.
        error = 0.68 * (one.upper - one.lower) * np.sqrt(2 / DRAWS)
        assert off(one, other, error) < 5, one
        assert (one.p_value is None) == (other.p_value is None)


def test_differences_of_slices_on_the_grid_are_those_of_all_rows() -> None:
    exact, grid = (results("two models and slices", mode).slice_differences for mode in ("exact", "grid"))
    assert len(exact) == len(grid) == 4 * len(MEASURES)
    for one, other in zip(exact, grid, strict=True):
        assert (one.slice, one.metric, one.difference, one.ratio) == (
            other.slice, other.metric, other.difference, other.ratio)
        error = 0.68 * (one.upper - one.lower) * np.sqrt(2 / DRAWS)  # as above
        assert off(one, other, error) < 5, one


def test_scores_that_are_alike_lose_nothing_on_the_grid() -> None:
    frame = rows().with_columns(pl.col("p").round(2))
    measures = ["brier", "log_loss", "roc_auc", "average_precision", "ks"]
    exact, grid = (
        run(frame, metrics=measures, intervals=BOOTSTRAP, engine={"mode": mode}) for mode in ("exact", "grid"))
    assert grid.intervals.units["d"] <= 2 * 101
    for one, other in zip(exact.rows, grid.rows, strict=True):
        assert other.error_bound == 0.0
        assert off(one, other, np.hypot(one.monte_carlo_error or 0, other.monte_carlo_error or 0)) < 5


def test_a_grid_is_taken_beyond_16_384_rows_unless_every_row_is_asked_for() -> None:
    keys: dict[str, Any] = {"metrics": ["roc_auc"], "intervals": intervals(100, method="percentile")}
    assert run(rows()[:16_384], **keys).intervals.units == {}
    assert run(rows()[:16_385], **keys).intervals.units.keys() == {"d"}
    assert run(rows()[:16_385], **keys, engine={"mode": "exact"}).intervals.units == {}
    assert run(rows()[:2000], **keys, engine={"mode": "grid"}).intervals.units["d"] <= 1000


@pytest.mark.parametrize(("keys", "mode", "reason"), [
    ({"cluster": "who"}, "clusters", "clusters are drawn whole"),
    ({"weight": {"column": "heavy", "kind": "importance"}}, "rows",
     "importance weights make rows with one score unlike"),
    ({"task": "multiclass", "outcome": {"column": "y", "levels": [1, 0]},
      "models": {"m": {"probabilities": {"1": "p", "0": "other"}}}, "metrics": ["accuracy", "log_loss"],
      "intervals": {"replicates": 100}}, "rows", "probabilities of several levels leave few rows alike"),
])
def test_where_no_grid_fits_every_row_is_drawn_and_the_results_say_so(
    keys: dict[str, Any], mode: str, reason: str
) -> None:
    frame = people(600).with_columns(other=1 - pl.col("p"))
    given: dict[str, Any] = {"metrics": ["brier", "f1"], "intervals": intervals(100)} | keys
    exact, grid = (run(frame, **given, engine={"mode": asked}) for asked in ("exact", "grid"))
    assert grid.intervals.units == {}
    assert [(draw.mode, draw.reason) for draw in grid.intervals.draws] == [(mode, reason)]
    drawn = "whole clusters were" if mode == "clusters" else "every row was"
    assert [warning.message for warning in grid.warnings if warning.code == "not-gridded"] == [
        f"d: {drawn} drawn, although engine.mode is grid: {reason}"]
    assert (grid.rows, grid.curves) == (exact.rows, exact.curves)


def backwards(task: Any, batches: Any) -> Any:
    done = [task.batch(several) for several in reversed(batches)]
    yield from reversed(done)


@pytest.mark.parametrize("weight", [None, {"column": "times", "kind": "frequency"}])
def test_threads_batches_and_the_order_of_rows_change_no_byte_on_a_grid(
    weight: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = people(3000, digits=1)
    keys: dict[str, Any] = {
        "metrics": ["f1", "log_loss", "average_precision"], "intervals": intervals(150), "slices": ["h"],
        "models": BOTH, "compare": {"baseline": "q"}, "worst_slices": {"metric": "brier", "columns": ["s"], "top": 2},
    } | ({} if weight is None else {"weight": weight})
    expected = run(frame, **keys, engine={"mode": "grid", "workers": 1})
    assert expected.intervals.units["d"] <= 1500
    shuffled = frame.sample(fraction=1, shuffle=True, seed=2)
    assert numbers(run(shuffled, **keys, engine={"mode": "grid", "workers": 3})) == numbers(expected)
    monkeypatch.setattr("evalpipe.engine.draws.CELLS", 777)
    monkeypatch.setattr(resampling, "HELD", 9999)
    monkeypatch.setattr(resampling, "LOOKUP", 0)
    monkeypatch.setattr(engine, "_in_threads", backwards)
    assert numbers(run(frame, **keys, engine={"mode": "grid", "workers": 1})) == numbers(expected)


def test_rare_events_have_half_of_the_cells() -> None:
    scores, generator = np.linspace(0, 1, 20_000), np.random.default_rng(0)
    events = np.zeros(20_000, int)
    events[generator.choice(np.arange(19_000, 20_000), 200, replace=False)] = 1  # one in a hundred, all of high scores
    sample = read_sample(pl.DataFrame({"y": events, "s": scores}), models={"m": {"score": "s"}})
    cells = cells_of(sample, sliced=64)
    assert cells is not None
    # Cells of equal rows would hold all events in the 3 of 64 at the upper end; each cell has rows of one outcome.
    assert len(set(cells.cell_of_row[sample.truth == 1])) >= 31
