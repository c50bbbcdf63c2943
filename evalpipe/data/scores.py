"""Scores of items read from logs of tools and from tables, and checked; `score_items` brings them together."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.constants import LARGEST, USAGE
from evalpipe.base.digests import file_sha256
from evalpipe.base.lazy_polars import pl
from evalpipe.data.files import find, read, schema
from evalpipe.data.formats import SEPARATORS
from evalpipe.data.query_rows import held_rows
from evalpipe.data.rows import no_rows_problem
from evalpipe.data.score_items import KEYS, NO_VALUE, ReadScores, bring_together
from evalpipe.data.values import Unreadable, infer_type, numbers, shown, texts, typed
from evalpipe.errors import DataError, Problem
from evalpipe.plan.datasets import unreadable
from evalpipe.plan.sources import DataTable
from evalpipe.statistics.ranked_lists import OF_QUERIES, RankedLists
from evalpipe.words.spelling import closest, counted, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalpipe.base.origin import Loc, Origin
    from evalpipe.data.query_rows import DatabaseOf
    from evalpipe.plan.sources import Format, ScoresOfModel, ScoreSource

NO_RELEVANT = "no relevant document"
"""Why a query has no score."""
MOST_RELEVANT = 1000
"""The largest relevance: an exponential gain is 2 to it."""


def look_at_scores(
    places: Origin, source: ScoreSource, frame: pl.DataFrame | None = None, database_of: DatabaseOf | None = None
) -> tuple[DataTable, dict[str, pl.DataType]] | list[Problem]:
    """Read the scores of a source, or of a frame; return the table with the types of its columns, or the problems."""
    try:
        scores = _from_logs(places, source) if source.tool is not None and frame is None else _from_table(
            places, source, frame, database_of)
        table = bring_together(places, source, scores)
    except DataError as error:
        return list(error.problems)
    types = {**table.frame.schema, **dict.fromkeys(scores.unreadable, pl.Binary())}
    names = MappingProxyType({name: str(kind) for name, kind in types.items()})
    return DataTable(source, "scores", (), names, (), table.frame.height, scores=table,
                     unreadable=scores.unreadable), types


def _from_logs(places: Origin, source: ScoreSource) -> ReadScores:
    """Return the scores in the logs of a tool; raises DataError."""
    from evalpipe.data.logs import read_logs
    from evalpipe.data.logs.reading import USED

    assert source.tool is not None  # noqa: S101 - known to the caller
    root, names = places.folder_of(*source.loc), list[str]()
    for path in source.paths:
        located = find(places, source.at(path), "scores")
        if isinstance(located, Problem):
            raise DataError(located)
        names += [shown_path for _, shown_path in located.files]
    logs = read_logs(source.tool, list(dict.fromkeys(map(_as_path, names))), root)
    table = logs.table
    entries = {model.name: _entries_of_model(places, source, model, table) for model in source.models}
    faults = [fault for fault in entries.values() if isinstance(fault, Problem)]
    if faults:
        raise DataError(*faults)
    rows_of = {name: rows for name, rows in entries.items() if isinstance(rows, pl.DataFrame)}
    judge = [pl.col("scorer").alias("judge")] if any(len(model.scorer or ()) > 1 for model in source.models) else []
    models = {name: rows.select(*KEYS, *judge).with_columns(_usage(places, source, model, rows, rows["score"]))
              for model in source.models for name, rows in rows_of.items() if name == model.name}
    tasks = {name: str(rows["task"][0]) for name, rows in rows_of.items()}
    task = next(iter(tasks.values()))
    other = next((name for name in tasks if tasks[name] != task), None)
    if other is not None:
        message = (f"the model '{other}' is of the task {quoted(tasks[other])}, and '{next(iter(tasks))}' of "
                   f"{quoted(task)}")
        raise DataError(Problem("tasks-differ", message, places.place("models", other, "log"),
                              "items are paired by their ids: make a dataset of each task"))
    table = table.filter(pl.col("task") == task)
    metadata = [name for name in table.columns if name not in ("model", "task", "epoch", "scorer", "score", "missing",
                                                                  *USED)]
    used = {run.file: run for run in logs.facts}
    rows = {name: sum(run.samples for run in logs.facts if run.file == name) for name in used}
    files = tuple((name, run.sha256, rows[name]) for name, run in used.items())
    return ReadScores(MappingProxyType(models), table.select(metadata), files, logs.facts)


def _as_path(name: str) -> Path:
    """Return a file's name as a path."""
    from pathlib import Path

    return Path(name)


