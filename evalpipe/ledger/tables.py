"""The tables of a ledger, and their migrations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    inspect,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy import Connection

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
