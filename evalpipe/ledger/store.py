"""Writing to a ledger, reading from it and forgetting what is old, safe with any number of runs at once."""

from __future__ import annotations

import time
import weakref
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    NullPool,
    StaticPool,
    String,
    Table,
    UniqueConstraint,
    create_engine,
    event,
    inspect,
    select,
)
from sqlalchemy.exc import IntegrityError, NoSuchModuleError, SQLAlchemyError

from evalpipe.errors import DataError, UsageError
from evalpipe.ledger.entries import estimate_rows, evidence_rows, run_row, verdict_rows
from evalpipe.words.sentences import FORMER_VERDICTS
from evalpipe.words.spelling import first_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from sqlalchemy import ColumnElement, Connection, Engine, Select

    from evalpipe.ledger.entries import LedgerPlace, Row
    from evalpipe.results import Results


METADATA = MetaData()

LEDGER_FORMAT = 5
"""The version of the tables; `MIGRATIONS` lead to it from those before."""

FORMAT = Table("evalpipe_ledger", METADATA, Column("format", Integer, nullable=False))
"""One row: the version of the tables that are there."""

RUNS = Table(
    "evalpipe_runs", METADATA,
    Column("run", Integer, primary_key=True),
    Column("name", String, nullable=False),
    Column("folder", String, nullable=False),
    Column("as_of", String(10)),
    Column("first_recorded", String(27), nullable=False),
    Column("last_recorded", String(27), nullable=False),
    Column("times", Integer, nullable=False),
    Column("results_sha256", String(64), nullable=False),
    Column("spec_sha256", String(64), nullable=False),
    Column("evalpipe_version", String, nullable=False),
    Column("verdict", String),
    Column("forgotten", Boolean),
    Column("renamed", JSON(none_as_null=True)),
    Column("inputs_sha256", String(64)),
    Column("facts", JSON(none_as_null=True)),
    UniqueConstraint("folder", "results_sha256"),
)
"""One row for each results of a folder; ``times`` counts how often a run came to the same bytes there.

`evalpipe gc` removes the estimates and the verdicts of a run and marks it ``forgotten``: its hash and its evidence
stay, for the runs that are kept rest on them.
Times are UTC in ISO 8601, and `as_of` is a day, as text: so they sort alike in every database. ``renamed`` are the
former names of models by their names; ``inputs_sha256`` tells data from others, and is null for data held in memory.
``facts`` are the rows and events by dataset and a digest of each key of the spec, with which the next run is compared;
they are null in rows of earlier formats.
"""

KEPT = RUNS.c.forgotten.is_not(True)
"""The condition on runs that `evalpipe gc` has not forgotten."""