def _entries_of_model(
    places: Origin, source: ScoreSource, model: ScoresOfModel, table: pl.DataFrame
) -> pl.DataFrame | Problem:
    """Return the rows of a model in the table of logs, of one task and its scorers; or why they are not to be told."""
    loc = ("models", model.name, "log")
    entries = table
    for key, named in (("model", model.log_model), ("task", model.task), ("scorer", model.scorer)):
        present = entries[key].unique(maintain_order=True).to_list()
        if named is not None:
            names = [named] if isinstance(named, str) else list(named)
            name = next((name for name in names if name not in present), None)
            if name is not None:
                message = f"the logs of {source.called} have no {key} called {quoted(name)}" + (
                    "" if key == "model" else f" for the model '{model.name}'")
                guess = closest(name, present)
                hint = f"did you mean '{guess}'?" if guess else f"they have {listed(present[:12], 'and')}"
                return Problem("unknown-in-log", message, places.place(*loc, key), hint)
            entries = entries.filter(pl.col(key).is_in(names))
        elif len(present) > 1:
            message = (f"the logs of {source.called} have {counted(len(present), key)} for the model '{model.name}': "
                       f"{listed(list(map(str, present[:6])), 'and')}")
            return Problem("several-in-log", message, places.place(*loc) or places.place("models", model.name),
                           f"name one under 'log', as in {{model: {model.log_model}, {key}: {present[0]}}}")
    return entries


def _from_table(
    places: Origin, source: ScoreSource, frame: pl.DataFrame | None, database_of: DatabaseOf | None
) -> ReadScores:
    """Return the scores in a wide or a long table, in files, of a query or in memory; raises DataError."""
    files: tuple[tuple[str | None, str | None, int], ...] = ()
    form: Format = "memory"
    unreadable_types: Mapping[str, str] = MappingProxyType({})
    if frame is not None:
        files = ((None, None, frame.height),)
    elif source.query is not None and database_of is not None:
        frame, sha256, unreadable_types = held_rows(places, source.query, database_of(source.query))
        files = ((source.path, sha256, frame.height),)
    else:
        frame, files, form = _read_files(places, source)
    of_long = zip(source.long or (), ("model", "score"), strict=False)
    keys: list[tuple[str | None, Loc]] = [
        (source.item, ("item",)), (source.epoch, ("epoch",)), (source.judge, ("judge",)),
        *((column, ("datasets", source.dataset, "long", key)) for column, key in of_long),
        *((model.column, _loc(model)) for model in source.models),
        *((model.relevance, (*_loc(model)[:-1], "relevance")) for model in source.models),
        *((column, ("models", model.name, "usage", use)) for model in source.models
          for use, column in model.usage.items())]
    named = {column: loc for column, loc in keys if column is not None}
    absent = [(column, loc) for column, loc in named.items() if column not in frame.columns]
    if absent:
        table = DataTable(source, "scores", (), unreadable=unreadable_types)
        raise DataError(*(unreadable(places, table, column, loc) if column in unreadable_types else
                        _no_column(places, source, column, loc, frame) for column, loc in absent))
    if not frame.height:
        raise DataError(no_rows_problem(source.called, source, places, places.place(*source.loc)))
    item = (pl.int_range(1, frame.height + 1, eager=True).cast(pl.String).alias("item") if source.item is None
            else _names(places, source, "item", frame[source.item]))
    judge = [] if source.judge is None else [_names(places, source, "judge", frame[source.judge])]
    epoch = (pl.repeat(1, frame.height, dtype=pl.Int64, eager=True) if source.epoch is None
             else _whole_numbers(places, source, frame[source.epoch])).alias("epoch")
    of_models = [column for model in source.models for column in (model.column, model.relevance, *model.usage.values())]
    used = {*filter(None, (source.epoch, *(source.long or ()), *of_models))}
    metadata = [column for column in frame.columns if column not in used and column != source.item]
    items = frame.select(metadata).with_columns(item.alias("item")) if metadata else pl.DataFrame([item])
    if source.of is not None:
        lists = {model.name: _ranked(places, source, model, frame, item) for model in source.models}
        return ReadScores(MappingProxyType(_scores_of_queries(source, lists, item)), items, files, (), form,
                       tuple(frame.columns), MappingProxyType(lists), unreadable_types)
    models = {}
    for model in source.models:
        score, where = _column_of_model(places, source, model, frame)
        rows = pl.DataFrame([item, epoch, score.alias("score"), *judge]).with_columns(
            pl.when(pl.col("score").is_null()).then(pl.lit(NO_VALUE)).alias("missing")).filter(where)
        models[model.name] = rows.with_columns(_usage(places, source, model, frame.filter(where), rows["score"]))
    return ReadScores(MappingProxyType(models), items, files, (), form, tuple(frame.columns),
                      unreadable=unreadable_types)


