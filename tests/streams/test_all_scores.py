"""Rows read part by part of which every score is kept: the values are those of held rows, in much less memory."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from evalpipe.card.data import facts
from evalpipe.plan import memory
from evalpipe.plan.memory import MILLION, keeps_all_scores, most_held, plan_in_memory, reading_seconds
from evalpipe.run import plan
from evalpipe.run import run as run_spec
from evalpipe.streams.tables import CellCounts, count_codes, merged_scores, score_codes, scores_of_codes
from few_by_day import few_by_day
from streams.streaming import MODELS, numbers, rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Estimate

RANKED = {"roc_auc", "average_precision", "ks", "gini", "sensitivity_at_specificity", "partial_roc_auc"}
METRICS = ["accuracy", "precision", "brier", "log_loss", "roc_auc", "average_precision", "ks", "ece", "gini",
           {"metric": "sensitivity_at_specificity", "at": 0.9}, {"metric": "partial_roc_auc", "high": 0.2},
           {"metric": "ece", "strategy": "quantile", "bins": 7}]
FEW = {"replicates": 100, "bands": False}
SPECS: dict[str, dict[str, Any]] = {
    "plain": {},
    "slices": {"slices": ["s", {"column": "who", "cuts": [40, 60]}]},
    "rest": {"slices": ["s"], "slice_rules": {"reference": "rest"}},
    "weights": {"weight": {"column": "times", "kind": "frequency"}, "slices": ["s"]},
    "log odds": {"models": {"p": {"score": "odds", "scale": "logit"}, "q": {"probability": "q"}}},
    "no limits": {"intervals": {"method": "none"}},
    "compared": {"compare": {"baseline": "q"}},
}


@pytest.fixture
def _in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read as many rows part by part as would otherwise be held."""
    monkeypatch.setattr(memory, "most_held", lambda _: 0)


def by_place(estimates: list[Estimate]) -> dict[tuple[object, ...], Estimate]:
    return {row.about: row for row in estimates}


@pytest.mark.usefixtures("_in_parts")
@pytest.mark.parametrize("name", few_by_day(SPECS, {"rest", "weights", "log odds"}))
def test_values_are_those_of_held_rows(tmp_path: Path, name: str) -> None:
    path, keys = write(rows(), tmp_path / "d", [900, 1700]), SPECS[name]

    parts, held = (run(path, mode, **{"metrics": METRICS, "intervals": FEW, **keys}) for mode in ("auto", "exact"))

    assert {draw.mode for draw in parts.intervals.draws} <= {"cells"}
    assert parts.datasets[0].all_scores
    assert dict(facts(parts, parts.datasets[0]))["Rows read part by part"].endswith(
        " cells of neighbouring scores; every score is kept, so values are exact")
    assert "all_scores" not in held.to_json()
    values, differences = by_place(held.rows), {row.about: row.difference for row in held.slice_differences}
    assert {row.about for row in parts.rows} == set(values)
    assert {row.about for row in parts.slice_differences} == set(differences)
    for row in parts.rows:
        expected = values[row.about].value
        # Ranks are counted, so that nothing is rounded otherwise; sums are added in another order.
        assert row.value == (expected if row.metric in RANKED else pytest.approx(expected, rel=1e-12)), row.about
    for row in parts.slice_differences:  # of numbers up to 1, each exact to 1e-15
        assert row.difference == pytest.approx(differences[row.about], abs=1e-13), row.about


@pytest.mark.usefixtures("_in_parts")
def test_equal_scores_stay_equal(tmp_path: Path) -> None:
    frame = rows().with_columns(p=(rows()["p"] * 7).round() / 7)
    path = write(frame, tmp_path / "d", [2000])

    parts, held = (by_place(run(path, mode, metrics=METRICS, intervals=FEW).rows) for mode in ("auto", "exact"))

    assert all(parts[key].value == held[key].value for key in held if held[key].metric in RANKED)


