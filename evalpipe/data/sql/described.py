"""What is known of a query before its rows are read: its columns, their types, and how many rows there are."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.data.sql.drivers import opened, told
from evalpipe.data.sql.faults import twice
from evalpipe.data.table import DataTable
from evalpipe.errors import DataError
from evalpipe.words.spelling import first_repeated

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.origin import Origin
    from evalpipe.data.sql.database import Database, QueryColumn
    from evalpipe.plan.sources import QuerySource


def described(places: Origin, source: QuerySource) -> tuple[DataTable, dict[str, pl.DataType]]:
    """Return what is known of a query, and the types of its columns; raises DataError, and UsageError."""
    with opened(source, places) as database:
        columns = columns_of(database, places, source)
        with told(source, places):
            rows = database.count(source)
    types = _types(columns)
    unreadable = {column.name: column.unreadable for column in columns if column.unreadable is not None}
    named = {name: str(kind) for name, kind in types.items()}
    return DataTable(source, "query", (), MappingProxyType(named), (), rows,
                     unreadable=MappingProxyType(unreadable)), types


def columns_of(database: Database, places: Origin, source: QuerySource) -> list[QueryColumn]:
    """Begin to read a query, and return its columns; raises DataError, also where two have one name."""
    with told(source, places):
        database.begin(source)
        columns = database.columns(source)
    again = first_repeated(column.name for column in columns)
    if again is not None:
        raise DataError(twice(again, source, places.place(*source.loc)))
    return columns


def _types(columns: list[QueryColumn]) -> dict[str, pl.DataType]:
    """Return the types of columns as data frames have them; of what cannot be read, bytes."""
    import polars as pl
    import pyarrow as pa

    kinds = {column.name: column.type if column.unreadable is None else pa.binary() for column in columns}
    empty = pa.schema(list(kinds.items())).empty_table()
    frame = pl.from_arrow(empty)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - of a table
    return dict(frame.schema)
