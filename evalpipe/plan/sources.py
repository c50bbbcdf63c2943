"""Where the data are said to be: paths, queries, conditions, whose predictions; what is known before rows are read."""

from __future__ import annotations

import codecs
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalpipe.base.databases import query_sha256, query_text
from evalpipe.metrics import registry
from evalpipe.spec.datasets import Csv, LogDataset, QueryDataset
from evalpipe.tasks import SCORES

if TYPE_CHECKING:
    from collections.abc import Container, Iterator
    from pathlib import Path

    import polars as pl

    from evalpipe.base.arraytypes import Floats
    from evalpipe.base.databases import DatabaseUri
    from evalpipe.base.formats import CellType
    from evalpipe.base.levels import PeriodLength
    from evalpipe.base.origin import Loc, Origin
    from evalpipe.chapters.scores.spec import ScoreScale
    from evalpipe.errors import Problem
    from evalpipe.spec.datasets import AnyDataset
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec
    from evalpipe.statistics.ranked_lists import Queries


FitKind = Literal["shown", "step", "other", "bootstrap"]


class Fit(NamedTuple):
    """A fit of a model: the one that the card shows, another step of it, another fit, or a bootstrap fit.

    ``number`` tells fits of one kind apart: the step, or the index of its file in the order of names.
    """

    model: str
    kind: FitKind = "shown"
    number: int = 0

    @property
    def is_shown(self) -> bool:
        """Whether the card shows the predictions of this fit."""
        return self.kind == "shown"


@dataclass(frozen=True, slots=True)
class CsvPlan:
    """The format of separated text: the texts of a missing value, types of columns, and the separator.

    ``null`` are texts of all columns, or a mapping of column to its texts. ``encoding`` is None for UTF-8. ``declared``
    tells whether the spec has the key `csv`.
    """

    null: tuple[str, ...] | Mapping[str, tuple[str, ...]] = ()
    types: Mapping[str, CellType] = field(default_factory=lambda: MappingProxyType({}))
    separator: str | None = None
    decimal: Literal[".", ","] = "."
    declared: bool = False
    encoding: str | None = None

    def nulls(self, column: str) -> tuple[str, ...]:
        """Return the texts of a column that mean a missing value."""
        return self.null if isinstance(self.null, tuple) else self.null.get(column, ())


@dataclass(frozen=True, slots=True)
class Source:
    """Files that a spec names: the rows of a dataset or, with a ``model``, that model's predictions for them.

    ``path`` is the path as written in the spec, at the keys ``loc``.
    """

    dataset: str
    model: str | None
    path: str
    loc: Loc
    csv: CsvPlan

    @property
    def csv_loc(self) -> Loc:
        """The keys of the spec under which the format of separated text is declared."""
        return ("datasets", self.dataset, "csv") if self.model is None else ("models", self.model, "csv")

    @property
    def query(self) -> QuerySource | None:
        """The query that returns these rows; None of files."""
        return self if isinstance(self, QuerySource) else None

    @property
    def query_sha256(self) -> str | None:
        """The sha256 of the query's text and parameters, as a list in JSON without spaces, in UTF-8; None of files."""
        return None if self.query is None else query_sha256(self.query.written, self.query.parameters)

    @property
    def called(self) -> str:
        """The words for these rows in messages, such as "dataset 'test'"."""
        if self.model is None:
            return f"dataset '{self.dataset}'"
        return f"the file of model '{self.model}' for dataset '{self.dataset}'"


@dataclass(frozen=True, slots=True)
class QuerySource(Source):
    """A query of a database, which returns the rows of a dataset; ``path`` is a name of the database without secrets.

    ``text`` is one statement that returns rows: the spec's text, ``written``, without the semicolon that may end it.
    ``parameters`` are the values bound to its marks, ``driver`` is the ADBC driver where the scheme of the ``uri`` does
    not say, ``timeout`` the seconds that reading may take.
    """

    text: str
    written: str
    uri: DatabaseUri
    driver: str | None
    parameters: tuple[str | bool | float, ...]
    timeout: float