@pytest.mark.usefixtures("_in_parts")
def test_numbers_do_not_hang_on_the_parts(tmp_path: Path) -> None:
    frame = rows()
    one = run(write(frame, tmp_path / "a", []), "auto", slices=["s"], intervals=FEW)
    several = run(write(frame.reverse(), tmp_path / "b", [5, 1500, 900]), "auto", slices=["s"], intervals=FEW)

    assert numbers(one) == numbers(several)


@pytest.mark.usefixtures("_in_parts")
def test_no_bound_is_stated_where_the_value_is_exact(tmp_path: Path) -> None:
    path = write(rows(), tmp_path / "d", [])
    keys = {"metrics": ["roc_auc"], "intervals": {"method": "none"}, "models": {"p": MODELS["p"]}}

    (exact,), (on_grid,) = (run(path, mode, **keys).rows for mode in ("auto", "grid"))

    assert exact.error_bound is None
    assert exact.value is not None
    assert on_grid.value is not None
    assert on_grid.error_bound is not None
    assert 0 < abs(exact.value - on_grid.value) <= on_grid.error_bound


@pytest.mark.usefixtures("_in_parts")
def test_a_line_through_the_log_odds_ranks_rows_as_before(tmp_path: Path) -> None:
    path = write(rows(), tmp_path / "d", [])
    calibrate = {"path": str(write(rows(seed=4), tmp_path / "c", [])), "role": "calibrate"}

    results = run(path, "auto", datasets={"d": {"path": str(path)}, "c": calibrate}, metrics=["roc_auc", "brier"],
                  recalibrate={"fit_on": "c", "methods": ["logistic"]}, slices=["s"], intervals=FEW)

    by_variant = {(row.model, row.variant, row.metric, str(row.slice)): row.value for row in results.rows}
    assert all(by_variant[model, "logistic", "roc_auc", part] == value
               for (model, variant, metric, part), value in by_variant.items()
               if variant == "original" and metric == "roc_auc")


@pytest.mark.usefixtures("_in_parts")
def test_nothing_is_kept_for_later_runs(tmp_path: Path) -> None:
    path = write(rows(), tmp_path / "d", [])
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "datasets": {"d": {"path": str(path)}},
            "outcome": {"column": "y", "event": 1}, "models": MODELS, "report": {"formats": []}}

    planned = plan(spec)
    run_spec(spec, out=tmp_path / "out" / "x")

    assert planned.streaming.all_scores
    assert not list((tmp_path / "out").rglob("*.tables"))


def squeezed(path: Path, n: int = 20_000) -> Path:
    """Write rows whose scores rank them, from 1e-40 to 1e-10: on the grid nearly all lie in one cell."""
    rng = np.random.default_rng(5)
    event = rng.random(n) < 0.3
    score = 10 ** (5 * (rng.normal(size=n) + event) - 25)
    return write(pl.DataFrame({"y": event.astype(int), "p": np.minimum(score, 1.0), "q": rng.random(n)}), path, [900])


@pytest.mark.usefixtures("_in_parts")
def test_rows_are_held_where_cells_would_tell_too_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = squeezed(tmp_path / "d")
    keys = {"metrics": ["roc_auc", "average_precision"], "intervals": FEW}

    fallback = run(path, "auto", **keys)
    monkeypatch.undo()
    in_memory = run(path, "auto", **keys)

    assert numbers(fallback) == numbers(in_memory)


def test_the_grid_warns_of_scores_in_few_cells(tmp_path: Path) -> None:
    path = squeezed(tmp_path / "d")

    crowded, spread = (run(path, "grid", metrics=["roc_auc"], models=models, intervals=FEW) for models in (
        {"p": {"probability": "p"}}, {"q": {"probability": "q"}}))

    messages = [warning.message for warning in crowded.warnings if warning.code == "few-cells"]
    assert messages
    assert messages[0].endswith(
        "of the rows of dataset 'd' have scores of model 'p' in one cell of the grid, so limits of measures that rank "
        "rows may be too narrow; engine.mode exact holds the rows")
    assert not [warning for warning in spread.warnings if warning.code == "few-cells"]


