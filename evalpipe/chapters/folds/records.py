"""The record of a measure over folds."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, OfModel, Record, Scalar, Status
from evalpipe.words.sentences import Sentence


class FoldSpread(OfModel):
    """A measure of a model in each fold, and over the folds that have a value: each counts once, whatever its size."""

    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")
    folds: list[str]
    """The folds, in order."""
    sizes: list[int]
    """The observations of each fold."""
    values: list[float | None]
    """The value in each fold; null where it is undefined, or the fold has too few rows."""
    used: int
    """The folds that have a value."""
    mean: float | None
    """The mean of these values; null where fewer than two folds have one, as are all below."""
    sd: float | None
    """Their standard deviation, with one less than their number below it."""
    standard_error: float | None
    """The standard deviation over the root of ``used``. It is usually too small, as fits share rows of their training:
    no unbiased estimate exists (Bengio & Grandvalet 2004)."""
    lowest: float | None
    highest: float | None
    status: Status
    """`degenerate` where some folds have no value, `undefined` or `insufficient` where fewer than two have one."""
    reason: Sentence | None = None


class FoldsFields(Record):
    """What the results hold of it."""

    folds: Annotated[list[FoldSpread], UNWRITTEN] = Field(default_factory=list)
    """Each measure over the folds of resampling; absent where no column numbers them."""
