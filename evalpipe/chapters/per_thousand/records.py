"""The records of what happens to a thousand rows."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, OfModel, Record


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


class PerThousandFields(Record):
    """What the results hold of it."""

    per_thousand: Annotated[list[PerThousand], UNWRITTEN] = Field(default_factory=list)
    """What a thousand rows come to, of each model and dataset of a binary outcome."""
