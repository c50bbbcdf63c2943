"""Read the rows of one dataset that meet its conditions, matched with the rows of files of predictions."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalpipe.base.digests import file_sha256
from evalpipe.base.lazy_polars import pl
from evalpipe.data.columns import FILE, POSITION, SEPARATED, TEXT_FORMATS, RowBlock, SourceFile
from evalpipe.data.condition_grammar import evaluate_condition
from evalpipe.data.files import batches, read
from evalpipe.data.prediction_files import (
    attach_predictions,
    complete_cases,
    match_rows,
    none_complete,
    split_by_step,
    split_lists,
)
from evalpipe.data.sample import FURTHER
from evalpipe.data.values import CALLED, Unreadable, are, cells, infer_type, not_of_type, quote_for_yaml, texts
from evalpipe.errors import Place, Problem
from evalpipe.words.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evalpipe.base.formats import CellType
    from evalpipe.base.origin import Origin
    from evalpipe.plan.datasets import DatasetPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.plan.sources import Fit, Source


def load(plan: Plan, dataset: DatasetPlan, frame: pl.DataFrame | None, text: Sequence[str]) -> RowBlock | list[Problem]:
    """Return the rows of a dataset that meet its ``where``, with its models' files, or the problems of reading them.

    ``frame`` are the rows in memory, if any; ``text`` the columns to read as text. Files of predictions are matched to
    the dataset before ``where`` is applied.
    """
    dataset_rows, problems = load_whole(plan, dataset, frame, text)
    files, file_problems = _prediction_files(plan, dataset, text)
    problems += file_problems
    if dataset_rows is None or problems:
        return problems
    # Before `where`, for positions are those of whole files.
    dataset_rows, problems = match_rows(dataset_rows, files)
    kept = problems or _rows_that_meet_where(dataset_rows)
    if isinstance(kept, list):
        return kept
    kept, parts, problems = split_lists(kept, files)
    if problems:
        return problems
    # After `where`: a row that does not count needs no prediction, and is not counted as lacking one.
    if plan.complete_case and dataset.role != "reference":
        kept = complete_cases(kept, parts)
        if not kept.frame.height:
            return [none_complete(plan, dataset.name)]
    kept, problems = attach_predictions(kept, parts)
    return problems or kept


def _prediction_files(
    plan: Plan, dataset: DatasetPlan, text: Sequence[str]
) -> tuple[dict[Fit, RowBlock], list[Problem]]:
    """Return the rows of the files of predictions for a dataset, by fit, and the problems of reading them."""
    files: dict[Fit, RowBlock] = {}
    problems: list[Problem] = []
    for fit, part in dataset.prediction_files.items():
        rows, faults = load_whole(plan, part, None, text)
        problems += faults
        if rows is not None and fit.is_shown:
            parts, faults = split_by_step(rows, plan.models[fit.model], evaluated=dataset.role == "evaluate")
            files |= parts
            problems += faults
        elif rows is not None:
            files[fit] = rows
    return files, problems


def load_part(
    plan: Plan, dataset: DatasetPlan, file: int, first: int, count: int | None
) -> Iterator[RowBlock | list[Problem]]:
    """Yield ``count`` rows of a file of a dataset, by its number, from row ``first`` on, in batches of the plan's size.

    A batch has the rows that meet the ``where`` and are complete, perhaps none. Its ``sources`` are without sha256, and
    count the rows read in this batch. Ends with the first problems.
    """
    types: Mapping[str, CellType | None] = MappingProxyType({})
    place = plan.places.place(*dataset.table.named.loc)
    try:
        if count is None:
            types = _column_types_of_file(plan, dataset, file)
        for frame in _row_batches(plan, dataset, file, first, count):
            sources = tuple(
                SourceFile(shown, None, frame.height if number == file else 0)
                for number, (_, shown) in enumerate(dataset.table.files))
            rows = RowBlock(plan, dataset, frame, sources, types=types, file=file)
            met = _wrong_type_problems(rows) or _rows_that_meet_where(rows, may_be_empty=True)
            yield complete_cases(met, {}) if plan.complete_case and isinstance(met, RowBlock) else met
    except Unreadable as fault:
        yield [fault.problem(dataset.table.files[file][1], place)]


def _row_batches(
    plan: Plan, dataset: DatasetPlan, file: int, first: int, count: int | None, columns: Sequence[str] = ()
) -> Iterator[pl.DataFrame]:
    """Yield ``count`` rows of a file, from ``first`` on, in batches, with their `POSITION` and without blank lines.

    The ``columns`` are read, or all of the plan where there are none. Raises Unreadable.
    """
    path, shown = dataset.table.files[file]
    text = () if plan.id is None else (plan.id,)
    arguments = (path, shown, dataset.table.format, dataset.table.named.csv, columns or list(
        dict.fromkeys((*dataset.columns, *dataset.table.where_columns, *dataset.further))), text)
    size = plan.streaming.batch or 1
    # The rows of a binary file that cannot be counted cannot be read either, which is told here.
    ranges = [(first, None)] if count is None else (
        (begin, min(size, first + count - begin)) for begin in range(first, first + count, size))
    frames = batches(*arguments) if dataset.table.format in TEXT_FORMATS else (
        read(*arguments, first=begin, count=rows) for begin, rows in ranges)
    for frame, blank_lines in frames:
        numbered = _with_positions(frame, file, first)
        # Counted from the first of these rows.
        row_numbers = numbered[POSITION] - (file * FILE + first + 1)
        kept = numbered.filter(~row_numbers.is_in(list(blank_lines))) if blank_lines else numbered
        yield kept if columns or not dataset.further else _with_further_names(kept, dataset)
        first += frame.height


def _column_types_of_file(plan: Plan, dataset: DatasetPlan, file: int) -> Mapping[str, CellType | None]:
    """Return the types of columns of conditions and slices, inferred from all rows of a file of separated text."""
    csv, table = dataset.table.named.csv, dataset.table
    if table.format not in SEPARATED:
        return MappingProxyType({})
    sliced = [column for column in plan.slices.typed if column in dataset.columns]
    untyped = [column for column in dict.fromkeys((*table.where_columns, *sliced)) if column not in csv.types]
    values: dict[str, pl.Series] = {}
    for frame in _row_batches(plan, dataset, file, 0, None, untyped) if untyped else ():
        for column in untyped:
            known_values = values.get(column, frame[column].clear())
            new_values = frame[column].unique(maintain_order=True)
            values[column] = pl.concat([known_values, new_values]).unique(maintain_order=True)
    types = {column: infer_type(cells, csv.decimal).type for column, cells in values.items()}
    return MappingProxyType(types | {column: csv.types[column] for column in (*table.where_columns, *sliced)
                                    if column in csv.types})


def load_candidates(plan: Plan, dataset: DatasetPlan) -> RowBlock | list[Problem]:
    """Return the rows of the table of candidates that meet its ``where``, or the problems of reading them."""
    rows, problems = load_whole(plan, dataset, None, ())
    return problems if rows is None else _rows_that_meet_where(rows)


def load_whole(
    plan: Plan, dataset: DatasetPlan, frame: pl.DataFrame | None, text: Sequence[str]
) -> tuple[RowBlock | None, list[Problem]]:
    """Return all rows of a dataset's files, or of ``frame``, before any condition; None, and problems, if unreadable.

    ``text`` are the columns to read as text.
    """
    named_at = plan.places.place(*dataset.table.named.loc)
    columns = list(dict.fromkeys((*dataset.columns, *dataset.table.where_columns, *dataset.compared)))
    parts: list[pl.DataFrame] = []
    sources: list[SourceFile] = []
    problems: list[Problem] = []
    for path, shown_path in dataset.table.files:
        try:
            part, source = _read_with_further(dataset, path, shown_path, columns, text, len(sources))
        except Unreadable as fault:
            problems.append(fault.problem(shown_path, named_at))
        else:
            parts.append(part)
            sources.append(source)
    scores = dataset.table.scores
    if scores is not None:
        parts.append(_with_positions(scores.frame.select(*columns, *map(_as_further, dataset.further)), 0))
        sources += [SourceFile(shown, sha256, rows) for shown, sha256, rows in scores.files]
    elif frame is not None:
        parts.append(_with_positions(frame.select(*columns, *map(_as_further, dataset.further)), 0))
        sources.append(SourceFile(None, None, frame.height))
    if problems:
        return None, problems
    try:
        joined = _concatenated(parts, dataset)
    except pl.exceptions.PolarsError:
        message = f"the files of {dataset.table.named.called} hold different types in the same column"
        hint = "write each column with one type in all files"
        kinds = {name: sorted({str(part[name].dtype) for part in parts}) for name in parts[0].columns}
        notes = tuple(f"column '{name}': {', '.join(types)}" for name, types in kinds.items() if len(types) > 1)
        return None, [Problem("types-differ", message, named_at, hint, notes=notes)]
    rows = RowBlock(plan, dataset, joined, tuple(sources))
    problems = _wrong_type_problems(rows)
    return (None, problems) if problems else (replace(rows, types=_column_types(rows)), [])


def _column_types(rows: RowBlock) -> Mapping[str, CellType | None]:
    """Return the declared or inferred types of columns of conditions, slices and residuals, in separated text."""
    csv, table = rows.dataset.table.named.csv, rows.dataset.table
    if table.format not in SEPARATED:
        return MappingProxyType({})
    residuals = () if rows.plan.residuals is None else [column for _, column in rows.plan.residuals.columns]
    typed_columns = (*table.where_columns, *rows.plan.slices.typed, *residuals)
    columns = [column for column in typed_columns if column in rows.frame.columns]
    return MappingProxyType({
        column: csv.types[column] if column in csv.types else infer_type(rows.frame[column], csv.decimal).type
        for column in columns
    })


def _wrong_type_problems(rows: RowBlock) -> list[Problem]:
    """Return the problems of cells that are not of the type declared for their column."""
    problems: list[Problem] = []
    source = rows.dataset.table.named
    for column, declared_type in source.csv.types.items():
        if column not in rows.frame.columns or declared_type == "text":
            continue
        wrong = not_of_type(rows.frame[column], declared_type, source.csv.decimal)
        if wrong.any():
            message = f"{cells(wrong)} of column '{column}' of {source.called} {are(wrong)} not {CALLED[declared_type]}"
            hint = ("correct the type or the cells; a text that means a missing value is declared, as in csv: "
                    f"{{null: {{{quote_for_yaml(column)}: [NA]}}}}")
            loc = (*source.csv_loc, "types", column)
            problems.append(rows.problem("not-of-type", message, loc, hint, mask=wrong, values=rows.frame[column]))
    return problems


def _with_further_names(frame: pl.DataFrame, dataset: DatasetPlan) -> pl.DataFrame:
    """Rename the columns ``dataset.further``, which only checks read, so that they clash with no other column."""
    named = {*dataset.columns, *dataset.table.where_columns, *dataset.compared}
    return frame.with_columns(map(_as_further, dataset.further)).drop(
        column for column in dataset.further if column not in named)


def _as_further(column: str) -> pl.Expr:
    """Return a column that only checks read, renamed with the prefix `FURTHER`."""
    return pl.col(column).alias(FURTHER + column)


def _read_with_further(
    dataset: DatasetPlan, path: Path, shown_path: str, columns: Sequence[str], text: Sequence[str], number: int
) -> tuple[pl.DataFrame, SourceFile]:
    """Read ``columns`` of a file and those that only checks read; the latter are left out where unreadable.

    ``number`` is that of the file in its dataset. Raises Unreadable.
    """
    try:
        wanted = list(dict.fromkeys((*columns, *dataset.further)))
        part, source = _read_file(dataset, path, shown_path, wanted, text, number)
        return _with_further_names(part, dataset), source
    except Unreadable:
        if not dataset.further:
            raise
        return _read_file(dataset, path, shown_path, columns, text, number)


def _read_file(
    dataset: DatasetPlan, path: Path, shown_path: str, columns: Sequence[str], text: Sequence[str], number: int
) -> tuple[pl.DataFrame, SourceFile]:
    """Read columns of the file of a ``number`` in its dataset, without blank lines; raises Unreadable."""
    try:
        sha256 = dataset.table.contents[number] if dataset.table.contents else file_sha256(path)
    except OSError as error:
        raise Unreadable("unreadable-file", (error.strerror or str(error)).lower()) from None
    part, blank_lines = read(path, shown_path, dataset.table.format, dataset.table.named.csv, columns, text)
    part = _with_positions(part, number)  # before blank lines go, so that messages count rows as the file does
    if blank_lines:
        part = part.filter(~(part[POSITION] - number * FILE - 1).is_in(list(blank_lines)))
    return part, SourceFile(shown_path, sha256, part.height)


def _with_positions(frame: pl.DataFrame, number: int, before: int = 0) -> pl.DataFrame:
    """Add the column `POSITION`: the file's ``number`` times `FILE`, plus the row number in the file, from 1.

    In the file ``before`` rows come before those of ``frame``.
    """
    first = number * FILE + before + 1
    return frame.with_columns(pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(POSITION))


def _concatenated(parts: Sequence[pl.DataFrame], dataset: DatasetPlan) -> pl.DataFrame:
    """Concatenate the files of a dataset; a column whose type differs is text in all, unless all types are numeric."""
    if len(parts) == 1:
        return parts[0]
    in_all = [name for name in parts[0].columns if all(name in part.columns for part in parts)]
    parts = [part.select(in_all) for part in parts]
    further = [name for name in in_all if name.startswith(FURTHER)]
    kinds = {name: {part[name].dtype for part in parts} - {pl.Null()} for name in (*dataset.columns, *further)}
    mixed = [name for name, types in kinds.items() if len(types) > 1 and not all(kind.is_numeric() for kind in types)]
    # Lists of whole numbers and of others go together; beside anything else they are told by polars.
    mixed = [name for name in mixed if not any(kind.is_nested() for kind in kinds[name])]
    converted = [part.with_columns(texts(part[name]).alias(name) for name in mixed) for part in parts]
    return pl.concat(converted, how="vertical_relaxed")


def _rows_that_meet_where(rows: RowBlock, *, may_be_empty: bool = False) -> RowBlock | list[Problem]:
    """Keep the rows that meet ``where``, and add a column of flags for the condition of each slice.

    A problem when no row is left, unless ``may_be_empty``.
    """
    if rows.frame.height == 0 and not may_be_empty:
        return [no_rows_problem(rows.called, rows.dataset.table.named, rows.plan.places, rows.place)]
    conditions = _rows_that_meet_conditions(rows)
    if isinstance(conditions, list):
        return conditions
    flags = conditions.pop("where", None)
    # Names with a NUL, which no column of a file should have, are evalpipe's: positions, rows of other files.
    hidden = [name for name in rows.frame.columns if name.startswith("\0")]
    frame = rows.frame.select([*rows.dataset.columns, *hidden]).with_columns(
        column.fill_null(value=False).alias(f"\0{name}") for name, column in conditions.items())
    if flags is None:
        return replace(rows, frame=frame, unknown=_unknown_counts(conditions))
    # Of slices, only the rows that are left are counted as unknown.
    unknown = _unknown_counts({"where": flags} | {name: column.filter(flags) for name, column in conditions.items()})
    if not flags.any() and not may_be_empty:
        place = rows.plan.places.place(*next(entry.loc for entry in rows.dataset.conditions if entry.key == "where"))
        return [none_meets_where(rows.called, place, rows.frame.height, unknown["where"])]
    return replace(rows, frame=frame.filter(flags), unknown=unknown)


def _unknown_counts(flags: Mapping[str, pl.Series]) -> Mapping[str, int]:
    """Return the number of rows for which each condition is null, so unknown."""
    return MappingProxyType({name: column.null_count() for name, column in flags.items()})


def no_rows_problem(called: str, named: Source, places: Origin, place: Place | None) -> Problem:
    """Return the problem of a file without rows at a ``place``, or of a query that returns none."""
    if named.query is not None:
        hint = "check its conditions and 'parameters', and whether the rows are there yet"
        return Problem("no-rows", f"the query of {called} returns no rows", places.place(*named.loc), hint)
    return Problem("no-rows", f"{called} has no rows", place, "write it again: it has names of columns, and no row")


def none_meets_where(called: str, place: Place | None, read: int, unknown: int) -> Problem:
    """Return the problem that no row meets ``where``: ``read`` rows were read, for ``unknown`` it is unknown."""
    notes = [f"{counted(read, 'row')} {'was' if read == 1 else 'were'} read"]
    if unknown:
        notes.append(f"in {unknown:,} of them a value that it needs is missing")
    return Problem("no-rows-left", f"no row of {called} meets its 'where'", place, "check the values it compares with",
                   notes=tuple(notes))


def _rows_that_meet_conditions(rows: RowBlock) -> dict[str, pl.Series] | list[Problem]:
    """Return flags [n] of rows that meet "where" and each "slice <name>", null where unknown; or problems."""
    frame = pl.DataFrame([rows.typed(column) for column in rows.dataset.table.where_columns])
    flags: dict[str, pl.Series] = {}
    problems: list[Problem] = []
    for condition in rows.dataset.conditions:
        try:
            flags[condition.key] = evaluate_condition(frame if frame.width else rows.frame, condition.text)
        except Unreadable as fault:
            place = rows.plan.places.place(*condition.loc)
            problems.append(Problem(fault.code, f"{condition.called} {fault.reason}", place, fault.hint))
    return problems or flags
