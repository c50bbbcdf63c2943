"""What can be known of the datasets without reading their rows: files, formats and columns."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.data.errors import Unreadable
from evalpipe.data.table import Catalog, Table
from evalpipe.errors import Problem, SpecError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.files import Found
    from evalpipe.spec.models import Spec

    Schema = dict[str, pl.DataType]

def look(spec: Spec, frames: Mapping[str, pl.DataFrame] | None = None) -> Catalog:
    """Look at every dataset: its files, columns, ``where`` and number of rows, in the spec's order.

    ``frames`` are datasets held in memory, by name. Files that are missing or cannot be read are among the catalog's
    problems. Raises SpecError with every fault of the spec.
    """
    tables: dict[str, Table] = {}
    wrong_spec: list[Problem] = []
    wrong_data: list[Problem] = []
    for name in spec.datasets:
        frame = (frames or {}).get(name)
        seen = _held(name, frame) if frame is not None else _stored(spec, name)
        if isinstance(seen, list):
            wrong_data += seen
            continue
        table, schema = seen
        faults, columns = _where(spec, name, schema)
        wrong_spec += faults
        tables[name] = Table(name, table.format, table.files, table.columns, columns, table.rows)
    if wrong_spec:
        raise SpecError(*wrong_spec)
    return Catalog(MappingProxyType(tables), tuple(wrong_data))


def _held(name: str, frame: pl.DataFrame) -> tuple[Table, Schema]:
    return Table(name, "memory", (), _names(frame.schema), (), frame.height), dict(frame.schema)


def _stored(spec: Spec, name: str) -> tuple[Table, Schema] | list[Problem]:
    from evalpipe.data.files import find
    from evalpipe.data.formats import rows

    found = find(spec, name)
    if isinstance(found, Problem):
        return [found]
    schemas, problems = _schemas(spec, name, found)
    if problems:
        return problems
    counts = [rows(path, found.format) for path, _ in found.files]
    total = None if None in counts else sum(count or 0 for count in counts)
    schema = next(iter(schemas.values()))
    return Table(name, found.format, found.files, _names(schema), (), total), schema


def _schemas(spec: Spec, name: str, found: Found) -> tuple[dict[str, Schema], list[Problem]]:
    """Read the columns of every file; a problem for each file that cannot be read or lacks a column of the others."""
    from evalpipe.data.formats import schema

    asked = spec.origin.place("datasets", name, "path")
    schemas: dict[str, Schema] = {}
    problems: list[Problem] = []
    for path, shown in found.files:
        try:
            schemas[shown] = schema(path, found.format)
        except Unreadable as fault:
            problems.append(fault.problem(shown, asked))
    holder = {column: shown for shown in reversed(schemas) for column in schemas[shown]}
    for shown, columns in schemas.items():
        lacking = [column for column in holder if column not in columns]
        if lacking:
            message = f"{shown} has no column '{lacking[0]}', which {holder[lacking[0]]} has"
            hint = "all files of a dataset must have the same columns"
            problems.append(Problem("columns-differ", message, asked, hint))
    return schemas, problems


def _where(spec: Spec, name: str, schema: Schema) -> tuple[list[Problem], tuple[str, ...]]:
    text = spec.datasets[name].where
    if text is None:
        return [], ()
    from evalpipe.data.where import faults, mentioned

    place = spec.origin.place("datasets", name, "where")
    problems = [
        Problem(fault.code, f"'where' of dataset '{name}' {fault.message}", place, fault.hint)
        for fault in faults(text, schema)
    ]
    return problems, mentioned(text, schema)


def _names(schema: Mapping[str, pl.DataType]) -> Mapping[str, str]:
    return MappingProxyType({name: str(kind) for name, kind in schema.items()})
