"""The databases that can be read: SQLite, PostgreSQL and those of other ADBC drivers; a URI chooses among them."""

from __future__ import annotations

import importlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlsplit

from evalpipe.base.databases import SCHEMES
from evalpipe.data.sql.database import (
    AT_ONCE,
    Database,
    QueryColumn,
    TooSlowError,
    cannot_connect,
    cannot_read,
    is_readable,
    quoted_name,
    too_slow,
    within,
)
from evalpipe.errors import DataError, EvalpipeError, Problem, UsageError
from evalpipe.plan.sources import QuerySource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.base.origin import Origin
    from evalpipe.plan.sources import Sources


STORAGE_CLASSES = ("integer", "real", "text", "blob")
"""The storage classes of SQLite's values, besides null."""

COLUMNS_AT_ONCE = 250
"""Columns whose storage classes one statement counts: SQLite returns 2,000 numbers at most."""


@dataclass(frozen=True, slots=True)
class _SqliteType:
    """The SQL type to cast a column to, the Arrow type that comes of it, and an SQL literal of exactly that type."""

    cast: str
    type: pa.DataType
    first: str


class SQLite(Database):
    """A read-only connection to a file of SQLite."""

    def __init__(self, path: Path) -> None:
        """Open an existing file."""
        from adbc_driver_sqlite import dbapi

        self.connection = dbapi.connect(f"file:{quote(str(path.absolute()))}?mode=ro")

    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns of a query, with types from the storage classes of all values."""
        names = self.in_time(lambda: self.schema(within(source, ["*"], " LIMIT 0"), source)).names
        counts = [count for start in range(0, len(names), COLUMNS_AT_ONCE)
                  for count in self._counts_by_class(source, names[start:start + COLUMNS_AT_ONCE])]
        return [_sqlite_column(*column) for column in zip(names, counts, strict=True)]

    def _counts_by_class(self, source: QuerySource, names: list[str]) -> Iterator[dict[str, int]]:
        """Yield the number of values by storage class for each of the columns ``names``."""
        totals = [f"total(typeof({quoted_name(name)}) = '{kind}')" for name in names for kind in STORAGE_CLASSES]
        (batch,) = self.batches(within(source, totals), source, 1)
        numbers = [int(column[0].as_py()) for column in batch.columns]
        for start in range(0, len(numbers), len(STORAGE_CLASSES)):
            yield dict(zip(STORAGE_CLASSES, numbers[start:start + len(STORAGE_CLASSES)], strict=True))

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a statement."""
        yield from self.timely(self.statement_batches(text, source, **{"adbc.sqlite.query.batch_rows": str(rows)}))

    def rows(self, source: QuerySource, columns: Sequence[QueryColumn]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query.

        The driver takes the type of a column from its first value. So a row with a literal of the type in each column
        is put before the rows, and dropped from the result.
        """
        examples = {form.type: form.first for form in _sqlite_types().values()}
        literals = [f"{examples[column.type]} AS {quoted_name(column.name)}" for column in columns]
        query = within(source, [column.expression for column in columns])
        text = f"SELECT {', '.join(literals)} UNION ALL {query}"
        is_first_batch = True
        for batch in self.batches(text, source, max(2, AT_ONCE // len(columns))):
            yield batch.slice(1) if is_first_batch else batch
            is_first_batch = False


def _sqlite_types() -> dict[str, _SqliteType]:
    """Return the readable types of SQLite by storage class."""
    import pyarrow as pa

    return {
        "integer": _SqliteType("INTEGER", pa.int64(), "0"), "real": _SqliteType("REAL", pa.float64(), "0.5"),
        "text": _SqliteType("TEXT", pa.string(), "''"),
    }


def _sqlite_column(name: str, counts: dict[str, int]) -> QueryColumn:
    """Return a column with the type of all its values, from their counts by storage class.

    Integers and reals together are reals; a column without values is of texts.
    """
    present = [kind for kind in STORAGE_CLASSES if counts[kind]]
    kinds, is_numeric = _sqlite_types(), set(present) <= {"integer", "real"}
    kind = present[0] if present else "text"
    if is_numeric and len(present) > 1:
        kind = "real"
    unreadable = "blob" if kind == "blob" else None
    if len(present) > 1 and not is_numeric:
        unreadable = " and ".join(f"{kind} ({counts[kind]:,} values)" for kind in present)
    sqlite_type = kinds.get(kind, kinds["text"])
    return QueryColumn(name, f"CAST({quoted_name(name)} AS {sqlite_type.cast})", sqlite_type.type, unreadable)


CONNECT_TIMEOUT = 30
"""The seconds within which a server must answer a connection."""

USUAL_PARAMETERS = {
    "connect_timeout": str(CONNECT_TIMEOUT), "application_name": "evalpipe", "keepalives_idle": "30",
    "keepalives_interval": "10", "keepalives_count": "3"}
"""Parameters of a connection, unless its URI has them: a server that is gone is noticed within a minute."""

CASTS = {"numeric": ("double precision", "double"), "uuid": ("text", "string"), "bpchar": ("text", "string"),
         "name": ("text", "string"), "char": ("text", "string")}
"""PostgreSQL's types that the server casts: the SQL type to cast to, and its name in Arrow."""

_TYPE = b"POSTGRESQL:type"
_UNREADABLE = ("money",)  # which the driver gives in cents, as a whole number


class PostgreSQL(Database):
    """A connection to PostgreSQL."""

    def __init__(self, uri: DatabaseUri) -> None:
        """Connect, and begin a read-only transaction."""
        from adbc_driver_postgresql import dbapi

        uri_keys = {key for key, _ in parse_qsl(urlsplit(uri.address).query, keep_blank_values=True)}
        defaults = "&".join(f"{key}={value}" for key, value in USUAL_PARAMETERS.items() if key not in uri_keys)
        self.connection = dbapi.connect(f"{uri.address}{'&' if '?' in uri.address else '?'}{defaults}")
        self._execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._execute("SET LOCAL cursor_tuple_fraction = 1")  # all rows will be asked for

    def begin(self, source: QuerySource) -> None:
        """Start the clock of a query, and set the server's timeout for each statement."""
        super().begin(source)
        self._execute(f"SET LOCAL statement_timeout = {max(1, round(source.timeout * 1000))}")

    def _execute(self, text: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(text)

    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns of a query from the schema that the server prepares, without reading a row."""
        return [_postgresql_column(field) for field in self.in_time(lambda: self._prepared_schema(source.text))]

    def _prepared_schema(self, text: str) -> pa.Schema:
        with self.connection.cursor() as cursor:
            return cursor.adbc_execute_schema(text)

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a statement from a server-side cursor, which only statements that read can have."""
        yield from self.timely(self._cursor_batches(text, source, rows))

    def _cursor_batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a statement in batches of at most ``rows``, without a limit of time."""
        # COPY, the default of the driver, takes no parameters.
        options = {"adbc.postgresql.use_copy": "false"}
        with self.connection.cursor(adbc_stmt_kwargs=options) as cursor:
            cursor.execute(f"DECLARE evalpipe_rows NO SCROLL CURSOR FOR {text}", source.parameters or None)
        while True:
            with self.connection.cursor(adbc_stmt_kwargs=options) as cursor:
                cursor.execute(f"FETCH {rows} FROM evalpipe_rows")
                batches = [batch for batch in cursor.fetch_record_batch() if batch.num_rows]
            if not batches:
                break
            yield from batches
        self._execute("CLOSE evalpipe_rows")


def _postgresql_column(field: pa.Field) -> QueryColumn:
    """Return a column with the expression that casts it, where its type has to be, and its Arrow type."""
    import pyarrow as pa

    kind = (field.metadata or {}).get(_TYPE, b"").decode()
    if kind in CASTS:
        cast, arrow = CASTS[kind]
        return QueryColumn(field.name, f"CAST({quoted_name(field.name)} AS {cast})", pa.type_for_alias(arrow))
    kind = f"{kind[1:]}[]" if kind.startswith("_") else kind  # as arrays are called within the server
    unreadable = None if is_readable(field.type) and kind not in _UNREADABLE else kind or str(field.type)
    return QueryColumn(field.name, quoted_name(field.name), field.type, unreadable)


class OtherDatabase(Database):
    """A connection by another ADBC driver, which the spec names, in a transaction that is rolled back.

    It is set to read only, where the driver supports that. The driver chooses the size of batches.
    """

    def __init__(self, address: str, driver: str) -> None:
        """Connect; raises ModuleNotFoundError where the package of the driver is not installed."""
        from adbc_driver_manager import Error

        self.connection = importlib.import_module(f"adbc_driver_{driver}.dbapi").connect(address)
        with suppress(Error):
            self.connection.adbc_connection.set_options(**{"adbc.connection.readonly": "true"})

    def close(self) -> None:
        """Roll back and close the connection."""
        from adbc_driver_manager import Error

        with suppress(Error):
            self.connection.rollback()
        super().close()

    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns of a query from the schema of its result without rows; decimals are read as floats."""
        from pyarrow import float64, types

        schema = self.in_time(lambda: self.schema(within(source, ["*"], " WHERE 1 = 0"), source))
        return [
            QueryColumn(field.name, quoted_name(field.name), float64() if types.is_decimal(field.type) else field.type,
                        None if is_readable(field.type) else str(field.type))
            for field in schema]

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - as the driver makes them
        """Yield the rows of a statement."""
        yield from self.timely(self.statement_batches(text, source))


def libraries_of(declared: Sources) -> list[str]:
    """Return the distributions that read the queries of a spec, such as "pyarrow", sorted; none without queries."""
    all_sources = [dataset.source for dataset in declared.datasets.values()]
    drivers = {source.driver or SCHEMES[source.uri.scheme] for source in all_sources if isinstance(source, QuerySource)}
    return sorted({"adbc-driver-manager", "pyarrow", *map(_installed_name, drivers)}) if drivers else []


def _installed_name(driver: str) -> str:
    """Return the distribution that has the module of a driver; DuckDB's is in another than the driver's name says."""
    module = f"adbc_driver_{driver}"
    distribution = module.replace("_", "-")
    try:
        return metadata.metadata(distribution)["Name"]
    except metadata.PackageNotFoundError:
        return next(iter(metadata.packages_distributions().get(module, ())), distribution)


@contextmanager
def open_database(source: QuerySource, places: Origin) -> Iterator[Database]:
    """Open the database of a query, and close it after the block.

    Raises DataError where it cannot be opened, UsageError where its driver is missing.
    """
    try:
        from adbc_driver_manager import Error
    except ModuleNotFoundError:
        raise _missing_library(source, places, "adbc_driver_manager") from None
    try:
        database = _connect(source, places)
    except ModuleNotFoundError as error:
        raise _missing_library(source, places, str(error.name)) from None
    except EvalpipeError:
        raise
    except Exception as error:
        if source.driver is None and not isinstance(error, Error):
            raise
        # A driver of others may raise anything, with the URI in its words.
        raise DataError(cannot_connect(error, source, places)) from None
    with database:
        yield database


@contextmanager
def reading_errors(source: QuerySource, places: Origin) -> Iterator[None]:
    """Turn errors that a driver raises in the block, which reads a query, into DataError."""
    from adbc_driver_manager import Error
    from pyarrow import ArrowException

    try:
        yield
    except TooSlowError:
        raise DataError(too_slow(source, places)) from None
    except Exception as error:
        if source.driver is None and not isinstance(error, Error | ArrowException | OSError):
            raise
        raise DataError(cannot_read(error, source, places)) from None


def _connect(source: QuerySource, places: Origin) -> Database:
    """Connect to a database with its driver; raises ModuleNotFoundError, DataError and the errors of the driver."""
    uri = source.uri
    path = places.folder_of("datasets", source.dataset, "uri") / uri.file
    if uri.file and not path.is_file():  # which some drivers would make
        uri_place = places.place("datasets", source.dataset, "uri")
        raise DataError(Problem("missing-file", f"there is no file {uri.file}", uri_place, "check the URI"))
    if source.driver is not None:
        return OtherDatabase(str(path.absolute()) if uri.file else uri.address, source.driver)
    return SQLite(path) if SCHEMES[uri.scheme] == "sqlite" else PostgreSQL(uri)


def _missing_library(source: QuerySource, places: Origin, module: str) -> UsageError:
    """Return the error that the Python ``module`` which reads a query is not installed."""
    distribution = source.driver is None or module == "adbc_driver_manager"
    way = "pip install 'evalpipe[sql]'" if distribution else "install it, or correct 'driver'"
    message = f"{source.called} is a query, and the Python package {module} that reads it is not installed"
    return UsageError(Problem("missing-library", message, places.place(*source.loc), way))
