"""What manifest, `verify`, `--if-changed`, `diff`, `plan` and the parts' cache say of rows that a query returned."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import pytest

import evalpipe
from data.sql.conftest import PLACES, ROWS, spec
from evalpipe.cli.plan import plan_document
from evalpipe.ledger.since_last_run import changes
from evalpipe.review.checking import verify
from evalpipe.review.differences.changes import input_changes
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.manifest import LIBRARIES
from evalpipe.streams.cache import cache_folder

GRID = {"engine": {"mode": "grid"}}


def another_row(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "scores.db")) as connection, connection:
        connection.execute("UPDATE scores SET p = 0.5 WHERE patient = 'p007'")


def checked(folder: Path, **keys: Any) -> dict[str, tuple[str, str]]:
    return {file.file: (file.status, file.reason) for file in verify(folder, **keys).files if file.kind == "input"}


def test_the_manifest_has_the_query_and_its_rows(folder: Path) -> None:
    results = evalpipe.run(spec(folder, PLACES["sqlite"]), out=folder / "out")
    read = json.loads((folder / "out" / "manifest.json").read_bytes())["inputs"]
    file = results.inputs[0]
    assert read == [{"kind": "query", "path": "sqlite:scores.db", "sha256": file.query_sha256},
                    {"kind": "rows", "path": "sqlite:scores.db", "sha256": file.sha256}]


def duckdb_file(folder: Path) -> dict[str, str]:
    """Write the rows to a file of DuckDB, and return the dataset."""
    with duckdb.connect(str(folder / "scores.duckdb")) as connection:
        connection.execute("CREATE TABLE scores AS SELECT * FROM read_parquet('scores.parquet')")
    return {"sql": "SELECT * FROM scores", "uri": "duckdb:///scores.duckdb", "driver": "duckdb"}


@pytest.mark.parametrize(("place", "drivers"), [
    ("postgresql", ["adbc-driver-manager", "adbc-driver-postgresql", "pyarrow"]),
    ("sqlite", ["adbc-driver-manager", "adbc-driver-sqlite", "pyarrow"]),
    ("duckdb", ["adbc-driver-manager", "duckdb", "pyarrow"]),
    ("parquet", []),
])
def test_the_libraries_that_read_a_query_stand_beside_those_of_all_runs(
    folder: Path, place: str, drivers: list[str]
) -> None:
    evalpipe.run(spec(folder, duckdb_file(folder) if place == "duckdb" else PLACES[place]), out=folder / "out")
    manifest, run = (json.loads((folder / "out" / f"{name}.json").read_bytes()) for name in ("manifest", "run"))
    assert manifest["libraries"] == {name: version(name) for name in (*LIBRARIES, *drivers)}
    assert run["libraries"] == manifest["libraries"]


def test_each_driver_of_a_run_is_named_once(folder: Path) -> None:
    path = spec(folder, PLACES["sqlite"] | {"sql": "SELECT * FROM scores WHERE age > 60"}, id="patient")
    evalpipe.run(path, out=folder / "out", overrides=[
        "datasets.b={sql: SELECT * FROM scores WHERE age < 30, uri: 'sqlite:///scores.db', role: reference}",
        "datasets.c={sql: SELECT * FROM scores WHERE age = 40, uri: '${env:DATABASE_URL}', role: reference}"])
    libraries = json.loads((folder / "out" / "manifest.json").read_bytes())["libraries"]
    assert list(libraries)[len(LIBRARIES):] == [
        "adbc-driver-manager", "adbc-driver-postgresql", "adbc-driver-sqlite", "pyarrow"]


def with_libraries(folder: Path, **versions: str) -> None:
    """Let the manifest of an output folder name other versions."""
    manifest = RunFolder(folder).manifest
    assert manifest is not None
    changed = manifest.model_copy(update={"libraries": manifest.libraries | versions})
    (folder / "manifest.json").write_bytes(changed.to_bytes())


def test_a_driver_of_another_version_is_told(folder: Path) -> None:
    path, out = spec(folder, PLACES["sqlite"]), folder / "out"
    evalpipe.run(path, out=out)
    with_libraries(out, **{"adbc-driver-sqlite": "0.1", "old-driver": "2.0"})
    another_row(folder)
    is_now = version("adbc-driver-sqlite")
    assert changes(evalpipe.load(path), out)[1][:2] == [
        f"adbc-driver-sqlite is {is_now}, was 0.1", "old-driver is gone, was 2.0"]
    (results,) = (file for file in verify(out, recompute=True).files
                  if (file.kind, file.file) == ("recomputed", "results.json"))
    assert results.reason == (
        f"the run again gives other bytes; adbc-driver-sqlite was 0.1 and is {is_now}; old-driver was 2.0 and is gone")


def test_verify_checks_rows_where_it_asks_for_them_again(folder: Path) -> None:
    evalpipe.run(spec(folder, PLACES["sqlite"]), out=folder / "out")
    query, rows = "query of sqlite:scores.db", "rows of sqlite:scores.db"
    unchecked = "not checked", "they are in a database: --recompute asks for them again"
    assert checked(folder / "out") == {query: ("same", ""), rows: unchecked}
    assert checked(folder / "out", recompute=True) == {query: ("same", ""), rows: ("same", "")}
    another_row(folder)
    again = verify(folder / "out", recompute=True)
    assert checked(folder / "out", recompute=True)[rows] == unchecked
    assert not again.holds()


def test_verify_sees_another_query_in_the_results(folder: Path) -> None:
    evalpipe.run(spec(folder, PLACES["sqlite"]), out=folder / "out")
    path = folder / "out" / "results.json"
    path.write_text(path.read_text().replace('"SELECT * FROM scores"', '"SELECT * FROM others"'))
    reason = "the results have no query with this sha256"
    assert checked(folder / "out")["query of sqlite:scores.db"] == ("differs", reason)


def test_rows_of_a_query_may_always_have_changed(folder: Path) -> None:
    path = spec(folder, PLACES["sqlite"])
    evalpipe.run(path, out=folder / "out")
    assert changes(evalpipe.load(path), folder / "out")[1] == ["warehouse is a query, whose rows may be others now"]


def test_diff_says_that_the_content_differs(folder: Path) -> None:
    first = evalpipe.run(spec(folder, PLACES["sqlite"]))
    same = evalpipe.run(folder / "spec.yaml")
    another_row(folder)
    other = evalpipe.run(folder / "spec.yaml")
    assert input_changes(first, same) == []
    assert [change.differs_in for change in input_changes(first, other)] == [["content"]]


@pytest.mark.parametrize("place", ["postgresql", "sqlite"])
def test_the_plan_names_the_database_and_its_rows(folder: Path, place: str) -> None:
    (dataset,) = plan_document(evalpipe.plan(spec(folder, PLACES[place])))["datasets"]
    shown = {"postgresql": "postgresql:warehouse", "sqlite": "sqlite:scores.db"}[place]
    assert (dataset["files"], dataset["rows"], dataset["columns"]) == ([shown], ROWS, ["died", "p"])


def test_no_part_of_a_query_is_taken_from_a_cache(folder: Path) -> None:
    path = spec(folder, PLACES["sqlite"], **GRID)
    for _ in range(2):
        evalpipe.run(path, out=folder / "out")
        parts = json.loads((folder / "out" / "run.json").read_bytes())["parts"]
        assert parts == {"read": 1, "cached": 0}
    assert [*cache_folder(folder / "out").glob("*.tables")] == []
    assert [*folder.rglob(".new-*")] == []


def test_datasets_of_one_database_are_read_in_one_connection(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from adbc_driver_postgresql import dbapi

    opened = []
    connect = dbapi.connect
    monkeypatch.setattr(dbapi, "connect", lambda uri: (opened.append(uri), connect(uri))[1])
    path = spec(folder, PLACES["postgresql"], id="patient")
    loaded = evalpipe.load(path, [
        "datasets.earlier={sql: SELECT * FROM scores WHERE age < 40, uri: '${env:DATABASE_URL}', role: reference}",
        "datasets.warehouse.sql=SELECT * FROM scores WHERE age >= 40"])
    planned = evalpipe.plan(loaded)
    before = len(opened)
    results = evalpipe.run(loaded)
    assert (len(planned.datasets), before, len(opened) - before) == (2, 2, 3)
    assert {file.dataset: file.rows for file in results.inputs}.keys() == {"warehouse", "earlier"}


def test_rows_that_datasets_must_not_share_are_found_in_queries(folder: Path) -> None:
    loaded = evalpipe.load(spec(folder, PLACES["postgresql"], id="patient"), [
        "datasets.earlier={sql: SELECT * FROM scores LIMIT 3, uri: 'sqlite:///scores.db', role: reference}"])
    with pytest.raises(evalpipe.errors.DataError) as caught:
        evalpipe.run(loaded)
    assert caught.value.problems[0].code == "shared-rows"


def test_results_say_what_is_a_query_and_read_it_back(folder: Path) -> None:
    results = evalpipe.run(spec(folder, PLACES["sqlite"]), out=folder / "out")
    files = evalpipe.run(spec(folder, PLACES["parquet"]))
    assert evalpipe.Results.read(folder / "out").inputs == results.inputs
    assert results.frame("inputs")["query_sha256"].to_list() == [results.inputs[0].query_sha256]
    assert "query_sha256" not in files.frame("inputs").columns
    assert "query_sha256" not in files.to_json()
