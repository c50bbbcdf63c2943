"""The columns of a query, and its rows, stored in temporary files, with a sha256 that does not depend on their order.

Each row is turned into bytes, and the sha256 of all rows, as 256-bit numbers, are summed modulo 2^256 (Bellare &
Micciancio 1997, AdHash). The content's sha256 is that of the names and kinds of the columns, the number of rows and
this sum, as JSON. It shows changed rows; it does not protect against someone who may choose rows freely.
"""

from __future__ import annotations

import hashlib
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.digests import json_sha256
from evalpipe.base.folders import TemporaryFolder
from evalpipe.base.lazy_polars import pl
from evalpipe.data.databases import duplicate_column_problem, open_database, reading_errors
from evalpipe.errors import DataError, Problem, UsageError
from evalpipe.plan.datasets import unreadable
from evalpipe.plan.sources import DataTable, QuerySource
from evalpipe.words.spelling import first_repeated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa

    from evalpipe.base.arraytypes import Values
    from evalpipe.base.origin import Origin
    from evalpipe.data.databases import Database, QueryColumn
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan

    DatabaseOf = Callable[[QuerySource], Database]


def describe_query(places: Origin, source: QuerySource) -> tuple[DataTable, dict[str, pl.DataType]]:
    """Return the table of a query, and the types of its columns, without its rows; raises DataError and UsageError."""
    with open_database(source, places) as database:
        columns = begin_query(database, places, source)
        with reading_errors(source, places):
            rows = database.count(source)
    import pyarrow as pa

    kinds = {column.name: column.type if column.unreadable is None else pa.binary() for column in columns}
    empty = pa.schema(list(kinds.items())).empty_table()
    frame = pl.from_arrow(empty)
    assert isinstance(frame, pl.DataFrame)  # noqa: S101 - of a table
    types = dict(frame.schema)
    unreadable = {column.name: column.unreadable for column in columns if column.unreadable is not None}
    type_names = {name: str(kind) for name, kind in types.items()}
    return DataTable(source, "query", (), MappingProxyType(type_names), (), rows,
                     unreadable=MappingProxyType(unreadable)), types


def begin_query(database: Database, places: Origin, source: QuerySource) -> list[QueryColumn]:
    """Start the clock of a query and return its columns; raises DataError, also where two have one name."""
    with reading_errors(source, places):
        database.begin(source)
        columns = database.columns(source)
    repeated = first_repeated(column.name for column in columns)
    if repeated is not None:
        raise DataError(duplicate_column_problem(repeated, source, places.place(*source.loc)))
    return columns


MODULUS = 1 << 256


