"""Replicates are the same bytes however they are computed: threads, batches, the order of blocks and of rows."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe.engine.replicates as engine
from engine.runs import BOTH, intervals, numbers, people, run
from evalpipe.intervals import resampling
from evalpipe.metrics import registry
from few_by_day import few_by_day

N, DRAWS = 100, 130  # three blocks, the last of them short

LABELS = ["accuracy", "precision", "f1", "mcc"]
SCORES = ["f1", "mcc", "log_loss", "deviance", "roc_auc", "average_precision"]
SLICED: dict[str, Any] = {
    "slices": ["s"], "slice_rules": {"disparities": ["equalized_odds"]},
    "compare": {"baseline": "q", "margins": {"log_loss": 0.01}}, "models": BOTH,
}
WORST: dict[str, Any] = {"worst_slices": {"metric": "brier", "columns": ["s", "h"], "top": 2}}
FREQUENCY = {"weight": {"column": "times", "kind": "frequency"}}
IMPORTANCE = {"weight": {"column": "heavy", "kind": "importance"}}


def classes(*, probabilities: bool) -> dict[str, Any]:
    chances = {"probabilities": "p_{level}"} if probabilities else {}
    measures = ["accuracy", "kappa", {"metric": "f1", "average": ["macro", "none"]}]
    return {
        "task": "multiclass", "outcome": {"column": "k", "levels": ["a", "b", "c"]},
        "models": {name: {"prediction": f"{name}_k", **(chances if name == "m" else {})} for name in ("m", "r")[
            : 1 if probabilities else 2]},
        "metrics": [*measures, "log_loss", "brier", "roc_auc"] if probabilities else measures,
        **({} if probabilities else {"compare": {"baseline": "r"}}),
    }


NUMBERS: dict[str, Any] = {
    "task": "regression", "outcome": {"column": "t"},
    "models": {"m": {"prediction": "u"}, "r": {"prediction": "v"}}, "compare": {"baseline": "r"},
    "metrics": ["mse", "mae", "r2", "mean_error", "median_absolute_error"],
}

KINDS: dict[str, dict[str, Any]] = {
    "ties": {"metrics": SCORES} | SLICED | WORST,
    "bands and bins": {"metrics": ["brier"], "intervals": {"replicates": DRAWS, "method": "percentile"}},
    "frequency weights": {"metrics": SCORES} | SLICED | FREQUENCY,
    "importance weights": {"metrics": SCORES} | SLICED | IMPORTANCE,
    "clusters": {"metrics": SCORES, "cluster": "who"} | SLICED,
    "weighted clusters": {"metrics": SCORES, "cluster": "who"} | FREQUENCY,
    "strata": {"metrics": SCORES, "intervals": intervals(DRAWS, stratify=True)} | SLICED,
    "poisson": {"metrics": SCORES, "intervals": intervals(DRAWS, resampling="poisson")} | SLICED | IMPORTANCE,
    "bca": {"metrics": LABELS, "intervals": intervals(DRAWS, method="bca")},
    "studentised": {"metrics": LABELS, "intervals": intervals(DRAWS, method="studentised")},
    "classes with probabilities": classes(probabilities=True) | {"slices": ["s"]},
    "classes": classes(probabilities=False) | {"slices": ["s"]},
    "numbers": NUMBERS | {"slices": ["s"]} | FREQUENCY,
}


@cache
def rows() -> pl.DataFrame:
    frame, generator = people(N), np.random.default_rng(1)
    chances = np.round(generator.dirichlet([1, 1, 1], N), 1)
    chances[:, 2] = np.round(1 - chances[:, 0] - chances[:, 1], 1)
    chances = np.abs(chances) / np.abs(chances).sum(axis=1, keepdims=True)
    known = {f"p_{level}": chances[:, place] for place, level in enumerate("abc")}
    names = np.array(list("abc"))
    truth = generator.gamma(2, 2, N)
    return frame.with_columns(
        k=pl.Series(names[generator.integers(0, 3, N)]), m_k=pl.Series(names[chances.argmax(axis=1)]),
        r_k=pl.Series(names[generator.integers(0, 3, N)]), t=pl.Series(truth),
        u=pl.Series(np.round(truth + generator.normal(0, 1, N), 1)), v=pl.Series(truth + generator.normal(0, 2, N)),
        **{name: pl.Series(values) for name, values in known.items()},
    )


def given(kind: str, frame: pl.DataFrame | None = None, **engine_keys: Any) -> str:
    drawn = {"replicates": DRAWS} if "task" in KINDS[kind] else intervals(DRAWS)
    keys: dict[str, Any] = {"intervals": drawn, "slice_rules": {}} | KINDS[kind]
    rules = keys.pop("slice_rules") | {"min_rows": 5}
    keys |= {"slice_rules": rules} if "slices" in keys else {}
    keys["engine"] = {"workers": 1} | keys.get("engine", {}) | engine_keys
    return numbers(run(rows() if frame is None else frame, **keys))


@cache
def plain(kind: str) -> str:
    return given(kind)


def backwards(task: Any, batches: Any) -> Iterator[Any]:
    """Compute the last batch first, and hand them over in order."""
    done = [task.batch(several) for several in reversed(batches)]
    yield from reversed(done)


def one_by_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("evalpipe.engine.draws.CELLS", 1)
    patch.setattr(resampling, "HELD", 1)
    patch.setattr(resampling, "NEAR", 1)
    patch.setattr(engine, "TOGETHER", 1)


def drawn_ahead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(engine, "threads_of", lambda _: 2)
    patch.setattr(engine, "TOGETHER", 1)


def in_odd_batches_and_backwards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr("evalpipe.engine.draws.CELLS", 1234)
    patch.setattr("evalpipe.engine.draws.HELD", 700)
    patch.setattr(resampling, "HELD", 1500)
    patch.setattr(resampling, "NEAR", 700)
    patch.setattr(resampling, "LOOKUP", 0)
    patch.setattr(engine, "_in_threads", backwards)


def in_blocks_of_small_counts(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(engine, "LIGHT", 0)


@pytest.mark.parametrize("kind", few_by_day(
    KINDS, {"clusters", "poisson", "bca"}))  # by day the ways to draw; what is drawn differs in its statistics
def test_threads_batches_and_the_order_of_blocks_change_no_byte(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plain(kind)
    for way in (one_by_one, in_odd_batches_and_backwards, in_blocks_of_small_counts):
        with monkeypatch.context() as patch:
            way(patch)
            assert given(kind) == expected
    with monkeypatch.context() as patch:
        drawn_ahead(patch)
        assert given(kind, workers="auto") == expected
    assert given(kind, workers=3) == expected


@pytest.mark.parametrize(("keys", "started"), [
    ({}, [1]), ({"engine": {"workers": 1}}, []), ({"engine": {"workers": 2}}, [2]),
    ({"intervals": {"method": "studentised", "replicates": 128}}, [2])])
def test_one_thread_draws_few_rows_ahead_unless_more_are_asked_for_or_each_takes_long(
    keys: dict[str, Any], started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pools: list[int] = []

    class Pool(ThreadPoolExecutor):
        def __init__(self, workers: int) -> None:
            pools.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(engine, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(engine, "TOGETHER", 1)
    monkeypatch.setattr(engine, "threads_of", lambda plan: 2 if plan.workers == "auto" else plan.workers)
    run(rows(), metrics=["brier"], **({"intervals": {"replicates": 128}} | keys))
    assert pools == started


@pytest.mark.parametrize("kind", few_by_day(KINDS, {"bands and bins", "clusters", "poisson", "classes", "numbers"}))
def test_the_order_of_rows_changes_no_byte(kind: str) -> None:
    shuffled = rows().sample(fraction=1, shuffle=True, seed=2)
    assert not shuffled.equals(rows())
    assert given(kind, shuffled, workers=2) == plain(kind)


def test_another_seed_changes_the_draws() -> None:
    keys: dict[str, Any] = {"metrics": ["brier"], "intervals": intervals(DRAWS)}
    first, second = (run(rows(), seed=seed, **keys).rows[0] for seed in (0, 1))
    assert first.value == second.value
    assert (first.lower, first.upper) != (second.lower, second.upper)


def test_the_lists_of_this_file_hold_a_measure_that_grows_with_the_rows() -> None:
    assert [name for name in SCORES if registry[name].extensive] == ["deviance"]


@pytest.mark.parametrize("mode", ["exact", "grid"])
def test_a_total_over_a_slice_has_the_same_interval_by_poisson_counts(mode: str) -> None:
    """The rows of a slice are as many as chance gives it; only those of all rows are brought to their number."""
    frame = people(2000, digits=3)
    drawn = [
        run(frame, metrics=["deviance"], slices=["s"], engine={"mode": mode},
            intervals=intervals(1000, resampling=how)).rows
        for how in ("multinomial", "poisson")
    ]
    assert len(drawn[0]) == 4
    for one, other in zip(*drawn, strict=True):
        assert one.value == other.value
        # 5 standard errors of a limit, from drawing 1000 replicates twice.
        error = np.hypot(one.monte_carlo_error or 0, other.monte_carlo_error or 0)
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=5 * error)


STUDENTISED: dict[str, dict[str, Any]] = {
    "rows": {},
    "ties": {"models": {"p": {"probability": "tied"}}},
    "classes alone": {"models": {"p": {"prediction": "picked"}}, "metrics": ["sensitivity", "accuracy"]},
    "frequency weights": FREQUENCY,
    "importance weights": IMPORTANCE,
    "clusters": {"cluster": "who"},
    "grid": {"engine": {"mode": "grid"}},
    "slices": {"slices": ["h"]},
}


@pytest.mark.parametrize("kind", few_by_day(STUDENTISED, {"rows", "classes alone", "grid"}))
def test_studentised_intervals_of_many_rows_are_as_wide_as_percentile_intervals(kind: str) -> None:
    """Of many rows t* is nearly normal, if the error of each replicate is that of its rows, each drawn by itself."""
    # Clusters and weights that count no rows are drawn row by row, which takes long.
    frame = people(600 if kind in {"clusters", "importance weights"} else 1200, digits=6).with_columns(
        tied=pl.col("p").round(1).clip(0.1, 0.9), picked=(pl.col("p") >= 0.5).cast(int))
    keys: dict[str, Any] = {"metrics": ["sensitivity", "brier", "log_loss"]} | STUDENTISED[kind]
    percentile, studentised = (
        run(frame, intervals=intervals(400, method=method), **keys).rows for method in ("percentile", "studentised"))
    for one, other in zip(percentile, studentised, strict=True):
        assert (other.value, other.method) == (one.value, "studentised")
        widths = [(row.upper or 0) - (row.lower or 0) for row in (one, other)]
        # Errors from 40 groups of rows make t* about 3 % wider than normal; the width of 400 replicates has a standard
        # error of 0.68 * sqrt(2 / 400), 5 %, most of it common to both.
        assert widths[1] / widths[0] == pytest.approx(1.03, abs=0.12)


def test_bca_limits_under_frequency_weights_are_those_of_repeated_rows() -> None:
    frame = people(300).with_columns(picked=(pl.col("p") >= 0.6).cast(int))
    counted = frame.group_by("y", "picked").agg(times=pl.len())
    keys: dict[str, Any] = {
        "models": {"p": {"prediction": "picked"}}, "metrics": ["sensitivity", "f1"],
        "intervals": intervals(4000, method="bca"),
    }
    for one, other in zip(run(frame, **keys).rows, run(counted, **keys, **FREQUENCY).rows, strict=True):
        assert (one.value, one.method) == (other.value, other.method)
        # 5 standard errors of a limit, of both draws together.
        error = 5 * np.hypot(one.monte_carlo_error or 0, other.monte_carlo_error or 0)
        assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper), abs=error)
