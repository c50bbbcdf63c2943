"""What a plan chooses: what replicates draw, which features need all rows at once, and how much work it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from evalpipe.errors import SpecError
from evalpipe.plan.plan import drawing_plan, edges_of
from evalpipe.run import plan

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.plan.plan import Plan

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [1, 0]},
    "datasets": {"d": {"path": "d.parquet"}}, "models": {"p": {"probability": "p"}}, "metrics": ["brier", "accuracy"],
    "intervals": {"replicates": 100},
}
GRID = {"engine": {"mode": "grid"}}
TWO = {"models": {"p": {"probability": "p"}, "q": {"probability": "q"}}}
IMPORTANCE = {"weight": {"column": "w", "kind": "importance"}}
ROWS_OR_CELLS = "replicates draw rows, up to 16,384 of them; of more, cells of like rows (engine.mode is auto)"
REFERENCE = {"d": {"path": "d.parquet"}, "r": {"path": "d.csv", "role": "reference"}}


@pytest.fixture(autouse=True)
def _data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = pl.DataFrame({
        "y": [1, 0] * 20, "p": [(7 * k % 40) / 40 for k in range(40)], "q": [(3 * k % 40) / 40 for k in range(40)],
        "s": [float(k) for k in range(40)], "w": [1.0 + k % 2 for k in range(40)], "c": [k // 4 for k in range(40)],
        "g": ["a", "b"] * 20, "id": list(range(40))})
    rows.write_parquet("d.parquet")
    rows.write_csv("d.csv")
    rows.select("id", "p").write_csv("own.csv")


def planned(tmp_path: Path, keys: dict[str, Any]) -> Plan:
    """Return the plan of a spec with these keys, each of which stands in a line of its own."""
    lines = [f"{key}: {json.dumps(value)}" for key, value in (SPEC | keys).items()]
    (tmp_path / "s.yaml").write_text("\n".join(lines))
    return plan(tmp_path / "s.yaml")


@pytest.mark.parametrize(("keys", "mode", "words", "cost"), [
    ({}, "auto", ROWS_OR_CELLS, 4040),
    ({"intervals": {"method": "none"}}, "none", "no replicates are drawn: no interval needs them", 40),
    ({"engine": {"mode": "exact"}}, "rows", "replicates draw rows: engine.mode is exact", 4040),
    (GRID, "cells", "replicates draw cells of like rows: engine.mode is grid", 40),
    ({"cluster": "c"}, "clusters", "replicates draw whole clusters: clusters are drawn whole", 4040),
    ({"cluster": "c"} | GRID, "clusters", ("replicates draw whole clusters: up to 1,024 of them, and of more as many "
     "random groups, which tell a variance with a standard error of 4.4%"), 40),
    (IMPORTANCE, "rows", "replicates draw rows: importance weights make rows with one score unlike", 4040),
    (TWO, "auto", ROWS_OR_CELLS, 8080),
    (TWO | {"compare": {"baseline": "p"}}, "auto",
     "replicates draw rows, up to 65,536 of them; of more, cells of like rows (engine.mode is auto)", 8080),
    ({"intervals": {"replicates": 100, "bands": False}, "metrics": ["accuracy"]}, "auto", ROWS_OR_CELLS, 40),
])
def test_what_replicates_draw_and_how_much_work_it_is(
    tmp_path: Path, keys: dict[str, Any], mode: str, words: str, cost: int
) -> None:
    chosen = planned(tmp_path, keys)
    assert (drawing_plan(chosen).mode, drawing_plan(chosen).words, chosen.cost) == (mode, words, cost)


@pytest.mark.parametrize(("keys", "key", "what"), [
    (IMPORTANCE, "weight", "weighting by importance"),
    ({"complete_case": "all", "id": "id"}, "complete_case", "leaving out incomplete rows whose ids are compared"),
    ({"report": {"rows": "csv"}}, "report", "the row-level file"),
    ({"models": {"p": {"score": "s"}}, "metrics": ["roc_auc"]}, "models",
     "the score of model 'p', which is no probability and has no 'scale',"),
    ({"models": {"p": {"predictions": "own.csv", "probability": "p"}}, "id": "id"}, "models",
     "the file of predictions of model 'p'"),
    ({"models": {"p": {"probabilities": {"1": "p", "0": "q"}}}}, "models",
     "reading the probabilities of both levels of model 'p'"),
    ({"models": {f"m{k}": {"probability": "p"} for k in range(4)}}, "models",
     "a comparison of 4 models with scores, more than 3,"),
    ({"models": {"p": {"probability": "p", "threshold": {"maximize": "youden", "on": {"folds": 4}}}}}, "models",
     "the cross-fitted threshold of model 'p'"),
    ({"slices": ["g"], "folds": "c"}, "folds", "the spread over folds"),
    ({"slices": ["g"], "worst_slices": {"metric": "brier", "columns": ["g"]}}, "worst_slices",
     "the search for the worst slices"),
    ({"metrics": ["deviance"]}, "metrics", "the analysis of deviance"),
    ({"models": {"p": {"probability": "p", "fitted": {"on": "d", "parameters": 1}}}}, "models",
     "the analysis of deviance"),
    ({"datasets": {"d": {"path": "d.csv", "where": "c > 2"}}}, "datasets",
     "a condition on dataset 'd', whose format has no types,"),
    ({"datasets": REFERENCE}, "datasets", "the comparison with the reference dataset 'r' without an 'id'"),
    ({"datasets": REFERENCE, "prevalence": {"from": "r"}, "id": "id"}, "prevalence",
     "the prevalence of the reference dataset 'r'"),
    ({"recalibrate": {"fit_on": {"folds": 4}, "methods": ["logistic"]}}, "recalibrate",
     "cross-fitting of recalibrators"),
    ({"task": "regression", "outcome": {"column": "s"}, "models": {"p": {"prediction": "p"}}, "metrics": ["rmse"]},
     "task", "the task regression"),
])
def test_what_needs_all_rows_at_once_is_refused_where_they_are_read_part_by_part(
    tmp_path: Path, keys: dict[str, Any], key: str, what: str
) -> None:
    planned(tmp_path, keys)
    with pytest.raises(SpecError) as caught:
        planned(tmp_path, keys | GRID)
    (problem,) = caught.value.problems
    assert problem.message == (
        f"{what} needs all rows at once, but engine.mode is grid, which reads them part by part")
    assert problem.hint == "remove it, or set engine.mode to auto or exact, which hold the rows"
    assert problem.place is not None
    assert (tmp_path / "s.yaml").read_text().splitlines()[problem.place.line - 1].startswith(f"{key}:")


def test_three_models_with_scores_and_clusters_are_read_part_by_part(tmp_path: Path) -> None:
    models = {f"m{k}": {"probability": "p"} for k in range(3)}
    assert planned(tmp_path, {"models": models, "cluster": "c"} | GRID).streaming.streamed


def test_a_cluster_of_machines_needs_files_to_read_part_by_part(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        planned(tmp_path, {"engine": {"backend": "dask"}})
    assert (caught.value.problems[0].message, caught.value.problems[0].hint) == (
        "'backend: dask' has no files to read part by part: no dataset has more than 300,000 rows",
        "set engine.mode to grid, or remove it")


def test_cells_end_at_bins_digits_and_thresholds(tmp_path: Path) -> None:
    edges = edges_of(planned(tmp_path, {
        "metrics": [{"metric": "ece", "bins": 7}, {"metric": "net_benefit", "threshold": 0.3}],
        "models": {"p": {"probability": "p", "threshold": 0.25}}}))
    assert {7, 10} & set(edges.bins) == {7, 10}
    assert {0.3, 0.25} <= set(edges.thresholds)


def test_a_column_is_in_percent_for_both_models_or_for_none(tmp_path: Path) -> None:
    percent = {"probability": "p", "scale": "percent"}
    with pytest.raises(SpecError) as caught:
        planned(tmp_path, {"models": {"p": percent, "q": {"probability": "p"}}})
    assert (caught.value.problems[0].message, caught.value.problems[0].hint) == (
        "the column 'p' is in percent for the model 'p', and is not for the model 'q'",
        "say the same of both, or give each a column of its own")
    planned(tmp_path, {"models": {"p": percent, "q": percent}})
    planned(tmp_path, {"models": {"p": percent, "q": {"probability": "q"}}})
    planned(tmp_path, {"models": {"p": percent, "q": {"probability": "p", "predictions": "own.csv"}}, "id": "id"})