class ContentDigest:
    """Computes the sha256 of the rows of a query, batch by batch, in any order."""

    def __init__(self, columns: Sequence[str]) -> None:
        """Begin without rows; ``columns`` are the names of the columns."""
        self.columns = list(columns)
        self.kinds: list[str] = []
        self.rows = self.total = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Add the rows of a batch to the total of the sha256 of all rows, which depends on no order."""
        if not frame.height:
            return
        kinds, parts = zip(*(_values_as_bytes(frame[name]) for name in self.columns), strict=True)
        self.kinds = list(kinds)
        table = np.ascontiguousarray(np.concatenate(parts, axis=1))
        content, width = table.tobytes(), table.shape[1]
        rows = (content[start:start + width] for start in range(0, len(content), width))
        digests = b"".join([hashlib.sha256(row).digest() for row in rows])
        # Summed by words of 32 bits: a batch is far too short for these to exceed 64.
        words = np.frombuffer(digests, ">u4").reshape(-1, 8).sum(axis=0, dtype=np.uint64)
        total = sum(int(word) << (32 * position) for position, word in enumerate(reversed(words)))
        self.total = (self.total + total) % MODULUS
        self.rows += frame.height

    @property
    def sha256(self) -> str:
        """The sha256 of all rows that were added."""
        about = [list(map(list, zip(self.columns, self.kinds, strict=False))), self.rows, f"{self.total:064x}"]
        return json_sha256(about)


def _values_as_bytes(column: pl.Series) -> tuple[str, Values]:
    """Return the kind of a column's values, and the values as bytes [n, width]: a flag of presence, then the value.

    Whole numbers, true and false, dates and times are written as 64 bits with a sign, as which those beyond 2^63 have
    the same bits; other numbers as Float64, of which 0 has no sign and NaN has one form. Both have the least byte
    first. Texts are their sha256, lists that of their numbers, each written as a Float64, and what is missing is zeros.
    """
    present = column.is_not_null().to_numpy().astype(np.uint8)[:, None]
    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        return "list", np.concatenate([present, _list_digests(column.cast(pl.List(pl.Float64)))], axis=1)
    if kind == pl.String:
        return "text", np.concatenate([present, _text_digests(column)], axis=1)
    if kind.is_float() or kind.is_decimal():
        numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0
        numbers = np.where(np.isnan(numbers), np.nan, numbers).astype("<f8")
        return "number", np.concatenate([present, numbers.view(np.uint8).reshape(-1, 8)], axis=1)
    physical = column.to_physical() if kind.is_temporal() else column
    signed = physical.reinterpret(signed=True) if kind == pl.UInt64 else physical.cast(pl.Int64)
    integers = signed.fill_null(0).to_numpy().astype("<i8")
    name = "boolean" if kind == pl.Boolean else "integer" if kind.is_integer() else str(kind).lower()
    return name, np.concatenate([present, integers.view(np.uint8).reshape(-1, 8)], axis=1)


def _text_digests(column: pl.Series) -> Values:
    """Return the sha256 of each text [n, 32], zeros where it is missing; computed once for each distinct text."""
    distinct = column.unique().drop_nulls()
    digests = [hashlib.sha256(text.encode()).digest() for text in distinct]
    table = np.frombuffer(bytes(32) + b"".join(digests), np.uint8).reshape(-1, 32)
    numbers = pl.DataFrame({"text": distinct, "row": np.arange(1, len(distinct) + 1)})
    rows = column.to_frame("text").join(numbers, on="text", how="left", maintain_order="left")["row"]
    return np.take(table, rows.fill_null(0).to_numpy(), axis=0)


def _list_digests(column: pl.Series) -> Values:
    """Return the sha256 of the numbers of each list [n, 32], zeros where there is no list."""
    lengths = column.list.len()
    _, numbers = _values_as_bytes(column.filter((lengths > 0).fill_null(value=False)).explode())
    ends = lengths.fill_null(0).cum_sum().to_list()
    digests = [bytes(32) if length is None else hashlib.sha256(numbers[end - length:end].tobytes()).digest()
               for length, end in zip(lengths, ends, strict=True)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)


@contextmanager
def databases_of(places: Origin) -> Iterator[DatabaseOf]:
    """Yield a function that opens a query's database, of a URI once, so that its queries see one state; close all."""
    opened: dict[object, Database] = {}
    with ExitStack() as connections:
        def database_of(source: QuerySource) -> Database:
            key = source.uri, source.driver, places.folder_of("datasets", source.dataset, "uri")
            if key not in opened:
                opened[key] = connections.enter_context(open_database(source, places))
            return opened[key]

        yield database_of


def held_rows(places: Origin, source: QuerySource, database: Database) -> tuple[pl.DataFrame, str, Mapping[str, str]]:
    """Return the rows of a query, their sha256, and the types of columns left out as unreadable; raises DataError."""
    import pyarrow as pa

    columns = begin_query(database, places, source)
    readable = [column for column in columns if column.unreadable is None]
    schema = pa.schema([(column.name, column.type) for column in readable])
    content = ContentDigest(sorted(schema.names))
    table = pa.Table.from_batches(_plain_batches(database, places, source, readable, schema, content), schema)
    return pl.DataFrame(table), content.sha256, MappingProxyType({
        column.name: column.unreadable for column in columns if column.unreadable is not None})


