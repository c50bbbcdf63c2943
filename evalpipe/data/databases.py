"""The databases that can be read: SQLite, PostgreSQL and those of other ADBC drivers; a URI chooses among them.

A query is read through a connection, in types that can be read; problems are told in words without secrets.
"""

from __future__ import annotations

import importlib
import re
import time
from abc import ABC, abstractmethod
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import metadata
from threading import Thread
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

from evalpipe.base.databases import SCHEMES, line_and_column
from evalpipe.errors import DataError, EvalpipeError, Problem, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from evalpipe.base.databases import DatabaseUri
    from evalpipe.base.origin import Origin
    from evalpipe.errors import Place
    from evalpipe.plan.sources import QuerySource, Sources


def is_readable(kind: pa.DataType) -> bool:
    """Tell whether columns of an Arrow type can be read: booleans, numbers, texts, dates, times, nulls.

    So can lists of numbers, except decimals.
    """
    from pyarrow import types

    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return bool(types.is_integer(kind.value_type) or types.is_floating(kind.value_type))
    tests = (types.is_boolean, types.is_integer, types.is_floating, types.is_decimal, types.is_string,
             types.is_large_string, types.is_date, types.is_timestamp, types.is_time, types.is_null)
    return any(test(kind) for test in tests)


Answer = TypeVar("Answer")

AT_ONCE = 1 << 18
"""The most values of a batch: rows times columns."""

CANCEL_WITHIN = 1.0
"""The seconds that a driver has to end a call which it cancels."""

ALIAS = "evalpipe_query"
"""The name of the query within the statement that selects columns of it."""


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """A column of a query: its ``name``, the SQL ``expression`` that selects it, and its Arrow ``type``.

    ``unreadable`` is the type in words where it cannot be read, else None.
    """

    name: str
    expression: str
    type: pa.DataType
    unreadable: str | None = None


class TooSlowError(Exception):
    """Raised where reading takes longer than the query's timeout."""


