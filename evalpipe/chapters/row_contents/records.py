"""The records of what the rows hold, of which checks tell: copies, rows of training, values that many rows share."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, Record, SparseRecord


class SharedValue(SparseRecord):
    """A score or prediction that many rows of a dataset share, while others have values that hardly any share."""

    absent: ClassVar[tuple[str, ...]] = ("value", "events")

    dataset: str
    model: str
    value: float | None = None
    """The value; absent of probabilities of several levels."""
    rows: int
    """The rows that have it."""
    n: int
    """All rows."""
    next_rows: int
    """The rows that have the next most frequent value."""
    at_end: bool
    """Whether it is the least or the largest value, as of scores that a model cuts off there."""
    events: int | None = None
    """The events among the rows that have it, of a binary outcome."""


class Copies(Record):
    """Rows of a dataset that are copies of others, with measured numbers that no other row has."""

    dataset: str
    n: int
    """All rows."""
    copies: int
    """The rows that are the same as an earlier one."""
    columns: int
    """The columns in which they are, ids apart."""


class SharedContents(Record):
    """How many rows of an evaluated dataset are in another dataset by their contents, whatever their ids are."""

    dataset: str
    other: str
    columns: list[str]
    """The columns by which rows were compared: those that both have and that are no ids."""
    rows: int
    """The rows of the dataset that have a number with a fraction in one of these columns."""
    twins: int
    """Those that are the same as a row of the other dataset in these columns."""
    by_chance: float
    """How many of them at most chance explains: as large a share as has a twin within one of the two datasets."""
    verdict: Literal["shared", "clear", "too-alike"]
    """too-alike: more than half of the rows have a twin within a dataset, so that the comparison tells nothing."""


class UndeclaredCluster(Record):
    """A column that the spec does not name, whose values are ids of a few rows that go together."""

    dataset: str
    model: str
    """The model by whose residuals they do."""
    column: str
    ids: int
    rows: int
    """The rows that have an id."""
    wider: float
    """How many times as wide the interval of the mean residual would be with these clusters: the root of the
    ratio of its variances with and without them. Those of other measures widen less."""


class UndeclaredGroup(Record):
    """A column that the spec does not name, in one group of which a model is worse than in all others."""

    dataset: str
    model: str
    column: str
    groups: int
    """The groups of the column."""
    rows: int
    """The rows of the group."""
    n: int
    """All rows."""
    kind: Literal["mean", "promised", "error"]
    """What is worse: the mean outcome beside the mean prediction; the squared error beside the one that the
    probabilities promise; or the mean error."""
    value: float
    """The mean outcome in the group, or the loss there."""
    expected: float
    """The mean prediction in the group, the loss that the probabilities promise, or the loss of all other rows."""
    outside: float
    """The loss of all other rows."""
    difference: float
    """How far what is wrong in the group is above the same in all other rows."""
    least: float
    """How large the difference is at least, by limits for all groups together."""
    tests: int
    """The groups that were searched, of all columns and models, times the ways to be worse."""


class LookedAt(Record):
    """That checks looked at columns of a dataset that the spec does not name, and what these hold."""

    dataset: str
    unseen: int
    """How many were too many to look at."""
    holds: list[Literal["groups", "ids"]]
    """groups: one or more of them have 2 to 20 levels. ids: some have 30 or more values with 2 to 200 rows each on
    average. Of neither kind is a column of numbers with a fraction."""


class RowContentsFields(Record):
    """What the results hold of it."""

    looked_at: Annotated[list[LookedAt], UNWRITTEN] = Field(default_factory=list)
    """The columns of each evaluated dataset that no key names and that were looked at; none where there is none."""
    copies: Annotated[list[Copies], UNWRITTEN] = Field(default_factory=list)
    """Rows that are copies of others."""
    shared_contents: Annotated[list[SharedContents], UNWRITTEN] = Field(default_factory=list)
    """Comparisons with the rows that something was fitted to, by contents."""
    undeclared_clusters: Annotated[list[UndeclaredCluster], UNWRITTEN] = Field(default_factory=list)
    """Columns of ids that no cluster names and whose rows go together."""
    undeclared_groups: Annotated[list[UndeclaredGroup], UNWRITTEN] = Field(default_factory=list)
    """Columns of groups that no slice names, in one of which a model is worse."""
    shared_values: Annotated[list[SharedValue], UNWRITTEN] = Field(default_factory=list)
    """Scores and predictions that many rows share."""
