"""The ledger: what is kept of a run, by whom it may be written at once, and what goes wrong."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import yaml
from sqlalchemy import func, select, text

import evalpipe
from engine.runs import people
from evalpipe.cli import main
from evalpipe.errors import UsageError
from evalpipe.ledger import store
from evalpipe.ledger.entries import LedgerPlace
from evalpipe.ledger.store import Keep, Ledger, forget_nights, forget_runs
from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Sequence

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "nightly", "task": "binary", "as_of": "2026-11-21",
    "datasets": {"d": {"path": "d.parquet"}}, "outcome": {"column": "y", "event": 1},
    "models": {"m": {"probability": "p"}}, "metrics": ["accuracy", "brier"], "slices": ["s"],
    "gates": [{"metric": "accuracy", "min": 0.1}], "intervals": {"replicates": 100, "bands": False},
    "calibration": {"smoother": "logistic"}, "report": {"formats": []},
}


def spec(folder: Path, **keys: Any) -> Path:
    """Write a spec and its data, and return its path."""
    people(120).write_parquet(folder / "d.parquet")
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump(SPEC | keys), encoding="utf-8")
    return path


def recorded(out: Path, where: str | None = None) -> list[dict[str, Any]]:
    """Return the runs of an output folder that its ledger, or the one at a place, has."""
    return Ledger.read(LedgerPlace.default_for(out) if where is None else LedgerPlace.of(where)).runs(out)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return evalpipe.run(spec(tmp_path_factory.mktemp("results")))


def test_a_run_without_gates_is_recorded_as_one_that_nothing_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = evalpipe.run(spec(tmp_path, gates=[]), out=tmp_path / "out")
    (run,) = recorded(tmp_path / "out")

    assert (results.verdict, results.holds(), results.holds("never"), run["verdict"]) == ("none", None, None, "none")
    assert "no gates, verdict none" in repr(results)
    with closing(sqlite3.connect(next(tmp_path.rglob("*.sqlite*")))) as ledger:  # as earlier versions recorded it
        ledger.execute("UPDATE evalpipe_runs SET verdict = NULL")
        ledger.commit()
    with pytest.raises(SystemExit):
        main(["history", str(tmp_path / "out"), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["runs"][0]["verdict"] == "none"


def test_every_run_is_recorded_with_its_hash_verdicts_and_headline_numbers(tmp_path: Path) -> None:
    out = tmp_path / "reports" / "nightly"
    results = evalpipe.run(spec(tmp_path), out=out)

    (run,) = recorded(out)
    assert {key: run[key] for key in ("name", "folder", "as_of", "times", "verdict", "evalpipe_version")} == {
        "name": "nightly", "folder": "nightly", "as_of": "2026-11-21", "times": 1, "verdict": "pass",
        "evalpipe_version": evalpipe.__version__}
    assert (run["results_sha256"], run["spec_sha256"]) == (results.evidence_sha256, results.spec_sha256)
    assert run["first_recorded"] == run["last_recorded"]
    assert [(row["metric"], row["value"], row["lower"], row["upper"], row["n"]) for row in run["estimates"]] == [
        (row.metric, row.value, row.lower, row.upper, row.n) for row in results.rows if row.slice is None]
    (verdict,) = run["verdicts"]
    assert (verdict["verdict"], verdict["limit"], verdict["subject"]["model"]) == ("pass", {"min": 0.1}, "m")
    assert verdict["reason"] == results.gates[0].reason.code == "interval-within"


def test_the_same_results_are_counted_and_not_doubled(place: LedgerPlace, results: Results, tmp_path: Path) -> None:
    ledger = Ledger.open(place)
    ledger.record(results, tmp_path / "a", NOON)
    ledger.record(results, tmp_path / "a", NOON.replace(hour=13))
    ledger.record(results, tmp_path / "b", NOON)

    (run,) = ledger.runs(tmp_path / "a")
    assert (run["times"], run["first_recorded"], run["last_recorded"]) == (
        2, "2026-11-21T12:00:00.000000Z", "2026-11-21T13:00:00.000000Z")
    assert len(run["estimates"]) == 2
    assert len(ledger.runs(tmp_path / "b")) == 1


def test_the_runs_are_in_the_order_in_which_they_were_last_recorded(
    place: LedgerPlace, results: Results, tmp_path: Path
) -> None:
    ledger, other = Ledger.open(place), results.model_copy(update={"title": "another"})
    for hour, run in enumerate((results, other, results), 1):
        ledger.record(run, tmp_path / "a", NOON.replace(hour=hour))

    hashes = [run["results_sha256"] for run in ledger.runs(tmp_path / "a")]
    assert hashes == [other.evidence_sha256, results.evidence_sha256]
    assert [run["results_sha256"] for run in ledger.runs(tmp_path / "a", 1)] == hashes[1:]


def test_folder_and_ledger_may_be_moved_together(tmp_path: Path) -> None:
    evalpipe.run(spec(tmp_path), out=tmp_path / "reports" / "nightly")
    shutil.move(tmp_path / "reports", tmp_path / "archive")

    assert len(recorded(tmp_path / "archive" / "nightly")) == 1


def test_a_run_that_was_killed_before_it_was_recorded_is_recorded_by_the_next(tmp_path: Path) -> None:
    path, out = spec(tmp_path), tmp_path / "reports" / "nightly"
    first = evalpipe.run(path, out=out, overrides=["ledger=false"])
    assert not (tmp_path / "reports" / "ledger.sqlite").exists()
    second = evalpipe.run(path, out=out, overrides=["seed=2"])

    assert [run["results_sha256"] for run in recorded(out)] == [first.evidence_sha256, second.evidence_sha256]


def test_the_ledger_changes_no_byte_of_the_results(tmp_path: Path, database: str) -> None:
    path = spec(tmp_path)
    written = []
    for number, ledger in enumerate(("true", "false", "own.sqlite", database)):
        out = tmp_path / str(number) / "nightly"
        evalpipe.run(path, out=out, overrides=[f"ledger={ledger}"])
        written.append((out / "results.json").read_bytes())

    assert set(written) == {written[0]}
    assert len(recorded(tmp_path / "2" / "nightly", str(tmp_path / "own.sqlite"))) == 1
    assert len(recorded(tmp_path / "3" / "nightly", database)) == 1


def test_what_the_next_run_compares_with_is_kept_in_either_database(place: LedgerPlace, tmp_path: Path) -> None:
    path, where = spec(tmp_path), str(place.file) if place.uri is None else place.uri.text
    keys = [f"ledger={where}", "as_of=2026-03-01"], [f"ledger={where}", "as_of=2026-03-02", "seed=3"]
    first, second = (evalpipe.run(path, out=tmp_path / "out", overrides=overrides) for overrides in keys)

    assert first.since is None
    assert second.since is not None
    assert second.since.as_of == "2026-03-01"
    assert [(dataset.dataset, dataset.rows, dataset.events) for dataset in second.since.datasets or ()] == [
        (dataset.name, dataset.n, dataset.events) for dataset in first.datasets]
    assert [key.key for key in second.since.spec or ()] == ["seed"]
    assert evalpipe.verify(tmp_path / "out", recompute=True).holds()


RUN = """
import sys
import evalpipe
for seed in range(int(sys.argv[3])):
    evalpipe.run(sys.argv[1], out=sys.argv[2], overrides=[f"seed={seed}", f"ledger={sys.argv[4]}"])