def _usage(
    places: Origin, source: ScoreSource, model: ScoresOfModel, rows: pl.DataFrame, score: pl.Series
) -> list[pl.Series]:
    """Return what the epochs of a model used, as numbers [n] in columns named by `USAGE`; raises DataError.

    They may be missing where the ``score`` [n] is missing and is left out.
    """
    uses, is_left_out = [], score.is_null() & (source.scale.missing == "leave_out")
    for use, column in model.usage.items():
        loc = ("models", model.name, "usage", use)
        if column not in rows.columns:  # of a log
            raise DataError(_no_column(places, source, column, loc, rows))
        amounts = _numbers_of(places, source, column, loc, rows)
        is_number = amounts.is_between(0, LARGEST).fill_null(value=False)
        wrong = len(amounts) - int((is_number | is_left_out).sum())
        if wrong:
            message = (f"column '{column}' of {source.called} has {counted(wrong, 'row')} of the model '{model.name}' "
                       "without a number from 0")
            raise DataError(Problem("bad-usage", message, places.place(*loc), "say for each row what was used"))
        uses.append(amounts.alias(USAGE + use))
    return uses


def _names(places: Origin, source: ScoreSource, key: str, column: pl.Series) -> pl.Series:
    """Return the names [n] of items, or of judges, as ``key`` says; raises DataError."""
    try:
        names = texts(column).alias(key)
    except Unreadable as fault:
        message = f"column '{column.name}' of {source.called} {fault.reason}"
        raise DataError(Problem(fault.code, message, places.place(key), fault.hint)) from None
    if names.null_count():
        message = f"{counted(names.null_count(), 'row')} of {source.called} {_have(names.null_count())} no {key}"
        place, hint = places.place(key), f"give each row the name of its {key}"
        raise DataError(Problem("missing-item", message, place, hint) if key == "item" else
                      Problem("missing-judge", message, place, hint))
    return names


def _loc(model: ScoresOfModel) -> Loc:
    """Return the keys that name the column of a model's scores in a wide table."""
    return ("models", model.name, "score") if model.relevance is None else ("models", model.name, "ranking", "score")


def _ranked(
    places: Origin, source: ScoreSource, model: ScoresOfModel, frame: pl.DataFrame, query: pl.Series
) -> RankedLists:
    """Return a model's ranked lists of documents, of all queries in the order of their names; raises DataError."""
    loc = (*_loc(model)[:-1], "relevance")
    score, relevance = (_numbers_of(places, source, column, keys, frame)
                        for column, keys in ((model.column, _loc(model)), (model.relevance, loc)))
    wrong = relevance.filter(~relevance.is_between(0, MOST_RELEVANT))
    if len(wrong):
        message = (f"column '{model.relevance}' of {source.called} has a relevance of {wrong[0]:g}, and one is from 0 "
                   f"to {MOST_RELEVANT:,}")
        raise DataError(Problem("score-range", message, places.place(*loc), "write no judgement as an empty cell"))
    codes = (query.rank("dense") - 1).to_numpy().astype(np.intp)
    empty = (column.fill_null(np.nan).to_numpy() for column in (relevance, score))
    return RankedLists.of(codes, *empty)


def _scores_of_queries(
    source: ScoreSource, lists: Mapping[str, RankedLists], query: pl.Series
) -> dict[str, pl.DataFrame]:
    """Return the score of each query by model, with `KEYS`, by the measure that is one; null without relevant ones."""
    assert source.of is not None  # noqa: S101 - known to the caller
    measure, options = source.of
    names = query.unique().sort().alias("item")
    return {name: pl.DataFrame([names]).with_columns(
        pl.lit(1, pl.Int64).alias("epoch"),
        pl.Series("score", OF_QUERIES[measure](of_model, **options)).fill_nan(None)).with_columns(
        pl.when(pl.col("score").is_null()).then(pl.lit(NO_RELEVANT)).alias("missing"))
        for name, of_model in lists.items()}


def _have(count: int) -> str:
    """Return "has" for one and "have" for more."""
    return "has" if count == 1 else "have"


def _no_column(places: Origin, source: ScoreSource, column: str, loc: Loc, frame: pl.DataFrame) -> Problem:
    """Return the problem of a column that a table lacks."""
    guess = closest(column, frame.columns)
    hint = f"did you mean '{guess}'?" if guess else f"name one of the columns of {source.called}"
    return Problem("missing-column", f"{source.called} has no column '{column}'", places.place(*loc), hint,
                   notes=(f"its columns: {', '.join(frame.columns[:12])}",))


