"""Scores of items from logs and tables, brought together: a row for each item, and a few numbers of each model in it.

The epochs of an item become their number, their mean, the squares about it, and how many succeed and agree. Items that
a model lacks are left out for all models, so that all are compared on the same items.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.constants import LARGEST
from evalpipe.base.digests import file_sha256
from evalpipe.base.lazy_polars import pl
from evalpipe.data.files import find, read, schema
from evalpipe.data.formats import SEPARATORS
from evalpipe.data.query_rows import held_rows
from evalpipe.data.rows import no_rows_problem
from evalpipe.data.values import SHOWN, Unreadable, infer_type, more, numbers, shown, texts, typed
from evalpipe.errors import DataError, Problem
from evalpipe.plan.datasets import score_columns, unreadable
from evalpipe.plan.sources import DataTable, ScoreTable
from evalpipe.statistics.ranked_lists import OF_QUERIES, Queries, RankedLists
from evalpipe.words.spelling import closest, counted, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.base.origin import Loc, Origin
    from evalpipe.data.query_rows import DatabaseOf
    from evalpipe.plan.sources import LogFacts, ScoresOfModel, ScoreSource

KEYS = ["item", "epoch", "score", "missing"]
"""The columns of the scores of one model: texts, numbers, numbers or null, and why a score is missing or null."""
NO_VALUE = "no value"
"""Why a score is missing in a table, which does not say more."""
NO_RELEVANT = "no relevant document"
"""Why a query has no score."""
MOST_RELEVANT = 1000
"""The largest relevance: an exponential gain is 2 to it."""


class _Faults(Exception):  # noqa: N818 - problems on their way to `read_scores`
    """Raised with the problems of a source, which ends reading it."""

    def __init__(self, *problems: Problem) -> None:
        """Keep the problems."""
        super().__init__(*problems)
        self.problems = list(problems)


@dataclass(frozen=True, slots=True)
class _Scores:
    """What was read: the scores of each model by its name, with `KEYS`, and the columns of items.

    ``items`` has the column "item" and those that the source has beside; a row for each score. ``unreadable`` are the
    types of columns of a query that cannot be read.
    """

    models: Mapping[str, pl.DataFrame]
    items: pl.DataFrame
    files: tuple[tuple[str | None, str | None, int], ...]
    runs: tuple[LogFacts, ...] = ()
    lists: Mapping[str, RankedLists] = field(default_factory=lambda: MappingProxyType({}))
    """By model, the ranked lists of all queries in the order of their names, where items are queries."""
    unreadable: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


def look_at_scores(
    places: Origin, source: ScoreSource, frame: pl.DataFrame | None = None, database_of: DatabaseOf | None = None
) -> tuple[DataTable, dict[str, pl.DataType]] | list[Problem]:
    """Read the scores of a source, or of a frame; return the table with the types of its columns, or the problems."""
    try:
        scores = _from_logs(places, source) if source.tool is not None and frame is None else _from_table(
            places, source, frame, database_of)
        table = _brought_together(places, source, scores)
    except _Faults as faults:
        return faults.problems
    types = {**table.frame.schema, **dict.fromkeys(scores.unreadable, pl.Binary())}
    names = MappingProxyType({name: str(kind) for name, kind in types.items()})
    return DataTable(source, "scores", (), names, (), table.frame.height, scores=table,
                     unreadable=scores.unreadable), types


def _from_logs(places: Origin, source: ScoreSource) -> _Scores:
    """Return the scores in the logs of a tool; raises _Faults."""
    from evalpipe.data.logs import read_logs

    assert source.tool is not None  # noqa: S101 - known to the caller
    root, names = places.folder_of(*source.loc), list[str]()
    for path in source.paths:
        located = find(places, source.at(path), "scores")
        if isinstance(located, Problem):
            raise _Faults(located)
        names += [shown_path for _, shown_path in located.files]
    try:
        logs = read_logs(source.tool, list(dict.fromkeys(map(_as_path, names))), root)
    except DataError as error:
        raise _Faults(*error.problems) from None
    table = logs.table
    entries = {model.name: _entries_of_model(places, source, model, table) for model in source.models}
    faults = [fault for fault in entries.values() if isinstance(fault, Problem)]
    if faults:
        raise _Faults(*faults)
    rows_of = {name: rows for name, rows in entries.items() if isinstance(rows, pl.DataFrame)}
    models = {name: rows.select(KEYS) for name, rows in rows_of.items()}
    tasks = {name: str(rows["task"][0]) for name, rows in rows_of.items()}
    task = next(iter(tasks.values()))
    other = next((name for name in tasks if tasks[name] != task), None)
    if other is not None:
        message = (f"the model '{other}' is of the task {quoted(tasks[other])}, and '{next(iter(tasks))}' of "
                   f"{quoted(task)}")
        raise _Faults(Problem("tasks-differ", message, places.place("models", other, "log"),
                              "items are paired by their ids: make a dataset of each task"))
    table = table.filter(pl.col("task") == task)
    metadata = [name for name in table.columns if name not in ("model", "task", "epoch", "scorer", "score", "missing")]
    used = {run.file: run for run in logs.facts}
    rows = {name: sum(run.samples for run in logs.facts if run.file == name) for name in used}
    files = tuple((name, run.sha256, rows[name]) for name, run in used.items())
    return _Scores(MappingProxyType(models), table.select(metadata), files, logs.facts)


def _as_path(name: str) -> Path:
    """Return a file's name as a path."""
    from pathlib import Path

    return Path(name)


