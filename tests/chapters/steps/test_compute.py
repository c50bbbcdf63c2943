"""Measures at every step against scikit-learn, and what of the rows, thresholds and order they hang on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss, roc_auc_score

import evalpipe
from chapters.steps.fits import STEPS, N, descent, long, rows, run_of, written

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.results import Results, StepHistory

EXACT = 1e-12
"""The same sums in another order, of numbers about 1."""

MEASURES = ["log_loss", "accuracy", "misclassifications", "balanced_accuracy", "brier", "roc_auc"]


def history(results: Results, model: str, metric: str) -> StepHistory:
    (row,) = [row for row in results.steps if (row.model, row.metric) == (model, metric)]
    return row


def of_scikit_learn(metric: str, y: np.ndarray, margin: np.ndarray, w: np.ndarray | None = None) -> float:
    p, predicted = 1 / (1 + np.exp(-margin)), margin >= 0
    return float({
        "log_loss": lambda: log_loss(y, p, sample_weight=w),
        "accuracy": lambda: accuracy_score(y, predicted, sample_weight=w),
        "misclassifications": lambda: np.sum((predicted != y) * (1 if w is None else w)),
        "balanced_accuracy": lambda: balanced_accuracy_score(y, predicted, sample_weight=w),
        "brier": lambda: brier_score_loss(y, p, sample_weight=w),
        "roc_auc": lambda: roc_auc_score(y, margin, sample_weight=w),
    }[metric]())


@pytest.mark.parametrize("weight", [None, {"column": "w", "kind": "frequency"}, {"column": "w", "kind": "importance"}])
def test_every_step_is_measured_as_scikit_learn_measures_it(tmp_path: Path, weight: dict[str, str] | None) -> None:
    frame = rows()
    margins = descent(frame, (-2.0, 1.0))
    spec = written(tmp_path, frame, first=long(frame, margins).sample(fraction=1, shuffle=True, seed=1))
    results = evalpipe.run(spec | {"steps": {"metrics": MEASURES}} | ({} if weight is None else {"weight": weight}))
    w = None if weight is None else frame["w"].to_numpy()
    for metric in MEASURES:
        row = history(results, "first", metric)
        expected = [of_scikit_learn(metric, frame["y"].to_numpy(), margin, w) for margin in margins]
        assert row.steps == list(range(STEPS))
        assert row.values == pytest.approx(expected, rel=EXACT, abs=EXACT)
        best = max(expected) if metric in ("accuracy", "balanced_accuracy", "roc_auc") else min(expected)
        ties = [step for step, value in enumerate(expected) if value == pytest.approx(best, rel=EXACT, abs=EXACT)]
        assert (row.best, row.ties) == (ties[0], len(ties) - 1)
        assert row.best_value == pytest.approx(best, rel=EXACT)


def test_each_model_has_its_own_steps_and_the_last_one_is_shown(tmp_path: Path) -> None:
    results = run_of(tmp_path)
    assert [(row.model, row.metric, row.shown, len(row.steps)) for row in results.steps] == [
        ("slow", "log_loss", 30, 31), ("slow", "accuracy", 30, 31),
        ("quick", "log_loss", 15, 16), ("quick", "accuracy", 15, 16)]
    for row in results.steps:
        (estimate,) = [e for e in results.rows if (e.model, e.metric) == (row.model, row.metric)]
        assert row.at(row.shown) == estimate.value


def test_another_step_can_be_shown(tmp_path: Path) -> None:
    frame = rows()
    margins = descent(frame, (-2.0, 1.0))
    spec = written(tmp_path, frame, first=long(frame, margins, [0, 10, *range(100, 129)]))
    spec["models"]["first"]["step"] = {"column": "epoch", "at": 10}
    results = evalpipe.run(spec)
    row = history(results, "first", "log_loss")
    assert (row.shown, row.steps[:3], row.steps[-1]) == (10, [0, 10, 100], 128)
    (estimate,) = [e for e in results.rows if e.metric == "log_loss"]
    assert estimate.value == pytest.approx(of_scikit_learn("log_loss", frame["y"].to_numpy(), margins[1]), rel=EXACT)


def test_the_order_of_the_rows_of_all_files_changes_no_byte(tmp_path: Path) -> None:
    frame = rows().with_columns(x=pl.col("x").round(1))  # so that rows tie at some steps
    file = long(frame, np.round(descent(frame, (-2.0, 1.0)), 1))
    spec = written(tmp_path, frame, first=file) | {"weight": "w", "intervals": {"replicates": 100}}
    before = evalpipe.run(spec)
    frame.reverse().write_parquet(tmp_path / "rows.parquet")
    file.sample(fraction=1, shuffle=True, seed=2).write_parquet(tmp_path / "first.parquet")
    after = evalpipe.run(spec)
    sums = [{**results.model_dump(), "inputs": None} for results in (before, after)]
    assert sums[0] == sums[1]


def test_a_threshold_that_a_rule_chose_holds_at_every_step(tmp_path: Path) -> None:
    frame = rows()
    margins = descent(frame, (-2.0, 1.0))
    spec = written(tmp_path, frame, first=long(frame, margins))
    rows(9).write_parquet(tmp_path / "calibration.parquet")
    long(rows(9), descent(rows(9), (-2.0, 1.0))).write_parquet(tmp_path / "second.parquet")
    spec["datasets"]["calibration"] = {"path": str(tmp_path / "calibration.parquet"), "role": "calibrate"}
    spec["datasets"]["test"]["where"] = "id <> 'none'"
    files = {"test": str(tmp_path / "first.parquet"), "calibration": str(tmp_path / "second.parquet")}
    spec["models"]["first"] |= {"predictions": files, "scale": None}
    rule = {"maximize": "j_index", "on": "calibration"}
    apart = frame.with_columns(id=pl.concat_str(pl.lit("t"), "id"))
    apart.write_parquet(tmp_path / "rows.parquet")
    long(apart, margins).write_parquet(tmp_path / "first.parquet")
    results = evalpipe.run(spec | {"metrics": ["accuracy", "roc_auc"], "threshold": rule})
    (threshold,) = results.thresholds
    y = frame["y"].to_numpy()
    expected = [accuracy_score(y, margin >= threshold.value) for margin in margins]
    assert history(results, "first", "accuracy").values == pytest.approx(expected, rel=EXACT)


def test_a_prediction_on_the_boundary_is_the_event_at_every_step(tmp_path: Path) -> None:
    frame = rows()
    file = long(frame, np.zeros((3, N)))
    results = evalpipe.run(written(tmp_path, frame, first=file) | {"metrics": ["accuracy", "sensitivity"]})
    assert history(results, "first", "sensitivity").values == [1.0, 1.0, 1.0]
    assert history(results, "first", "accuracy").values == [frame["y"].mean()] * 3
    assert (history(results, "first", "accuracy").best, history(results, "first", "accuracy").ties) == (0, 2)


def test_rows_that_a_step_lacks_are_left_out_at_all_steps_where_the_spec_says_so(tmp_path: Path) -> None:
    frame = rows()
    margins = descent(frame, (-2.0, 1.0))
    file = long(frame, margins).filter((pl.col("epoch") != 4) | (pl.col("id") != "r7"))
    file = file.with_columns(margin=pl.when((pl.col("epoch") == 9) & (pl.col("id") == "r8")).then(None)
                             .otherwise(pl.col("margin")))
    results = evalpipe.run(written(tmp_path, frame, first=file) | {"complete_case": "all"})
    kept = ~np.isin(np.arange(N), [7, 8])
    y = frame["y"].to_numpy()
    expected = [of_scikit_learn("log_loss", y[kept], margin[kept]) for margin in margins]
    assert history(results, "first", "log_loss").values == pytest.approx(expected, rel=EXACT)
    (test,) = [dataset for dataset in results.datasets if dataset.name == "test"]
    assert (test.excluded_incomplete, test.lacking_predictions) == (2, {"first": 2})


def test_a_measure_without_a_better_side_has_no_best_step(tmp_path: Path) -> None:
    results = run_of(tmp_path, metrics=["detection_prevalence"])
    assert [(row.best, row.best_value, row.ties) for row in results.steps] == [(None, None, 0)] * 2


def test_several_levels_and_numbers_have_steps_too(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    truth = [("a", "b", "c")[k % 3] for k in range(N)]
    raw = generator.normal(size=(4, N, 3))
    frame = pl.DataFrame({"id": range(N), "y": truth, "z": generator.normal(size=N)})
    file = pl.concat([pl.DataFrame({"id": range(N), "step": [step] * N, "z_hat": raw[step, :, 0]} | {
        f"s_{level}": raw[step, :, k] for k, level in enumerate("abc")}) for step in range(4)])
    frame.write_csv(tmp_path / "rows.csv")
    file.write_csv(tmp_path / "net.csv")
    spec = {"evalpipe": 1, "name": "levels", "task": "multiclass", "outcome": {"column": "y", "levels": list("abc")},
            "id": "id", "datasets": {"test": {"path": str(tmp_path / "rows.csv")}},
            "models": {"net": {"predictions": str(tmp_path / "net.csv"), "scores": "s_{level}", "step": "step"}},
            "intervals": {"method": "none"}, "report": {"formats": []}}
    results = evalpipe.run(spec)
    chances = np.exp(raw) / np.exp(raw).sum(axis=2, keepdims=True)
    codes = np.arange(N) % 3
    assert history(results, "net", "log_loss").values == pytest.approx(
        [log_loss(codes, chances[step]) for step in range(4)], rel=EXACT)
    assert history(results, "net", "accuracy").values == pytest.approx(
        [float(np.mean(raw[step].argmax(axis=1) == codes)) for step in range(4)], rel=EXACT)
    spec |= {"task": "regression", "outcome": {"column": "z"},
             "models": {"net": {"predictions": str(tmp_path / "net.csv"), "prediction": "z_hat", "step": "step"}}}
    off = raw[:, :, 0] - frame["z"].to_numpy()
    numbers = evalpipe.run(spec)
    assert history(numbers, "net", "rmse").values == pytest.approx(list(np.sqrt((off**2).mean(axis=1))), rel=EXACT)
    assert history(numbers, "net", "mae").values == pytest.approx(list(np.abs(off).mean(axis=1)), rel=EXACT)


def test_predicted_levels_are_read_at_every_step(tmp_path: Path) -> None:
    frame = rows()
    file = pl.concat([pl.DataFrame({"id": frame["id"], "epoch": [float(step)] * N, "q": [str(step)] * N})
                      for step in range(2)])
    spec = written(tmp_path, frame, first=file) | {"metrics": ["accuracy"]}
    spec["models"]["first"] = {"predictions": str(tmp_path / "first.parquet"), "prediction": "q", "step": "epoch"}
    assert history(evalpipe.run(spec), "first", "accuracy").values == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


def test_a_rank_alone_has_its_area_at_every_step(tmp_path: Path) -> None:
    frame = rows()
    spec = written(tmp_path, frame, first=long(frame, descent(frame, (-2.0, 1.0))))
    del spec["models"]["first"]["scale"], spec["metrics"]
    assert [row.metric for row in evalpipe.run(spec).steps] == ["roc_auc"]


def test_the_file_of_inputs_counts_the_rows_of_every_step(tmp_path: Path) -> None:
    results = run_of(tmp_path)
    assert [(file.rows, file.used_rows) for file in results.inputs] == [(N, N), (31 * N, 31 * N), (16 * N, 16 * N)]


def test_the_results_hold_the_steps_as_a_table(tmp_path: Path) -> None:
    frame = run_of(tmp_path).frame("steps")
    assert frame.select("model", "metric", "best").rows()[0] == ("slow", "log_loss", 30)


def test_a_model_that_serves_none_of_the_measures_has_the_usual_ones(tmp_path: Path) -> None:
    frame = rows()
    spec = written(tmp_path, frame, net=long(frame, descent(frame, (-2.0, 1.0))),
                   rank=long(frame, descent(frame, (3.0, -3.0))))
    del spec["models"]["rank"]["scale"], spec["metrics"]
    results = evalpipe.run(spec | {"steps": {"metrics": ["log_loss"]}})
    assert [(row.model, row.metric) for row in results.steps] == [
        ("net", "log_loss"), ("net", "roc_auc"), ("rank", "roc_auc")]
    del spec["models"]["rank"]
    spec["outcome"] = {"column": "y", "levels": [1, 0]}
    spec |= {"task": "multiclass", "metrics": [{"metric": "sensitivity", "average": "none"}]}
    file = long(frame, descent(frame, (-2.0, 1.0))).with_columns(s_1="margin", s_0=pl.lit(0.0))
    file.write_parquet(tmp_path / "net.parquet")
    spec["models"]["net"] = {"predictions": str(tmp_path / "net.parquet"), "scores": "s_{level}", "step": "epoch"}
    assert [row.metric for row in evalpipe.run(spec).steps] == ["log_loss", "accuracy"]
