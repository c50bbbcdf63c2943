"""What can be known of the datasets without reading their rows: files, formats, columns, and the fits of a model."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.problems import Unreadable
from evalpipe.errors import DataError, Problem, SpecError
from evalpipe.plan.sources import BootstrapSource, FitSource, QuerySource
from evalpipe.plan.table import Catalog, DataTable
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.origin import Origin
    from evalpipe.data.files import Found
    from evalpipe.errors import Place
    from evalpipe.plan.sources import Condition, DatasetSource, Source, Sources


FEWEST_FITS = 2
"""The fewest fits that have a spread."""


def split_fits(table: DataTable, kind: type[FitSource] = FitSource) -> tuple[DataTable, ...]:
    """Return a table for each file of a pattern, in the order of their names; ``kind`` says of which fits."""
    from evalpipe.data.formats import rows

    named = table.named
    return tuple(
        replace(table, named=kind(named.dataset, named.model, shown, named.loc, named.csv),
                files=((path, shown),), rows=rows(path, table.format, named.csv))
        for path, shown in table.files)


def single_fit(places: Origin, table: DataTable) -> Problem:
    """Report a pattern that a single file matches."""
    named, file = table.named, table.files[0][1]
    message = (f"{named.path} matches 1 file, {file}, but a pattern under 'predictions' names several fits of the "
               f"model '{named.model}', at least {FEWEST_FITS}")
    hint = "check the pattern; or name the file itself, or a folder where its files hold the rows of one fit"
    if "optimism" in named.loc:
        message = (f"{named.path} is 1 file, {file}, but the optimism of model '{named.model}' is a mean over several "
                   f"bootstrap fits, at least {FEWEST_FITS}")
        hint = "name a pattern or a folder with a file for each bootstrap fit"
    return Problem("single-fit", message, places.place(*named.loc), hint)


def uneven_fits(sources: Sources, refits: Mapping[tuple[str, str], tuple[DataTable, ...]]) -> Iterator[Problem]:
    """Report models with another number of fits for one dataset than for another: fits go by the order of names."""
    models = dict.fromkeys(model for _, model in refits)
    for model in models:
        named = {name: declared.predictions[model].loc for name, declared in sources.datasets.items()
                 if model in declared.predictions}
        counts = {name: 1 + len(refits.get((name, model), ())) for name in named}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{count} for '{name}'" for name, count in counts.items())
            message = f"the model '{model}' has not as many fits for each dataset: {listed}"
            hint = "give the predictions of the same fits for every dataset, in files whose names sort alike"
            yield Problem("uneven-fits", message, sources.places.place(*next(iter(named.values()))), hint)


if TYPE_CHECKING:
    Schema = dict[str, pl.DataType]


def look(sources: Sources, frames: Mapping[str, pl.DataFrame] | None = None) -> Catalog:
    """Look at every dataset and file of predictions: files, columns, conditions and number of rows, in their order.

    ``frames`` are datasets held in memory, by name. Files that are missing or cannot be read are among the catalog's
    problems. Raises SpecError with every fault of the spec.
    """
    tables, predictions = dict[str, DataTable](), dict[tuple[str, str], DataTable]()
    refits: dict[tuple[str, str], tuple[DataTable, ...]] = {}
    wrong_spec = list[Problem]()
    bootstrap, wrong_data = _look_at_bootstrap_fits(sources)
    candidates = None
    for name, declared in sources.datasets.items():
        table, faults, broken = _look_at_rows(sources, declared, (frames or {}).get(name))
        wrong_spec += faults
        wrong_data += broken
        if table is not None:
            tables[name] = table
        wrong_data += _look_at_predictions(sources.places, declared, predictions, refits)
    wrong_data += uneven_fits(sources, refits)
    wrong_spec += [fault for table in predictions.values() for fault in csv_faults(sources.places, table)]
    if sources.candidates is not None:
        candidates, faults, broken = _look_at_rows(sources, sources.candidates, None)
        wrong_spec += faults
        wrong_data += broken
    # Faults of the data wait in the catalog, to be told together with the columns that the data lack.
    if wrong_spec:
        raise SpecError(*wrong_spec)
    return Catalog(
        MappingProxyType(tables), tuple(wrong_data), MappingProxyType(predictions), candidates,
        MappingProxyType(refits), MappingProxyType(bootstrap))


def _look_at_rows(
    sources: Sources, declared: DatasetSource, frame: pl.DataFrame | None
) -> tuple[DataTable | None, list[Problem], list[Problem]]:
    """Look at the rows of a dataset or of candidates; None where they cannot be, with all faults."""
    looked_at: tuple[DataTable, Schema] | list[Problem]
    if frame is None:
        looked_at = _look_at_source(sources.places, declared.source)
    else:
        table = DataTable(declared.source, "memory", (), _type_names(frame.schema), (), frame.height)
        looked_at = table, dict(frame.schema)
    if isinstance(looked_at, list):
        return None, [], looked_at
    faults, columns, broken = _check_conditions(sources, declared.conditions, *looked_at)
    wrong_spec = [*csv_faults(sources.places, looked_at[0]), *faults]
    return replace(looked_at[0], where_columns=columns), wrong_spec, broken


def _look_at_source(places: Origin, named: Source) -> tuple[DataTable, Schema] | list[Problem]:
    """Return what is known of a dataset in files, and the types of its columns; or why it cannot be read."""
    from evalpipe.data.files import find
    from evalpipe.data.formats import rows

    if isinstance(named, QuerySource):
        from evalpipe.data.sql.query_rows import describe_query

        try:
            return describe_query(places, named)
        except DataError as error:
            return list(error.problems)
    located = find(places, named)
    if isinstance(located, Problem):
        return [located]
    schemas, problems = _schemas(places, named, located)
    if problems:
        return problems
    counts = [rows(path, located.format, named.csv) for path, _ in located.files]
    total = None if None in counts else sum(count or 0 for count in counts)
    schema = next(iter(schemas.values()))
    return DataTable(named, located.format, located.files, _type_names(schema), (), total), schema


def _look_at_predictions(
    places: Origin, declared: DatasetSource, tables: dict[tuple[str, str], DataTable],
    refits: dict[tuple[str, str], tuple[DataTable, ...]],
) -> list[Problem]:
    """Look at the files of predictions for a dataset, and at those of other fits; add them, and return the problems."""
    from evalpipe.data.files import is_pattern

    problems: list[Problem] = []
    for model, named in declared.predictions.items():
        key, looked_at = (declared.name, model), _look_at_source(places, named)
        if isinstance(looked_at, list):
            problems += looked_at
        elif not is_pattern(places, named):
            tables[key] = looked_at[0]
        elif len(looked_at[0].files) < FEWEST_FITS:
            problems.append(single_fit(places, looked_at[0]))
        else:
            tables[key], *further = split_fits(looked_at[0])
            refits[key] = tuple(further)
    return problems


def _look_at_bootstrap_fits(sources: Sources) -> tuple[dict[tuple[str, str], tuple[DataTable, ...]], list[Problem]]:
    """Look at the files of fits to bootstrap samples of the rows that models were fitted to."""
    tables: dict[tuple[str, str], tuple[DataTable, ...]] = {}
    problems: list[Problem] = []
    for name, declared in sources.datasets.items():
        for model, named in declared.bootstrap.items():
            looked_at = _look_at_source(sources.places, named)
            if isinstance(looked_at, list):
                problems += looked_at
            elif len(looked_at[0].files) < FEWEST_FITS:
                problems.append(single_fit(sources.places, looked_at[0]))
            else:
                tables[name, model] = split_fits(looked_at[0], BootstrapSource)
    return tables, problems


def _schemas(places: Origin, named: Source, located: Found) -> tuple[dict[str, Schema], list[Problem]]:
    """Read the columns of every file; a problem for each file that cannot be read or lacks a column of the others."""
    from evalpipe.data.files import schema

    named_at = places.place(*named.loc)
    schemas: dict[str, Schema] = {}
    problems: list[Problem] = []
    for path, shown in located.files:
        try:
            schemas[shown] = schema(path, shown, located.format, named.csv)
        except Unreadable as fault:
            problems.append(fault.problem(shown, named_at))
    # From the last file to the first, so that the first file that has a column is the one that is named.
    holder = {column: shown for shown in reversed(schemas) for column in schemas[shown]}
    for shown, columns in schemas.items():
        lacking = [column for column in holder if column not in columns]
        if lacking:
            message = f"{shown} has no column '{lacking[0]}', which {holder[lacking[0]]} has"
            hint = "all files of a dataset must have the same columns"
            problems.append(Problem("columns-differ", message, named_at, hint))
    return schemas, problems


def _check_conditions(
    sources: Sources, conditions: Sequence[Condition], table: DataTable, schema: Schema
) -> tuple[list[Problem], tuple[str, ...], list[Problem]]:
    """Check the conditions on a dataset, its own and those of slices.

    Returns the faults of the spec, the columns that conditions mention, and why these cannot be read.
    """
    from evalpipe.data.where import condition_faults, mentioned_columns

    used = {column for condition in conditions for column in mentioned_columns(condition.text, schema)}
    columns = tuple(column for column in schema if column in used)
    types, why, broken = _separated_types(table, columns, sources.places.place(*table.named.loc))
    if broken:
        return [], columns, broken
    problems: list[Problem] = []
    for condition in conditions:
        place = sources.places.place(*condition.loc)
        problems += [Problem(fault.code, f"{condition.called} {fault.reason}", place, fault.hint)
                     for fault in condition_faults(condition.text, schema | types, why)]
        # A slice by the outcome holds rows of one level alone, on which no measure means what it says.
        if condition.key != "where" and sources.outcome in mentioned_columns(condition.text, schema):
            message = f"{condition.called} names the outcome's column '{sources.outcome}'"
            hint = "slice by what is known before the outcome is"
            problems.append(Problem("outcome-as-slice", message, place, hint))
    return problems, columns, []


def _separated_types(
    table: DataTable, columns: tuple[str, ...], named_at: Place | None
) -> tuple[Schema, dict[str, str], list[Problem]]:
    """Tell the types of columns of separated text, why one is text though it holds numbers, and what is broken."""
    from evalpipe.data.files import read
    from evalpipe.data.formats import SEPARATORS
    from evalpipe.data.values import infer_type, typed

    csv = table.named.csv
    if table.format not in SEPARATORS or not columns:
        return {}, {}, []
    # All rows are read: a text in the last of them makes the whole column text.
    parts: list[pl.DataFrame] = []
    for path, shown in table.files:
        try:
            parts.append(read(path, shown, table.format, csv, columns, ())[0])
        except Unreadable as fault:
            return {}, {}, [fault.problem(shown, named_at)]
    types: Schema = {}
    why: dict[str, str] = {}
    for column in pl.concat(parts):
        guess = infer_type(column, csv.decimal)
        # An empty column is enough to tell the type, without reading the cells again.
        types[column.name] = typed(column.clear(), csv.types.get(column.name, guess.type), csv.decimal).dtype
        if guess.why is not None and column.name not in csv.types:
            why[column.name] = guess.why
    return types, why, []


def csv_faults(places: Origin, table: DataTable) -> Iterator[Problem]:
    """Yield what is wrong with the keys under ``csv`` for the files that were found."""
    from evalpipe.data.formats import SEPARATORS

    named = table.named
    csv, place = named.csv, places.place(*named.csv_loc)
    if csv.encoding is not None and table.format not in SEPARATORS:
        message = f"'encoding' is declared for {named.called}, whose format is {table.format}"
        yield Problem("not-csv", message, places.place(*named.csv_loc[:-1], "encoding"),
                      "remove it: it says how the text of csv and tsv files is encoded")
    if not csv.declared:
        return
    if table.format not in SEPARATORS:
        message = f"'csv' is declared for {named.called}, whose format is {table.format}"
        yield Problem("not-csv", message, place, "remove it: it says how csv and tsv files are written")
        return
    by_column: tuple[tuple[str, str, Mapping[str, object]], ...] = (
        ("types", "gives a type to", csv.types),
        ("null", "says what is missing in", {} if isinstance(csv.null, tuple) else csv.null))
    for key, says, columns in by_column:
        for column in (column for column in columns if column not in table.columns):
            close = closest(column, table.columns)
            hint = f"did you mean '{close}'?" if close else f"the columns are {', '.join(list(table.columns)[:12])}"
            at = places.place(*named.csv_loc, key, column)
            message = f"'csv' of {named.called} {says} the column '{column}', which the data do not have"
            yield Problem("unknown-column", message, at or place, hint)


def _type_names(schema: Mapping[str, pl.DataType]) -> Mapping[str, str]:
    return MappingProxyType({name: str(kind) for name, kind in schema.items()})