class ScoresOfModel(NamedTuple):
    """Where the scores of a model are: a column of a wide table, or entries of a log or of a long table by names.

    Several scorers are judges. With a column of the ``relevance``, ``column`` has scores of documents. ``usage`` has
    the columns of what an epoch used, by name.
    """

    name: str
    column: str | None
    log_model: str | None
    scorer: tuple[str, ...] | None
    task: str | None
    relevance: str | None = None
    usage: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ScoreSource(Source):
    """Scores of items: logs of a ``tool`` at ``paths``, or a table, None where it is wide, in files or of a ``query``.

    ``long`` are the columns of the model and of the score of a long table; ``item``, ``epoch`` and ``judge`` those that
    the spec names, ``scale`` what a score means; ``of`` is the measure of a ranked list that is the score of a query,
    with its options.
    """

    paths: tuple[str, ...]
    tool: str | None
    long: tuple[str, str] | None
    item: str | None
    epoch: str | None
    judge: str | None
    models: tuple[ScoresOfModel, ...]
    scale: ScoreScale
    of: tuple[str, Mapping[str, Any]] | None = None
    query: QuerySource | None = None

    def at(self, path: str) -> ScoreSource:
        """Return the source with one of its paths."""
        return replace(self, path=path)


@dataclass(frozen=True, slots=True)
class CandidatesSource(Source):
    """The files of the table of candidates."""

    @property
    def csv_loc(self) -> Loc:
        """The keys of the spec under which the format of separated text is declared."""
        return ("candidates", "csv")

    @property
    def called(self) -> str:
        """The words for these rows in messages."""
        return "the table of candidates"


@dataclass(frozen=True, slots=True)
class FitSource(Source):
    """One file of several that each hold the predictions of a fit of the same model; ``path`` is its own path."""

    @property
    def called(self) -> str:
        """The words for these rows in messages: the fit, its model and dataset."""
        return f"the fit {self.path} of model '{self.model}' for dataset '{self.dataset}'"


@dataclass(frozen=True, slots=True)
class BootstrapSource(FitSource):
    """One file of several that each hold the predictions of a fit to a bootstrap sample of the training rows."""

    @property
    def called(self) -> str:
        """The words for these rows in messages: the bootstrap fit, its model and dataset."""
        return f"the bootstrap fit {self.path} of model '{self.model}' for dataset '{self.dataset}'"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on a dataset's rows: ``key`` is "where" or "slice <name>", ``called`` what messages call it."""

    key: str
    text: str
    loc: Loc
    called: str


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """The sources of a dataset: its files or query, the conditions on its rows, and the predictions by model.

    ``bootstrap`` are, by model, the files of fits to bootstrap samples of its rows.
    """

    name: str
    source: Source
    conditions: tuple[Condition, ...]
    predictions: Mapping[str, Source]
    bootstrap: Mapping[str, Source] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def named_files(self) -> tuple[Source, ...]:
        """The files that the spec names: of the dataset, unless it is a query, of predictions, of bootstrap fits."""
        files = () if self.source.query is not None else (self.source,)
        return (*files, *self.predictions.values(), *self.bootstrap.values())


@dataclass(frozen=True, slots=True)
class Sources:
    """All datasets by name, the column of the outcome, the lines of keys in the spec, and the table of candidates."""

    datasets: Mapping[str, DatasetSource]
    outcome: str
    places: Origin
    candidates: DatasetSource | None = None


def sources(spec: Spec) -> Sources:
    """Return the sources of all data that a spec names."""
    datasets = {name: _dataset_source(spec, name) for name in spec.datasets}
    return Sources(MappingProxyType(datasets), spec.outcome.column, spec.origin, candidates_source(spec))


