"""The catalog of a spec's datasets, made without reading their rows: files, formats, columns, fits of a model."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.values import Unreadable
from evalpipe.errors import DataError, Problem, SpecError
from evalpipe.plan.sources import BootstrapSource, Catalog, DataTable, FitSource, QuerySource, ScoreSource
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.origin import Origin
    from evalpipe.data.files import Found
    from evalpipe.data.query_rows import DatabaseOf
    from evalpipe.errors import Place
    from evalpipe.plan.sources import Condition, DatasetSource, Source, Sources


FEWEST_FITS = 2
"""The fewest fits that have a spread."""


def split_fits(table: DataTable, kind: type[FitSource] = FitSource) -> tuple[DataTable, ...]:
    """Split the table of a file pattern into a table for each file, which holds the predictions of one fit.

    ``kind`` is the class of the tables' sources. The tables are in the order of the files' names.
    """
    from evalpipe.data.formats import rows

    source = table.named
    return tuple(
        replace(table, named=kind(source.dataset, source.model, shown, source.loc, source.csv),
                files=((path, shown),), rows=rows(path, table.format, source.csv))
        for path, shown in table.files)


def single_fit_problem(places: Origin, table: DataTable) -> Problem:
    """Return the problem that a file pattern, which is to name several fits of a model, matches a single file."""
    source, file = table.named, table.files[0][1]
    message = (f"{source.path} matches 1 file, {file}, but a pattern under 'predictions' names several fits of the "
               f"model '{source.model}', at least {FEWEST_FITS}")
    hint = "check the pattern; or name the file itself, or a folder where its files hold the rows of one fit"
    if "optimism" in source.loc:
        message = (f"{source.path} is 1 file, {file}, but the optimism of model '{source.model}' is a mean over "
                   f"several bootstrap fits, at least {FEWEST_FITS}")
        hint = "name a pattern or a folder with a file for each bootstrap fit"
    return Problem("single-fit", message, places.place(*source.loc), hint)


def uneven_fits(sources: Sources, refits: Mapping[tuple[str, str], tuple[DataTable, ...]]) -> Iterator[Problem]:
    """Yield a problem for each model whose number of fits differs between datasets: fits are matched by order."""
    models = dict.fromkeys(model for _, model in refits)
    for model in models:
        locs = {name: declared.predictions[model].loc for name, declared in sources.datasets.items()
                 if model in declared.predictions}
        counts = {name: 1 + len(refits.get((name, model), ())) for name in locs}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{count} for '{name}'" for name, count in counts.items())
            message = f"the model '{model}' has not as many fits for each dataset: {listed}"
            hint = "give the predictions of the same fits for every dataset, in files whose names sort alike"
            yield Problem("uneven-fits", message, sources.places.place(*next(iter(locs.values()))), hint)


if TYPE_CHECKING:
    Schema = dict[str, pl.DataType]


def look(sources: Sources, frames: Mapping[str, pl.DataFrame] | None = None) -> Catalog:
    """Return the catalog of a spec: files, columns and number of rows of each dataset and prediction file.

    ``frames`` are datasets in memory, by name. Files that are missing or cannot be read are among the catalog's
    problems. Raises SpecError with every fault of the spec.
    """
    from evalpipe.data.query_rows import databases_of

    tables, predictions = dict[str, DataTable](), dict[tuple[str, str], DataTable]()
    refits: dict[tuple[str, str], tuple[DataTable, ...]] = {}
    wrong_spec = list[Problem]()
    bootstrap, wrong_data = _look_at_bootstrap_fits(sources)
    candidates = None
    with databases_of(sources.places) as database_of:
        for name, dataset in sources.datasets.items():
            table, faults, data_faults = _look_at_rows(sources, dataset, (frames or {}).get(name), database_of)
            wrong_spec += faults
            wrong_data += data_faults
            if table is not None:
                tables[name] = table
            wrong_data += _look_at_predictions(sources.places, dataset, predictions, refits)
    wrong_data += uneven_fits(sources, refits)
    wrong_spec += [fault for table in predictions.values() for fault in csv_faults(sources.places, table)]
    if sources.candidates is not None:
        candidates, faults, data_faults = _look_at_rows(sources, sources.candidates, None, None)
        wrong_spec += faults
        wrong_data += data_faults
    # Faults of the data wait in the catalog, to be told together with the columns that the data lack.
    if wrong_spec:
        raise SpecError(*wrong_spec)
    return Catalog(
        MappingProxyType(tables), tuple(wrong_data), MappingProxyType(predictions), candidates,
        MappingProxyType(refits), MappingProxyType(bootstrap))


def _look_at_rows(
    sources: Sources, dataset: DatasetSource, frame: pl.DataFrame | None, database_of: DatabaseOf | None
) -> tuple[DataTable | None, list[Problem], list[Problem]]:
    """Return the table of a dataset or of candidates, None where it cannot be read, problems of the spec and of data.

    ``frame`` are the rows of a dataset in memory; ``database_of`` opens that of a query of scores, which is read here.
    """
    looked_at: tuple[DataTable, Schema] | list[Problem]
    if isinstance(dataset.source, ScoreSource):
        from evalpipe.data.scores import look_at_scores

        looked_at = look_at_scores(sources.places, dataset.source, frame, database_of)
    elif frame is None:
        looked_at = _look_at_source(sources.places, dataset.source)
    else:
        table = DataTable(dataset.source, "memory", (), _type_names(frame.schema), (), frame.height)
        looked_at = table, dict(frame.schema)
    if isinstance(looked_at, list):
        return None, [], looked_at
    faults, columns, data_faults = _check_conditions(sources, dataset.conditions, *looked_at)
    wrong_spec = [*csv_faults(sources.places, looked_at[0]), *faults]
    return replace(looked_at[0], where_columns=columns), wrong_spec, data_faults


def _look_at_source(places: Origin, source: Source) -> tuple[DataTable, Schema] | list[Problem]:
    """Return the table of a dataset in files or of a query, with its columns' types; or problems."""
    from evalpipe.data.files import find
    from evalpipe.data.formats import rows

    if isinstance(source, QuerySource):
        from evalpipe.data.query_rows import describe_query

        try:
            return describe_query(places, source)
        except DataError as error:
            return list(error.problems)
    located = find(places, source)
    if isinstance(located, Problem):
        return [located]
    schemas, problems = _schemas(places, source, located)
    if problems:
        return problems
    counts = [rows(path, located.format, source.csv) for path, _ in located.files]
    total = None if None in counts else sum(count or 0 for count in counts)
    schema = next(iter(schemas.values()))
    return DataTable(source, located.format, located.files, _type_names(schema), (), total), schema


