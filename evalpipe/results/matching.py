"""The record of how predictions in files of their own were matched to the rows of a dataset."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.results.record import Record


class Matched(Record):
    """How the rows of a model's file of predictions were matched to the rows of a dataset."""

    model: str
    by: Literal["id", "position"]
    """`id`: rows with the same id belong together. `position`: the first row with the first, and so on."""
    agree: list[str] = Field(default_factory=list)
    """Matched by position: the columns that both have and that agree in every row; none where they share no column."""
