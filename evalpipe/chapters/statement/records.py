"""The record of what people state."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.records import Record


class Changed(Record):
    """One entry of the change log."""

    date: str
    text: str


class Stated(Record):
    """What people state of the model and its evaluation; null or empty where they state nothing."""

    as_of: str | None = None
    """The day that the card is about."""
    id: str | None = None
    """The id of the document."""
    status: Literal["draft", "in_review", "final"] = "draft"
    owner: str | None = None
    intended_use: str | None = None
    not_for: str | None = None
    limits: list[str] = Field(default_factory=list)
    source: str | None = None
    monitoring: str | None = None
    changes: list[Changed] = Field(default_factory=list)
