"""The same rows in PostgreSQL, SQLite, Parquet and csv, and specs that read them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psycopg
import pytest
import yaml

ROWS = 240
PLACES = {
    "postgresql": {"sql": "SELECT * FROM scores", "uri": "${env:DATABASE_URL}"},
    "sqlite": {"sql": "SELECT * FROM scores", "uri": "sqlite:///scores.db"},
    "parquet": {"path": "scores.parquet"},
    "csv": {"path": "scores.csv"},
}
"""Where the rows are, by name."""


def scores() -> pl.DataFrame:
    """Return rows of every type that is read: with missing values, a decimal and the outcome as 0 and 1."""
    generator = np.random.default_rng(17)
    died = generator.random(ROWS) < 0.4
    chance = np.round(np.clip(0.25 + 0.3 * died + generator.normal(0, 0.2, ROWS), 0.01, 0.99), 6)
    age = pl.Series("age", generator.integers(18, 90, ROWS)).cast(pl.Int64)
    return pl.DataFrame({
        "patient": [f"p{number:03}" for number in range(ROWS)], "died": died.astype(int), "p": chance,
        "ward": generator.choice(["north", "south", "Süd"], ROWS), "age": age.set(age % 11 == 0, None),
        "dose": np.round(generator.random(ROWS) * 100, 2), "smoker": generator.random(ROWS) < 0.3,
    })


def spec(folder: Path, dataset: dict[str, Any], **keys: Any) -> Path:
    """Write a spec of one dataset, and return its path."""
    document = {
        "evalpipe": 1, "name": "scores", "task": "binary", "outcome": {"column": "died", "event": 1, "levels": [1, 0]},
        "datasets": {"warehouse": dataset}, "models": {"m": {"probability": "p"}},
        "metrics": ["roc_auc", "brier", "accuracy"],
        "intervals": {"replicates": 100, "bands": False}, "report": {"formats": []}, "ledger": False,
    }
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(document | keys, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def warehouse(server: str) -> str:
    """Return the URI of a database with the rows, and with what a test may try to change."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS warehouse WITH (FORCE)")
        connection.execute("CREATE DATABASE warehouse")
    uri = server.removesuffix("postgres") + "warehouse"
    with psycopg.connect(uri, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE scores (patient text, died int, p float8, ward varchar(9), age int, "
                       "dose numeric(6, 2), smoker boolean)")
        with cursor.copy("COPY scores FROM STDIN") as copy:
            for row in scores().iter_rows():
                copy.write_row(row)
        cursor.execute("CREATE SEQUENCE counter")
        cursor.execute("CREATE FUNCTION erase() RETURNS int LANGUAGE sql AS 'DELETE FROM scores RETURNING 1'")
    return uri


@pytest.fixture
def folder(tmp_path: Path, warehouse: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the rows in files, beside the database that the environment names, and work in it."""
    monkeypatch.setenv("DATABASE_URL", warehouse)
    monkeypatch.chdir(tmp_path)
    frame = scores()
    frame.write_parquet(tmp_path / "scores.parquet")
    frame.write_csv(tmp_path / "scores.csv")
    with closing(sqlite3.connect(tmp_path / "scores.db")) as connection, connection:
        connection.execute("CREATE TABLE scores (patient, died, p, ward, age, dose, smoker)")
        connection.executemany("INSERT INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", frame.iter_rows())
    return tmp_path