def named_files(draft: Draft, in_memory: Container[str]) -> Iterator[Source]:
    """Yield the files that a draft of a spec names, which may be wrong; not of the datasets that are ``in_memory``."""
    spec = draft.spec
    files_named: list[tuple[str, str | None, object, Loc]] = [
        (name, None, getattr(dataset, "path", None), (*loc, "path"))
        for loc, dataset in draft.entries(spec.datasets, "datasets") if (name := str(loc[-1])) not in in_memory]
    for model, keys in draft.models.items():
        loc: Loc = ("models", model, "predictions")
        by_dataset = keys.predictions if isinstance(keys.predictions, Mapping) else {}
        files_named += [("", model, keys.predictions, loc),
                        *((name, model, path, (*loc, name)) for name, path in by_dataset.items())]
    if spec.candidates is not None:
        files_named.append(("candidates", None, spec.candidates.path, ("candidates", "path")))
    for dataset, owner, path, loc in files_named:
        if isinstance(path, str) and path and draft.readable(*loc) and not draft.tree.secret(*loc):
            yield Source(dataset, owner, path, loc, CsvPlan())


def _dataset_source(spec: Spec, name: str) -> DatasetSource:
    """Return the sources of a dataset: its rows, their conditions, and files of predictions and bootstrap fits."""
    dataset = spec.datasets[name]
    predictions = {} if dataset.role == "reference" else {
        model: files for model in spec.models if (files := _predictions_source(spec, model, name)) is not None}
    source: Source
    if spec.task in SCORES and dataset.role != "reference":
        source = _score_source(spec, name, dataset)
    elif isinstance(dataset, QueryDataset):
        source = _query_source(spec, name, dataset)
    else:
        assert not isinstance(dataset, LogDataset)  # noqa: S101 - a rule refuses other logs
        source = Source(name, None, dataset.path, ("datasets", name, "path"), _csv_plan(dataset.csv, dataset.encoding))
    fits = {} if dataset.role != "evaluate" or not dataset.trained_on else {
        model: Source(name, model, keys.optimism.predictions, ("models", model, "optimism", "predictions"),
                      _csv_plan(keys.csv, keys.encoding))
        for model, keys in spec.models.items() if keys.optimism is not None}
    return DatasetSource(
        name, source, tuple(conditions(spec, name)), MappingProxyType(predictions), MappingProxyType(fits))


def _score_source(spec: Spec, name: str, dataset: AnyDataset) -> ScoreSource:
    """Return the source of scores of items: the logs of a tool, or a table, and where each model's scores are in it."""
    assert spec.score is not None  # noqa: S101 - a rule requires it
    models = tuple(
        ScoresOfModel(
            model, keys.score if keys.ranking is None else keys.ranking.score,
            getattr(keys.log, "model", None), getattr(keys.log, "scorer", None), getattr(keys.log, "task", None),
            None if keys.ranking is None else keys.ranking.relevance, MappingProxyType(dict(keys.usage or {})))
        for model, keys in spec.models.items())
    choice, of = spec.score.of, None
    if choice is not None:
        metric = registry[choice.metric]
        of = metric.name, MappingProxyType(metric.options(**choice.options).model_dump())
    long, tool, query = None if isinstance(dataset, LogDataset) else dataset.long, None, None
    if isinstance(dataset, LogDataset):
        paths, key, csv, tool = dataset.paths, dataset.tool, CsvPlan(), dataset.tool
    elif isinstance(dataset, QueryDataset):
        query = _query_source(spec, name, dataset)
        paths, key, csv = (query.path,), "sql", query.csv
    else:
        paths, key, csv = (dataset.path,), "path", _csv_plan(dataset.csv, dataset.encoding)
    columns = None if long is None else (long.model, long.score)
    return ScoreSource(name, None, paths[0], ("datasets", name, key), csv, paths, tool, columns, spec.item, spec.epoch,
                       spec.judge, models, spec.score, of, query)