def _entries_of_model(
    places: Origin, source: ScoreSource, model: ScoresOfModel, table: pl.DataFrame
) -> pl.DataFrame | Problem:
    """Return the rows of a model in the table of logs, of one task and one scorer; or why they are not to be told."""
    loc = ("models", model.name, "log")
    entries = table
    for key, name in (("model", model.log_model), ("task", model.task), ("scorer", model.scorer)):
        present = entries[key].unique(maintain_order=True).to_list()
        if name is not None:
            if name not in present:
                message = f"the logs of {source.called} have no {key} called {quoted(name)}" + (
                    "" if key == "model" else f" for the model '{model.name}'")
                guess = closest(name, present)
                names = listed(list(map(str, present[:12])), "and")
                hint = f"did you mean '{guess}'?" if guess else f"they have {names}"
                return Problem("unknown-in-log", message, places.place(*loc, key), hint)
            entries = entries.filter(pl.col(key) == name)
        elif len(present) > 1:
            message = (f"the logs of {source.called} have {counted(len(present), key)} for the model '{model.name}': "
                       f"{listed(list(map(str, present[:6])), 'and')}")
            return Problem("several-in-log", message, places.place(*loc) or places.place("models", model.name),
                           f"name one under 'log', as in {{model: {model.log_model}, {key}: {present[0]}}}")
    return entries


