"""The records of what a thousand rows come to, and of the counts behind the sliders of the page."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, OfModel, Record, Slice


class PerThousand(OfModel):
    """What a model's predicted classes do to a thousand rows, of which the prevalence are events.

    The counts are whole numbers that add up to 1,000: each is the rate of its cell, rounded by largest remainder.
    """

    threshold: float | None
    """The threshold of the predicted classes; null where the model gives classes, or where folds have several."""
    prevalence: float
    """The share of events: the declared prevalence, else the share observed in the dataset."""
    declared: bool
    """Whether that is the declared prevalence."""
    true_positives: int
    """Events that are predicted as events."""
    false_negatives: int
    """Events that are predicted as non-events."""
    false_positives: int
    """Non-events that are predicted as events."""
    true_negatives: int
    """Non-events that are predicted as non-events."""
    unclassified: int = 0
    """Rows in the equivocal zone, which have no predicted class."""


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

    per_thousand: Annotated[list[PerThousand], UNWRITTEN] = Field(default_factory=list)
    """What a thousand rows come to, of each model and dataset of a binary outcome."""
    what_if: list[WhatIf] = Field(default_factory=list)
    """The counts at every threshold of the sliders of the page."""