def _query_source(spec: Spec, name: str, declared: QueryDataset) -> QuerySource:
    """Return the source of a dataset read by an SQL query: address, statement, parameters, driver and timeout."""
    uri = spec.uris[name]
    return QuerySource(
        name, model=None, path=uri.shown or str(declared.driver), loc=("datasets", name, "sql"), csv=CsvPlan(),
        text=query_text(declared.sql).body, written=declared.sql, uri=uri, driver=declared.driver,
        parameters=declared.parameters, timeout=declared.timeout)


def candidates_source(spec: Spec) -> DatasetSource | None:
    """Return the source of the table of candidates; None where the spec has none."""
    candidates = spec.candidates
    if candidates is None:
        return None
    source = CandidatesSource("candidates", None, candidates.path, ("candidates", "path"),
                              _csv_plan(candidates.csv, candidates.encoding))
    condition = () if candidates.where is None else (
        Condition("where", candidates.where, ("candidates", "where"), f"'where' of {source.called}"),)
    return DatasetSource("candidates", source, condition, MappingProxyType({}))


def _predictions_source(spec: Spec, model: str, dataset: str) -> Source | None:
    """Return the files of a model's predictions for a dataset; None where the dataset itself holds them."""
    keys = spec.models[model]
    path, loc = keys.predictions, ("models", model, "predictions")
    if path is None:
        return None
    if isinstance(path, str):
        return Source(dataset, model, path, loc, _csv_plan(keys.csv, keys.encoding))
    return Source(dataset, model, path[dataset], (*loc, dataset), _csv_plan(keys.csv, keys.encoding))


def _csv_plan(declared: Csv | None, encoding: str | None) -> CsvPlan:
    """Return the format of separated text that the keys declare, with defaults for the rest."""
    csv = declared or Csv()
    null = csv.null if isinstance(csv.null, tuple) else MappingProxyType(dict(csv.null))
    utf8 = encoding is None or codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    return CsvPlan(null, MappingProxyType(dict(csv.types)), csv.separator, csv.decimal, declared is not None,
                   None if utf8 else encoding)


def conditions(spec: Spec, dataset: str) -> Iterator[Condition]:
    """Yield the conditions on a dataset's rows: its own, and those of slices where it is evaluated."""
    where, role = spec.datasets[dataset].where, spec.datasets[dataset].role
    if where is not None:
        yield Condition("where", where, ("datasets", dataset, "where"), f"'where' of dataset '{dataset}'")
    for index, slicing in enumerate(spec.slices or () if role == "evaluate" else ()):
        expression = slicing.expression
        if expression is not None:
            called = f"'where' of slice '{expression.name}' of dataset '{dataset}'"
            yield Condition(f"slice {expression.name}", expression.where, ("slices", index, "where"), called)


Format = Literal["csv", "tsv", "parquet", "ipc", "ndjson", "memory", "query", "scores"]


@dataclass(frozen=True, slots=True)
class LogFacts:
    """What a log says of one model and task; None where it says nothing.

    ``file`` is the path as it was given, ``sha256`` that of the file. ``model_args`` has plain values alone: texts of
    at most 200 characters, and none whose name says that it is a key or a password. ``started`` and ``ended`` are as
    the log has them. ``samples`` counts items times epochs in the table, ``planned`` what the tool set out to do,
    ``errors`` the samples without any score because of an error. Tokens and ``cost``, in the log's currency, are the
    evaluated model's, without those of models that judge, where a log tells these apart. ``status`` is the tool's word.
    """

    file: str
    sha256: str
    tool: str
    version: str | None
    model: str
    model_args: Mapping[str, str | bool | float]
    task: str
    task_version: str | None
    dataset: str | None
    started: str | None
    ended: str | None
    planned: int | None
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None
    status: str | None
    samples: int = 0
    errors: int = 0


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """Scores of items as they were read: a row for each item, in the order of the items' names.

    ``frame`` has the item, its own ``columns``, and `score_columns` of each model; ``files`` are the paths as shown,
    sha256 and rows of what was read, None in memory. ``varying`` are columns that differ within an item. ``runs`` are
    what logs say of their runs; ``incomplete`` counts, by model, items that it lacks and that are left out for all;
    ``missing`` counts missing scores by model and reason; ``format`` and ``file_columns`` are those of the files of a
    table; ``queries`` are the ranked lists of models of which items are queries, in the order of the items; ``judges``
    are, by model, the mean scores of items by judge [items, judges], where answers have judges; ``unshared`` are items
    that some model lacks, with their columns and the score of each model, null where it lacks them.
    """

    frame: pl.DataFrame
    columns: tuple[str, ...]
    files: tuple[tuple[str | None, str | None, int], ...]
    varying: tuple[str, ...]
    runs: tuple[LogFacts, ...]
    incomplete: Mapping[str, int]
    missing: Mapping[str, Mapping[str, int]]
    format: Format = "scores"
    file_columns: tuple[str, ...] = ()
    queries: Mapping[str, Queries] = field(default_factory=lambda: MappingProxyType({}))
    judges: Mapping[str, Floats] = field(default_factory=lambda: MappingProxyType({}))
    unshared: pl.DataFrame | None = None


