"""What a database is asked: the columns of a query, the number of its rows, and the rows themselves."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from evalpipe.plan.sources import QuerySource

Answer = TypeVar("Answer")

AT_ONCE = 1 << 18
"""The values of a batch: rows times columns."""

CANCELLED = 1.0
"""The seconds that a driver has to end a call which it cancels."""

ALIAS = "evalpipe_query"
"""What the query is called within the statement that asks for columns of it."""


@dataclass(frozen=True, slots=True)
class QueryColumn:
    """A column that a query returns: the ``expression`` that asks for it and the type that it comes in.

    Where its type cannot be read, ``unreadable`` says which it is.
    """

    name: str
    expression: str
    type: pa.DataType
    unreadable: str | None = None


class TooSlowError(Exception):
    """Reading takes longer than it may."""


class Database(ABC):
    """A connection that reads in one transaction, which is rolled back when it is closed.

    Its methods raise the errors of the driver, which `evalpipe.data.sql.faults` translates, and `TooSlowError`. A call
    of the driver that is not waited for to its end is cancelled where the driver can do that; as SQLite's cannot, it
    goes on until the query or the process ends. The connection is closed after it.
    """

    connection: Any
    until: float = 0.0
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
        """Begin to read a query, which may take the seconds of its ``timeout``."""
        self.until = time.monotonic() + source.timeout

    @abstractmethod
    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns of a query, by their names and types."""

    @abstractmethod
    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a statement, about so many at a time, with the parameters of a query bound to its marks."""

    def count(self, source: QuerySource) -> int:
        """Return how many rows a query has."""
        (batch,) = self.batches(within(source, ["count(*) AS n"]), source, 1)
        return int(batch.column(0)[0].as_py())

    def rows(self, source: QuerySource, columns: Sequence[QueryColumn]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query: these columns alone, which the database picks."""
        text = within(source, [f"{column.expression} AS {named(column.name)}" for column in columns])
        yield from self.batches(text, source, max(1, AT_ONCE // len(columns)))

    def timely(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield batches as long as there is time; raises TooSlowError."""
        while (batch := self.in_time(lambda: next(batches, None))) is not None:
            yield batch

    def in_time(self, call: Callable[[], Answer]) -> Answer:
        """Return what a call of the driver returns; raises its errors, and TooSlowError once the time is over.

        The driver is called in a thread of its own. In the main thread it would keep signals from Python until the
        database answers, and ADBC would take Ctrl-C for itself.
        """
        answer: Future[Answer] = Future()

        def run() -> None:
            try:
                answer.set_result(call())
            except BaseException as error:  # noqa: BLE001 - raised again by who waits
                answer.set_exception(error)

        if time.monotonic() > self.until:
            raise TooSlowError
        Thread(target=run, daemon=True).start()
        try:
            wait([answer], max(0.0, self.until - time.monotonic()))
        finally:
            if not answer.done():
                self._cancel(answer)
        if self._unfinished:
            raise TooSlowError
        return answer.result()

    def _cancel(self, answer: Future[Any]) -> None:
        """Cancel a call that is not waited for, and close the connection once it has ended."""
        from adbc_driver_manager import Error

        def close(_: object) -> None:
            with suppress(Error):
                self.close()

        self._unfinished = True
        with suppress(Error):  # as from drivers that cannot
            self.connection.adbc_cancel()
            wait([answer], CANCELLED)
        answer.add_done_callback(close)


def named(column: str) -> str:
    """Write the name of a column in SQL."""
    return '"{}"'.format(column.replace('"', '""'))


def within(source: QuerySource, expressions: Sequence[str], ending: str = "") -> str:
    """Return a statement that asks for expressions over the rows of a query."""
    # A line break before the bracket, for the query may end with a comment.
    return f"SELECT {', '.join(expressions)} FROM (\n{source.text}\n) AS {ALIAS}{ending}"  # noqa: S608 - by its author, read only
