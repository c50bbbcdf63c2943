"""Reading a query from a database: the connection, readable types, and problems in words without secrets."""

from __future__ import annotations

import re
import time
from abc import ABC, abstractmethod
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Self, TypeVar

from evalpipe.base.databases import line_and_column
from evalpipe.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from evalpipe.base.origin import Origin
    from evalpipe.errors import Place
    from evalpipe.plan.sources import QuerySource


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

    Its methods raise the errors of the driver, which `cannot_read` translates, and `TooSlowError`. A call of the driver
    that takes too long is cancelled where the driver can do that; SQLite's cannot, so it goes on until the query or the
    process ends. The connection is closed after it.
    """

    connection: Any
    deadline: float = 0.0
    _unfinished: bool = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
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
        while (batch := self.in_time(lambda: next(batches, None))) is not None:
            yield batch

    def in_time(self, call: Callable[[], Answer]) -> Answer:
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


def cannot_connect(error: Exception, source: QuerySource, places: Origin) -> Problem:
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


def cannot_read(error: Exception, source: QuerySource, places: Origin) -> Problem:
    """Return the problem of a query that cannot be read, or ended before all of its rows were."""
    query_place, reason = places.place(*source.loc), str(error)
    state = getattr(error, "sqlstate", None)
    if state == READ_ONLY or _WRITES.search(reason):
        message = f"the query of {source.called} writes to the database, which is opened for reading only"
        return Problem("query-writes", message, query_place, "ask for rows alone")
    if state == QUERY_CANCELLED:
        return too_slow(source, places)
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


def too_slow(source: QuerySource, places: Origin) -> Problem:
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


def duplicate_column(column: str, source: QuerySource, place: Place | None) -> Problem:
    """Return the problem of two columns of a query with the same name."""
    message = f"two columns of {source.called} are called '{column}'"
    return Problem("duplicate-column", message, place, f"name one of them otherwise, as in {column} AS {column}_2")