class Database(ABC):
    """A connection that reads in one transaction, which is rolled back when it is closed.

    Its methods raise the errors of the driver, which `query_problem` translates, and `TooSlowError`. A call of the
    driver that takes too long is cancelled where the driver can do that; SQLite's cannot, so it goes on until the query
    or the process ends. The connection is closed after it.
    """

    connection: Any
    deadline: float = 0.0
    _unfinished: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        """Close the connection; where a call that took too long still runs, that is done after the call."""
        if not self._unfinished:
            self.close()

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def begin(self, source: QuerySource) -> None:
        """Start the clock of a query, whose reading may take the seconds of its ``timeout``."""
        self.deadline = time.monotonic() + source.timeout

    @abstractmethod
    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns of a query."""

    def schema(self, text: str, source: QuerySource) -> pa.Schema:
        """Return the schema of the SQL statement ``text``, with the query's parameters bound to it."""
        with self.connection.cursor() as cursor:
            cursor.execute(text, source.parameters or None)
            return cursor.fetch_record_batch().schema

    def statement_batches(self, text: str, source: QuerySource, **options: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the SQL statement ``text`` in the driver's batches; ``options`` are the driver's."""
        with self.connection.cursor(adbc_stmt_kwargs=options or None) as cursor:
            cursor.execute(text, source.parameters or None)
            yield from (batch for batch in cursor.fetch_record_batch() if batch.num_rows)

    @abstractmethod
    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of the SQL statement ``text`` in batches of about ``rows``, with the query's parameters."""

    def count(self, source: QuerySource) -> int:
        """Return the number of rows of a query."""
        (batch,) = self.batches(within(source, ["count(*) AS n"]), source, 1)
        return int(batch.column(0)[0].as_py())

    def rows(self, source: QuerySource, columns: Sequence[QueryColumn]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in batches, with the given columns alone, which the database selects."""
        text = within(source, [f"{column.expression} AS {quoted_name(column.name)}" for column in columns])
        yield from self.batches(text, source, max(1, AT_ONCE // len(columns)))

    def timely(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches while there is time; raises TooSlowError after that."""
        while (batch := self.call_in_time(lambda: next(batches, None))) is not None:
            yield batch

    def call_in_time(self, call: Callable[[], Answer]) -> Answer:
        """Return the result of ``call``, a call of the driver; raises its errors, and TooSlowError once time is up.

        The driver is called in a thread of its own. In the main thread it would keep signals from Python until the
        database answers, and ADBC would take Ctrl-C for itself.
        """
        answer: Future[Answer] = Future()

        def run() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised again by who waits
                answer.set_exception(error)

        if time.monotonic() > self.deadline:
            raise TooSlowError
        Thread(target=run, daemon=True).start()
        try:
            wait([answer], max(0.0, self.deadline - time.monotonic()))
        finally:
            if not answer.done():
                self._cancel(answer)
        if self._unfinished:
            raise TooSlowError
        return answer.result()

    def _cancel(self, answer: Future[Any]) -> None:
        """Cancel a call that takes too long, and close the connection once it has ended."""
        from adbc_driver_manager import Error

        def close(_: object) -> None:
            with suppress(Error):
                self.close()

        self._unfinished = True
        with suppress(Error):  # as from drivers that cannot
            self.connection.adbc_cancel()
            wait([answer], CANCEL_WITHIN)
        answer.add_done_callback(close)


def quoted_name(column: str) -> str:
    """Write the name of a column in SQL."""
    return '"{}"'.format(column.replace('"', '""'))


def within(source: QuerySource, expressions: Sequence[str], ending: str = "") -> str:
    """Return an SQL statement that selects expressions from a query as its subquery, with an ``ending`` clause."""
    # A line break before the bracket, for the query may end with a comment.
    return f"SELECT {', '.join(expressions)} FROM (\n{source.text}\n) AS {ALIAS}{ending}"  # noqa: S608 - by its author, read only


READ_ONLY, QUERY_CANCELLED = "25006", "57014"
"""States of SQL (PostgreSQL's appendix A): a write in a read-only transaction, and a statement that was stopped."""

_REFUSED = re.compile(r"authentication failed|no password supplied|role .* does not exist")
_SILENT = re.compile(r"connection refused|could not translate host name|timeout expired|no route to host|"
                     r"network is unreachable|could not receive|no such file or directory", re.IGNORECASE)
_ABSENT = re.compile(r'database "(.*)" does not exist')
_LOST = re.compile(r"server closed the connection|terminating connection|connection not open|ssl syscall|"
                   r"no connection to the server|connection reset|could not receive data", re.IGNORECASE)
_WRITES = re.compile(r'readonly database|near "(insert|update|delete|replace|create|drop|alter)"|data-modifying',
                     re.IGNORECASE)
_UNBOUND = re.compile(r"bind message supplies|parameter count|expected \d+ parameters|there is no parameter",
                      re.IGNORECASE)
_FOREIGN = re.compile(r"not a database|encrypted", re.IGNORECASE)


def connection_problem(error: Exception, source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a connection that cannot be made."""
    uri_place, reason = places.place("datasets", source.dataset, "uri"), str(error)
    absent = _ABSENT.search(reason)
    if _REFUSED.search(reason):
        return Problem("wrong-password", f"the server of {source.called} refuses the user or the password of its URI",
                       uri_place, "correct the URI in the environment")
    if absent is not None:
        return Problem("missing-database", f"the server of {source.called} has no database '{absent[1]}'", uri_place,
                       "correct the URI in the environment")
    if _SILENT.search(reason):
        return Problem("no-server", f"no server answers at the URI of {source.called}", uri_place,
                       "start it, or correct the URI in the environment")
    message = f"cannot connect to the database of {source.called}: {_server_message(error, source)}"
    return Problem("no-connection", message, uri_place, "correct the URI in the environment")


def query_problem(error: Exception, source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a query that cannot be read, or ended before all of its rows were."""
    query_place, reason = places.place(*source.loc), str(error)
    state = getattr(error, "sqlstate", None)
    if state == READ_ONLY or _WRITES.search(reason):
        message = f"the query of {source.called} writes to the database, which is opened for reading only"
        return Problem("query-writes", message, query_place, "ask for rows alone")
    if state == QUERY_CANCELLED:
        return too_slow_problem(source, places)
    if _LOST.search(reason):
        message = f"the connection to the database of {source.called} was lost while it was read"
        return Problem("connection-lost", message, query_place, "run again; earlier output is unchanged")
    if _FOREIGN.search(reason):
        message = f"the file of {source.called} is no database of SQLite"
        return Problem("no-connection", message, query_place, "check its URI")
    if _UNBOUND.search(reason):
        message = (f"the query of {source.called} has more or fewer marks than there are values, "
                   f"{len(source.parameters)} under 'parameters'")
        return Problem("bad-query", message, query_place, "give one value for each mark, in their order")
    message = f"the database cannot read the query of {source.called}: {_server_message(error, source)}"
    details = _server_details(error)
    hint = details.get("PG_DIAG_MESSAGE_HINT")
    return Problem("bad-query", message, query_place, hint and source.uri.redacted(hint).rstrip("."),
                   notes=_fault_position(details, source.text, reason))


def too_slow_problem(source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a query that takes longer than it may."""
    message = f"reading {source.called} took longer than the {source.timeout:g} seconds of its 'timeout'"
    place = places.place("datasets", source.dataset, "timeout")
    return Problem("query-timeout", message, place, "ask for less, or allow more under 'timeout'")


def _server_details(error: Exception) -> dict[str, str]:
    """Return the details of a server's error, by PostgreSQL's names such as PG_DIAG_MESSAGE_HINT."""
    def text(item: object) -> str:
        return item.decode(errors="replace") if isinstance(item, bytes) else str(item)

    return {text(key): text(value) for key, value in getattr(error, "details", None) or ()}


def _server_message(error: Exception, source: QuerySource) -> str:
    """Return the server's message in one line, without the driver's own words and without secrets."""
    message = _server_details(error).get("PG_DIAG_MESSAGE_PRIMARY")
    if message is None:
        first = str(error).partition("\nquery: ")[0].partition("\n")[0]
        message = re.sub(r"^[A-Z_]+: |\[[^]]*\] |Failed to \w+(?: query)?: |ERROR:\s*", "", first)
    return source.uri.redacted(" ".join(message.split())).rstrip(".")


def _fault_position(details: dict[str, str], text: str, reason: str) -> tuple[str, ...]:
    """Return a note on the line and column of the query where the server found the fault; none where unknown."""
    position = details.get("PG_DIAG_STATEMENT_POSITION", "")
    if not position.isdecimal() or ALIAS in reason or not 0 < int(position) <= len(text):
        return ()
    line, column = line_and_column(text, int(position) - 1)
    return (f"line {line}, column {column} of the query: {text.splitlines()[line - 1].strip()}",)


def duplicate_column_problem(column: str, source: QuerySource, place: Place | None) -> Problem:
    """Return the problem of two columns of a query with the same name."""
    message = f"two columns of {source.called} are called '{column}'"
    return Problem("duplicate-column", message, place, f"name one of them otherwise, as in {column} AS {column}_2")


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
        names = self.call_in_time(lambda: self.schema(within(source, ["*"], " LIMIT 0"), source)).names
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
        """Yield the rows of the statement ``text`` in batches of ``rows``; raises TooSlowError if out of time."""
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
        return [_postgresql_column(field) for field in self.call_in_time(lambda: self._prepared_schema(source.text))]

    def _prepared_schema(self, text: str) -> pa.Schema:
        """Return the schema of a statement's result as the server prepares it, without running the statement."""
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

        schema = self.call_in_time(lambda: self.schema(within(source, ["*"], " WHERE 1 = 0"), source))
        return [
            QueryColumn(field.name, quoted_name(field.name), float64() if types.is_decimal(field.type) else field.type,
                        None if is_readable(field.type) else str(field.type))
            for field in schema]

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - as the driver makes them
        """Yield the rows of the SQL statement ``text`` in batches, whose size the driver chooses."""
        yield from self.timely(self.statement_batches(text, source))


def libraries_of(declared: Sources) -> list[str]:
    """Return the Python packages that read a spec's queries, such as "pyarrow", sorted; none without queries."""
    queries = [dataset.source.query for dataset in declared.datasets.values()]
    drivers = {query.driver or SCHEMES[query.uri.scheme] for query in queries if query is not None}
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
        raise DataError(connection_problem(error, source, places)) from None
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
        raise DataError(too_slow_problem(source, places)) from None
    except Exception as error:
        if source.driver is None and not isinstance(error, Error | ArrowException | OSError):
            raise
        raise DataError(query_problem(error, source, places)) from None


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