ESTIMATES = Table(
    "evalpipe_estimates", METADATA,
    Column("run", Integer, ForeignKey(RUNS.c.run, ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("dataset", String, nullable=False),
    Column("model", String, nullable=False),
    Column("variant", String, nullable=False),
    Column("metric", String, nullable=False),
    Column("params", JSON, nullable=False),
    Column("average", String),
    Column("value", Float),
    Column("lower", Float),
    Column("upper", Float),
    Column("level", Float),
    Column("method", String, nullable=False),
    Column("n", Integer, nullable=False),
    Column("events", Integer),
    Column("status", String, nullable=False),
    UniqueConstraint("run", "place"),
)
"""The estimates of all rows of each dataset, in the order of the results: those of slices and classes are not kept."""

VERDICTS = Table(
    "evalpipe_verdicts", METADATA,
    Column("run", Integer, ForeignKey(RUNS.c.run, ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("gate", Integer, nullable=False),
    Column("name", String),
    Column("subject", JSON, nullable=False),
    Column("limit", JSON, nullable=False),
    Column("verdict", String, nullable=False),
    Column("severity", String, nullable=False),
    Column("observed", Float),
    Column("lower", Float),
    Column("upper", Float),
    Column("reason", String, nullable=False),
    UniqueConstraint("run", "place"),
)
"""The verdicts of gates, in the order of the results."""

EVIDENCE = Table(
    "evalpipe_evidence", METADATA,
    Column("run", Integer, ForeignKey(RUNS.c.run, ondelete="CASCADE"), nullable=False),
    Column("place", Integer, nullable=False),
    Column("sequence", String(64), nullable=False),
    Column("family", String(64), nullable=False),
    Column("basis", String, nullable=False),
    Column("data_sha256", String(64)),
    Column("against", JSON, nullable=False),
    Column("kept", JSON, nullable=False),
    Column("value", Float),
    Column("error", Float),
    Column("rows", Integer),
    Column("support", Float),
    Column("former", String(64)),
    UniqueConstraint("run", "place"),
)
"""The evidence of a night on each limit of gates `on: sequence`, as the results have it; what many nights come to is
never kept, but computed of these rows."""

RESTARTS = Table(
    "evalpipe_restarts", METADATA,
    Column("name", String, nullable=False),
    Column("as_of", String(10), nullable=False),
    UniqueConstraint("name", "as_of"),
)
"""The days after which the sequences of a spec begin anew, as `evalpipe accept` wants it."""

Index("evalpipe_runs_by_folder", RUNS.c.folder, RUNS.c.last_recorded)
Index("evalpipe_runs_by_name", RUNS.c.name, RUNS.c.as_of)

MIGRATIONS: tuple[str, ...] = (
    "CREATE INDEX IF NOT EXISTS evalpipe_runs_by_name ON evalpipe_runs (name, as_of)",
    "",
    "",
    "",
)
"""The statements that lead from one version to the next, oldest first: the n-th from n + 1 to n + 2. Tables and columns
that a version adds are made before; an empty statement is of a version that does nothing else."""


def of_others(names: Iterable[str]) -> list[str]:
    """Return the sorted names of tables that are of another program; none where a ledger's table is among them."""
    names = sorted(names)
    return [] if FORMAT.name in names else names


def format_of(connection: Connection) -> int | None:
    """Return the version of the ledger's tables in a database; None where there are none."""
    if not inspect(connection).has_table(FORMAT.name):
        return None
    return connection.execute(FORMAT.select()).scalar()


def prepare(connection: Connection) -> int:
    """Create the tables where there are none, migrate older ones, and return the version that they have now.

    The connection must be the only one that does so; see `evalpipe.ledger.store`. A later version is left as it is.
    """
    version = format_of(connection)
    if version is not None and version >= LEDGER_FORMAT:
        return version
    METADATA.create_all(connection)
    if version is None:
        connection.execute(FORMAT.insert().values(format=LEDGER_FORMAT))
        return LEDGER_FORMAT
    _add_columns(connection)
    for statement in filter(None, MIGRATIONS[version - 1 :]):
        connection.exec_driver_sql(statement)
    connection.execute(FORMAT.update().values(format=LEDGER_FORMAT))
    return LEDGER_FORMAT


def _add_columns(connection: Connection) -> None:
    """Add the columns that existing tables lack, as later versions added them; they are null in older rows."""
    inspector = inspect(connection)
    for table in METADATA.sorted_tables:
        existing_columns = {column["name"] for column in inspector.get_columns(table.name)}
        for column in (column for column in table.columns if column.name not in existing_columns):
            kind = column.type.compile(connection.dialect)
            connection.exec_driver_sql(f'ALTER TABLE {table.name} ADD COLUMN "{column.name}" {kind}')


PATIENCE = 60
"""Seconds for which a run waits for others that write to the ledger."""

ONE_AT_A_TIME = 7_365_201
"""The number of PostgreSQL's advisory lock that whoever makes the tables holds."""


@dataclass(frozen=True)
class Ledger:
    """An open ledger: a database that can be reached and has the tables of a ledger."""

    place: LedgerPlace
    engine: Engine
    is_copy: bool = False
    """Whether the engine is of a copy in memory, of an older file that is only read."""

    @classmethod
    def open(cls, place: LedgerPlace) -> Ledger:
        """Open a ledger for writing, and create or migrate its tables; raises UsageError where that fails.

        A database of a server may hold tables of others too; a file of SQLite that does is refused and left as it is.
        """
        with _database_errors(place):
            engine = _engine(place, "BEGIN IMMEDIATE")
            with engine.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({ONE_AT_A_TIME})")
                format_version = prepare(connection)
        return cls(place, engine).of_this_format(format_version)

    @classmethod
    def read(cls, place: LedgerPlace) -> Ledger:
        """Open an existing ledger for reading; raises UsageError where there is none.

        An older file of SQLite is left as it is: a copy in memory is brought up to date and read. Older tables of a
        server raise UsageError too.
        """
        with _database_errors(place.found()):
            engine = _engine(place, "BEGIN")
            with engine.connect() as connection:
                format_version = format_of(connection)
            if format_version is not None and format_version < LEDGER_FORMAT and engine.dialect.name == "sqlite":
                return cls(place, _upgraded_copy(engine), is_copy=True)
        if format_version is None or format_version < LEDGER_FORMAT:
            state = "has no runs yet" if format_version is None else "has an older format"
            raise UsageError.of("no-ledger", f"the ledger '{place.shown}' {state}", "the next evalpipe run sees to it")
        return cls(place, engine).of_this_format(format_version)

    def of_this_format(self, format_version: int) -> Ledger:
        """Return this ledger; raises UsageError where its tables are of a newer format than this evalpipe writes."""
        if format_version > LEDGER_FORMAT:
            hint = f"it has format {format_version}, and this version writes {LEDGER_FORMAT}: install a newer evalpipe"
            raise UsageError.of("ledger-newer", f"a newer evalpipe wrote the ledger '{self.place.shown}'", hint)
        return self

    def catch_up(self, out: Path) -> None:
        """Record the results in an output folder if the ledger lacks them, as after a run that was killed."""
        from evalpipe.runs.folder import RunFolder

        folder = RunFolder(out)
        file = folder.results_file
        if not file.is_file() or self.knows(out, folder.sha256(file.name)):
            return
        with suppress(DataError):  # results that cannot be read are no run of this version
            self.record(folder.results, out, datetime.fromtimestamp(file.stat().st_mtime, UTC))

    def record(self, results: Results, out: Path, recorded_at: datetime | None = None) -> None:
        """Record a run to an output folder ``out``; the same results there again only add to its count.

        A run that `evalpipe gc` has forgotten is recorded as a new one.
        """
        moment = (recorded_at or datetime.now(UTC)).astimezone(UTC)
        now = moment.isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
        row = run_row(results) | {"folder": self.place.folder(out)}
        is_same_run = self._is_run(out, results.evidence_sha256)
        count_again = RUNS.update().where(is_same_run).values(times=RUNS.c.times + 1, last_recorded=now)
        with self.writing() as connection:
            connection.execute(RUNS.delete().where(is_same_run, ~KEPT))
            if connection.execute(count_again).rowcount:
                return
            try:
                with connection.begin_nested():
                    row |= {"first_recorded": now, "last_recorded": now, "times": 1}
                    new_key = connection.execute(RUNS.insert().values(**row)).inserted_primary_key
                    tables = ((ESTIMATES, estimate_rows), (VERDICTS, verdict_rows), (EVIDENCE, evidence_rows))
                    for table, rows in ((table, rows_of(results)) for table, rows_of in tables):
                        if rows and new_key is not None:
                            connection.execute(table.insert(), [{"run": new_key[0], **values} for values in rows])
            except IntegrityError:  # another machine recorded the same results of this folder meanwhile
                connection.execute(count_again)

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Yield a connection to read with; raises UsageError for errors of the database."""
        with _database_errors(self.place), self.engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection in one transaction to write with; raises UsageError for errors of the database.

        An older file, of which a copy was read, is brought up to date first.
        """
        engine = Ledger.open(self.place).engine if self.is_copy else self.engine
        with _database_errors(self.place), engine.begin() as connection:
            yield connection

    def knows(self, out: Path, results_sha256: str) -> bool:
        """Tell whether results of an output folder are recorded, also if `evalpipe gc` has forgotten them."""
        known = select(RUNS.c.run).where(self._is_run(out, results_sha256))
        with self.connected() as connection:
            return connection.execute(known).first() is not None

    def _is_run(self, out: Path, results_sha256: str) -> ColumnElement[bool]:
        """Return the SQL condition for the run with these results in an output folder."""
        return (RUNS.c.folder == self.place.folder(out)) & (RUNS.c.results_sha256 == results_sha256)

    def runs(self, out: Path, last: int | None = None) -> list[Row]:
        """Return the newest ``last`` runs of an output folder, or all, oldest first, with estimates and verdicts."""
        newest = select(RUNS).where(RUNS.c.folder == self.place.folder(out), KEPT)
        newest = newest.order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()).limit(last)
        return self.with_numbers(self.read_rows(newest)[::-1])

    def with_numbers(self, runs: Sequence[Row]) -> list[Row]:
        """Return runs with their estimates and their verdicts."""
        numbers = [run["run"] for run in runs]
        estimates, verdicts = (self.rows_of(table, numbers) for table in (ESTIMATES, VERDICTS))
        return [{**run, "estimates": estimates[run["run"]], "verdicts": verdicts[run["run"]]} for run in runs]

    def rows_of(self, table: Table, runs: Iterable[int], *conditions: ColumnElement[bool]) -> dict[int, list[Row]]:
        """Return the rows of a table, such as the estimates, of some runs, by number of run."""
        by_run: dict[int, list[Row]] = {run: [] for run in sorted(set(runs))}
        query = select(table).where(table.c.run.in_(by_run), *conditions).order_by(table.c.run, table.c.place)
        for row in self.read_rows(query):
            by_run[row["run"]].append({name: value for name, value in row.items() if name not in ("run", "place")})
        return by_run

    def read_rows(self, query: Select[Any]) -> list[Row]:
        """Return the rows of a query, with verdicts in the words of now; raises UsageError for database errors."""
        with self.connected() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
        for row in rows:
            if row.get("verdict") in FORMER_VERDICTS:
                row["verdict"] = FORMER_VERDICTS[row["verdict"]]
        return rows

    @contextmanager
    def sequences_restarted(self, name: str, last_day: str) -> Iterator[None]:
        """Run a block while the sequences of gates of spec ``name`` are set to begin anew after ``last_day``.

        Earlier runs stay recorded. It is committed when the block ends without an error, and the ledger is locked
        until then.
        """
        is_same_restart = (RESTARTS.c.name == name) & (RESTARTS.c.as_of == last_day)
        with self.writing() as connection:
            if connection.execute(select(RESTARTS).where(is_same_restart)).first() is None:
                connection.execute(RESTARTS.insert().values(name=name, as_of=last_day))
            yield


def _engine(place: LedgerPlace, begin: str) -> Engine:
    """Return the SQLAlchemy engine for a ledger; in SQLite, transactions start with the statement ``begin``.

    That is "BEGIN IMMEDIATE" to write, so that two writers wait for each other from the start, and "BEGIN" to read.
    """
    address = place.address
    if address.get_backend_name() != "sqlite":
        return create_engine(address, poolclass=NullPool)
    engine = create_engine(address, connect_args={"timeout": PATIENCE}, poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: object) -> None:
        """Prepare a new connection to a file of SQLite, and refuse a file of another program."""
        connection.isolation_level = None  # transactions begin where SQLAlchemy says, not where sqlite3 guesses
        connection.execute("PRAGMA foreign_keys = ON")
        _refuse_foreign(connection, place)
        if begin != "BEGIN":
            _write_ahead(connection)

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        """Start a transaction, which sqlite3 leaves to the caller here."""
        connection.exec_driver_sql(begin)

    return engine


def _upgraded_copy(engine: Engine) -> Engine:
    """Return the engine of a copy in memory of an older file of SQLite, with the tables of this version."""
    copy = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    with engine.connect() as source, copy.connect() as target:
        in_memory: Any = target.connection.driver_connection
        source.connection.driver_connection.backup(in_memory)  # type: ignore[union-attr]
    weakref.finalize(copy, in_memory.close)  # the pool never closes it
    with copy.begin() as connection:
        prepare(connection)
    return copy


def _refuse_foreign(connection: Any, place: LedgerPlace) -> None:
    """Raise UsageError where a file of SQLite has tables of another program and none of a ledger."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    names = of_others(name for (name,) in tables)
    if names:
        message = f"the file '{place.shown}' holds tables of another program, and no ledger: {first_few(names)}"
        hint = "name a file that is new or empty under 'ledger' in the spec, or with --ledger"
        raise UsageError.of("foreign-ledger", message, hint)


def _write_ahead(connection: Any) -> None:
    """Set write-ahead logging, so that readers and a writer do not block each other; try again while others set it."""
    import sqlite3

    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@contextmanager
def _database_errors(place: LedgerPlace) -> Iterator[None]:
    """Turn errors of the database in the block into UsageError, which names the ledger without its password."""
    hint = ("see that it can be reached and written, or name another under 'ledger' in the spec; 'ledger: false' "
            "records no runs")
    try:
        yield
    except ModuleNotFoundError as error:
        install_hint = "pip install 'evalpipe[postgresql]'" if "psycopg" in str(error) else f"pip install {error.name}"
        message = f"the ledger '{place.shown}' needs the library {error.name}, which is not installed"
        raise UsageError.of("missing-library", message, install_hint) from None
    except NoSuchModuleError:
        raise UsageError.of("ledger", f"no library knows the kind of database of '{place.shown}'", hint) from None
    except (SQLAlchemyError, ValueError, OSError) as error:
        why = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        if why == "database is locked":
            hint = f"another program has held it for {PATIENCE} s: try again once that has ended"
        raise UsageError.of("ledger", f"cannot use the ledger '{place.shown}': {place.hidden(why)}", hint) from None


class Keep(NamedTuple):
    """What stays: the newest ``runs``, and those whose day is at most ``days`` before that of the newest.

    The day of the evidence counts, and that of the clock only for runs without one.
    """

    runs: int | None
    days: int | None

    def since(self, days: list[date]) -> date:
        """Return the first day that is kept, ``days`` before the newest; `date.max` where age keeps no run."""
        newest = max(days, default=date.min)
        return date.max if self.days is None else date.fromordinal(max(1, newest.toordinal() - self.days))


def forget_runs(ledger: Ledger, out: Path, keep: Keep, *, dry: bool = False) -> tuple[int, int]:
    """Delete the numbers of old runs of an output folder; return how many runs are deleted and how many kept.

    Their estimates and verdicts are removed; their hashes and their evidence stay, for later runs rest on them. With
    ``dry`` nothing is removed. The newest are those that were recorded last. Raises UsageError where the ledger cannot
    be written.
    """
    with ledger.writing() as connection:
        day_of = _days_of_runs(connection, RUNS.c.folder == ledger.place.folder(out))
        since, newest = keep.since([*day_of.values()]), [*day_of][: keep.runs or 0]
        forgotten = [run for run, day in day_of.items() if run not in newest and day < since]
        _forget(connection, [] if dry else forgotten)
    return len(forgotten), len(day_of) - len(forgotten)


def forget_nights(ledger: Ledger, name: str, keep: Keep, *, dry: bool = False) -> tuple[int, int]:
    """Delete the numbers of old nights of an evaluation ``name``; return how many nights are deleted and how many kept.

    All runs of a night go. The newest are those of the latest days: a night that was run again is as old as its day.
    The hashes and the evidence of its runs stay. With ``dry`` nothing is removed. Raises UsageError where the ledger
    cannot be written.
    """
    with ledger.writing() as connection:
        day_of = _days_of_runs(connection, RUNS.c.name == name)
        days = sorted(set(day_of.values()), reverse=True)
        since, newest = keep.since(days), days[: keep.runs or 0]
        forgotten = [day for day in days if day not in newest and day < since]
        _forget(connection, [] if dry else [run for run, day in day_of.items() if day in forgotten])
    return len(forgotten), len(days) - len(forgotten)


def _days_of_runs(connection: Connection, condition: ColumnElement[bool]) -> dict[int, date]:
    """Return the day of each run that meets a condition, by number of run, the last recorded first."""
    selected = select(RUNS.c.run, RUNS.c.as_of, RUNS.c.last_recorded).where(condition, KEPT)
    rows = connection.execute(selected.order_by(RUNS.c.last_recorded.desc(), RUNS.c.run.desc()))
    return {row.run: date.fromisoformat(row.as_of or row.last_recorded[:10]) for row in rows}


def _forget(connection: Connection, runs: list[int]) -> None:
    """Delete the estimates and verdicts of runs, and mark the runs as forgotten."""
    for run in runs:
        for table in (ESTIMATES, VERDICTS):
            connection.execute(table.delete().where(table.c.run == run))
        connection.execute(RUNS.update().where(RUNS.c.run == run).values(forgotten=True))
