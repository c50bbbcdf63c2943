"""The same rows give the same numbers wherever they are, in whatever order and batches they come."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import psycopg
import pytest

import evalpipe
from data.sql.conftest import PLACES, ROWS, scores, spec
from evalpipe.data import databases

SLICED = {
    "id": "patient", "slices": ["ward", {"column": "age", "cuts": [40, 60]}, {"column": "dose", "cuts": [50]}],
    "slice_rules": {"min_rows": 5},
}
GRID = {"engine": {"mode": "grid"}, "id": "patient", "slices": ["ward"]}


def numbers(path: Path, out: Path | None = None) -> str:
    """Run a spec and return all that is computed from rows; not what checks look at, for which no query asks."""
    results = evalpipe.run(path, out=out)
    blank: dict[str, Any] = {"inputs": [], "spec": {}, "spec_sha256": "", "warnings": [], "looked_at": [], "checks": []}
    return results.model_copy(update=blank).to_json()


@pytest.mark.parametrize("keys", [SLICED, GRID], ids=["held", "part by part"])
def test_numbers_are_those_of_files(folder: Path, keys: dict[str, Any]) -> None:
    where = {} if keys is GRID else {"where": "age >= 20 AND ward <> 'x'"}
    told = {name: numbers(spec(folder, place | where, **keys)) for name, place in PLACES.items()
            if keys is SLICED or name != "csv"}
    assert told["postgresql"] == told["parquet"]
    assert set(told.values()) == {told["parquet"]}
    assert f'"rows":{ROWS}' in told["sqlite"].replace(" ", "")


def test_periods_are_those_of_files(folder: Path) -> None:
    day = pl.date(2026, 1, 1) + pl.duration(days=pl.col("age"))
    scores().with_columns(decided=day).write_parquet(folder / "scores.parquet")
    scores().with_columns(decided=day).write_csv(folder / "scores.csv")
    asked = {
        "postgresql": "SELECT *, DATE '2026-01-01' + age AS decided FROM scores",
        "sqlite": "SELECT *, date('2026-01-01', '+' || age || ' days') AS decided FROM scores",
    }
    keys = {"slices": [{"column": "decided", "by": "month"}], "slice_rules": {"min_rows": 5}}
    places = {name: place | ({"sql": asked[name]} if name in asked else {}) for name, place in PLACES.items()}
    for mode in ("exact", "grid"):
        told = {name: numbers(spec(folder, place, engine={"mode": mode}, **keys)) for name, place in places.items()}
        assert set(told.values()) == {told["parquet"]}, mode
        assert '{"decided": "2026-01"}' in told["parquet"]
        assert '{"decided": "(missing)"}' in told["parquet"]


def test_a_time_of_postgresql_with_a_zone_comes_in_utc(folder: Path) -> None:
    late = "TIMESTAMPTZ '2026-03-31 23:30:00-05'"
    for moment, day in ((late, "2026-04-01"), (f"{late} AT TIME ZONE 'America/New_York'", "2026-04-01"),
                        (f"{late} AT TIME ZONE 'America/Chicago'", "2026-03-31")):
        place = PLACES["postgresql"] | {"sql": f"SELECT *, {moment} AS decided FROM scores"}  # noqa: S608
        results = evalpipe.run(spec(folder, place, slices=[{"column": "decided", "by": "day"}]))
        assert [size.slice for size in results.slices] == [{"decided": day}]


@pytest.mark.parametrize("place", ["postgresql", "sqlite"])
@pytest.mark.parametrize("keys", [SLICED, GRID], ids=["held", "part by part"])
def test_neither_order_nor_batches_change_a_byte(
    folder: Path, place: str, keys: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    ordered = {**PLACES[place], "sql": "SELECT * FROM scores ORDER BY p DESC"}
    first = evalpipe.run(spec(folder, PLACES[place], **keys))
    monkeypatch.setattr(databases, "AT_ONCE", 100)
    second = evalpipe.run(spec(folder, ordered, **keys))
    assert (first.inputs[0].sha256, first.inputs[0].rows) == (second.inputs[0].sha256, ROWS)
    assert first.inputs[0].query_sha256 != second.inputs[0].query_sha256
    assert first.to_json() == second.to_json().replace(ordered["sql"], PLACES[place]["sql"]).replace(
        second.spec_sha256, first.spec_sha256).replace(
        str(second.inputs[0].query_sha256), str(first.inputs[0].query_sha256))


def test_both_databases_have_the_same_content(folder: Path) -> None:
    shas = {evalpipe.run(spec(folder, PLACES[place], id="patient")).inputs[0].sha256
            for place in ("postgresql", "sqlite")}
    assert len(shas) == 1


def test_only_what_is_needed_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    within = databases.within

    def noted(*given: Any) -> str:
        asked.append(within(*given))
        return asked[-1]

    monkeypatch.setattr(databases, "within", noted)
    inputs = evalpipe.run(spec(folder, PLACES["postgresql"] | {"where": "age > 30"}, slices=["ward"])).inputs
    assert asked[-1] == ('SELECT "died" AS "died", "p" AS "p", "ward" AS "ward", "age" AS "age" FROM (\n'
                         "SELECT * FROM scores\n) AS evalpipe_query")
    assert (inputs[0].path, inputs[0].columns) == ("postgresql:warehouse", ["died", "p", "ward", "age"])


def test_parameters_are_bound_and_hold_the_day(folder: Path) -> None:
    strange = "x'; DROP TABLE scores; --"
    query = {"uri": "${env:DATABASE_URL}", "parameters": ["${date}", 60, strange, True],
             "sql": "SELECT * FROM scores WHERE $1 = '2026-11-21' AND age < $2 AND ward <> $3 AND $4;"}
    results = evalpipe.run(spec(folder, query, as_of="2026-11-21"))
    with psycopg.connect(evalpipe.load(folder / "spec.yaml").uris["warehouse"].text) as connection:
        counted = connection.execute("SELECT count(*) FROM scores WHERE age < 60").fetchone()
    assert counted == (results.inputs[0].rows,)
    assert results.spec["datasets"]["warehouse"]["parameters"] == ["2026-11-21", 60, strange, True]


def test_parameters_are_bound_to_marks_of_sqlite(folder: Path) -> None:
    query = {"uri": "sqlite:///scores.db", "sql": "SELECT * FROM scores WHERE age < ? AND ward = ?",
             "parameters": [60, "Süd"]}
    results = evalpipe.run(spec(folder, query))
    with closing(sqlite3.connect(folder / "scores.db")) as connection, connection:
        counted = connection.execute("SELECT count(*) FROM scores WHERE age < 60 AND ward = 'Süd'").fetchone()
    assert counted == (results.inputs[0].rows,)


def test_a_column_of_sqlite_has_the_type_of_all_its_values(folder: Path) -> None:
    # The driver alone would take the type from the first values, which are missing here, and fail at the last.
    query = {"uri": "sqlite:///scores.db", "sql": "SELECT died, p, NULL AS late FROM scores UNION ALL "
             "SELECT died, 1, 'last' FROM scores WHERE patient = 'p000'"}
    results = evalpipe.run(spec(folder, query, slices=["late"], slice_rules={"min_rows": 1}))
    assert results.inputs[0].rows == ROWS + 1
    assert {row.slice["late"] for row in results.rows if row.slice} == {"(missing)", "last"}


def test_a_named_driver_reads_other_databases(folder: Path) -> None:
    import duckdb

    with duckdb.connect(folder / "scores.duckdb") as connection:
        connection.execute("CREATE TABLE scores AS FROM 'scores.parquet'")
    query = {"uri": "duckdb:///scores.duckdb", "driver": "duckdb", "sql": "SELECT * FROM scores WHERE age >= ?",
             "parameters": [20]}
    inside = evalpipe.run(spec(folder, query))
    files = evalpipe.run(spec(folder, PLACES["parquet"] | {"where": "age >= 20"}))
    assert inside.inputs[0].path == "duckdb:scores.duckdb"
    assert [(row.value, row.lower, row.upper) for row in inside.rows] == [
        (row.value, row.lower, row.upper) for row in files.rows]
