"""What goes wrong with a database: one message each, with its place and a way out, and never a password."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

import evalpipe
from data.sql.conftest import PLACES, ROWS, scores, spec
from evalpipe.data import query_rows
from evalpipe.errors import DataError, EvalpipeError, SpecError
from few_by_day import by_night
from servers import PASSWORD, free_port

POSTGRESQL = "${env:DATABASE_URL}"
COLUMN, UNREAD = "column 'p' of dataset 'warehouse'", "which evalpipe does not read"
HIGH = int((scores()["p"] >= 0.5).sum())


def told(path: Path) -> str:
    """Return the message of a run that fails."""
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.run(path)
    return str(caught.value)


def asked(sql: str, **keys: Any) -> dict[str, Any]:
    return {"uri": POSTGRESQL, "sql": sql} | keys


def counted(uri: str) -> object:
    with psycopg.connect(uri) as connection:
        return connection.execute("SELECT count(*), (SELECT last_value FROM counter) FROM scores").fetchone()


def test_what_the_server_cannot_read_is_told_with_its_place(folder: Path) -> None:
    spec(folder, asked("SELECT died, chance AS p FROM scores"))
    assert told(Path("spec.yaml")) == """\
error[bad-query]: the database cannot read the query of dataset 'warehouse': column "chance" does not exist
  --> spec.yaml:13:10
   |
13 |     sql: SELECT died, chance AS p FROM scores
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = line 1, column 14 of the query: SELECT died, chance AS p FROM scores"""


@pytest.mark.parametrize("place", ["postgresql", "sqlite"])
@pytest.mark.parametrize("keys", [{}, {"engine": {"mode": "grid"}}], ids=["held", "part by part"])
def test_a_query_that_returns_no_rows_is_told_by_its_text(folder: Path, place: str, keys: dict[str, Any]) -> None:
    spec(folder, {"uri": PLACES[place]["uri"], "sql": "SELECT died, p FROM scores WHERE age > 200"}, **keys)
    assert told(Path("spec.yaml")) == """\
error[no-rows]: the query of dataset 'warehouse' returns no rows
  --> spec.yaml:13:10
   |
13 |     sql: SELECT died, p FROM scores WHERE age > 200
   |          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ check its conditions and 'parameters', \
