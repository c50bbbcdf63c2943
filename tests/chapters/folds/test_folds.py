"""Measures over declared folds: a plain loop of scikit-learn over the folds, what folds lack, and what is refused."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn import metrics as sk

from card.blocks import paragraphs, rows, tables
from engine.runs import BOTH, people, read_sample, run
from evalpipe.card.page import Number
from evalpipe.chapters.folds.card import procedures, sections
from evalpipe.chapters.folds.records import FoldSpread
from evalpipe.cli import main
from evalpipe.errors import DataError, EvalpipeError, SpecError
from evalpipe.results import Results
from streams.streaming import run as run_file

CHEAP: dict[str, Any] = {"intervals": {"replicates": 100, "bands": False}}
MEASURES = ["roc_auc", "brier", "accuracy", "sensitivity", "log_loss", "kappa"]


@cache
def frame() -> pl.DataFrame:
    return people(700).with_columns(fold=pl.Series([f"Fold{k:02}" for k in np.arange(700) * 7 % 700 // 70 + 1]))


@cache
def results() -> Results:
    return run(frame(), models=BOTH, metrics=MEASURES, folds="fold", **CHEAP)


def row(found: Results, metric: str, model: str = "p") -> FoldSpread:
    (only,) = [row for row in found.folds if (row.metric, row.model, row.class_) == (metric, model, None)]
    return only


def by_scikit_learn(part: pl.DataFrame, metric: str, model: str) -> float:
    y, p, times = part["y"].to_numpy(), part[model].to_numpy(), part["times"].to_numpy()
    predicted = (p >= 0.5).astype(int)
    values = {
        "roc_auc": sk.roc_auc_score(y, p, sample_weight=times), "brier": sk.brier_score_loss(y, p, sample_weight=times),
        "accuracy": sk.accuracy_score(y, predicted, sample_weight=times),
        "sensitivity": sk.recall_score(y, predicted, sample_weight=times),
        "log_loss": sk.log_loss(y, np.clip(p, 1e-15, 1 - 1e-15), sample_weight=times),
        "kappa": sk.cohen_kappa_score(y, predicted, sample_weight=times),
    }
    return float(values[metric])


@cache
def counted(*, weighted: bool) -> tuple[pl.DataFrame, Results]:
    """Return rows with their numbers of observations, and the results of them."""
    rows_of = frame() if weighted else frame().with_columns(times=pl.lit(1))
    weight = {"weight": {"column": "times", "kind": "frequency"}} if weighted else {}
    return rows_of, run(
        rows_of, models=BOTH, metrics=MEASURES, folds="fold", intervals={"method": "none"}, **weight)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("metric", MEASURES)
@pytest.mark.parametrize("model", BOTH)
def test_a_plain_loop_over_the_folds_agrees(model: str, metric: str, weighted: bool) -> None:
    rows_of, results_of = counted(weighted=weighted)
    found = row(results_of, metric, model)
    folds = rows_of["fold"].unique().sort().to_list()
    expected = [by_scikit_learn(rows_of.filter(pl.col("fold") == fold), metric, model) for fold in folds]
    assert found.folds == folds
    assert found.sizes == [int(rows_of.filter(pl.col("fold") == fold)["times"].sum()) for fold in folds]
    assert found.values == pytest.approx(expected, abs=1e-12)
    assert found.mean == pytest.approx(np.mean(expected), abs=1e-12)
    assert found.sd == pytest.approx(np.std(expected, ddof=1), abs=1e-12)
    assert found.standard_error == pytest.approx(np.std(expected, ddof=1) / np.sqrt(10), abs=1e-12)
    assert (found.lowest, found.highest) == (min(found.values), max(found.values))
    assert (found.used, found.status, found.reason) == (10, "ok", None)


def test_the_order_of_rows_changes_nothing_and_numbers_of_folds_are_in_order() -> None:
    numbered = frame().with_columns(fold=pl.col("fold").str.slice(4).cast(pl.Int64))
    one, other = (run(rows_of, models=BOTH, metrics=MEASURES, folds="fold", **CHEAP)
                  for rows_of in (numbered, numbered.sample(fraction=1.0, shuffle=True, seed=1)))
    assert one.to_json() == other.to_json()
    assert row(one, "brier").folds == [str(k) for k in range(1, 11)]
    assert row(one, "brier").values == row(results(), "brier").values


def test_folds_change_no_other_number_and_results_without_them_have_no_such_table() -> None:
    without = run(frame(), models=BOTH, metrics=MEASURES, **CHEAP)
    same = {"folds": [], "spec": {}, "spec_sha256": "", "inputs": []}
    assert results().model_copy(update=same).to_json() == without.model_copy(update=same).to_json()
    assert '\n"folds": [' in results().to_json()
    assert '\n"folds": [' not in without.to_json()
    assert Results.from_json(results().to_json()) == results()


def test_measures_of_classes_have_a_row_each_and_numbers_are_measured_too() -> None:
    picked = (pl.col("p") >= 0.5).cast(pl.Int64).cast(pl.String)
    levels = frame().with_columns(pl.col("y").cast(pl.String), picked=picked)
    several = run(levels, task="multiclass", outcome={"column": "y", "levels": ["0", "1"]}, folds="fold",
                  models={"m": {"prediction": "picked"}}, metrics=[{"metric": "precision", "average": "none"}],
                  intervals={"replicates": 100})
    assert [(found.class_, found.used) for found in several.folds] == [("0", 10), ("1", 10)]
    number = run(frame(), task="regression", outcome={"column": "age"}, models={"m": {"prediction": "heavy"}},
                 metrics=["rmse"], folds="fold", intervals={"replicates": 100})
    errors = [float(np.sqrt(((part["age"] - part["heavy"]) ** 2).mean()))
              for part in frame().sort("fold").partition_by("fold", maintain_order=True)]
    assert number.folds[0].values == pytest.approx(errors)


def test_a_fold_without_a_value_is_counted_and_told() -> None:
    # All rows of the first fold are of one level, so it has no ROC AUC.
    broken = frame().with_columns(y=pl.when(pl.col("fold") == "Fold01").then(0).otherwise(pl.col("y")))
    found = row(run(broken, metrics=["roc_auc", "brier"], folds="fold", **CHEAP), "roc_auc")
    known = [value for value in found.values if value is not None]
    assert (found.values[0], len(known), found.used) == (None, 9, 9)
    assert found.mean == pytest.approx(np.mean(known))
    assert found.standard_error == pytest.approx(np.std(known, ddof=1) / 3)
    assert found.status == "degenerate"
    assert found.reason == "no value in 1 of 10 folds: no events or no non-events"


def test_a_fold_of_too_few_rows_has_no_value() -> None:
    found = run(frame(), metrics=["brier"], folds="fold", slice_rules={"min_rows": 71}, **CHEAP).folds[0]
    assert (found.values, found.mean, found.sd, found.used) == ([None] * 10, None, None, 0)
    assert (found.status, found.reason) == (
        "insufficient", "no value in 10 of 10 folds: too few rows (71 needed)")
    uneven = frame().filter((pl.col("fold") != "Fold03") | (pl.col("age") > 55))
    small = run(uneven, metrics=["brier"], folds="fold", slice_rules={"min_rows": 60}, **CHEAP).folds[0]
    assert (small.used, small.values[2], small.status) == (9, None, "degenerate")
    assert small.reason == "no value in 1 of 10 folds: too few rows (60 needed)"


@pytest.mark.parametrize(("changed", "code", "said", "hint"), [
    ({"fold": pl.lit("a")}, "one-fold", "column 'fold' of dataset 'd' has one fold alone, 'a'",
     "name the column that tells the folds apart, or remove 'folds'"),
    ({"fold": pl.when(pl.col("age") > 60).then(None).otherwise(pl.col("fold"))}, "missing-fold",
     "rows have no fold in column 'fold'", "leave such rows out with where: 'fold IS NOT NULL'"),
    ({"fold": pl.int_range(pl.len())}, "too-many-levels",
     "column 'fold' of dataset 'd' has 700 folds, more than the 50 of 'slice_rules.max_levels'",
     "folds of a few rows have no value of most measures; join them, or raise 'max_levels'"),
])
def test_columns_that_number_no_folds_are_refused(
    changed: dict[str, pl.Expr], code: str, said: str, hint: str
) -> None:
    with pytest.raises(DataError) as caught:
        run(frame().with_columns(**changed), folds="fold", **CHEAP)
    assert [problem.code for problem in caught.value.problems] == [code]
    assert said in str(caught.value)
    assert hint in str(caught.value)


@pytest.mark.parametrize(("keys", "code", "said"), [
    ({"folds": "y"}, "same-column", "'y' is the outcome's column"),
    ({"folds": 10}, "wrong-type", "expected a text"),
    ({"folds": "fold", "datasets": {"d": {"path": "memory", "trained_on": True}}}, "folds-of-training",
     "dataset 'd' is 'trained_on'"),
])
def test_what_folds_cannot_be_is_said(keys: dict[str, Any], code: str, said: str) -> None:
    with pytest.raises(SpecError) as caught:
        run(frame(), **CHEAP | keys)
    assert [problem.code for problem in caught.value.problems] == [code]
    assert said in str(caught.value)


def test_rows_that_are_read_part_by_part_have_no_folds(tmp_path: Path) -> None:
    frame().write_parquet(tmp_path / "a.parquet")
    with pytest.raises(EvalpipeError) as caught:
        run_file(tmp_path / "a.parquet", folds="fold")
    assert "the spread over folds needs all rows at once, but engine.mode is grid" in str(caught.value)
    assert len(run_file(tmp_path / "a.parquet", "auto", folds="fold", metrics=["brier"]).folds) == 2


def test_only_evaluated_rows_need_folds() -> None:
    frames = {"d": frame(), "other": people(300, seed=9, digits=9)}
    datasets = {"d": {"path": "memory"}, "other": {"path": "memory", "role": "calibrate"}}
    found = run(frames, datasets=datasets, folds="fold", metrics=["brier"],
                recalibrate={"fit_on": "other", "methods": ["platt"]}, **CHEAP)
    assert [(one.model, one.variant) for one in found.folds] == [("p", "original"), ("p", "platt")]
    assert read_sample(frame(), folds="fold").folds is not None


def test_the_plan_says_what_is_taken_over_folds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frame().write_parquet(tmp_path / "a.parquet")
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "models": BOTH,
            "datasets": {"d": {"path": "a.parquet"}}, "folds": "fold", "slice_rules": {"min_rows": 5}}
    (tmp_path / "a.yaml").write_text(json.dumps(spec))
    said = []
    for form in ("text", "json"):
        with pytest.raises(SystemExit) as ended:
            main(["plan", str(tmp_path / "a.yaml"), "--format", form])
        assert ended.value.code == 0
        said.append(capsys.readouterr().out)
    assert "reads y, p, q, fold" in said[0]
    assert "\nmean, standard deviation and standard error over the folds in 'fold'\n" in said[0]
    assert json.loads(said[1])["folds"] == "fold"


def test_clusters_in_several_folds_are_warned_of() -> None:
    split = run(frame(), folds="fold", cluster="who", metrics=["brier"], **CHEAP)
    (warned,) = [warning for warning in split.warnings if warning.code == "clusters-in-folds"]
    assert "have rows in several folds, so the fit that predicted a row had seen others" in warned.message
    kept = frame().with_columns(fold=pl.col("who") % 5)
    assert "clusters-in-folds" not in {
        warning.code for warning in run(kept, folds="fold", cluster="who", metrics=["brier"], **CHEAP).warnings}


def test_the_card_sets_the_mean_over_folds_beside_the_value_of_all_rows() -> None:
    (table, other) = tables(sections(results()))
    assert table.caption == "p on d: 10 folds of 70 rows, with 95% intervals of all rows"
    assert other.caption == "q on d: 10 folds of 70 rows, with 95% intervals of all rows"
    assert [line.cells[0] for line in rows(table)] == [
        "ROC AUC", "Brier score", "Accuracy", "Sensitivity", "Log loss", "Kappa"]
    found = row(results(), "brier")
    (cells,) = [line.cells for line in rows(table) if line.cells[0] == "Brier score"]
    shown = [cell.value for cell in cells if isinstance(cell, Number)][1:4]
    assert shown == [f"{found.mean:.3f}", f"{found.sd:.3f}", f"{found.standard_error:.4f}"]
    assert cells[5] == "10"
    assert [cell.note for cell in cells if isinstance(cell, Number)][4:] == [
        found.folds[found.values.index(end)] for end in (found.lowest, found.highest)]
    said = " ".join(paragraphs(sections(results())))
    assert "no unbiased estimate of the variance" in said
    assert [procedure.name for procedure in procedures(results())] == ["Folds"]
    plain = run(frame(), metrics=["brier"], **CHEAP)
    assert (list(sections(plain)), list(procedures(plain))) == ([], [])


def test_each_cell_of_a_table_of_folds_is_what_its_record_says() -> None:
    plain = run(frame(), metrics=["brier"], folds="fold", intervals={"method": "none"})
    (found,) = plain.folds
    numbered = {"folds": [str(fold) for fold in range(1, 11)], "sizes": [70] * 9 + [68], "values": [
        0.2, 0.31, None, 0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.1], "used": 9, "mean": 0.234, "sd": 0.0567,
        "standard_error": 0.0189, "lowest": 0.1, "highest": 0.31}
    lacking = dict.fromkeys(("mean", "sd", "standard_error", "lowest", "highest")) | {"used": 1, "status": "undefined"}
    alike = {"sd": 0.0, "standard_error": 0.0, "mean": 0.25, "lowest": 0.25, "highest": 0.25, "values": [0.25] * 10}
    shown = []
    for changes in (numbered, numbered | lacking, alike):
        changed = plain.model_copy(update={"folds": [found.model_copy(update=changes)]})
        (only,) = tables(sections(changed))
        (line,) = rows(only)
        shown.append([only.caption, *((cell.value, cell.note) if isinstance(cell, Number) else cell
                                      for cell in line.cells[2:])])
    assert shown == [
        ["p on d: 10 folds of 68–70 rows", ("0.234", None), ("0.057", None), ("0.019", None), "9 of 10",
         ("0.100", "fold 10"), ("0.310", "fold 2")],
        ["p on d: 10 folds of 68–70 rows", ("undefined", None), "–", "–", "1 of 10", "–", "–"],
        ["p on d: 10 folds of 70 rows", ("0.250", None), ("0", None), ("0", None), "10", ("0.250", "Fold01"),
         ("0.250", "Fold01")],
    ]
