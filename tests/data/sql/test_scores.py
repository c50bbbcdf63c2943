"""Scores of items from a query are those of the same table in a file: wide and long ones, from each database."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest
import yaml

import evalpipe
from evalpipe.errors import DataError
from evalpipe.ledger.since_last_run import changes
from evalpipe.review.checking import verify

WIDE = pl.DataFrame({
    "q": [f"q{number:02}" for number in range(40)], "topic": ["x", "y"] * 20,
    "a": [float(number % 3 == 0) for number in range(40)], "b": [number % 7 / 7 for number in range(40)]})
LONG = WIDE.unpivot(["a", "b"], index=["q", "topic"], variable_name="system", value_name="points")
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "benchmark", "task": "score", "score": {"better": "higher", "range": [0, 1]}, "item": "q",
    "models": {"first": {"score": "a"}, "second": {"score": "b"}}, "metrics": ["mean"], "slices": ["topic"],
    "intervals": {"replicates": 100}, "report": {"formats": []},
    "ledger": False}
OF_LONG = {"first": {"log": {"model": "a"}}, "second": {"log": {"model": "b"}}}
URI = {"postgresql": "${env:DATABASE_URL}", "sqlite": "sqlite:///benchmark.db"}


def write(folder: Path, dataset: dict[str, Any], **keys: Any) -> Path:
    path = folder / "benchmark.yaml"
    path.write_text(yaml.safe_dump({**SPEC, "datasets": {"d": dataset}, **keys}, sort_keys=False), encoding="utf-8")
    return path


def numbers(path: Path) -> str:
    blank: dict[str, Any] = {"inputs": [], "spec": {}, "spec_sha256": ""}
    return evalpipe.run(path).model_copy(update=blank).to_json()


@pytest.fixture
def benchmark(folder: Path, warehouse: str) -> Path:
    """Return the folder of rows with both tables of scores, in files and in both databases."""
    with psycopg.connect(warehouse, autocommit=True) as connection, connection.cursor() as cursor:
        for name, frame in (("wide", WIDE), ("long", LONG)):
            columns = ", ".join(f"{column} {'float8' if kind == pl.Float64 else 'text'}"
                                for column, kind in frame.schema.items())
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(f"CREATE TABLE {name} ({columns})")
            with cursor.copy(f"COPY {name} FROM STDIN") as copy:
                for row in frame.iter_rows():
                    copy.write_row(row)
    with closing(sqlite3.connect(folder / "benchmark.db")) as connection, connection:
        for name, frame in (("wide", WIDE), ("long", LONG)):
            connection.execute(f"CREATE TABLE {name} ({', '.join(frame.columns)})")
            connection.executemany(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", frame.iter_rows())  # noqa: S608
    WIDE.write_parquet(folder / "wide.parquet")
    LONG.write_parquet(folder / "long.parquet")
    return folder


@pytest.mark.parametrize("form", ["wide", "long"])
def test_numbers_are_those_of_files(benchmark: Path, form: str) -> None:
    keys = {"models": OF_LONG} if form == "long" else {}
    columns = {"long": {"model": "system", "score": "points"}} if form == "long" else {}
    of_file = numbers(write(benchmark, {"path": f"{form}.parquet", **columns}, **keys))
    shas = set()
    for uri in URI.values():
        query = {"sql": f"SELECT * FROM {form}", "uri": uri, **columns}  # noqa: S608
        path = write(benchmark, query, **keys)
        assert numbers(path) == of_file
        (file,) = evalpipe.run(path).inputs
        assert (file.rows, file.path) == (len(WIDE) * (2 if form == "long" else 1),
                                          "postgresql:warehouse" if uri.startswith("$") else "sqlite:benchmark.db")
        shas.add((file.sha256, file.query_sha256))
    assert len(shas) == 1
    assert None not in next(iter(shas))


def test_a_run_of_a_query_is_recorded_and_verified(benchmark: Path) -> None:
    path = write(benchmark, {"sql": "SELECT * FROM wide WHERE topic = ?", "parameters": ["x"], "uri": URI["sqlite"]})
    out = benchmark / "report"
    (file,) = evalpipe.run(path, out=out).inputs
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    read = [(entry["kind"], entry["path"], entry["sha256"]) for entry in manifest["inputs"]]
    assert read == [("query", "sqlite:benchmark.db", file.query_sha256), ("rows", "sqlite:benchmark.db", file.sha256)]
    assert "adbc-driver-sqlite" in manifest["libraries"]
    checked = {(entry.kind, entry.file): entry.status for entry in verify(out, recompute=True).files}
    assert checked["recomputed", "results.json"] == "same"
    assert [status for (kind, _), status in checked.items() if kind == "input"] == ["same", "same"]
    _, reasons = changes(evalpipe.load(path), out)
    assert reasons == ["d is a query, whose rows may be others now"]


def test_two_datasets_are_read_in_one_transaction(benchmark: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evalpipe.data import query_rows

    opened: list[str] = []
    open_database = query_rows.open_database
    monkeypatch.setattr(query_rows, "open_database", lambda *given: opened.append("") or open_database(*given))
    query = {"sql": "SELECT * FROM wide", "uri": URI["postgresql"]}
    path = write(benchmark, query, datasets={"d": query, "e": {**query, "where": "topic = 'x'"}})
    assert [dataset.n for dataset in evalpipe.run(path).datasets] == [40, 20]
    assert len(opened) == 1


@pytest.mark.parametrize(("sql", "keys", "code", "message"), [
    ("SELECT * FROM wide WHERE q = 'none'", {}, "no-rows", "the query of dataset 'd' returns no rows"),
    ("SELECT q, a FROM wide", {"slices": []}, "missing-column", "dataset 'd' has no column 'b'"),
    ("SELECT q, a, 'x' AS b FROM wide", {"slices": []}, "not-a-number",
     "column 'b' of dataset 'd' has 'x', which is no number"),
    ("SELECT * FROM nowhere", {}, "bad-query",
     """the database cannot read the query of dataset 'd': relation "nowhere" does not exist"""),
    ("SELECT q, a, b::text::json AS b FROM wide", {"slices": []}, "unreadable-type",
     "column 'b' of dataset 'd' (postgresql:warehouse) is of type json, which evalpipe does not read"),
    ("SELECT *, to_json(topic) AS subject FROM wide", {"slices": ["subject"]}, "unreadable-type",
     "column 'subject' of dataset 'd' (postgresql:warehouse) is of type json, which evalpipe does not read"),
])
def test_what_goes_wrong(benchmark: Path, sql: str, keys: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        evalpipe.run(write(benchmark, {"sql": sql, "uri": URI["postgresql"]}, **keys))
    assert [(problem.code, problem.message) for problem in error.value.problems] == [(code, message)]


def test_a_column_that_cannot_be_read_does_no_harm_where_none_names_it(benchmark: Path) -> None:
    of_file = numbers(write(benchmark, {"path": "wide.parquet"}))
    sql = "SELECT *, to_json(topic) AS subject FROM wide"
    assert numbers(write(benchmark, {"sql": sql, "uri": URI["postgresql"]})) == of_file