def test_more_rows_than_memory_may_hold_stay_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (planned_for(tmp_path / "d", count, monkeypatch) for count in (MILLION, 21 * MILLION))
    limited = planned_for(tmp_path / "d", MILLION, monkeypatch, engine={"memory": "1GB"})

    in_memory = plan_in_memory(few, "p", 0.123)

    assert in_memory is not None
    assert in_memory.streaming.reason == "12% of the rows have scores of model 'p' in one cell of the grid"
    assert plan_in_memory(many, "p", 0.123) is None
    assert plan_in_memory(limited, "p", 0.123) is None


def planned_for(folder: Path, count: int, monkeypatch: pytest.MonkeyPatch, **keys: Any) -> Any:
    """Return the plan of so many rows, of files of which only the number of rows is made up."""
    path = write(rows(50), folder, [])
    monkeypatch.setattr("evalpipe.data.formats.rows", lambda *_: count)
    return plan({"evalpipe": 1, "name": "x", "task": "binary", "datasets": {"d": {"path": str(path)}},
                 "outcome": {"column": "y", "event": 1}, "models": MODELS, **keys})


@pytest.mark.parametrize("keys", [{}, {"slices": ["s"]}, {"slices": ["s", "who"]}])
def test_twice_the_rows_take_at_most_twice_the_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any]
) -> None:
    def seconds(count: int) -> float:
        planned = planned_for(tmp_path / "d", count, monkeypatch, **keys)
        of_way = reading_seconds(planned, count)
        streaming = planned.streaming
        return of_way["parts"] + of_way["scores"] * streaming.all_scores if streaming.streamed else of_way["held"]

    counts = [10_000 * 2**k for k in range(15)]
    times = [seconds(count) for count in counts]

    assert all(later <= 2 * earlier * (1 + 1e-9) for earlier, later in pairwise(times))


def test_the_way_to_read_changes_with_the_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = []
    for count in (MILLION // 5, MILLION, 20 * MILLION):
        streaming = planned_for(tmp_path / "d", count, monkeypatch).streaming
        ways.append((streaming.streamed, streaming.all_scores))

    assert ways == [(False, False), (True, True), (True, False)]


def test_a_memory_limit_leaves_no_room_for_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = {"memory": "500MB", "workers": 1}
    few, many = (planned_for(tmp_path / "d", count, monkeypatch, engine=engine) for count in (MILLION, 2 * MILLION))

    assert few.streaming.streamed
    assert many.streaming.streamed
    assert [planned.streaming.all_scores for planned in (few, many)] == [True, False]


def test_a_cluster_sends_no_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = planned_for(tmp_path / "d", MILLION, monkeypatch, engine={"backend": "dask"})

    assert planned.streaming.streamed
    assert not planned.streaming.all_scores
    assert not keeps_all_scores(planned, list(planned.datasets), 1)
    assert most_held(planned) < MILLION


def test_codes_are_in_the_order_of_scores() -> None:
    scores = np.array([-np.inf, -1e300, -2.5, -5e-324, 0.0, 5e-324, 0.5, np.nextafter(0.5, 1), 1.0, 1e300, np.inf])
    codes = score_codes(scores)

    assert (np.diff(codes) > 0).all()
    assert scores_of_codes(codes).tolist() == scores.tolist()
    assert score_codes(np.array([-0.0])).tolist() == score_codes(np.array([0.0])).tolist()


def test_counts_of_parts_add_up() -> None:
    rng = np.random.default_rng(7)
    codes, weights = rng.integers(-5, 5, 200), rng.integers(1, 9, 200)
    first, second = (count_codes(codes[part], weights[part]) for part in (slice(90), slice(90, None)))

    whole, merged = count_codes(codes, weights), merged_scores([first, second])
    plain = count_codes(codes, None)

    assert isinstance(merged, CellCounts)
    assert merged.cells.tolist() == whole.cells.tolist() == sorted(set(codes.tolist()))
    assert merged.counts.tolist() == whole.counts.tolist() == [
        int(weights[codes == code].sum()) for code in whole.cells]
    assert plain.counts.tolist() == [int((codes == code).sum()) for code in whole.cells]