def _from_table(
    places: Origin, source: ScoreSource, frame: pl.DataFrame | None, database_of: DatabaseOf | None
) -> _Scores:
    """Return the scores in a wide or a long table, in files, of a query or in memory; raises _Faults."""
    files: tuple[tuple[str | None, str | None, int], ...] = ()
    unreadable_types: Mapping[str, str] = MappingProxyType({})
    if frame is not None:
        files = ((None, None, frame.height),)
    elif source.query is not None and database_of is not None:
        try:
            frame, sha256, unreadable_types = held_rows(places, source.query, database_of(source.query))
        except DataError as error:
            raise _Faults(*error.problems) from None
        files = ((source.path, sha256, frame.height),)
    else:
        frame, files = _read_files(places, source)
    of_long = zip(source.long or (), ("model", "score"), strict=False)
    keys: list[tuple[str | None, Loc]] = [
        (source.item, ("item",)), (source.epoch, ("epoch",)),
        *((column, ("datasets", source.dataset, "long", key)) for column, key in of_long),
        *((model.column, _loc(model)) for model in source.models),
        *((model.relevance, (*_loc(model)[:-1], "relevance")) for model in source.models)]
    named = {column: loc for column, loc in keys if column is not None}
    absent = [(column, loc) for column, loc in named.items() if column not in frame.columns]
    if absent:
        table = DataTable(source, "scores", (), unreadable=unreadable_types)
        raise _Faults(*(unreadable(places, table, column, loc) if column in unreadable_types else
                        _no_column(places, source, column, loc, frame) for column, loc in absent))
    if not frame.height:
        raise _Faults(no_rows_problem(source.called, source, places, places.place(*source.loc)))
    item = (pl.int_range(1, frame.height + 1, eager=True).cast(pl.String) if source.item is None
            else texts(frame[source.item])).alias("item")
    if item.null_count():
        message = f"{counted(item.null_count(), 'row')} of {source.called} {_have(item.null_count())} no item"
        raise _Faults(Problem("missing-item", message, places.place("item"), "give each row the name of its item"))
    epoch = (pl.repeat(1, frame.height, dtype=pl.Int64, eager=True) if source.epoch is None
             else _whole_numbers(places, source, frame[source.epoch])).alias("epoch")
    of_models = [column for model in source.models for column in (model.column, model.relevance)]
    used = {*filter(None, (source.epoch, *(source.long or ()), *of_models))}
    metadata = [column for column in frame.columns if column not in used and column != source.item]
    items = frame.select(metadata).with_columns(item.alias("item")) if metadata else pl.DataFrame([item])
    if source.of is not None:
        lists = {model.name: _ranked(places, source, model, frame, item) for model in source.models}
        return _Scores(MappingProxyType(_scores_of_queries(source, lists, item)), items, files,
                       lists=MappingProxyType(lists), unreadable=unreadable_types)
    columns = {model.name: _column_of_model(places, source, model, frame) for model in source.models}
    models = {name: pl.DataFrame([item, epoch, score.alias("score")]).with_columns(
        pl.when(pl.col("score").is_null()).then(pl.lit(NO_VALUE)).alias("missing")).filter(where)
        for name, (score, where) in columns.items()}
    return _Scores(MappingProxyType(models), items, files, unreadable=unreadable_types)


def _loc(model: ScoresOfModel) -> Loc:
    """Return the keys that name the column of a model's scores in a wide table."""
    return ("models", model.name, "score") if model.relevance is None else ("models", model.name, "ranking", "score")


def _ranked(
    places: Origin, source: ScoreSource, model: ScoresOfModel, frame: pl.DataFrame, query: pl.Series
) -> RankedLists:
    """Return a model's ranked lists of documents, of all queries in the order of their names; raises _Faults."""
    loc = (*_loc(model)[:-1], "relevance")
    score, relevance = (_numbers_of(places, source, column, keys, frame)
                        for column, keys in ((model.column, _loc(model)), (model.relevance, loc)))
    wrong = relevance.filter(~relevance.is_between(0, MOST_RELEVANT))
    if len(wrong):
        message = (f"column '{model.relevance}' of {source.called} has a relevance of {wrong[0]:g}, and one is from 0 "
                   f"to {MOST_RELEVANT:,}")
        raise _Faults(Problem("score-range", message, places.place(*loc), "write no judgement as an empty cell"))
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
) -> tuple[pl.DataFrame, tuple[tuple[str | None, str | None, int], ...]]:
    """Return all columns of the files of a table, in the types that their values have, and what was read."""
    located = find(places, source)
    if isinstance(located, Problem):
        raise _Faults(located)
    parts: list[pl.DataFrame] = []
    files: list[tuple[str | None, str | None, int]] = []
    for path, shown_path in located.files:
        try:
            columns = list(schema(path, shown_path, located.format, source.csv))
            part, blank = read(path, shown_path, located.format, source.csv, columns, ())
            sha256 = file_sha256(path)
        except Unreadable as fault:
            raise _Faults(fault.problem(shown_path, places.place(*source.loc))) from None
        if blank:
            part = part.filter(~pl.int_range(part.height, eager=True).is_in(list(blank)))
        parts.append(part)
        files.append((shown_path, sha256, part.height))
    try:
        frame = pl.concat(parts, how="vertical_relaxed")
    except pl.exceptions.PolarsError:
        raise _Faults(Problem("columns-differ", f"the files of {source.called} have different columns",
                              places.place(*source.loc), "all files of a dataset must have the same columns")) from None
    if located.format not in SEPARATORS:
        return frame, tuple(files)
    kinds = {name: source.csv.types.get(name) or infer_type(frame[name], source.csv.decimal).type
             for name in frame.columns}
    return frame.with_columns(
        typed(frame[name], kind, source.csv.decimal).alias(name) for name, kind in kinds.items()
        if name != source.item and (source.long is None or name != source.long[0])), tuple(files)