def _plain_batches(
    database: Database, places: Origin, source: QuerySource, columns: Sequence[QueryColumn], schema: pa.Schema,
    content: ContentDigest,
) -> Iterator[pa.RecordBatch]:
    """Yield the columns of a query in batches of the ``schema``, and add these to its ``content``; raises DataError."""
    rows = database.rows(source, columns)
    while True:
        with reading_errors(source, places):  # what the caller raises is no fault of the database
            batch = next(rows, None)
        if batch is None:
            return
        plain = batch.rename_columns(schema.names).cast(schema)
        content.add(pl.DataFrame(plain))
        yield plain


PREFIX = ".new-"
"""The prefix of temporary folders, as in a cache: the next run removes those that are left."""


@contextmanager
def stored_queries(plan: Plan, scratch: Path | None) -> Iterator[Plan]:
    """Store the rows of a plan's queries in files, and yield a plan that reads these; remove them after the block.

    ``scratch`` is the folder for them, None for the system's folder. All queries of one URI see one state of their
    database, where it has transactions that do. Raises DataError, and UsageError where files cannot be written.
    """
    if not any(isinstance(dataset.table.named, QuerySource) for dataset in plan.datasets):
        yield plan
        return
    with ExitStack() as folder:
        try:
            if scratch is not None:
                scratch.mkdir(parents=True, exist_ok=True)
            path = Path(folder.enter_context(TemporaryFolder(PREFIX, scratch)))
            datasets = _store_all(plan, path)
        except OSError as error:
            message = f"cannot write to '{scratch or tempfile.gettempdir()}', where rows of queries are stored: "
            raise UsageError.of("no-space", f"{message}{error.strerror or error}", "free space there") from None
        yield replace(plan, datasets=datasets)


def _store_all(plan: Plan, folder: Path) -> tuple[DatasetPlan, ...]:
    """Store the rows of all queries in a folder; return datasets that read the files. Raises OSError, DataError."""
    datasets: list[DatasetPlan] = []
    with databases_of(plan.places) as database_of:
        for number, dataset in enumerate(plan.datasets):
            source = dataset.table.named
            if isinstance(source, QuerySource):
                datasets.append(_store_rows(plan, dataset, source, database_of(source), folder / f"{number}.arrow"))
            else:
                datasets.append(dataset)
    return tuple(datasets)


def _store_rows(
    plan: Plan, dataset: DatasetPlan, source: QuerySource, database: Database, path: Path
) -> DatasetPlan:
    """Write the planned columns of a query to the file ``path``; return the dataset that reads the file."""
    import pyarrow as pa

    columns = _columns_to_read(plan, dataset, source, database)
    schema = pa.schema([(column.name, column.type) for column in columns])
    content = ContentDigest(sorted(schema.names))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for batch in _plain_batches(database, plan.places, source, columns, schema, content):
            writer.write_batch(batch)
    table = replace(dataset.table, format="ipc", files=((path, source.path),), rows=content.rows,
                    contents=(content.sha256,))
    return replace(dataset, table=table)


def _columns_to_read(plan: Plan, dataset: DatasetPlan, source: QuerySource, database: Database) -> list[QueryColumn]:
    """Return the planned columns of a query; raises DataError where they are gone, or of a type that is unreadable."""
    by_name = {column.name: column for column in begin_query(database, plan.places, source)}
    names = list(dict.fromkeys((*dataset.columns, *dataset.table.where_columns))) or list(by_name)[:1]
    missing = [name for name in names if name not in by_name]
    if missing:
        message = f"column '{missing[0]}' of {source.called} is gone since the run was planned"
        raise DataError(Problem("file-changed", message, plan.places.place(*source.loc), "run again"))
    columns = [by_name[name] for name in names]
    types = {column.name: column.unreadable for column in columns if column.unreadable is not None}
    if types:
        table = replace(dataset.table, unreadable=types)
        raise DataError(*(unreadable(plan.places, table, name, source.loc) for name in types))
    return columns
