"""SQLite: a file opened for reading only. Its columns have no types, so the types of all values are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from evalpipe.data.sql.database import AT_ONCE, Database, QueryColumn, named, within

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa

    from evalpipe.plan.sources import QuerySource

CLASSES = ("integer", "real", "text", "blob")
"""What SQLite says that a value is, beside null: its storage classes."""

TOLD = 250
"""Columns whose values are looked at in one statement: SQLite returns 2,000 numbers at most."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a column is asked for, as what type it comes, and a value that is of that type and no other."""

    cast: str
    type: pa.DataType
    first: str


class SQLite(Database):
    """A connection to a file of SQLite."""

    def __init__(self, path: Path) -> None:
        """Open a file that is there."""
        from adbc_driver_sqlite import dbapi

        self.connection = dbapi.connect(f"file:{quote(str(path.absolute()))}?mode=ro")

    def columns(self, source: QuerySource) -> list[QueryColumn]:
        """Return the columns by the types of all their values."""
        names = self.in_time(lambda: self._names(source))
        counts = [count for at in range(0, len(names), TOLD)
                  for count in self._counted(source, names[at:at + TOLD])]
        return [_column(*column) for column in zip(names, counts, strict=True)]

    def _names(self, source: QuerySource) -> list[str]:
        with self.connection.cursor() as cursor:
            cursor.execute(within(source, ["*"], " LIMIT 0"), source.parameters or None)
            names: list[str] = cursor.fetch_record_batch().schema.names
        return names

    def _counted(self, source: QuerySource, names: list[str]) -> Iterator[tuple[int, ...]]:
        """Yield for each column how many values it has of each class."""
        asked = [f"total(typeof({named(name)}) = '{kind}')" for name in names for kind in CLASSES]
        (batch,) = self.timely(self._batches(within(source, asked), source, 1))
        numbers = [int(column[0].as_py()) for column in batch.columns]
        yield from zip(*(numbers[at::len(CLASSES)] for at in range(len(CLASSES))), strict=True)

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a statement."""
        yield from self.timely(self._batches(text, source, rows))

    def _batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:
        options = {"adbc.sqlite.query.batch_rows": str(rows)}
        with self.connection.cursor(adbc_stmt_kwargs=options) as cursor:
            cursor.execute(text, source.parameters or None)
            yield from cursor.fetch_record_batch()

    def rows(self, source: QuerySource, columns: Sequence[QueryColumn]) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query.

        The driver takes the type of a column from the first of its values. So a row goes before that has one of the
        type in each column, and is left out.
        """
        first = [f"{_kind(column.type).first} AS {named(column.name)}" for column in columns]
        asked = within(source, [column.expression for column in columns])
        text = f"SELECT {', '.join(first)} UNION ALL {asked}"
        leading = True
        for batch in self.batches(text, source, max(2, AT_ONCE // len(columns))):
            yield batch.slice(1) if leading else batch
            leading = False


def _kinds() -> dict[str, _Kind]:
    import pyarrow as pa

    return {
        "integer": _Kind("INTEGER", pa.int64(), "0"), "real": _Kind("REAL", pa.float64(), "0.5"),
        "text": _Kind("TEXT", pa.string(), "''"),
    }


def _kind(type_: pa.DataType) -> _Kind:
    return next(kind for kind in _kinds().values() if kind.type == type_)


def _column(name: str, values: tuple[int, ...]) -> QueryColumn:
    """Return a column as what all its values are: numbers where some are whole, and texts where there is no value."""
    counts = dict(zip(CLASSES, values, strict=True))
    present = [kind for kind in CLASSES if counts[kind]]
    kinds, numeric = _kinds(), set(present) <= {"integer", "real"}
    kind = "text" if not present else "real" if numeric and len(present) == 2 else present[0]
    mixed = len(present) > 1 and not numeric
    unreadable = " and ".join(f"{kind} ({counts[kind]:,} values)" for kind in present) if mixed else (
        "blob" if kind == "blob" else None)
    form = kinds.get(kind, kinds["text"])
    return QueryColumn(name, f"CAST({named(name)} AS {form.cast})", form.type, unreadable)