def _whole_numbers(places: Origin, source: ScoreSource, column: pl.Series) -> pl.Series:
    """Return the numbers of epochs [n]; raises _Faults where they are none."""
    try:
        values = numbers(column, as_text=True)
    except Unreadable:
        values = pl.Series([None] * len(column), dtype=pl.Float64)
    if values.null_count() or (values != values.floor()).any():
        message = f"column '{column.name}' of {source.called} has epochs that are no whole numbers"
        raise _Faults(Problem("bad-epoch", message, places.place("epoch"), "number the epochs of an item from 1"))
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
        raise _Faults(Problem("unknown-in-log", message, places.place("models", model.name, "log", "model"),
                              f"did you mean '{guess}'?" if guess else f"it has {listed(present[:12], 'and')}"))
    return score, where


def _numbers_of(
    places: Origin, source: ScoreSource, column: str | None, loc: Loc, frame: pl.DataFrame
) -> pl.Series:
    """Return the numbers of a column that the spec names at ``loc``, null where a cell is empty; raises _Faults."""
    assert column is not None  # noqa: S101 - a rule requires it
    try:
        score = numbers(frame[column], as_text=True).fill_nan(None)
    except Unreadable as fault:
        message = f"column '{column}' of {source.called} {fault.reason}"
        raise _Faults(Problem(fault.code, message, places.place(*loc), fault.hint)) from None
    if frame[column].dtype == pl.String and score.null_count() > frame[column].null_count():
        first = frame[column].filter(score.is_null() & frame[column].is_not_null())[0]
        message = f"column '{column}' of {source.called} has {shown(first)}, which is no number"
        raise _Faults(Problem("not-a-number", message, places.place(*loc), "a score is a number, or an empty cell"))
    return score


def _brought_together(places: Origin, source: ScoreSource, scores: _Scores) -> ScoreTable:
    """Return the table of items, after scores were checked and missing ones are settled; raises _Faults."""
    faults = [problem for name, rows in scores.models.items()
              for problem in _faults_of_model(places, source, name, rows)]
    if source.long is None and source.tool is None:  # the rows of a wide table are those of all models
        first = next((problem for problem in faults if problem.code == "repeated-item"), None)
        faults = [problem for problem in faults if problem is first or problem.code != "repeated-item"]
    faults = faults or list(_unsettled(places, source, scores))
    if faults:
        raise _Faults(*faults)
    missing = {name: _counts_by_reason(rows) for name, rows in scores.models.items()}
    settled = {name: _settle(source, rows) for name, rows in scores.models.items()}
    shared, incomplete = _shared_items(settled)
    if not shared.height:
        raise _Faults(Problem("no-shared-items", f"no item of {source.called} has a score of every model",
                              places.place(*source.loc), "check that the models were run on the same items"))
    column = source.item or "item"
    frame, varying = _item_columns(shared, scores.items, column)
    per_model = {name: _of_items(source, rows, shared) for name, rows in settled.items()}
    wins = _wins([numbers_of["score"] for numbers_of in per_model.values()], lower=source.scale.better == "lower")
    series = []
    for (name, numbers_of), won in zip(per_model.items(), wins, strict=True):
        numbers_of |= {"wins": won, "query": np.arange(shared.height, dtype=float)}
        series += [pl.Series(label, numbers_of[kind]) for kind, label in score_columns(
            name, successes=source.scale.success_from is not None, several=len(per_model) > 1,
            ranked=name in scores.lists).items()]
    return ScoreTable(
        frame.with_columns(series), tuple(frame.columns), scores.files, varying, scores.runs,
        MappingProxyType(incomplete),
        MappingProxyType({name: MappingProxyType(counts) for name, counts in missing.items() if counts}),
        MappingProxyType(_queries(source, scores, shared["item"])))


