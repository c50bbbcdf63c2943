"""A column of lists holds the probabilities or scores of all levels, and is as good as a column for each."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psycopg
import pytest
import yaml

import evalpipe
from evalpipe.errors import DataError, UsageError
from evalpipe.recalibration import write
from evalpipe.results import Results
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved

LEVELS = ["low", "mid", "high"]
ORDER = ["high", "low", "mid"]
PLAIN: dict[str, Any] = {"probabilities": "p_{level}"}
LISTS: dict[str, Any] = {"probabilities": "softmax", "order": ORDER}


def columns(n: int = 60) -> pl.DataFrame:
    """Return rows with a probability of each level; the truth is often the most probable."""
    scores = np.random.default_rng(5).normal(size=(n, 3)) + 1.5 * np.eye(3)[np.arange(n) % 3]
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    return pl.DataFrame({"id": np.arange(n), "y": [LEVELS[at % 3] for at in range(n)], "late": np.arange(n) % 5 == 0}
                        | {f"p_{level}": chances[:, place] for place, level in enumerate(LEVELS)})


def lists(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with a list of the probabilities in `ORDER`."""
    softmax = pl.concat_list([f"p_{level}" for level in ORDER]).alias("softmax")
    return frame.select("id", "y", "late", softmax)


def text(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the lists as Python and JSON write them."""
    return frame.with_columns(softmax=pl.Series([json.dumps(numbers) for numbers in frame["softmax"].to_list()]))


def document(model: dict[str, Any], dataset: dict[str, Any], **keys: Any) -> dict[str, Any]:
    """Return a spec of one model on a dataset."""
    return {
        "evalpipe": 1, "name": "x", "task": "multiclass", "outcome": {"column": "y", "levels": LEVELS},
        "datasets": {"d": dataset}, "models": {"m": model},
        "metrics": ["log_loss", "brier", "accuracy", {"metric": "roc_auc", "average": "macro"}],
        "intervals": {"replicates": 100}, "calibration": {"smoother": "logistic"}, "report": {"formats": []},
        "ledger": False} | keys


def run(path: Path, model: dict[str, Any], **keys: Any) -> Results:
    """Run a spec of one model on a file."""
    return evalpipe.run(document(model, keys.pop("dataset", {"path": str(path)}), **keys))


def numbers(results: Results) -> str:
    """Return all that is computed of rows, and not what checks look at: no query is asked for it."""
    blank: dict[str, Any] = {
        "inputs": [], "spec": {}, "spec_sha256": "", "models": [], "looked_at": [], "checks": []}
    return results.model_copy(update=blank).to_json()


WRITERS: dict[str, Callable[[pl.DataFrame, Path], Any]] = {
    "parquet": lambda frame, path: frame.write_parquet(path),
    "feather": lambda frame, path: frame.with_columns(pl.col("softmax").list.to_array(3)).write_ipc(path),
    "ndjson": lambda frame, path: frame.write_ndjson(path),
    "csv": lambda frame, path: text(frame).write_csv(path),
    "tsv": lambda frame, path: text(frame).write_csv(path, separator="\t"),
}


@pytest.mark.parametrize("ending", WRITERS)
def test_lists_give_the_numbers_of_columns(tmp_path: Path, ending: str) -> None:
    columns().write_parquet(tmp_path / "columns.parquet")
    WRITERS[ending](lists(columns()), tmp_path / f"lists.{ending}")
    results = run(tmp_path / f"lists.{ending}", LISTS)
    assert numbers(results) == numbers(run(tmp_path / "columns.parquet", PLAIN))
    assert results.inputs[0].columns == ["y", "softmax"]
    assert results.models[0].columns == {f"probability of {level}": f"softmax[{level}]" for level in LEVELS}


def test_without_an_order_lists_have_that_of_the_levels(tmp_path: Path) -> None:
    frame = columns()
    frame.with_columns(softmax=pl.concat_list([f"p_{level}" for level in LEVELS])).write_parquet(tmp_path / "d.parquet")
    wanted = run(tmp_path / "d.parquet", PLAIN, task="ordinal", metrics=["rps", "log_loss"])
    assert numbers(run(tmp_path / "d.parquet", {"probabilities": "softmax"}, task="ordinal",
                       metrics=["rps", "log_loss"])) == numbers(wanted)
    assert numbers(run(tmp_path / "d.parquet", LISTS, task="ordinal", metrics=["rps", "log_loss"])) != numbers(wanted)


@pytest.mark.parametrize(("factor", "keys"), [(100, {"scale": "percent"}), (3, {"renormalise": True})])
def test_keys_that_say_how_probabilities_are_read(tmp_path: Path, factor: int, keys: dict[str, Any]) -> None:
    frame = columns().with_columns(pl.col("^p_.*$") * factor if factor > 3 else pl.col("^p_.*$") / factor)
    frame.write_parquet(tmp_path / "columns.parquet")
    lists(frame).write_parquet(tmp_path / "lists.parquet")
    assert numbers(run(tmp_path / "lists.parquet", LISTS | keys)) == numbers(
        run(tmp_path / "columns.parquet", PLAIN | keys))


def test_scores(tmp_path: Path) -> None:
    frame = columns().with_columns(pl.col("^p_.*$").log())
    frame.write_parquet(tmp_path / "columns.parquet")
    lists(frame).write_ndjson(tmp_path / "lists.ndjson")
    assert numbers(run(tmp_path / "lists.ndjson", {"scores": "softmax", "order": ORDER})) == numbers(
        run(tmp_path / "columns.parquet", {"scores": "p_{level}"}))


def test_files_of_predictions_and_several_fits(tmp_path: Path) -> None:
    rows = columns()
    rows.select("id", "y", "late").write_parquet(tmp_path / "rows.parquet")
    for seed in (1, 2):
        fit = rows.sample(fraction=1, shuffle=True, seed=seed).with_columns(
            pl.col("^p_.*$") * pl.lit(seed) / seed)
        for name, frame in (("columns", fit), ("lists", lists(fit))):
            (tmp_path / name).mkdir(exist_ok=True)
            frame.drop("y", "late").write_parquet(tmp_path / name / f"fit-{seed}.parquet")
    told = [
        numbers(run(tmp_path / "rows.parquet", model | {"predictions": str(tmp_path / name / "fit-*.parquet")}, id="id",
                    dataset={"path": str(tmp_path / "rows.parquet"), "where": "not late"})).replace(name, "")
        for name, model in (("columns", PLAIN), ("lists", LISTS))]
    assert told[0] == told[1]


def test_rows_without_a_prediction_are_left_out(tmp_path: Path) -> None:
    frame = columns().with_columns(pl.when(pl.col("id") % 7 == 3).then(None).otherwise(pl.col("p_mid")).alias("p_mid"))
    frame.write_parquet(tmp_path / "columns.parquet")
    # Of a third of them a number is missing within the list, of the others all of the list.
    lists(frame).with_columns(softmax=pl.when(pl.col("id") % 7 == 3, pl.col("id") % 3 > 0).then(None).otherwise(
        pl.col("softmax"))).write_parquet(tmp_path / "lists.parquet")
    told = [run(tmp_path / f"{name}.parquet", model, complete_case="all")
            for name, model in (("columns", PLAIN), ("lists", LISTS))]
    assert numbers(told[0]) == numbers(told[1])
    assert told[1].datasets[0].excluded_incomplete == 9


def test_lists_that_where_leaves_out_need_no_length(tmp_path: Path) -> None:
    frame = lists(columns())
    frame = frame.with_columns(softmax=pl.when("late").then(pl.lit([], pl.List(pl.Float64))).otherwise("softmax"))
    frame.write_parquet(tmp_path / "d.parquet")
    assert run(tmp_path, LISTS, dataset={"path": str(tmp_path / "d.parquet"), "where": "not late"}).datasets[0].n == 48
    with pytest.raises(DataError) as caught:
        run(tmp_path / "d.parquet", LISTS)
    assert caught.value.problems[0].code == "list-length"
    rows, predictions = tmp_path / "rows.parquet", {"predictions": str(tmp_path / "d.parquet")}
    columns().write_parquet(rows)
    assert run(rows, LISTS | predictions, id="id",
               dataset={"path": str(rows), "where": "not late"}).datasets[0].n == 48


def test_files_whose_lists_are_of_unlike_types_are_one_dataset(tmp_path: Path) -> None:
    frame = pl.DataFrame({"y": LEVELS, "softmax": [[0.0, 1, 0], [0, 0, 1], [1, 0, 0]]})
    (tmp_path / "d").mkdir()
    frame.write_parquet(tmp_path / "d" / "1.parquet")
    frame.with_columns(pl.col("softmax").cast(pl.List(pl.Int64))).write_parquet(tmp_path / "d" / "2.parquet")
    assert run(tmp_path / "d", LISTS, metrics=["accuracy"], intervals={"method": "none"}).rows[0].value == 1
    text(frame).write_parquet(tmp_path / "d" / "3.parquet")
    with pytest.raises(DataError) as caught:
        run(tmp_path / "d", LISTS)
    assert caught.value.problems[0].code == "types-differ"


def test_arrays_of_postgresql_and_of_duckdb_and_texts_of_sqlite(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    monkeypatch.chdir(tmp_path)
    frame = lists(columns())
    frame.write_parquet(tmp_path / "lists.parquet")
    wanted = numbers(run(tmp_path / "lists.parquet", LISTS))
    with psycopg.connect(server, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS softmax")
        cursor.execute("CREATE TABLE softmax (id int, y text, late boolean, softmax float8[])")
        cursor.executemany("INSERT INTO softmax VALUES (%s, %s, %s, %s)", frame.rows())
    with closing(sqlite3.connect(tmp_path / "d.db")) as connection, connection:
        connection.execute("CREATE TABLE softmax (id, y, late, softmax)")
        connection.executemany("INSERT INTO softmax VALUES (?, ?, ?, ?)", text(frame).rows())
    with duckdb.connect(tmp_path / "d.duckdb") as connection:
        connection.execute("CREATE TABLE softmax AS SELECT * REPLACE (softmax::DOUBLE[3] AS softmax) "
                           "FROM 'lists.parquet'")
    monkeypatch.setenv("DATABASE_URL", server)
    for uri, driver in (("${env:DATABASE_URL}", {}), (f"sqlite:///{tmp_path / 'd.db'}", {}),
                        (f"duckdb:///{tmp_path / 'd.duckdb'}", {"driver": "duckdb"})):
        query = {"sql": "SELECT * FROM softmax", "uri": uri} | driver
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(document(LISTS, query)))
        results = evalpipe.run(tmp_path / "spec.yaml")
        assert (numbers(results), results.inputs[0].columns) == (wanted, ["y", "softmax"]), uri


def test_new_predictions_are_recalibrated_from_lists(tmp_path: Path) -> None:
    frame = lists(columns())
    frame.write_parquet(tmp_path / "d.parquet")
    results = run(tmp_path / "d.parquet", LISTS, recalibrate={"fit_on": {"folds": 5}, "methods": ["temperature"]},
                  metrics=["log_loss"])
    after = evalpipe.recalibrate(results, "m+temperature", tmp_path / "d.parquet")
    assert after.columns == [*frame.columns, *(f"m+temperature.{level}" for level in LEVELS)]
    assert after["softmax"].to_list() == frame["softmax"].to_list()
    with pytest.raises(UsageError, match=r"column 'softmax' holds lists, and a csv file has none"):
        write(after, tmp_path / "after.csv")
    write(after, tmp_path / "after.parquet")


def test_the_key_stands_in_no_spec_that_does_not_have_it(tmp_path: Path) -> None:
    spec = {"evalpipe": 1, "name": "x", "task": "multiclass", "outcome": {"column": "y", "levels": LEVELS},
            "datasets": {"d": {"path": str(tmp_path)}}, "models": {"m": {"probabilities": "softmax"}}}
    (model,) = resolved(load(spec))["models"].values()  # type: ignore[attr-defined]
    assert "order" not in model


def test_a_column_that_is_called_like_a_part_of_the_lists_is_told(tmp_path: Path) -> None:
    frame = lists(columns()).with_columns(pl.col("y").alias("softmax[low]"))
    frame.write_parquet(tmp_path / "d.parquet")
    with pytest.raises(DataError) as caught:
        run(tmp_path / "d.parquet", LISTS | {"prediction": "softmax[low]"})
    (problem,) = caught.value.problems
    assert (problem.message, problem.hint) == (
        "column 'softmax' of dataset 'd' is read as a column for each level, but it has 'softmax[low]' too",
        "rename one of the two")

