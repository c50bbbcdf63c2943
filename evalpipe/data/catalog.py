"""What can be known of the datasets without reading their rows: files, formats and columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.data.errors import Unreadable
from evalpipe.data.table import Catalog, Table, of_dataset, of_model
from evalpipe.errors import Problem, SpecError
from evalpipe.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from evalpipe.data.files import Found
    from evalpipe.data.table import Named
    from evalpipe.errors import Place
    from evalpipe.origin import Loc
    from evalpipe.spec.models import Spec

    Schema = dict[str, pl.DataType]

def look(spec: Spec, frames: Mapping[str, pl.DataFrame] | None = None) -> Catalog:
    """Look at every dataset and file of predictions: files, columns, conditions and number of rows, in their order.

    ``frames`` are datasets held in memory, by name. Files that are missing or cannot be read are among the catalog's
    problems. Raises SpecError with every fault of the spec.
    """
    tables: dict[str, Table] = {}
    predictions: dict[tuple[str, str], Table] = {}
    wrong_spec: list[Problem] = []
    wrong_data: list[Problem] = []
    for name in spec.datasets:
        frame = (frames or {}).get(name)
        named = of_dataset(spec, name)
        seen = _held(named, frame) if frame is not None else _stored(spec, named)
        if isinstance(seen, list):
            wrong_data += seen
        else:
            faults, columns, broken = _conditions(spec, *seen)
            wrong_spec += [*csv_faults(spec, seen[0]), *faults]
            wrong_data += broken
            tables[name] = replace(seen[0], where_columns=columns)
        found, faults = _predictions(spec, name)
        wrong_spec += [fault for table in found.values() for fault in csv_faults(spec, table)]
        predictions |= found
        wrong_data += faults
    if wrong_spec:
        raise SpecError(*wrong_spec)
    return Catalog(MappingProxyType(tables), tuple(wrong_data), MappingProxyType(predictions))


def _held(named: Named, frame: pl.DataFrame) -> tuple[Table, Schema]:
    return Table(named, "memory", (), _names(frame.schema), (), frame.height), dict(frame.schema)


def _stored(spec: Spec, named: Named) -> tuple[Table, Schema] | list[Problem]:
    from evalpipe.data.files import find
    from evalpipe.data.formats import rows

    found = find(spec, named)
    if isinstance(found, Problem):
        return [found]
    schemas, problems = _schemas(spec, named, found)
    if problems:
        return problems
    counts = [rows(path, found.format, named.csv) for path, _ in found.files]
    total = None if None in counts else sum(count or 0 for count in counts)
    schema = next(iter(schemas.values()))
    return Table(named, found.format, found.files, _names(schema), (), total), schema


def _predictions(spec: Spec, dataset: str) -> tuple[dict[tuple[str, str], Table], list[Problem]]:
    """Look at the files of predictions for a dataset that is evaluated or calibrates."""
    tables: dict[tuple[str, str], Table] = {}
    problems: list[Problem] = []
    for model in spec.models if spec.datasets[dataset].role != "reference" else ():
        named = of_model(spec, model, dataset)
        seen = None if named is None else _stored(spec, named)
        if isinstance(seen, list):
            problems += seen
        elif seen is not None:
            tables[dataset, model] = seen[0]
    return tables, problems


def _schemas(spec: Spec, named: Named, found: Found) -> tuple[dict[str, Schema], list[Problem]]:
    """Read the columns of every file; a problem for each file that cannot be read or lacks a column of the others."""
    from evalpipe.data.formats import schema

    asked = spec.origin.place(*named.loc)
    schemas: dict[str, Schema] = {}
    problems: list[Problem] = []
    for path, shown in found.files:
        try:
            schemas[shown] = schema(path, found.format, named.csv)
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


def _conditions(spec: Spec, table: Table, schema: Schema) -> tuple[list[Problem], tuple[str, ...], list[Problem]]:
    """Check the conditions on a dataset, its own and those of slices.

    Returns the faults of the spec, the columns that conditions mention, and why these cannot be read.
    """
    from evalpipe.data.where import faults, mentioned

    asked = list(conditions(spec, table.named.dataset))
    used = {column for condition in asked for column in mentioned(condition.text, schema)}
    columns = tuple(column for column in schema if column in used)
    try:
        types, why = _types(table, columns)
    except Broken as broken:
        return [], columns, [broken.problem(spec.origin.place(*table.named.loc))]
    problems: list[Problem] = []
    for condition in asked:
        place = spec.origin.place(*condition.loc)
        problems += [Problem(fault.code, f"{condition.called} {fault.message}", place, fault.hint)
                     for fault in faults(condition.text, schema | types, why)]
        if condition.key != "where" and spec.outcome.column in mentioned(condition.text, schema):
            message = f"{condition.called} names the outcome's column '{spec.outcome.column}'"
            hint = "slice by what is known before the outcome is"
            problems.append(Problem("outcome-as-slice", message, place, hint))
    return problems, columns, []


class Broken(Exception):  # noqa: N818 - a state of a file, caught in this module
    """A file whose rows cannot be read."""

    def __init__(self, fault: Unreadable, shown: str) -> None:
        """Keep what is wrong with which file."""
        super().__init__(fault.reason)
        self.fault, self.shown = fault, shown

    def problem(self, asked: Place | None) -> Problem:
        """Return the problem of the file."""
        return self.fault.problem(self.shown, asked)


def _types(table: Table, columns: tuple[str, ...]) -> tuple[Schema, dict[str, str]]:
    """Tell the types of columns of separated text from all rows, and why one is text that also holds numbers.

    Raises Broken.
    """
    import polars as pl

    from evalpipe.data.celltypes import tell, typed
    from evalpipe.data.formats import SEPARATORS, read

    if table.format not in SEPARATORS or not columns:
        return {}, {}
    parts: list[pl.DataFrame] = []
    csv = table.named.csv
    for path, shown in table.files:
        try:
            parts.append(read(path, table.format, csv, columns, ())[0])
        except Unreadable as fault:
            raise Broken(fault, shown) from None
    types: Schema = {}
    why: dict[str, str] = {}
    for column in pl.concat(parts):
        told = tell(column, csv.decimal)
        types[column.name] = typed(column.clear(), csv.types.get(column.name, told.type), csv.decimal).dtype
        if told.why is not None and column.name not in csv.types:
            why[column.name] = told.why
    return types, why


def csv_faults(spec: Spec, table: Table) -> Iterator[Problem]:
    """Yield what is wrong with the keys under ``csv`` for the files that were found."""
    from evalpipe.data.formats import SEPARATORS, separator

    named = table.named
    csv, place = named.csv, spec.origin.place(*named.csv_loc)
    declared = spec.datasets[named.dataset].csv if named.model is None else spec.models[named.model].csv
    if declared is None:
        return
    if table.format not in SEPARATORS:
        message = f"'csv' is declared for {named.called}, whose format is {table.format}"
        yield Problem("not-csv", message, place, "remove it: it says how csv and tsv files are written")
        return
    if csv.decimal == separator(table.format, csv):
        message = f"in {named.called} the comma separates both cells and decimals"
        hint = 'declare the separator too, as in csv: {separator: ";", decimal: ","}'
        yield Problem("two-commas", message, place, hint)
    for column in csv.types:
        if column not in table.columns:
            close = closest(column, table.columns)
            hint = f"did you mean '{close}'?" if close else f"the columns are {', '.join(list(table.columns)[:12])}"
            at = spec.origin.place(*named.csv_loc, "types", column)
            message = f"'csv' of {named.called} gives a type to the column '{column}', which the data do not have"
            yield Problem("unknown-column", message, at or place, hint)


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a dataset's rows: "where" or "slice <name>", its text and place, and what messages call it."""

    key: str
    text: str
    loc: Loc
    called: str


def conditions(spec: Spec, dataset: str) -> Iterator[Condition]:
    """Yield the conditions on a dataset's rows: its own, and those of slices where it is evaluated."""
    own, role = spec.datasets[dataset].where, spec.datasets[dataset].role
    if own is not None:
        yield Condition("where", own, ("datasets", dataset, "where"), f"'where' of dataset '{dataset}'")
    for index, slicing in enumerate(spec.slices or () if role == "evaluate" else ()):
        expression = slicing.expression
        if expression is not None:
            called = f"'where' of slice '{expression.name}' of dataset '{dataset}'"
            yield Condition(f"slice {expression.name}", expression.where, ("slices", index, "where"), called)


def _names(schema: Mapping[str, pl.DataType]) -> Mapping[str, str]:
    return MappingProxyType({name: str(kind) for name, kind in schema.items()})