def _queries(source: ScoreSource, scores: _Scores, items: pl.Series) -> dict[str, Queries]:
    """Return the ranked lists of the shared ``items`` by model; empty where items are no queries."""
    if not scores.lists:
        return {}
    names = scores.items["item"].unique().sort()
    index = np.asarray(names.search_sorted(items), np.intp)
    rule = source.scale.missing
    empty = float(rule) if isinstance(rule, int | float) else None
    return {name: Queries(lists.at(index), empty) for name, lists in scores.lists.items()}


def _faults_of_model(places: Origin, source: ScoreSource, name: str, rows: pl.DataFrame) -> Iterator[Problem]:
    """Yield the problems of a model's scores: the same epoch twice, numbers that are none, or outside the range."""
    twice = rows.filter(pl.struct("item", "epoch").is_duplicated())
    if twice.height:
        first = twice.row(0, named=True)
        if source.epoch is None and source.tool is None:
            message = f"{source.called} has several scores of the model '{name}' for the item {quoted(first['item'])}"
            hint = "name the column that numbers them under 'epoch'"
        else:
            message = (f"{source.called} has two scores of the model '{name}' for epoch {first['epoch']} of the item "
                       f"{quoted(first['item'])}")
            hint = "number the epochs of an item from 1, each once"
        yield Problem("repeated-item", message, places.place(*source.loc), hint)
    low, high = source.scale.range or (-LARGEST, LARGEST)
    wrong = rows.filter(~pl.col("score").is_between(low, high))
    if wrong.height:
        worst = [f"item {quoted(item)}: {score:g}"
                 for item, score in wrong.select("item", "score").head(SHOWN).iter_rows()]
        within = f"outside the range {low:g} to {high:g}" if source.scale.range else "no finite number"
        scores = f"{counted(wrong.height, 'score')} of the model '{name}'"
        message = f"{scores} in {source.called} {_are(wrong.height)} {within}"
        place = places.place("score", "range") or places.place(*source.loc)
        yield Problem("score-range", message, place, "correct the range or the scores",
                      notes=(*worst, *more(wrong.height)))


def _are(count: int) -> str:
    """Return "is" for one and "are" for more."""
    return "is" if count == 1 else "are"


def _counts_by_reason(rows: pl.DataFrame) -> dict[str, int]:
    """Return how many scores are missing, by the reason, in the order of the reasons' names."""
    counts = rows.filter(pl.col("score").is_null())["missing"].fill_null(NO_VALUE).value_counts(sort=False)
    return dict(sorted((str(reason), int(count)) for reason, count in counts.iter_rows()))


def _unsettled(places: Origin, source: ScoreSource, scores: _Scores) -> Iterator[Problem]:
    """Yield the problem of missing scores where the spec does not say what they count, or wants the run to fail."""
    rule = source.scale.missing
    if rule not in (None, "fail"):
        return
    for name, rows in scores.models.items():
        counts = _counts_by_reason(rows)
        if counts:
            total = sum(counts.values())
            reasons = joined([f"{count:,} for {reason}" for reason, count in counts.items()], "and")
            lacking = f"{counted(total, 'score')} of the model '{name}'"
            message = f"{lacking} in {source.called} {_are(total)} missing: {reasons}"
            hint = ("under 'score', 'missing: 0' counts them 0, and 'missing: leave_out' leaves them out"
                    if rule is None else "run them again, or change 'missing' under 'score'")
            yield Problem("missing-score", message, places.place("score", "missing") or places.place("score"), hint)


