"""The records of what was read: files, datasets, and how predictions were matched to their rows."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from evalpipe.base.records import Record


class InputFile(Record):
    """One file that was read, or one query."""

    absent: ClassVar[tuple[str, ...]] = ("query_sha256",)

    dataset: str
    role: str
    path: str | None
    """The path as the spec gives it, relative to the spec; null for data held in memory."""
    sha256: str | None
    rows: int
    """Rows in the file."""
    used_rows: int
    """Rows that met `where` and have a weight above zero."""
    columns: list[str]
    """The columns that were read."""
    query_sha256: str | None = None
    """The sha256 of the query's text and parameters, as a list in JSON without spaces; absent of files. `path` is then
    the scheme of the URI and the database, `sha256` that of the rows in any order (see docs/sql.md)."""

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: item for key, item in handler(self).items() if key not in self.absent or item is not None}


class LevelCount(Record):
    """How often a level of the outcome occurs."""

    level: str
    rows: int
    weight: float


class Matched(Record):
    """How the rows of a model's file of predictions were matched to the rows of a dataset."""

    model: str
    by: Literal["id", "position"]
    """`id`: rows with the same id belong together. `position`: the first row with the first, and so on."""
    agree: list[str] = Field(default_factory=list)
    """Matched by position: the columns that both have and that agree in every row; none where they share no column."""


class DatasetDifference(Record):
    """How the outcome of a dataset differs from that of the first one."""

    dataset: str
    baseline: str
    """The first dataset."""
    level: str | None
    """The level whose share is compared; null where it is the mean of a number."""
    value: float
    baseline_value: float
    statistic: float | None
    """The difference in standard errors: of two shares with their pooled share, of two means with both variances (Welch
    1938). Clusters, where there are any, count as one observation each; null where the error is 0."""
    p_value: float | None


class DatasetSummary(Record):
    """What is known of a dataset's rows."""

    name: str
    role: str
    trained_on: bool = False
    """Whether the models were fitted to these rows, on which measures are then apparent."""
    where: str | None
    rows: int
    """Rows in the files."""
    excluded_where: int
    """Rows that did not meet `where`."""
    unknown_where: int = 0
    """Of these, the rows for which `where` is unknown because a value that it needs is missing (null or NaN)."""
    excluded_zero_weight: int
    n: int
    """Observations used: rows, or the sum of frequency weights."""
    events: int | None
    """Events of a binary outcome."""
    total_weight: float
    prevalence: float | None
    """Share of the events of a binary outcome, weighted."""
    levels: list[LevelCount]
    """The levels of the outcome; none of a number."""
    cells: int | None = None
    """Of rows that were read part by part and never held, the cells that they were counted in, by the scores of the
    model that has the most; null of rows that were held."""
    clusters: int | None = None
    """Clusters of rows, where they are resampled."""
    clusters_error: float | None = None
    """The standard error of `clusters`, in parts of it, where more than 1,024 were not counted but estimated."""
    n_effective: float | None = None
    """Under importance weights, Kish's effective sample size (1965): the rows of equal weight with as much
    information."""
    outcome: dict[str, float] = Field(default_factory=dict)
    """Of a number: its weighted mean and sd, min, quartiles and max."""
    total_exposure: float | None = None
    """Of counts with an exposure, its weighted total."""
    rate: float | None = None
    """The weighted total of the counts over that of the exposure."""
    matched: list[Matched] = Field(default_factory=list)
    """How predictions in files of their own were matched to the rows."""
    excluded_incomplete: int = 0
    """Rows left out for every model because one has no prediction for them (`complete_case`)."""
    lacking_predictions: dict[str, int] = Field(default_factory=dict)
    """By model, how many of these rows it has no prediction for."""
    compared: dict[str, list[str]] = Field(default_factory=dict)
    """Of an evaluated dataset: the datasets that something was fitted on and that share no row with it, each with the
    columns by which rows were compared. One that lacks such a column, so that no row could be compared, is not here."""
