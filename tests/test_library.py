"""The public names and what they promise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import evalpipe
import evalpipe.plan
import evalpipe.run
from evalpipe.errors import DataError, SpecError, UsageError

Y = np.array([0, 1, 1, 0, 1, 0, 1, 0])
P = np.array([0.2, 0.7, 0.6, 0.4, 0.9, 0.6, 0.3, 0.1])
OPTIONS: dict[str, Any] = {"metrics": ["roc_auc", "brier"], "event": 1, "intervals": {"replicates": 100}}


def test_functions_keep_their_names_though_modules_share_them() -> None:
    assert callable(evalpipe.run)
    assert callable(evalpipe.plan)
    assert callable(evalpipe.metric)
    assert callable(evalpipe.recalibrate)
    assert set(evalpipe.__all__) <= set(dir(evalpipe)) | {"Results", "evaluate", "metric", "recalibrate"}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'evalpipe' has no attribute 'nothing'"):
        _ = evalpipe.nothing


@pytest.mark.parametrize(
    ("truth", "probability"),
    [
        (Y, P),
        (Y.tolist(), P.tolist()),
        (pl.Series(Y), pl.Series(P)),
        (pd.Series(Y), pd.Series(P)),
        (pd.Series(Y.astype(str)).astype("category"), pd.Series(P, dtype="float32").astype("float64")),
        (pl.DataFrame({"y": Y})["y"].cast(pl.String).cast(pl.Categorical), P),
        (Y.astype(np.int8), P),
    ],
    ids=["numpy", "lists", "polars", "pandas", "pandas category", "polars categorical", "int8"],
)
def test_evaluate_takes_columns_of_many_kinds(truth: Any, probability: Any) -> None:
    results = evalpipe.evaluate(truth, probability, **OPTIONS)
    assert [row.value for row in results.rows] == pytest.approx([0.84375, 0.165])


def test_evaluate_takes_booleans_and_several_models() -> None:
    results = evalpipe.evaluate(Y == 1, {"good": P, "bad": 1 - P}, **(OPTIONS | {"event": True}))
    assert [(row.model, row.metric) for row in results.rows][::2] == [("good", "roc_auc"), ("bad", "roc_auc")]
    assert results.event == "true"


def test_arrays_of_different_length_are_told() -> None:
    with pytest.raises(UsageError) as caught:
        evalpipe.evaluate(Y, P[:5], **OPTIONS)
    assert str(caught.value) == (
        "error[lengths]: the arrays have different lengths: truth 8, probability 5\n"
        "  = help: give one value a row"
    )


@pytest.mark.parametrize("table", [pd.DataFrame({"p": P, "q": P}), np.stack([P, P], axis=1), [[0.5, 0.5]] * 8])
def test_a_table_is_no_column(table: Any) -> None:
    with pytest.raises(UsageError) as caught:
        evalpipe.evaluate(Y, table, **OPTIONS)
    assert str(caught.value) == (
        "error[not-a-column]: 'probability' is of shape [8, 2], not [n]\n"
        "  = help: give the event's column alone: predict_proba(X)[:, 1] where the event is the second of the model's "
        "classes_"
    )


class Exported:
    """A column that offers nothing but the Arrow PyCapsule interface."""

    def __init__(self, values: Any) -> None:
        self._values = pl.Series(values)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._values.__arrow_c_stream__(requested_schema)


def test_evaluate_takes_arrow_capsules() -> None:
    results = evalpipe.evaluate(Exported(Y), Exported(P), **OPTIONS)
    assert [row.value for row in results.rows] == pytest.approx([0.84375, 0.165])


def test_evaluate_checks_like_a_run() -> None:
    with pytest.raises(DataError, match="look like percents"):
        evalpipe.evaluate(Y, P * 100, **OPTIONS)
    with pytest.raises(SpecError, match="did you mean 'brier'"):
        evalpipe.evaluate(Y, P, **(OPTIONS | {"metrics": ["brierr"]}))


def test_results_are_read_back_as_they_were() -> None:
    results = evalpipe.evaluate(Y, P, **OPTIONS)
    assert evalpipe.Results.from_json(results.to_json()) == results
    assert evalpipe.Results.from_json(results.to_json()).to_json() == results.to_json()


def test_evaluate_slices_and_compares() -> None:
    truth, group = [1, 0, 1, 1, 0, 0] * 20, ["a", "b", "b", "a", "a", "b"] * 20
    models = {"old": [0.9, 0.4, 0.6, 0.3, 0.2, 0.1] * 20, "new": [0.8, 0.1, 0.7, 0.9, 0.3, 0.2] * 20}
    asked: dict[str, Any] = {"event": 1, "metrics": ["brier"], "intervals": {"replicates": 200}}
    found = evalpipe.evaluate(
        truth, models, slices={"group": group}, compare={"baseline": "old"}, engine={"workers": 1}, **asked
    )
    assert [row.slice for row in found.rows] == [None, {"group": "a"}, {"group": "b"}] * 2
    assert found.comparisons[0].difference == pytest.approx(found.rows[3].value - found.rows[0].value)
    with pytest.raises(UsageError, match="slices cannot be called 'truth'"):
        evalpipe.evaluate(truth, models, slices={"truth": group}, **asked)


def test_evaluate_decides() -> None:
    truth, chance = [1, 0, 1, 1, 0, 0] * 20, [0.9, 0.4, 0.6, 0.3, 0.52, 0.1] * 20
    found = evalpipe.evaluate(
        truth, chance, event=1, levels=[0, 1], metrics=["accuracy"], intervals={"replicates": 200},
        threshold={"maximize": "j_index", "on": {"folds": 4}}, equivocal=0.05, prevalence={"beta": [2, 8]},
        costs=[{"truth": 1, "predicted": 0, "cost": 5}], profit={"benefit": 5, "cost": 1},
        desirability=[{"metric": "brier", "minimize": {"low": 0, "high": 0.5}}],
        gates=[{"desirability": "overall", "min": 0.1}],
    )
    assert found.thresholds[0].rule == "maximize j_index"
    assert found.rows[-1].metric == "brier"
    assert found.gates[0].observed == found.desirability.overall[0].value
    assert found.best_profit[0].groups == 10


def test_estimates_are_a_polars_frame() -> None:
    frame = evalpipe.evaluate(Y, P, **OPTIONS).estimates
    assert frame.shape == (2, 24)
    assert frame["metric"].to_list() == ["roc_auc", "brier"]
    assert frame["params"].to_list() == ["{}", '{"scale": "half"}']


def test_run_takes_a_mapping_and_writes_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame({"y": Y, "p": P}).write_csv("a.csv")
    spec = {
        "evalpipe": 1, "name": "mapped", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"a": {"path": "a.csv"}}, "models": {"m": {"probability": "p"}},
        "intervals": {"method": "none"}, "report": {"formats": []},
    }
    results = evalpipe.run(spec)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv"]
    assert evalpipe.run(spec, out="out") == results
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "estimates.csv", "manifest.json", "results.json", "run.json"]
    assert set(evalpipe.render("out", ["html"])) == {"card.html"}
    with pytest.raises(UsageError, match="cannot be written as 'docx'"):
        evalpipe.render(results, ["docx"])


def test_a_plan_needs_no_rows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("y,p\n")
    spec = {
        "evalpipe": 1, "name": "planned", "task": "binary", "outcome": {"column": "y", "event": 1},
        "datasets": {"a": {"path": str(tmp_path / "a.csv")}}, "models": {"m": {"probability": "p"}},
    }
    standard = [m.name for m in evalpipe.metrics.registry if "binary" in m.standard and not m.from_spec]
    assert [entry.metric.name for entry in evalpipe.plan(spec).metrics] == standard
    with_prior = evalpipe.plan(spec | {"prevalence": 0.1})
    assert {entry.metric.name for entry in with_prior.metrics} == {*standard, "ppv", "npv"}
