"""A run whose rows come from a query, in every format: accepted, named for what it is, and without who may read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import evalpipe
from conftest import Shared
from evalpipe.cli import main
from evalpipe.results import Results
from evalpipe.review.exports import EXPORTS
from few_by_day import by_night
from review.exports import validators
from review.exports.conftest import rows, text_of
from servers import PASSWORD

Run = Callable[[str], Path]
QUERY = "SELECT y, pa, pb, side FROM scored"
CREATE = "CREATE TABLE scored (y varchar(3), pa double precision, pb double precision, side varchar(1))"
DRIVERS = {"sqlite": "", "duckdb": ", driver: duckdb", "postgresql": ""}
PATHS = {"sqlite": "sqlite:scores.db", "duckdb": "duckdb:scores.duckdb", "postgresql": "postgresql:exported"}
"""What results call the databases."""

ANYWHERE = ("cyclonedx", "model-index", "in-toto", "every-eval-ever", "openmetrics")
"""The formats whose validators need neither files of others nor a process of their own."""


def database(place: str, home: Path, server: Callable[[], str]) -> str:
    """Write the rows to a database, and return its URI."""
    data = list(rows().iter_rows())
    if place == "sqlite":
        with closing(sqlite3.connect(home / "scores.db")) as connection, connection:
            connection.execute(CREATE)
            connection.executemany("INSERT INTO scored VALUES (?, ?, ?, ?)", data)
        return "sqlite:///scores.db"
    if place == "duckdb":
        with duckdb.connect(str(home / "scores.duckdb")) as connection:
            connection.execute(CREATE)
            connection.executemany("INSERT INTO scored VALUES (?, ?, ?, ?)", data)
        return "duckdb:///scores.duckdb"
    with psycopg.connect(server(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS exported WITH (FORCE)")
        connection.execute("CREATE DATABASE exported")
    uri = server().removesuffix("postgres") + "exported"
    with psycopg.connect(uri) as connection, connection.cursor() as cursor:
        cursor.execute(CREATE)
        cursor.executemany("INSERT INTO scored VALUES (%s, %s, %s, %s)", data)
    return uri


@pytest.fixture(scope="module")
def run(shared: Shared, request: pytest.FixtureRequest) -> Run:
    """Return a function that runs the small spec on a query of a database, and returns the output folder."""

    def folder(place: str) -> Path:
        def fill(home: Path) -> None:
            home.mkdir()
            uri = database(place, home, lambda: str(request.getfixturevalue("server")))
            dataset = f'{{sql: "{QUERY}", uri: "${{env:SCORES}}"{DRIVERS[place]}}}'
            (home / "small.yaml").write_text(text_of(dataset), encoding="utf-8")
            (home / "uri").write_text(uri)
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("SCORES", uri)
                evalpipe.run(home / "small.yaml", out=home / "report")

        return shared(f"exports-{place}", fill) / "report"

    return folder


def exported(form: str, folder: Path, to: Path) -> dict[str, str]:
    """Return the files that `evalpipe export` writes."""
    export = EXPORTS[form]
    out = to / "written" if export.folder else to / "written" / "file"
    (to / "written").mkdir()
    with pytest.raises(SystemExit) as ended:
        main(["export", str(folder), "--to", form, "--out", str(out),
              *(["--model", "a"] if export.models == "one" else []),
              *(["--evaluator", "other"] if export.asks_evaluator else [])])
    assert ended.value.code == 0
    return {file.name: file.read_text(encoding="utf-8") for file in (to / "written").iterdir()}


# By day each form of a run on one database.
@pytest.mark.parametrize(("place", "form"), [
    (place, form) if form in ANYWHERE and (number + start) % len(PATHS) == 0 else by_night(place, form)
    for start, place in enumerate(PATHS) for number, form in enumerate(EXPORTS)])
def test_the_official_validator_accepts_a_run_on_a_query(place: str, form: str, run: Run, tmp_path: Path) -> None:
    assert validators.VALIDATORS[form].finds(exported(form, run(place), tmp_path), tmp_path) == []


@pytest.mark.parametrize("form", EXPORTS)
@pytest.mark.parametrize("place", PATHS)
def test_no_export_says_who_may_read_the_database(place: str, form: str, run: Run, tmp_path: Path) -> None:
    folder = run(place)
    text = "\n".join(exported(form, folder, tmp_path).values())
    uri = (folder.parent / "uri").read_text()
    host = [uri.rpartition("@")[2].partition("/")[0]] if place == "postgresql" else []
    assert len(text) > 100
    assert [secret for secret in (uri, PASSWORD, "keeper", "SCORES", *host) if secret in text] == []


def document(form: str, folder: Path, to: Path) -> Any:
    return json.loads(validators.only(exported(form, folder, to)))


@pytest.mark.parametrize(("place", "namespace", "name"), [
    ("sqlite", "sqlite", "scores.db"), ("duckdb", "duckdb", "scores.duckdb"),
    ("postgresql", "postgresql", "exported")])
def test_openlineage_has_the_database_and_no_file(
    place: str, namespace: str, name: str, run: Run, tmp_path: Path
) -> None:
    files, results = exported("openlineage", run(place), tmp_path), Results.read(run(place))
    (read,) = json.loads(validators.only(files))["inputs"]
    assert validators.lineage(files) == []
    assert (read["namespace"], read["name"]) == (namespace, name)
    assert read["facets"]["version"]["datasetVersion"] == f"sha256:{results.inputs[0].sha256}"
    assert read["inputFacets"]["inputStatistics"]["rowCount"] == 80


@pytest.mark.parametrize("place", PATHS)
def test_in_toto_tells_the_query_from_its_rows(place: str, run: Run, tmp_path: Path) -> None:
    statement, (read,) = document("in-toto", run(place), tmp_path), Results.read(run(place)).inputs
    names = [entry["name"] for entry in statement["subject"]]
    assert len(set(names)) == len(names)
    assert statement["subject"][0] == {"name": f"rows of {PATHS[place]}", "digest": {"sha256": read.sha256}}
    assert statement["predicate"]["configuration"][-1] == {
        "name": f"query of {PATHS[place]}", "digest": {"sha256": read.query_sha256}}


@pytest.mark.parametrize("place", PATHS)
def test_cyclonedx_has_the_query_and_no_address(place: str, run: Run, tmp_path: Path) -> None:
    (read,) = Results.read(run(place)).inputs
    for component in document("cyclonedx", run(place), tmp_path)["components"]:
        (dataset,) = component["modelCard"]["modelParameters"]["datasets"]
        facts = {entry["name"]: entry["value"] for entry in dataset["contents"]["properties"]}
        assert list(dataset["contents"]) == ["properties"]
        assert facts.items() >= {"evalpipe:database": PATHS[place], "evalpipe:sha256": read.sha256,
                                 "evalpipe:query_sha256": read.query_sha256}.items()