def _settle(source: ScoreSource, rows: pl.DataFrame) -> pl.DataFrame:
    """Return scores [item, epoch, score] without missing ones: these count a number, or are left out."""
    rule = source.scale.missing
    if isinstance(rule, int | float):
        rows = rows.with_columns(pl.col("score").fill_null(float(rule)))
    # Within an item by score, so that the order of epochs, and of rows in files, changes no last digit.
    return rows.filter(pl.col("score").is_not_null()).sort("item", "score").select("item", "score")


def _shared_items(settled: Mapping[str, pl.DataFrame]) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the items that every model has a score for, sorted, and how many items each model lacks."""
    present = {name: rows["item"].unique() for name, rows in settled.items()}
    every = pl.concat(list(present.values())).unique()
    shared = every
    for items in present.values():
        shared = shared.filter(shared.is_in(items.implode()))
    lacking = {name: len(every) - len(items) for name, items in present.items()}
    return pl.DataFrame({"item": shared.sort()}), {name: count for name, count in lacking.items() if count}


def _item_columns(
    shared: pl.DataFrame, items: pl.DataFrame, column: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the items, under the name of their column, with the columns that are the same in all rows of an item.

    Also the names of the other columns, which differ within some item.
    """
    names = [name for name in items.columns if name not in ("item", column)]
    plain = [name for name in names if not items[name].dtype.is_nested()]
    distinct = items.filter(pl.col("item").is_in(shared["item"].implode())).select("item", *plain).unique(
        maintain_order=False)
    varying = [name for name in plain if distinct.select("item", name).unique().height > shared.height]
    kept = [name for name in plain if name not in varying]
    joined = shared.join(distinct.select("item", *kept).unique(subset="item"), on="item", how="left",
                         maintain_order="left") if kept else shared
    return joined.rename({"item": column}), tuple(varying)


def _of_items(source: ScoreSource, rows: pl.DataFrame, shared: pl.DataFrame) -> dict[str, Floats]:
    """Return the numbers of each shared item [n] by kind: score, epochs, within, agreeing and successes."""
    rows = rows.filter(pl.col("item").is_in(shared["item"].implode()))
    score, codes = rows["score"].to_numpy(), rows["item"].rle_id().to_numpy()
    starts = np.flatnonzero(np.diff(codes, prepend=-1))
    epochs = np.diff(starts, append=len(score)).astype(float)
    total = np.add.reduceat(score, starts)
    # The mean of equal scores is this score, to the last digit.
    first, last = score[starts], score[starts + epochs.astype(np.intp) - 1]
    mean = np.where(first == last, first, total / epochs)
    within = np.add.reduceat((score - np.repeat(mean, epochs.astype(np.intp))) ** 2, starts)
    limit = source.scale.success_from
    success = np.zeros(len(score)) if limit is None else np.asarray(
        score <= limit if source.scale.better == "lower" else score >= limit, float)
    return {"score": mean, "epochs": epochs, "within": within, "agreeing": _equal_pairs(score, codes, starts),
            "successes": np.add.reduceat(success, starts)}


def _equal_pairs(score: Floats, codes: Wholes, starts: Wholes) -> Floats:
    """Return how many pairs of an item's epochs have equal scores, [items]; ``score`` and ``codes`` [n] are sorted."""
    runs = np.flatnonzero((np.diff(codes, prepend=-1) != 0) | (np.diff(score, prepend=np.nan) != 0))
    lengths = np.diff(runs, append=len(score)).astype(float)
    return np.asarray(np.bincount(codes[runs], lengths * (lengths - 1) / 2, len(starts)))


def _wins(scores: Sequence[Floats], *, lower: bool) -> list[Floats]:
    """Return for each model the share of the others that scored less in an item [n], ties one half."""
    sign = -1.0 if lower else 1.0
    matrix = sign * np.stack(scores)
    others = max(len(scores) - 1, 1)
    return [((row > matrix).sum(axis=0) + ((row == matrix).sum(axis=0) - 1) / 2) / others for row in matrix]
