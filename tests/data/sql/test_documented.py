"""The examples of docs/sql.md run as they are written."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg

import evalpipe
from data.sql.conftest import scores

PAGE = (Path(__file__).parents[3] / "docs" / "sql.md").read_text(encoding="utf-8")
MODELS = "\nmodels: {forest: {probability: p_forest}}\nreport: {formats: []}\n"


def examples() -> list[str]:
    return re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_example_of_postgresql_runs(folder: Path, warehouse: str) -> None:
    with psycopg.connect(warehouse, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS scored AS SELECT patient, p AS p_forest, "
                           "date '2026-11-21' + (age > 60)::int AS scored_on FROM scores WHERE age IS NOT NULL")
        connection.execute("CREATE TABLE IF NOT EXISTS outcomes AS SELECT patient, died, ward, age FROM scores")
    start = "evalpipe: 1\nname: nightly\ntask: binary\noutcome: {column: died, event: 1, levels: [1, 0]}\n"
    (folder / "nightly.yaml").write_text(start + examples()[0] + MODELS, encoding="utf-8")
    results = evalpipe.run("nightly.yaml", as_of="2026-11-21", overrides=["intervals.replicates=100"])
    assert results.inputs[0].rows == int((scores()["age"] <= 60).sum())


def test_the_example_of_sqlite_runs(folder: Path) -> None:
    (folder / "wards.yaml").write_text(examples()[1], encoding="utf-8")
    results = evalpipe.run("wards.yaml", overrides=["intervals.replicates=100", "report.formats=[]"])
    assert results.inputs[0].rows == int((scores()["age"] >= 18).sum())
    assert {row.slice["ward"] for row in results.rows if row.slice} == {"north", "south", "Süd"}
