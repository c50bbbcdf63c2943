"""The records of what the rows hold, of which checks tell: values that many rows share."""

from __future__ import annotations

from typing import Annotated, ClassVar

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


class ContentsFields(Record):
    """What the results hold of it."""

    shared_values: Annotated[list[SharedValue], UNWRITTEN] = Field(default_factory=list)
    """Scores and predictions that many rows share."""
