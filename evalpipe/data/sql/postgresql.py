"""PostgreSQL: one read-only transaction that sees one state of the database, and a cursor for the rows of a query."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from evalpipe.data.sql.arrow import is_readable
from evalpipe.data.sql.database import Database, QueryColumn, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from evalpipe.base.uris import DatabaseUri
    from evalpipe.plan.sources import QuerySource

CONNECT = 30
"""The seconds that a server may take to answer at all."""

USUAL = {"connect_timeout": str(CONNECT), "application_name": "evalpipe", "keepalives_idle": "30",
         "keepalives_interval": "10", "keepalives_count": "3"}
"""Parameters of a connection, unless its URI has them: a server that is gone is noticed within a minute."""

CASTS = {"numeric": ("double precision", "double"), "uuid": ("text", "string"), "bpchar": ("text", "string"),
         "name": ("text", "string"), "char": ("text", "string")}
"""The types that the server turns into others, with what these are called in Arrow."""

_TYPE = b"POSTGRESQL:type"
_UNREAD = ("money",)  # which the driver gives in cents, as a whole number


class PostgreSQL(Database):
    """A connection to PostgreSQL."""

    def __init__(self, uri: DatabaseUri) -> None:
        """Connect and begin the transaction."""
        from adbc_driver_postgresql import dbapi

        self.connection = dbapi.connect(_with_usual(uri.address))
        self._execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._execute("SET LOCAL cursor_tuple_fraction = 1")  # all rows will be asked for

    def begin(self, source: QuerySource) -> None:
        """Tell the server how long each of its statements may take."""
        super().begin(source)
        self._execute(f"SET LOCAL statement_timeout = {max(1, round(source.timeout * 1000))}")

    def _execute(self, text: str) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(text)

    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns as the server prepares the query, of which it reads no row."""
        return [_column(field) for field in self.in_time(lambda: self._schema(source.text))]

    def _schema(self, text: str) -> pa.Schema:
        with self.connection.cursor() as cursor:
            return cursor.adbc_execute_schema(text)

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a cursor, which the server opens for statements that read alone."""
        yield from self.timely(self._fetched(text, source, rows))

    def _fetched(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        # COPY, with which the driver asks by itself, takes no parameters.
        plain = {"adbc.postgresql.use_copy": "false"}
        with self.connection.cursor(adbc_stmt_kwargs=plain) as cursor:
            cursor.execute(f"DECLARE evalpipe_rows NO SCROLL CURSOR FOR {text}", source.parameters or None)
        while True:
            with self.connection.cursor(adbc_stmt_kwargs=plain) as cursor:
                cursor.execute(f"FETCH {rows} FROM evalpipe_rows")
                batches = [batch for batch in cursor.fetch_record_batch() if batch.num_rows]
            if not batches:
                break
            yield from batches
        self._execute("CLOSE evalpipe_rows")


def _with_usual(text: str) -> str:
    """Return a URI with the usual parameters of a connection that it does not have."""
    given = {key for key, _ in parse_qsl(urlsplit(text).query, keep_blank_values=True)}
    further = "&".join(f"{key}={value}" for key, value in USUAL.items() if key not in given)
    return f"{text}{'&' if '?' in text else '?'}{further}"


def _column(field: pa.Field) -> QueryColumn:
    """Return a column with the type that it is asked for in."""
    import pyarrow as pa

    kind = (field.metadata or {}).get(_TYPE, b"").decode()
    if kind in CASTS:
        cast, arrow = CASTS[kind]
        return QueryColumn(field.name, f"CAST({named(field.name)} AS {cast})", pa.type_for_alias(arrow))
    kind = f"{kind[1:]}[]" if kind.startswith("_") else kind  # as arrays are called within the server
    unreadable = None if is_readable(field.type) and kind not in _UNREAD else kind or str(field.type)
    return QueryColumn(field.name, named(field.name), field.type, unreadable)
