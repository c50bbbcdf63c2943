"""The records behind the sliders of the page."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Record, Slice


class GroupCounts(Record):
    """How many rows of one group a model predicts as events at each threshold; with weights, their totals."""

    model: str
    variant: str = "original"
    slice: Slice | None = None
    """The group; null for all rows."""
    hits: list[float]
    """The events among them; at the first threshold these are all events."""
    alarms: list[float]
    """The non-events among them; at the first threshold these are all non-events."""


class WhatIf(Record):
    """The counts of a dataset at each threshold, in every group and of every model that gives probabilities."""

    dataset: str
    thresholds: list[float]
    """Ascending from 0, in steps of one hundredth, with the thresholds in use among them."""
    groups: list[GroupCounts]
    limited: bool
    """Whether limits in closed form hold: rows are independent, and each counts as whole observations."""


class WhatIfFields(Record):
    """What the results hold of it."""

    what_if: list[WhatIf] = Field(default_factory=list)
    """The counts at every threshold of the sliders of the page."""
