"""Five million rows of a PostgreSQL server, read part by part."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from data.sql.conftest import PLACES, spec

ROWS = 5_000_000
MOST = 1_000_000_000
"""The bytes of memory that a run may take; 386 MB were measured."""

RUN = ("import evalpipe, json, resource, sys; inputs = evalpipe.run(sys.argv[1], out=sys.argv[2]).inputs; "
       "most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024; print(json.dumps([most, inputs[0].rows]))")


@pytest.mark.nightly
def test_five_million_rows_take_less_than_a_gigabyte(folder: Path, warehouse: str) -> None:
    with psycopg.connect(warehouse, autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS many AS SELECT i AS row, (random() < 0.3)::int AS died, "
                           "random() AS p, 'a text that no measure needs' AS note "
                           "FROM generate_series(1, 5000000) AS i")
    path = spec(folder, {**PLACES["postgresql"], "sql": "SELECT * FROM many"}, engine={"mode": "grid"})
    ended = subprocess.run([sys.executable, "-c", RUN, str(path), str(folder / "out")], capture_output=True, text=True,
                           check=True)
    most, rows = json.loads(ended.stdout)
    assert rows == ROWS
    assert most < MOST
    assert sorted(entry.name for entry in (folder / ".evalpipe-cache" / "out").iterdir()) == ["last-run.json"]
