"""The keys of a dataset: rows in files, how separated text is written, or rows that a query of a database returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, StrictBool, StrictFloat, StrictStr, Tag

from evalpipe.base.formats import CellType
from evalpipe.base.records import UNWRITTEN
from evalpipe.spec.field_types import (
    AnyOf,
    ColumnName,
    Encoding,
    Excludes,
    FilePath,
    Number,
    OneOrMore,
    Sparse,
    SpecPart,
)

NullTexts = Annotated[
    Annotated[tuple[StrictStr, ...], Tag("texts")]
    | Annotated[dict[ColumnName, tuple[StrictStr, ...]], Tag("texts by column")],
    Discriminator(lambda value: "texts by column" if isinstance(value, Mapping) else "texts"),
    AnyOf(),
]
"""Texts that mean a missing value: those of all columns, or a mapping of column to its own."""


class Csv(SpecPart):
    """How csv and tsv files are written."""

    null: NullTexts = ()
    """The texts that mean a missing value: a list for all columns, as `[NA]`, or a mapping of column to list, as
    `{age: [NA, "-99"]}`. An empty cell is missing in any case; with `""` a quoted empty one is too. Every other text is
    a value: the code `NA` of a country stays a level unless it is declared for its column."""
    types: dict[ColumnName, CellType] = Field(default_factory=dict)
    """The type of each column that its values do not determine: `text`, `number`, `integer`, `boolean` (true and
    false, in capitals or not), `date` (2024-12-31) or `datetime` (2024-12-31 23:59:00, without a zone). A value that
    is not of its type is an error."""
    separator: Literal[",", ";", "\t", "|"] | None = None
    """What separates the cells: a comma in csv files, a tab in tsv files, where not given."""
    decimal: Literal[".", ","] = "."
    """What separates the decimals of numbers. Where commas separate the cells too, numbers with a decimal comma stand
    in quotes: `"0,42"`."""


USUAL_TIMEOUT, LONGEST_TIMEOUT = 600.0, 86_400.0
"""The seconds that reading may take where the spec does not say, and the most that it may say: a day."""


class FilesPart(SpecPart):
    """Where rows in files are."""

    path: FilePath
    """A file, a folder or a glob, relative to the file it is written in: csv, csv.gz, tsv, parquet, ipc/feather,
    ndjson."""


class QueryPart(SpecPart):
    """Which rows a database is asked for."""

    sql: Annotated[StrictStr, Field(min_length=1)]
    """One statement that reads rows: `SELECT …`, `WITH … SELECT …`, `VALUES …` or `TABLE …`. Only the columns that
    are needed are asked for. See [SQL sources](sql.md)."""
    uri: Annotated[StrictStr, Field(min_length=1)]
    """Where the database is: `postgresql://user@host/database`, or `sqlite:///scores.db`, relative to the file it is
    written in. What may hold a password comes from the environment, as `${env:DATABASE_URL}`; it is read when a
    connection is made, and stands in no output."""
    driver: Annotated[StrictStr, Field(pattern=r"^[a-z][a-z0-9_]*$")] | None = None
    """The ADBC driver of another database: `duckdb` for the installed Python package `adbc_driver_duckdb`. Without
    this key the scheme of the URI says which."""
    parameters: tuple[StrictStr | StrictBool | Number, ...] = ()
    """Values that the driver binds to the marks of the query, `$1`, `$2`, … of PostgreSQL, `?` of SQLite: they are
    never pasted into its text."""
    timeout: Annotated[StrictFloat, Field(gt=0, le=LONGEST_TIMEOUT)] = USUAL_TIMEOUT
    """The seconds that reading may take. A server that is slower is told to stop."""


class DatasetPart(SpecPart):
    """What holds for rows wherever they are."""

    role: Literal["evaluate", "calibrate", "reference"] = "evaluate"
    """`evaluate`: measures are computed on these rows. `calibrate`: recalibrators are fitted and thresholds chosen on
    these rows, which no evaluated dataset may contain. `reference`: rows that neither may contain, such as the training
    data."""
    where: Annotated[StrictStr, Field(min_length=1)] | None = None
    """A condition in SQL on the columns; only rows that meet it are used. A missing value, null or NaN, meets none: see
    [Conditions](#conditions)."""
    trained_on: Annotated[
        StrictBool, UNWRITTEN,
        Excludes(("folds",), "folds-of-training",
                 "dataset '{name}' is 'trained_on', but 'folds' says that every row was predicted by a fit that had "
                 "not seen it", "remove it, or remove 'folds'", of_spec=True),
    ] = False
    """Whether the models were fitted to these evaluated rows: their measures are then apparent, and too good. The card
    says so, and `optimism` of a model corrects them."""


class LongScores(Sparse):
    """The columns of a table that has a row for each model and item."""

    model: ColumnName
    """The column that names the model of each row; `log.model` of a model of the spec is its name there."""
    score: ColumnName
    """The column with the score."""


class Dataset(DatasetPart, FilesPart):
    """A set of rows with truth and predictions."""

    encoding: Annotated[Encoding | None, UNWRITTEN] = None
    """The encoding of csv and tsv files that are not UTF-8: `cp1252` (Windows), `latin-1`, `utf-16`, or another that
    Python knows by name. UTF-8 may begin with a byte order mark."""
    csv: Csv | None = None
    """How csv and tsv files of this dataset are written. A column whose type is not declared here is of the type that
    all its values have; numbers that begin with 0, as in `01234`, are text."""
    long: Annotated[LongScores | None, UNWRITTEN] = None
    """Of `task: score`, the columns of a table with a row for each model and item; without it the table has a column
    for each model."""


Logs = Annotated[tuple[FilePath, ...], Field(min_length=1), OneOrMore()]
"""A file or a glob of logs, or a list of these."""


class LogDataset(DatasetPart):
    """Scores of items in logs that a tool wrote, each of `task: score`. One of these keys names them."""

    inspect: Annotated[Logs | None, UNWRITTEN] = None
    """Logs of Inspect, `.json` or `.eval`, as `logs/*.eval`."""
    lm_eval: Annotated[Logs | None, UNWRITTEN] = None
    """Files of lm-evaluation-harness that `--log_samples` writes, as `samples_*.jsonl`."""
    every_eval_ever: Annotated[Logs | None, UNWRITTEN] = None
    """Records of Every Eval Ever with their samples."""
    promptfoo: Annotated[Logs | None, UNWRITTEN] = None
    """Results of promptfoo, in JSON."""
    openai_evals: Annotated[Logs | None, UNWRITTEN] = None
    """Logs of OpenAI Evals, in lines of JSON."""

    @property
    def tool(self) -> str:
        """The key that names the logs."""
        return next(key for key in LOG_KEYS if getattr(self, key) is not None)

    @property
    def paths(self) -> tuple[str, ...]:
        """The files and globs of the logs."""
        return tuple(getattr(self, self.tool))


LOG_KEYS = ("inspect", "lm_eval", "every_eval_ever", "promptfoo", "openai_evals")
"""The keys that name logs of a tool."""


class QueryDataset(DatasetPart, QueryPart):
    """A set of rows with truth and predictions that a query of a database returns."""

    long: Annotated[LongScores | None, UNWRITTEN] = None
    """Of `task: score`, the columns of a table with a row for each model and item, as of files."""


def is_query(written: object) -> bool:
    """Tell whether a mapping is a query, by a key that only queries have."""
    return isinstance(written, Mapping) and bool({"sql", "uri"} & set(written))


def _form_tag(value: object) -> str:
    """Return the tag by which pydantic chooses the form of a dataset: "a query", "logs" or "files"."""
    if isinstance(value, LogDataset) or (isinstance(value, Mapping) and any(key in value for key in LOG_KEYS)):
        return "logs"
    return "a query" if isinstance(value, QueryDataset) or is_query(value) else "files"


AnyDataset = Annotated[
    Annotated[Dataset, Tag("files")] | Annotated[QueryDataset, Tag("a query")] | Annotated[LogDataset, Tag("logs")],
    Discriminator(_form_tag), AnyOf()]
"""Rows in files, rows of a query, or scores in logs."""
