"""The record of items whose text is also in another dataset."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, Record


class LeakedItems(Record):
    """How many items of a dataset have a text that is also in another one, and what they do to mean scores."""

    dataset: str
    other: str
    items: int
    without_text: int
    """Items without a text, which were not looked for."""
    same: int
    """Items whose text is also a text of the other dataset."""
    leaked: int
    """These, and items that share a run of 13 words with a text of the other dataset."""
    names: list[str]
    """The first 20 of them by name."""
    means: dict[str, float]
    """The mean score of all items, by model."""
    means_without: dict[str, float]
    """The mean score of the other items, by model; empty where there is none."""


class LeaksFields(Record):
    """What the results hold of it."""

    leaked_items: Annotated[list[LeakedItems], UNWRITTEN] = Field(default_factory=list)
    """Items whose text is also in a reference dataset; absent where no key names their texts."""