"""


def at_once(lines: Sequence[Sequence[str]], script: str = RUN) -> None:
    """Start a process of a script for each line, and wait until all have ended well."""
    processes = [subprocess.Popen([sys.executable, "-c", script, *line], stderr=subprocess.PIPE) for line in lines]
    failed = [error for process in processes if (error := process.communicate()[1]) and process.returncode]
    assert failed == []


def test_runs_at_once_lose_and_double_nothing(place: LedgerPlace, tmp_path: Path) -> None:
    path, where = spec(tmp_path), str(place.file) if place.uri is None else place.uri.text
    outs = [tmp_path / "reports" / f"out{number}" for number in range(2)]
    at_once([(str(path), str(out), "2", where) for out in outs])

    ledger = Ledger.read(place)
    for out in outs:
        runs = ledger.runs(out)
        assert len(runs) == 2
        assert runs[-1]["results_sha256"] == Results.read(out).evidence_sha256
        assert all(len(run["estimates"]) == 2 and len(run["verdicts"]) == 1 for run in runs)


@pytest.mark.nightly
def test_twenty_runs_at_once_lose_and_double_nothing(place: LedgerPlace, tmp_path: Path) -> None:
    path, where = spec(tmp_path), str(place.file) if place.uri is None else place.uri.text
    outs = [tmp_path / "reports" / f"out{number}" for number in range(20)]
    at_once([(str(path), str(out), "3", where) for out in outs])

    ledger = Ledger.read(place)
    assert [len(ledger.runs(out)) for out in outs] == [3] * 20
    with ledger.engine.connect() as connection:
        counts = [connection.execute(select(func.count()).select_from(table)).scalar() for table in (
            store.RUNS, store.ESTIMATES, store.VERDICTS, store.FORMAT)]
    assert counts == [60, 120, 60, 1]


def test_an_older_ledger_is_brought_up_to_date(
    place: LedgerPlace, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ledger.open(place).record(results, tmp_path / "a", NOON)
    further = "ALTER TABLE evalpipe_runs ADD COLUMN remark VARCHAR"
    monkeypatch.setattr(store, "MIGRATIONS", (*store.MIGRATIONS, further))
    newer = store.LEDGER_FORMAT + 1
    monkeypatch.setattr(store, "LEDGER_FORMAT", newer)
    if place.file is None:
        with pytest.raises(UsageError, match="has an older format"):
            Ledger.read(place)
    else:  # a copy of it is read, and the file stays as it is
        assert len(Ledger.read(place).runs(tmp_path / "a")) == 1
        with Ledger(place, store._engine(place, "BEGIN")).connected() as connection:
            assert store.format_of(connection) == newer - 1

    ledger = Ledger.open(place)
    with ledger.engine.connect() as connection:
        assert store.format_of(connection) == newer
        assert connection.execute(text("SELECT remark FROM evalpipe_runs")).scalars().all() == [None]
    assert len(Ledger.read(place).runs(tmp_path / "a")) == 1


def test_a_ledger_of_a_newer_version_is_left_as_it_is(place: LedgerPlace) -> None:
    with Ledger.open(place).engine.begin() as connection:
        connection.execute(store.FORMAT.update().values(format=9))
    with pytest.raises(UsageError) as raised:
        Ledger.open(place)

    assert str(raised.value) == (
        f"error[ledger-newer]: a newer evalpipe wrote the ledger '{place.shown}'\n"
        "  = help: it has format 9, and this version writes 5: install a newer evalpipe")


def test_what_cannot_be_a_ledger_ends_the_run_before_anything_is_written(tmp_path: Path) -> None:
    path, out = spec(tmp_path), tmp_path / "reports" / "nightly"
    notes = tmp_path / "notes.db"
    notes.write_text("no database " * 100)
    with pytest.raises(UsageError) as raised:
        evalpipe.run(path, out=out, overrides=[f"ledger={notes}"])

    assert str(raised.value) == (
        f"error[ledger]: cannot use the ledger '{notes}': file is not a database\n"
        "  = help: see that it can be reached and written, or name another under 'ledger' in the spec; 'ledger: false' "
        "records no runs")
    assert not out.exists()


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """Return a database that another program keeps its tables in."""
    file = tmp_path / "app.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript("CREATE TABLE users (id); CREATE TABLE posts (id); CREATE TABLE drafts (id);"
                                 "CREATE VIEW recent AS SELECT * FROM posts; INSERT INTO users VALUES (1)")
    return file


@pytest.mark.parametrize("scheme", ["", "sqlite:///"])
def test_a_file_of_another_program_is_refused_and_left_as_it_is(
    app: Path, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before, out = app.read_bytes(), tmp_path / "reports" / "nightly"
    path, where = spec(tmp_path), scheme + (str(app) if scheme else "app.db")
    with pytest.raises(UsageError) as raised:
        evalpipe.run(path, out=out, overrides=[f"ledger={where}"])

    assert str(raised.value) == (
        f"error[foreign-ledger]: the file '{where}' holds tables of another program, and no ledger: 'drafts', 'posts', "
        "'recent' and 1 more\n"
        "  = help: name a file that is new or empty under 'ledger' in the spec, or with --ledger")
    assert app.read_bytes() == before
    assert not out.exists()
    assert list(tmp_path.glob("app.db*")) == [app]


def test_no_command_takes_the_file_of_another_program_for_a_ledger(app: Path) -> None:
    before = app.read_bytes()
    for reach in (Ledger.open, Ledger.read):
        with pytest.raises(UsageError, match=r"error\[foreign-ledger\]"):
            reach(LedgerPlace.of(str(app)))
    assert app.read_bytes() == before


@pytest.mark.parametrize("script", ["", "CREATE TABLE a (b); DROP TABLE a"])
def test_a_file_without_tables_becomes_a_ledger(script: str, results: Results, tmp_path: Path) -> None:
    file = tmp_path / "new.sqlite"
    file.touch()
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(script)
    Ledger.open(LedgerPlace.of(str(file))).record(results, tmp_path / "a", NOON)
    assert len(recorded(tmp_path / "a", str(file))) == 1


def test_a_ledger_with_tables_of_others_beside_its_own_stays_one(
    place: LedgerPlace, results: Results, tmp_path: Path
) -> None:
    with Ledger.open(place).engine.begin() as connection:
        connection.execute(text("CREATE TABLE dashboards (id INTEGER)"))
    Ledger.open(place).record(results, tmp_path / "a", NOON)
    assert len(Ledger.read(place).runs(tmp_path / "a")) == 1


def test_a_database_of_a_server_is_shared_with_others(database: str, results: Results, tmp_path: Path) -> None:
    place = LedgerPlace.of(database)
    with psycopg.connect(database) as connection:
        connection.execute("CREATE TABLE dashboards (id INTEGER)")
    Ledger.open(place).record(results, tmp_path / "a", NOON)
    assert len(Ledger.read(place).runs(tmp_path / "a")) == 1


@pytest.mark.parametrize(("change", "why"), [
    (("correct-horse", "wrong-horse"), 'password authentication failed for user "keeper"'),
    (("/ledger", "/nowhere"), 'database "nowhere" does not exist'),
    (("127.0.0.1:", "127.0.0.1:1"), "port"),
])
def test_a_server_that_refuses_is_told_without_the_password(
    database: str, change: tuple[str, str], why: str, tmp_path: Path
) -> None:
    url = database.replace(*change)
    with pytest.raises(UsageError) as raised:
        evalpipe.run(spec(tmp_path), out=tmp_path / "reports" / "nightly", overrides=[f"ledger={url}"])

    assert raised.value.problems[0].code == "ledger"
    assert why in str(raised.value)
    assert "horse" not in str(raised.value)


@pytest.mark.parametrize("change", [
    ("postgresql://", "POSTGRESQL://"), ("postgresql://", "postgres://"), ("postgresql://", "postgresql+psycopg://"),
    ("correct-horse", "correct%2Dhorse"), (":correct-horse@", "@", "?password=correct-horse"),
])
def test_a_database_is_a_ledger_in_every_form_of_its_uri(
    database: str, results: Results, tmp_path: Path, change: tuple[str, ...]
) -> None:
    place = LedgerPlace.of(database.replace(change[0], change[1]) + "".join(change[2:]))
    Ledger.open(place).record(results, tmp_path / "a", NOON)
    assert len(recorded(tmp_path / "a", database)) == 1
    assert "horse" not in place.shown


def test_a_password_among_the_parameters_is_in_no_message(database: str) -> None:
    address = database.replace(":correct-horse@", "@")
    with pytest.raises(UsageError) as raised:
        Ledger.open(LedgerPlace.of(f"{address}?password=correct-horse&sslmode=always"))
    assert str(raised.value).splitlines()[0] == (
        f"error[ledger]: cannot use the ledger '{address}': connection is bad: invalid sslmode value: \"always\"")


@pytest.mark.parametrize("name", ["a.sqlite", "b.SQLITE3", "c d.db", "day=2026-11-21/e.db3", "./f.db", "h:i.db"])
def test_a_path_that_ends_like_a_file_of_sqlite_is_one(
    name: str, results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(name).parent.mkdir(exist_ok=True)
    Ledger.open(LedgerPlace.of(name)).record(results, tmp_path / "a", NOON)
    assert Path(name).is_file()


def test_a_password_from_the_environment_is_in_no_output(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEDGER_URL", database)
    out = tmp_path / "reports" / "nightly"
    evalpipe.run(spec(tmp_path, ledger="${env:LEDGER_URL}", report={"formats": ["html"]}), out=out)

    assert [file.name for file in out.rglob("*") if b"horse" in file.read_bytes()] == []
    assert json.dumps(recorded(out, database)).count("horse") == 0


def test_a_ledger_keeps_what_was_recorded_when_a_writer_dies(tmp_path: Path, results: Results) -> None:
    place = LedgerPlace.of(str(tmp_path / "ledger.sqlite"))
    Ledger.open(place).record(results, tmp_path / "a", NOON)
    dying = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None); c.execute('BEGIN IMMEDIATE');"
        "c.execute('DELETE FROM evalpipe_runs'); os.kill(os.getpid(), 9)")
    subprocess.run([sys.executable, "-c", dying, str(place.file)], check=False)

    assert len(Ledger.read(place).runs(tmp_path / "a")) == 1
    connection = sqlite3.connect(tmp_path / "ledger.sqlite")
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_what_is_forgotten_leaves_its_hash_behind_and_none_of_its_numbers(
    place: LedgerPlace, results: Results, tmp_path: Path
) -> None:
    ledger = Ledger.open(place)
    for number in range(4):
        ledger.record(results.model_copy(update={"title": str(number)}), tmp_path / "a", NOON.replace(hour=number))
    ledger.record(results, tmp_path / "b", NOON)

    assert forget_runs(ledger, tmp_path / "a", Keep(1, None)) == (3, 1)
    with ledger.engine.connect() as connection:
        counts = [connection.execute(select(func.count()).select_from(table)).scalar() for table in (
            store.RUNS, store.ESTIMATES, store.VERDICTS)]
        kept = select(func.count()).select_from(store.RUNS).where(store.KEPT)
        assert connection.execute(kept).scalar() == 2
    assert counts == [5, 4, 2]


def test_a_run_that_was_forgotten_is_recorded_anew(place: LedgerPlace, results: Results, tmp_path: Path) -> None:
    ledger = Ledger.open(place)
    ledger.record(results, tmp_path / "a", NOON)
    ledger.record(results.model_copy(update={"title": "later"}), tmp_path / "a", NOON.replace(hour=13))
    forget_runs(ledger, tmp_path / "a", Keep(1, None))
    assert ledger.knows(tmp_path / "a", results.evidence_sha256)
    assert [run["results_sha256"] for run in ledger.runs(tmp_path / "a")] != [results.evidence_sha256]
    ledger.record(results, tmp_path / "a", NOON.replace(hour=14))

    again = ledger.runs(tmp_path / "a")[-1]
    assert (again["results_sha256"], again["times"], len(again["estimates"])) == (results.evidence_sha256, 1, 2)
    assert len(ledger.runs(tmp_path / "a")) == 2


def test_nights_of_a_name_are_forgotten_by_their_day_with_all_their_runs(
    place: LedgerPlace, results: Results, tmp_path: Path
) -> None:
    ledger = Ledger.open(place)
    for hour, (day, title) in enumerate([("22", "b"), ("20", "a"), ("21", "a"), ("21", "c"), ("20", "d")]):
        night = results.model_copy(update={"as_of": f"2026-11-{day}", "title": title})
        ledger.record(night, tmp_path / f"{day}{title}", NOON.replace(hour=hour))
    ledger.record(results.model_copy(update={"name": "other", "as_of": "2020-01-01"}), tmp_path / "o", NOON)

    assert forget_nights(ledger, "nightly", Keep(2, None), dry=True) == (1, 2)
    assert forget_nights(ledger, "nightly", Keep(None, 2)) == (0, 3)
    assert forget_nights(ledger, "nightly", Keep(2, None)) == (1, 2)
    with ledger.engine.connect() as connection:
        left = connection.execute(select(store.RUNS.c.name, store.RUNS.c.as_of).where(store.KEPT)).all()
        estimates = connection.execute(select(func.count()).select_from(store.ESTIMATES)).scalar()
    assert sorted(map(tuple, left)) == [("nightly", "2026-11-21"), ("nightly", "2026-11-21"),
                                        ("nightly", "2026-11-22"), ("other", "2020-01-01")]
    assert estimates == 8
    assert forget_nights(ledger, "nightly", Keep(1, 0)) == (1, 1)
    assert forget_nights(ledger, "nobody", Keep(1, 0)) == (0, 0)


def test_a_ledger_that_another_program_does_not_let_go_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evalpipe.ledger.store.PATIENCE", 1)
    place = LedgerPlace.of("ledger.sqlite")
    Ledger.open(place)
    with closing(sqlite3.connect("ledger.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(UsageError) as error:
            Ledger.open(place)
    assert str(error.value) == (
        "error[ledger]: cannot use the ledger 'ledger.sqlite': database is locked\n"
        "  = help: another program has held it for 1 s: try again once that has ended")
