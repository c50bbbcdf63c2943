"""The records of reference rates."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Record
from evalpipe.chapters.compare.records import Comparison


class RateDifference(Comparison):
    """A measure of a model minus the rate that a rival, its ``baseline``, reached elsewhere; the interval decides."""

    rate: float
    rate_lower: float | None
    rate_upper: float | None


class ReferenceRatesFields(Record):
    """What the results hold of it."""

    reference_rates: list[RateDifference] = Field(default_factory=list)
