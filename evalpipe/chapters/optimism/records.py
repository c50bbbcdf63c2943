"""The records of optimism."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Measured, Record, Status
from evalpipe.words.sentences import Sentence


class Optimism(Measured):
    """A measure on the rows that a model was fitted to, corrected for that by bootstrap fits of the whole procedure."""

    fits: int
    apparent: float | None
    """The value of the model on the rows that it was fitted to."""
    optimism: float | None
    """The mean over the bootstrap fits of the value in their own sample minus that on the original rows."""
    corrected: float | None
    """The apparent value minus the optimism, within the range of the measure."""
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    """bootstrap_fits: from the spread of the bootstrap fits, on the scale of the measure; none."""
    out_of_bag: float | None
    """The mean over the bootstrap fits of the value on the rows that were not drawn."""
    n: int
    """Observations that the measure sees."""
    status: Status
    reason: Sentence | None = None
    undefined_fits: int = 0
    """The bootstrap fits that have no value in their sample or on the original rows, and are left out."""
    undefined_out_of_bag: int = 0
    """Those that have none on the rows that were not drawn."""


class OptimismFields(Record):
    """What the results hold of it."""

    optimism: list[Optimism] = Field(default_factory=list)
    """Each measure on rows that a model was fitted to, corrected for that."""
