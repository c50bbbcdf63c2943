"""Databases of other ADBC drivers, which an installed Python package brings: what all of them have in common."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import TYPE_CHECKING

from evalpipe.data.sql.arrow import is_readable
from evalpipe.data.sql.database import Database, QueryColumn, named, within

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

    from evalpipe.plan.sources import QuerySource


class OtherDatabase(Database):
    """A connection by a driver that is named, in a transaction that is rolled back.

    The driver is told to read only, where it can be told. Its batches are as large as it makes them.
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
        """Return the columns as the database gives them for no row; decimals are read as floats."""
        from pyarrow import float64, types

        schema = self.in_time(lambda: self._schema(within(source, ["*"], " WHERE 1 = 0"), source))
        return [QueryColumn(field.name, named(field.name), float64() if types.is_decimal(field.type) else field.type,
                            None if is_readable(field.type) else str(field.type)) for field in schema]

    def _schema(self, text: str, source: QuerySource) -> pa.Schema:
        with self.connection.cursor() as cursor:
            cursor.execute(text, source.parameters or None)
            return cursor.fetch_record_batch().schema

    def batches(self, text: str, source: QuerySource, rows: int) -> Iterator[pa.RecordBatch]:  # noqa: ARG002 - as the driver makes them
        """Yield the rows of a statement."""
        yield from self.timely(self._batches(text, source))

    def _batches(self, text: str, source: QuerySource) -> Iterator[pa.RecordBatch]:
        with self.connection.cursor() as cursor:
            cursor.execute(text, source.parameters or None)
            yield from (batch for batch in cursor.fetch_record_batch() if batch.num_rows)
