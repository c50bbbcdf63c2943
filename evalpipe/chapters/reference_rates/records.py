"""The records of reference rates."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import After, Record
from evalpipe.chapters.compare.records import Comparison


class RateDifference(Comparison):
    """A measure of a model minus the rate that a rival, its ``baseline``, reached elsewhere; the interval decides."""

    rate: float
    rate_lower: float | None
    rate_upper: float | None


class ReferenceRatesFields(Record):
    """What the results hold of it."""

    reference_rates: Annotated[list[RateDifference], After("optimism")] = Field(default_factory=list)