def _look_at_predictions(
    places: Origin, dataset: DatasetSource, tables: dict[tuple[str, str], DataTable],
    refits: dict[tuple[str, str], tuple[DataTable, ...]],
) -> list[Problem]:
    """Add a dataset's prediction files to ``tables``, and its further fits to ``refits``; return problems.

    Both are by dataset and model.
    """
    from evalpipe.data.files import is_pattern

    problems: list[Problem] = []
    for model, source in dataset.predictions.items():
        key, looked_at = (dataset.name, model), _look_at_source(places, source)
        if isinstance(looked_at, list):
            problems += looked_at
        elif not is_pattern(places, source):
            tables[key] = looked_at[0]
        elif len(looked_at[0].files) < FEWEST_FITS:
            problems.append(single_fit_problem(places, looked_at[0]))
        else:
            tables[key], *other_fits = split_fits(looked_at[0])
            refits[key] = tuple(other_fits)
    return problems


def _look_at_bootstrap_fits(sources: Sources) -> tuple[dict[tuple[str, str], tuple[DataTable, ...]], list[Problem]]:
    """Return the tables of bootstrap fits, by dataset and model, and the problems of their files."""
    tables: dict[tuple[str, str], tuple[DataTable, ...]] = {}
    problems: list[Problem] = []
    for name, dataset in sources.datasets.items():
        for model, source in dataset.bootstrap.items():
            looked_at = _look_at_source(sources.places, source)
            if isinstance(looked_at, list):
                problems += looked_at
            elif len(looked_at[0].files) < FEWEST_FITS:
                problems.append(single_fit_problem(sources.places, looked_at[0]))
            else:
                tables[name, model] = split_fits(looked_at[0], BootstrapSource)
    return tables, problems


