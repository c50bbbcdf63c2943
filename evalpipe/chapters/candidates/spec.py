"""A table of candidates: its file, what tells the candidates apart, and which columns hold what the goals are of."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictStr

from evalpipe.base.records import UNWRITTEN, After
from evalpipe.chapters.desirability.spec import GoalRule
from evalpipe.spec.datasets import Csv
from evalpipe.spec.field_types import ColumnName, Encoding, Excludes, FilePath, OneOrMore, Sparse, SpecPart, Unique
from evalpipe.spec.measures import canonical_name


class LongTable(Sparse):
    """A table with a row for each candidate and measure, as tune's `collect_metrics()` in R returns."""

    metric: ColumnName
    """The column that names the measure of the row, such as `.metric`."""
    value: ColumnName
    """The column that holds its value, such as `mean`."""
    std_err: ColumnName | None = None
    """The column that holds the standard error of the value, such as `std_err`."""


class CandidateTable(Sparse):
    """Candidates with their finished metrics."""

    path: FilePath
    """A file, a folder or a glob, relative to the file it is written in: csv, csv.gz, tsv, parquet, ipc/feather,
    ndjson. A row is a candidate, or with `long` one measure of a candidate."""
    id: Annotated[
        tuple[ColumnName, ...], OneOrMore(), Field(min_length=1),
        Unique("duplicate-column", "the column {} is listed twice"),
    ]
    """The column, or the list of columns, that tell one candidate from another, such as its tuning parameters."""
    where: Annotated[StrictStr, Field(min_length=1)] | None = None
    """A condition in SQL on the columns; only rows that meet it are used. See [Conditions](#conditions)."""
    encoding: Encoding | None = None
    """The encoding of csv and tsv files, where it is not UTF-8."""
    csv: Csv | None = None
    """How csv and tsv files are written."""
    columns: dict[StrictStr, ColumnName] = Field(default_factory=dict)
    """The column of a measure or a characteristic, by its name in the goals; with `long`, the measure's name in the
    column `metric`. Without it, a goal is of the column that is called as its measure, or by an alias of it, or as its
    characteristic."""
    std_err: Annotated[
        dict[StrictStr, ColumnName],
        Excludes(("long",), "two-tables", "a table with a row for each measure has one column of standard errors",
                 "name it as 'std_err' under 'long'"),
    ] = Field(default_factory=dict)
    """The column of the standard error of a measure or a characteristic, by its name in the goals. The card then says
    which candidates lie within one standard error of the best; without any, it does not say which differences are
    noise."""
    long: LongTable | None = None
    """The columns of a table that has a row for each candidate and measure. A characteristic is a column of its own,
    with one value for each candidate, or is named in the column `metric` too."""
    pareto: Annotated[tuple[StrictStr, ...], Field(json_schema_extra={"minItems": 2, "maxItems": 2})] | None = None
    """The two goals of the Pareto figure, by measure or characteristic; without it, the two of the largest weight."""


def goal_subject(goal: GoalRule) -> str:
    """Return what a goal is of: the canonical name of its measure, or its characteristic; empty where neither is."""
    return (goal.characteristic or "") if goal.metric is None else canonical_name(goal.metric.metric)


class CandidatesKeys(SpecPart):
    """Keys of a spec."""

    candidates: Annotated[CandidateTable | None, After("desirability"), UNWRITTEN] = None
    """A table of candidates with finished metrics, such as the grid of a tuning, which the goals of `desirability`
    rank. A spec of candidates alone needs no predictions: it has neither `outcome` nor `datasets` nor `models`."""