@dataclass(frozen=True, slots=True)
class DataTable:
    """The files and columns of one dataset, or of one model's predictions for it.

    ``files`` are the files in the order they are read, with the path shown to people (as the spec gives it, relative to
    the spec); ``columns`` the names and polars type names, such as ``String``; ``where_columns`` the columns that the
    dataset's ``where`` and the conditions of slices mention; ``rows`` the rows before ``where``, None where it is
    costly to know.
    Of a query there are no ``files`` before its rows are stored, and then ``contents``: the sha256 of its rows, in
    place of that of a file's bytes. ``scores`` are those of items, of which rows are made when they are looked at.
    ``unreadable`` are the columns whose type cannot be read, with that type.
    """

    named: Source
    format: Format
    files: tuple[tuple[Path, str], ...]
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    where_columns: tuple[str, ...] = ()
    rows: int | None = None
    contents: tuple[str, ...] = ()
    scores: ScoreTable | None = field(default=None, repr=False, compare=False)
    unreadable: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def shown_columns(self) -> tuple[str, ...]:
        """The columns that a spec may name: of scores those of items."""
        return tuple(self.columns) if self.scores is None else self.scores.columns

    @property
    def is_in_memory(self) -> bool:
        """Whether its rows are in memory before any is read."""
        return self.format in ("memory", "scores")

    @property
    def shown_files(self) -> list[str]:
        """The paths of its files as messages show them; of a query the name of the database."""
        return [self.named.path] if self.format == "query" else [shown for _, shown in self.files]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tables of data that could be read, and the problems of the others.

    ``tables`` are the datasets by name; ``predictions`` the files of models' predictions, by dataset and model,
    ``refits`` the files of the other fits of a model by the same, in the order of their names, ``candidates`` the
    table of candidates; ``bootstrap`` the files of fits to bootstrap samples, by dataset and model.
    """

    tables: Mapping[str, DataTable]
    problems: tuple[Problem, ...] = ()
    predictions: Mapping[tuple[str, str], DataTable] = field(default_factory=lambda: MappingProxyType({}))
    candidates: DataTable | None = None
    refits: Mapping[tuple[str, str], tuple[DataTable, ...]] = field(default_factory=lambda: MappingProxyType({}))
    bootstrap: Mapping[tuple[str, str], tuple[DataTable, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """A column that slices are by: its levels, the intervals between ``cuts``, ascending, of its numbers, or periods.

    Periods of its dates are as long as ``by`` says.
    """

    column: str
    cuts: tuple[float, ...] = ()
    by: PeriodLength | None = None


@dataclass(frozen=True, slots=True)
class SlicingPlan:
    """One way to slice: the ``columns`` that are combined, or the rows that meet a condition, which has none."""

    title: str
    columns: tuple[ColumnPlan, ...]
    condition: str | None