def _schemas(places: Origin, source: Source, located: Found) -> tuple[dict[str, Schema], list[Problem]]:
    """Return the columns of each file, by its path, and problems of files that are unreadable or lack a column."""
    from evalpipe.data.files import schema

    named_at = places.place(*source.loc)
    schemas: dict[str, Schema] = {}
    problems: list[Problem] = []
    for path, shown in located.files:
        try:
            schemas[shown] = schema(path, shown, located.format, source.csv)
        except Unreadable as fault:
            problems.append(fault.problem(shown, named_at))
    # From the last file to the first, so that the first file that has a column is the one that is named.
    first_file_with = {column: shown for shown in reversed(schemas) for column in schemas[shown]}
    for shown, columns in schemas.items():
        lacking = [column for column in first_file_with if column not in columns]
        if lacking:
            message = f"{shown} has no column '{lacking[0]}', which {first_file_with[lacking[0]]} has"
            hint = "all files of a dataset must have the same columns"
            problems.append(Problem("columns-differ", message, named_at, hint))
    return schemas, problems


def _check_conditions(
    sources: Sources, conditions: Sequence[Condition], table: DataTable, schema: Schema
) -> tuple[list[Problem], tuple[str, ...], list[Problem]]:
    """Check the conditions on a dataset, its ``where`` and those of slices.

    Returns problems of the spec, the columns that conditions mention, and problems of reading these.
    """
    from evalpipe.data.condition_grammar import condition_faults, mentioned_columns

    mentioned = {column for condition in conditions for column in mentioned_columns(condition.text, schema)}
    columns = tuple(column for column in schema if column in mentioned)
    types, why, data_faults = _separated_types(table, columns, sources.places.place(*table.named.loc))
    if data_faults:
        return [], columns, data_faults
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
    """Return inferred types of columns of separated text, reasons why some with numbers are text, and problems."""
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
    """Yield the problems of the keys under ``csv``, given the format and the columns of a table."""
    from evalpipe.data.formats import SEPARATORS

    source = table.named
    csv, place = source.csv, places.place(*source.csv_loc)
    scores = table.scores  # of which a table is made of columns of a file, and has others
    form, names = (table.format, [*table.columns]) if scores is None else (scores.format, [*scores.file_columns])
    if csv.encoding is not None and form not in SEPARATORS:
        message = f"'encoding' is declared for {source.called}, whose format is {form}"
        yield Problem("not-csv", message, places.place(*source.csv_loc[:-1], "encoding"),
                      "remove it: it says how the text of csv and tsv files is encoded")
    if not csv.declared:
        return
    if form not in SEPARATORS:
        message = f"'csv' is declared for {source.called}, whose format is {form}"
        yield Problem("not-csv", message, place, "remove it: it says how csv and tsv files are written")
        return
    by_column: tuple[tuple[str, str, Mapping[str, object]], ...] = (
        ("types", "gives a type to", csv.types),
        ("null", "says what is missing in", {} if isinstance(csv.null, tuple) else csv.null))
    for key, says, columns in by_column:
        for column in (column for column in columns if column not in names):
            close = closest(column, names)
            hint = f"did you mean '{close}'?" if close else f"the columns are {', '.join(names[:12])}"
            column_place = places.place(*source.csv_loc, key, column)
            message = f"'csv' of {source.called} {says} the column '{column}', which the data do not have"
            yield Problem("unknown-column", message, column_place or place, hint)


def _type_names(schema: Mapping[str, pl.DataType]) -> Mapping[str, str]:
    """Return the types of columns as texts, by column."""
    return MappingProxyType({name: str(kind) for name, kind in schema.items()})
