"""The record of what people state."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, create_model

from evalpipe.fields import FIELDS
from evalpipe.records import Record


class Changed(Record):
    """One entry of the change log."""

    date: str
    text: str


class StatedDocument(Record):
    """What tells a document from others, and how far it is."""

    as_of: str | None = None
    """The day that the card is about."""
    id: str | None = None
    """The id of the document."""
    status: Literal["draft", "in_review", "final"] = "draft"


_fields: dict[str, Any] = {
    key: (str | None, Field(default=None, description=field.meaning)) for key, field in FIELDS.items()}


class Stated(create_model("StatedTexts", __base__=StatedDocument, **_fields)):  # type: ignore[misc]
    """What people state of the model and its evaluation; null or empty where they state nothing."""

    limits: list[str] = Field(default_factory=list)
    changes: list[Changed] = Field(default_factory=list)
