"""Five million rows of a PostgreSQL server, read part by part."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from data.sql.conftest import PLACES, spec
from evalpipe.results import Results
from memory import run_measured

ROWS = 5_000_000
MOST = 1_000_000_000
"""The bytes of memory that a run may take; 386 MB were measured."""


@pytest.mark.nightly
def test_five_million_rows_take_less_than_a_gigabyte(folder: Path, warehouse: str) -> None:
    with psycopg.connect(warehouse, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS many AS SELECT i AS row, (random() < 0.3)::int AS died, "
                           "random() AS p, 'a text that no measure needs' AS note "
                           "FROM generate_series(1, 5000000) AS i")
    path = spec(folder, {**PLACES["postgresql"], "sql": "SELECT * FROM many"}, engine={"mode": "grid"})
    ended = run_measured("evalpipe", "run", str(path), "--out", str(folder / "out"), "--no-progress")
    assert (ended.code, Results.read(folder / "out" / "results.json").inputs[0].rows) == (0, ROWS)
    assert ended.memory < MOST
    assert sorted(entry.name for entry in (folder / ".evalpipe-cache" / "out").iterdir()) == ["last-run.json"]