def _read_files(
    places: Origin, source: ScoreSource
) -> tuple[pl.DataFrame, tuple[tuple[str | None, str | None, int], ...], Format]:
    """Return all columns of the files of a table, in the types that their values have, what was read, the format."""
    located = find(places, source)
    if isinstance(located, Problem):
        raise DataError(located)
    parts: list[pl.DataFrame] = []
    files: list[tuple[str | None, str | None, int]] = []
    for path, shown_path in located.files:
        try:
            columns = list(schema(path, shown_path, located.format, source.csv))
            part, blank = read(path, shown_path, located.format, source.csv, columns, ())
            sha256 = file_sha256(path)
        except Unreadable as fault:
            raise DataError(fault.problem(shown_path, places.place(*source.loc))) from None
        if blank:
            part = part.filter(~pl.int_range(part.height, eager=True).is_in(list(blank)))
        parts.append(part)
        files.append((shown_path, sha256, part.height))
    try:
        frame = pl.concat(parts, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise DataError(Problem("columns-differ", f"the files of {source.called} have different columns",
                              places.place(*source.loc), "all files of a dataset must have the same columns")) from None
    if located.format not in SEPARATORS:
        return frame, tuple(files), located.format
    kinds = {name: source.csv.types.get(name) or infer_type(frame[name], source.csv.decimal).type
             for name in frame.columns}
    texts_kept = (source.item, source.judge, *(source.long or ())[:1])
    typed_columns = [typed(frame[name], kind, source.csv.decimal).alias(name) for name, kind in kinds.items()
                     if name not in texts_kept]
    return frame.with_columns(typed_columns), tuple(files), located.format


def _whole_numbers(places: Origin, source: ScoreSource, column: pl.Series) -> pl.Series:
    """Return the numbers of epochs [n]; raises DataError where they are none."""
    try:
        values = numbers(column, as_text=True)
    except Unreadable:
        values = pl.Series([None] * len(column), dtype=pl.Float64)
    if values.null_count() or (values != values.floor()).any():
        message = f"column '{column.name}' of {source.called} has epochs that are no whole numbers"
        raise DataError(Problem("bad-epoch", message, places.place("epoch"), "number the epochs of an item from 1"))
    return values.cast(pl.Int64)


def _column_of_model(
    places: Origin, source: ScoreSource, model: ScoresOfModel, frame: pl.DataFrame
) -> tuple[pl.Series, pl.Series]:
    """Return the scores of a model [n], null where missing, and which rows are the model's: all of a wide table."""
    column = model.column if source.long is None else source.long[1]
    loc = ("models", model.name, "score") if source.long is None else ("datasets", source.dataset, "long", "score")
    score = _numbers_of(places, source, column, loc, frame)
    if source.long is None:
        return score, pl.repeat(value=True, n=frame.height, eager=True)
    where = (texts(frame[source.long[0]]) == model.log_model).fill_null(value=False)
    if not where.any():
        present = texts(frame[source.long[0]]).drop_nulls().unique(maintain_order=True).to_list()
        guess = closest(str(model.log_model), present)
        message = f"column '{source.long[0]}' of {source.called} has no model called {quoted(str(model.log_model))}"
        raise DataError(Problem("unknown-in-log", message, places.place("models", model.name, "log", "model"),
                              f"did you mean '{guess}'?" if guess else f"it has {listed(present[:12], 'and')}"))
    return score, where


def _numbers_of(
    places: Origin, source: ScoreSource, column: str | None, loc: Loc, frame: pl.DataFrame
) -> pl.Series:
    """Return the numbers of a column that the spec names at ``loc``, null where a cell is empty; raises DataError."""
    assert column is not None  # noqa: S101 - a rule requires it
    try:
        score = numbers(frame[column], as_text=True).fill_nan(None)
    except Unreadable as fault:
        message = f"column '{column}' of {source.called} {fault.reason}"
        raise DataError(Problem(fault.code, message, places.place(*loc), fault.hint)) from None
    if frame[column].dtype == pl.String and score.null_count() > frame[column].null_count():
        first = frame[column].filter(score.is_null() & frame[column].is_not_null())[0]
        message = f"column '{column}' of {source.called} has {shown(first)}, which is no number"
        raise DataError(Problem("not-a-number", message, places.place(*loc),
                              "write numbers, and an empty cell where there is none"))
    return score
