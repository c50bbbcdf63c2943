"""Rows for which a model has no prediction: an error, or left out for every model where the spec says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import evalpipe
from evalpipe.card.data import facts
from evalpipe.cli.app import main
from evalpipe.errors import DataError

N = 40
Y = np.tile([1, 0, 0, 1], 10)
A = np.clip(Y * 0.3 + np.random.default_rng(5).random(N) * 0.6, 0.01, 0.99)
B = np.roll(A, 1)
OPTIONS: dict[str, Any] = {"event": 1, "metrics": ["brier", "sensitivity"], "intervals": {"replicates": 100}}


def test_rows_without_a_prediction_are_left_out_for_every_model() -> None:
    a, b = A.copy(), B.copy()
    a[[0, 3]] = np.nan
    b[[3, 7, 8]] = np.nan
    kept = ~(np.isnan(a) | np.isnan(b))
    models = {"a": a, "b": b}
    with pytest.raises(DataError, match="complete_case='all'"):
        evalpipe.evaluate(Y, models, **OPTIONS)
    found = evalpipe.evaluate(Y, models, complete_case="all", compare={"baseline": "a"}, weight=np.ones(N), **OPTIONS)
    expected = evalpipe.evaluate(Y[kept], {"a": a[kept], "b": b[kept]}, compare={"baseline": "a"},
                                 weight=np.ones(kept.sum()), **OPTIONS)
    assert found.rows == expected.rows
    assert found.comparisons == expected.comparisons
    (summary,) = found.datasets
    assert (summary.rows, summary.excluded_where, summary.excluded_incomplete, summary.n) == (40, 0, 4, 36)
    assert summary.lacking_predictions == {"a": 2, "b": 3}
    assert [warned.message for warned in found.warnings] == [
        ("4 of 40 rows of dataset 'data' are left out for every model, because a model has no prediction for them: "
         "'a' lacks 2, 'b' lacks 3; performance on these rows is unknown")]


@pytest.mark.parametrize("empty", ["", " ", "NaN", "nan"])
def test_a_prediction_is_absent_where_its_cell_or_its_row_is(empty: str, tmp_path: Path) -> None:
    ids = list(range(N))
    pl.DataFrame({"id": ids, "y": Y, "keep": [1] * 39 + [0]}).write_csv(tmp_path / "rows.csv")
    cells = [empty if place == 2 else repr(float(value)) for place, value in enumerate(A)]
    lines = [f"{place},{cell}" for place, cell in zip(ids, cells, strict=True) if place != 6]
    (tmp_path / "a.csv").write_text("\n".join(["id,p", *lines]) + "\n")
    pl.DataFrame({"id": ids, "said": [None if place == 11 else y for place, y in enumerate(Y)]}).write_csv(
        tmp_path / "b.csv")
    spec = {
        "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "id": "id",
        "datasets": {"test": {"path": str(tmp_path / "rows.csv"), "where": "keep = 1"}},
        "models": {"a": {"predictions": str(tmp_path / "a.csv"), "probability": "p"},
                   "b": {"predictions": str(tmp_path / "b.csv"), "prediction": "said"}},
        "metrics": ["accuracy"], "intervals": {"method": "none"}, "report": {"formats": []},
    }
    with pytest.raises(DataError):
        evalpipe.run(spec)
    results = evalpipe.run(spec | {"complete_case": "all"})
    (summary,) = results.datasets
    assert (summary.rows, summary.excluded_where, summary.excluded_incomplete, summary.n) == (40, 1, 3, 36)
    assert summary.lacking_predictions == {"a": 2, "b": 1}
    kept = [place for place in range(39) if place not in (2, 6, 11)]
    assert results.rows[0].value == pytest.approx(((A[kept] >= 0.5) == (Y[kept] == 1)).mean(), abs=1e-15)
    assert results.rows[1].value == 1


def test_without_any_whole_row_there_is_nothing_to_measure() -> None:
    models = {"a": np.where(np.arange(N) < 20, np.nan, A), "b": np.where(np.arange(N) < 20, B, np.nan)}
    with pytest.raises(DataError) as caught:
        evalpipe.evaluate(Y, models, complete_case="all", **OPTIONS)
    assert str(caught.value) == (
        "error[no-rows-left]: no row has a prediction of every model\n"
        "  = help: find out why predictions are missing, or leave out a model")


def test_any_level_that_lacks_a_probability_makes_a_row_incomplete() -> None:
    table = np.tile([0.5, 0.3, 0.2], (N, 1))
    table[4, 2] = np.nan
    found = evalpipe.evaluate(np.arange(N) % 3, task="multiclass", levels=[0, 1, 2], probabilities=table,
                              metrics=["accuracy"], intervals={"method": "none"}, complete_case="all")
    assert (found.datasets[0].n, found.datasets[0].lacking_predictions) == (39, {"model": 1})


def test_plan_and_card_say_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = A.copy(), B.copy()
    a[[0, 3]] = np.nan
    b[[3, 7, 8]] = np.nan
    pl.DataFrame({"y": Y, "p": a, "q": b}).write_csv(tmp_path / "rows.csv")
    (tmp_path / "spec.yaml").write_text(
        "evalpipe: 1\nname: x\ntask: binary\noutcome: {column: y, event: 1}\ncomplete_case: all\n"
        "datasets: {test: {path: rows.csv}}\nmodels: {a: {probability: p, label: Ridge}, b: {probability: q}}\n"
        "metrics: [brier]\nintervals: {method: none}\nreport: {formats: []}\n")
    with pytest.raises(SystemExit):
        main(["plan", "spec.yaml"])
    assert "rows without a prediction of every model are left out for all models\n" in capsys.readouterr().out
    results = evalpipe.run("spec.yaml")
    known = dict(facts(results, results.datasets[0]))
    assert known["Predictions that are missing"] == (
        "Ridge lacks 2, b lacks 3; these rows were left out for every model")
    assert known["Observations used (n)"] == "36"
    without = evalpipe.evaluate(Y, A, **OPTIONS)
    assert "Predictions that are missing" not in dict(facts(without, without.datasets[0]))