and whether the rows are there yet"""


def test_the_place_is_that_of_the_line_of_a_longer_query(folder: Path) -> None:
    with pytest.raises(DataError) as caught:
        evalpipe.plan(spec(folder, asked("SELECT died,\n       chance AS p\nFROM scores")))
    assert caught.value.problems[0].notes == ("line 2, column 8 of the query: chance AS p",)


@pytest.mark.parametrize(("sql", "message"), [
    ("SELECT died, p FROM absent", 'relation "absent" does not exist'),
    ("SELECT died p, FROM scores", 'syntax error at or near "FROM"'),
    ("SELECT died, p FROM scores WHERE ward = 3", "operator does not exist: character varying = integer"),
])
def test_the_server_says_what_it_cannot_read(folder: Path, sql: str, message: str) -> None:
    said = told(spec(folder, asked(sql)))
    assert said.startswith(f"error[bad-query]: the database cannot read the query of dataset 'warehouse': {message}\n")
    assert "column " in said.rpartition("line 1, ")[2]


@pytest.mark.parametrize("sql", [
    "WITH gone AS (DELETE FROM scores RETURNING died, p) SELECT * FROM gone",
    "SELECT died, p FROM scores WHERE nextval('counter') > 0",
    "SELECT died, p FROM scores WHERE erase() = 1",
])
def test_nothing_is_written(folder: Path, warehouse: str, sql: str) -> None:
    before = counted(warehouse)
    assert told(spec(folder, asked(sql))).splitlines()[0] == (
        "error[query-writes]: the query of dataset 'warehouse' writes to the database, which is opened for reading "
        "only")
    assert counted(warehouse) == before


def test_a_query_cannot_allow_itself_to_write(folder: Path, warehouse: str) -> None:
    before = counted(warehouse)
    freed = "SELECT died, p FROM scores WHERE set_config('transaction_read_only', 'off', true) IS NULL OR erase() = 1"
    assert "transaction read-write mode must be set before any query" in told(spec(folder, asked(freed)))
    assert counted(warehouse) == before


@pytest.mark.parametrize(("sql", "message"), [
    ("DELETE FROM scores RETURNING died, p",
     "error[query-writes]: 'sql' must return rows and change nothing, but it begins with 'DELETE'"),
    ("SELECT 1 AS died, 0.5 AS p; DROP TABLE scores",
     "error[several-statements]: 'sql' holds several statements: another begins in line 1, column 29 of its text"),
    ("-- nothing", "error[query-writes]: 'sql' must return rows and change nothing, but it is empty"),
])
def test_what_is_no_reading_statement_is_refused_before_any_database_is_asked(
    folder: Path, sql: str, message: str
) -> None:
    path = spec(folder, asked(sql))
    with pytest.raises(SpecError) as caught:
        evalpipe.load(path, environment={"DATABASE_URL": "postgresql://nobody@nowhere.invalid/none"})
    assert str(caught.value).splitlines()[0] == message


def test_a_query_that_takes_too_long_is_stopped(folder: Path, warehouse: str) -> None:
    slow = asked("SELECT died, p FROM scores WHERE pg_sleep(0.05) IS NOT NULL", timeout=0.2)
    assert told(spec(folder, slow)).splitlines()[0] == (
        "error[query-timeout]: reading dataset 'warehouse' took longer than the 0.2 seconds of its 'timeout'")
    with psycopg.connect(warehouse) as connection:
        running = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'evalpipe'")
        assert running.fetchone() == (0,)


ENDLESS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900000000) "
           "SELECT count(*) AS died, 0.5 AS p FROM n")
"""What SQLite needs minutes for, without a row until then."""

UNFINISHED = 20.0
"""The seconds within which a process ends whose query does not; it starts in about three."""


@pytest.mark.parametrize("command", ["run", by_night("validate"), by_night("plan")])
def test_a_query_of_sqlite_that_returns_no_row_is_stopped_when_its_time_is_over(folder: Path, command: str) -> None:
    slow = spec(folder, {"uri": "sqlite:///scores.db", "timeout": 0.5, "sql": ENDLESS})
    done = subprocess.run([sys.executable, "-m", "evalpipe", command, slow], capture_output=True, text=True,
                          check=False, timeout=UNFINISHED)
    assert done.returncode == 3
    assert "error[query-timeout]: reading dataset 'warehouse' took longer than the 0.5 seconds" in done.stderr


ENDLESS_QUERIES = {
    "sqlite": {"uri": "sqlite:///scores.db", "sql": ENDLESS},
    "postgresql": asked("SELECT died, p FROM scores WHERE pg_sleep(1) IS NOT NULL"),
}


# By day each signal and each database once.
@pytest.mark.parametrize(("database", "signal_sent", "code"), [
    ("sqlite", signal.SIGTERM, 143), ("postgresql", signal.SIGINT, 130),
    by_night("sqlite", signal.SIGINT, 130), by_night("postgresql", signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_whose_query_does_not_answer(
    folder: Path, warehouse: str, database: str, signal_sent: signal.Signals, code: int
) -> None:
    line = [sys.executable, "-m", "evalpipe", "run", spec(folder, ENDLESS_QUERIES[database])]
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("2/7"):
            pass
        time.sleep(2.0)  # for the libraries of databases, and the query to begin
        process.send_signal(signal_sent)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=UNFINISHED)
        process.kill()  # which does nothing to one that has ended
        assert process.wait() == code
        assert process.stderr.read().strip().endswith("the earlier output is unchanged")
    assert [path.name for path in (folder / "reports").rglob("*") if ".new-" in path.name] == []
    assert not (folder / "reports" / ".scores.lock").exists()
    with psycopg.connect(warehouse) as connection:
        running = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'evalpipe'")
        assert running.fetchone() == (0,)


def test_a_connection_that_is_lost_while_rows_come_leaves_earlier_output(
    folder: Path, warehouse: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, out = spec(folder, PLACES["postgresql"]), folder / "out"
    evalpipe.run(path, out=out)
    before = (out / "results.json").read_bytes()
    monkeypatch.setattr("evalpipe.data.databases.AT_ONCE", 100)
    add = query_rows.ContentDigest.add

    def killed(content: Any, frame: Any) -> None:
        add(content, frame)
        with psycopg.connect(warehouse, autocommit=True) as connection:
            connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                               "WHERE application_name = 'evalpipe'")

    monkeypatch.setattr(query_rows.ContentDigest, "add", killed)
    with pytest.raises(DataError) as caught:
        evalpipe.run(path, out=out)
    assert str(caught.value).splitlines()[0] == (
        "error[connection-lost]: the connection to the database of dataset 'warehouse' was lost while it was read")
    assert (out / "results.json").read_bytes() == before
    assert [*folder.rglob(".new-*")] == []


@pytest.mark.parametrize(("change", "message"), [
    ((PASSWORD, "wrong-horse"),
     "error[wrong-password]: the server of dataset 'warehouse' refuses the user or the password of its URI"),
    (("keeper", "stranger"),
     "error[wrong-password]: the server of dataset 'warehouse' refuses the user or the password of its URI"),
    (("/warehouse", "/storehouse"),
     "error[missing-database]: the server of dataset 'warehouse' has no database 'storehouse'"),
    (("127.0.0.1:{port}", "127.0.0.1:{free}"),
     "error[no-server]: no server answers at the URI of dataset 'warehouse'"),
    (("127.0.0.1:{port}", "nowhere.invalid"),
     "error[no-server]: no server answers at the URI of dataset 'warehouse'"),
    (("/warehouse", "/warehouse?sslmodus=x"),
     ("error[no-connection]: cannot connect to the database of dataset 'warehouse': invalid URI query parameter: "
      '"sslmodus"')),
])
def test_a_database_that_cannot_be_reached(
    folder: Path, warehouse: str, change: tuple[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = warehouse.rpartition(":")[2].partition("/")[0]
    before, after = (text.format(port=port, free=free_port()) for text in change)
    monkeypatch.setenv("DATABASE_URL", warehouse.replace(before, after))
    said = told(spec(folder, PLACES["postgresql"]))
    assert said.splitlines()[0] == message
    assert not {PASSWORD, "wrong-horse", "127.0.0.1", "keeper"} & set(said.replace('"', " ").split())
    assert PASSWORD not in said


@pytest.mark.parametrize(("sql", "message"), [
    ("SELECT died, ARRAY[p] AS p FROM scores", f"{COLUMN} (postgresql:warehouse) holds lists, not single values"),
    ("SELECT died, ARRAY[dose] AS p FROM scores", f"{COLUMN} (postgresql:warehouse) is of type numeric[], {UNREAD}"),
    ("SELECT died, p::numeric::money AS p FROM scores", f"{COLUMN} (postgresql:warehouse) is of type money, {UNREAD}"),
    ("SELECT died, p, p FROM scores", "two columns of dataset 'warehouse' are called 'p'"),
    ("SELECT died FROM scores", "dataset 'warehouse' (postgresql:warehouse) has no column 'p'"),
])
def test_columns_that_cannot_be_used_are_told_without_reading_rows(folder: Path, sql: str, message: str) -> None:
    path = spec(folder, asked(sql))
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.plan(path)
    assert caught.value.problems[0].message == message


@pytest.mark.parametrize(("sql", "message"), [
    ("SELECT died, chance AS p FROM scores",
     "the database cannot read the query of dataset 'warehouse': no such column: chance"),
    ("WITH x AS (SELECT 1) DELETE FROM scores",
     "the query of dataset 'warehouse' writes to the database, which is opened for reading only"),
    ("SELECT died, CASE WHEN p < 0.5 THEN 'low' ELSE p END AS p FROM scores",
     f"{COLUMN} (sqlite:scores.db) is of type real ({HIGH} values) and text ({ROWS - HIGH} values), {UNREAD}"),
    ("SELECT died, p FROM scores WHERE age > ?",
     "the query of dataset 'warehouse' has more or fewer marks than there are values, 0 under 'parameters'"),
])
def test_faults_of_sqlite(folder: Path, sql: str, message: str) -> None:
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.plan(spec(folder, {"uri": "sqlite:///scores.db", "sql": sql}))
    assert caught.value.problems[0].message == message


@pytest.mark.parametrize(("file", "message"), [
    ("absent.db", "there is no file absent.db"),
    ("scores.csv", "the file of dataset 'warehouse' is no database of SQLite"),
])
def test_files_that_are_no_database(folder: Path, file: str, message: str) -> None:
    with pytest.raises(DataError) as caught:
        evalpipe.plan(spec(folder, {"uri": f"sqlite:///{file}", "sql": "SELECT * FROM scores"}))
    assert caught.value.problems[0].message == message
    assert not (folder / "absent.db").exists()


def test_a_file_of_sqlite_is_opened_for_reading_only(folder: Path) -> None:
    before = (folder / "scores.db").read_bytes()
    with closing(sqlite3.connect(folder / "scores.db")) as connection, connection:
        connection.execute("SELECT 1")
    evalpipe.run(spec(folder, PLACES["sqlite"]))
    assert (folder / "scores.db").read_bytes() == before


def test_a_driver_that_is_not_installed_is_named_with_its_extra(folder: Path) -> None:
    path = spec(folder, PLACES["postgresql"])
    hidden = ("import sys; sys.modules['adbc_driver_postgresql'] = None; import evalpipe.cli; "
              f"evalpipe.cli.main(['validate', {str(path)!r}])")
    ended = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "error[missing-library]: dataset 'warehouse' is a query, and the Python package adbc_driver_postgresql" in (
        ended.stderr)
    assert "pip install 'evalpipe[sql]'" in ended.stderr


def test_workers_of_a_cluster_do_not_read_queries(folder: Path) -> None:
    path = spec(folder, PLACES["postgresql"], engine={"backend": "dask", "mode": "grid"})
    assert "error[query-on-cluster]: dataset 'warehouse' is a query" in told(path)


def test_arrays_of_decimals_are_asked_for_as_floats(folder: Path) -> None:
    models: dict[str, Any] = {"m": {"probabilities": "p", "order": [0, 1]}}
    with pytest.raises(EvalpipeError) as caught:
        evalpipe.plan(spec(folder, asked("SELECT died, ARRAY[dose, dose] AS p FROM scores"), models=models))
    assert caught.value.problems[0].hint == "ask for it in another type, as in CAST(p AS double precision[])"
    query = "SELECT died, CAST(ARRAY[1 - p, p] AS double precision[]) AS p FROM scores"
    assert evalpipe.run(spec(folder, asked(query), models=models)).inputs[0].columns == ["died", "p"]
