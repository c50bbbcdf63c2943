"""The rows of queries, stored in temporary files for the time that they are read."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.folders import TemporaryFolder
from evalpipe.data.sql.content import Content
from evalpipe.data.sql.described import columns_of
from evalpipe.data.sql.drivers import opened, told
from evalpipe.errors import DataError, Problem, UsageError
from evalpipe.plan.columns import unreadable
from evalpipe.plan.sources import QuerySource

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.data.sql.database import Database, QueryColumn
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan

PREFIX = ".new-"
"""How folders begin that are there only while a run reads, as those of a cache: the next run removes what is left."""


@contextmanager
def stored(plan: Plan, scratch: Path | None) -> Iterator[Plan]:
    """Store the rows of a plan's queries in files, and return the plan of these, which are then removed.

    ``scratch`` is the folder for them, None for that of the system. All queries of one URI see one state of their
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
            datasets = _stored(plan, path)
        except OSError as error:
            message = f"cannot write to '{scratch or tempfile.gettempdir()}', where rows of queries are stored: "
            raise UsageError.of("no-space", f"{message}{error.strerror or error}", "free space there") from None
        yield replace(plan, datasets=datasets)


def _stored(plan: Plan, folder: Path) -> tuple[DatasetPlan, ...]:
    """Store the rows of all queries; raises OSError, and DataError."""
    datasets: list[DatasetPlan] = []
    databases: dict[object, Database] = {}
    with ExitStack() as connections:
        for number, dataset in enumerate(plan.datasets):
            source = dataset.table.named
            if isinstance(source, QuerySource):
                key = source.uri, source.driver, plan.places.folder_of("datasets", dataset.name, "uri")
                if key not in databases:
                    databases[key] = connections.enter_context(opened(source, plan.places))
                datasets.append(_written(plan, dataset, source, databases[key], folder / f"{number}.arrow"))
            else:
                datasets.append(dataset)
    return tuple(datasets)


def _written(
    plan: Plan, dataset: DatasetPlan, source: QuerySource, database: Database, path: Path
) -> DatasetPlan:
    """Write the columns that are read of a query to a file; return what is read of it then."""
    import polars as pl
    import pyarrow as pa

    columns = _asked(plan, dataset, source, database)
    schema = pa.schema([(column.name, column.type) for column in columns])
    content = Content(sorted(schema.names))
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, schema) as writer:
        rows = database.rows(source, columns)
        while True:
            with told(source, plan.places):  # what writing raises is no fault of the database
                batch = next(rows, None)
            if batch is None:
                break
            plain = batch.rename_columns(schema.names).cast(schema)
            content.add(pl.DataFrame(plain))
            writer.write_batch(plain)
    table = replace(dataset.table, format="ipc", files=((path, source.path),), rows=content.rows,
                    contents=(content.sha256,))
    return replace(dataset, table=table)


def _asked(plan: Plan, dataset: DatasetPlan, source: QuerySource, database: Database) -> list[QueryColumn]:
    """Return the columns to ask for; raises DataError where they are no longer what was planned with."""
    there = {column.name: column for column in columns_of(database, plan.places, source)}
    names = list(dict.fromkeys((*dataset.columns, *dataset.table.where_columns))) or list(there)[:1]
    columns = [there[name] for name in names if name in there]
    gone = [name for name in names if name not in there]
    if gone:
        message = f"column '{gone[0]}' of {source.called} is gone since the run was planned"
        raise DataError(Problem("file-changed", message, plan.places.place(*source.loc), "run again"))
    strange = {column.name: column.unreadable for column in columns if column.unreadable is not None}
    if strange:
        table = replace(dataset.table, unreadable=strange)
        raise DataError(*(unreadable(plan.places, table, name, source.loc) for name in strange))
    return columns
