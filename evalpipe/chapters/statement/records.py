"""The record of what people state."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, create_model

from evalpipe.base.records import Measured, Record
from evalpipe.words.card_fields import FIELDS


class Changed(Record):
    """One entry of the change log."""

    date: str
    text: str


class ReferredNumber(Measured):
    """The number that a reference in a text is to, by what tells it from other estimates."""

    reference: str
    """The reference as it is written."""


class StatedFile(Record):
    """A file that holds a text."""

    path: str
    """As the spec gives it, relative to the file that names it."""
    sha256: str


class StatedDocument(Record):
    """What tells a document from others, and how far it is."""

    id: str | None = None
    """The id of the document."""
    status: Literal["draft", "in_review", "final"] = "draft"


_fields: dict[str, Any] = {
    key: (str | None, Field(default=None, description=field.meaning)) for key, field in FIELDS.items()}


class Stated(create_model("StatedTexts", __base__=StatedDocument, **_fields)):  # type: ignore[misc]
    """What people state of the model and its evaluation; null or empty where they state nothing."""

    limits: list[str] = Field(default_factory=list)
    changes: list[Changed] = Field(default_factory=list)
    numbers: list[ReferredNumber] = Field(default_factory=list)
    """The numbers that texts refer to, which the card puts in their place."""
    files: list[StatedFile] = Field(default_factory=list)
    """The files that texts were read from."""


class StatementFields(Record):
    """What the results hold of it."""

    statement: Stated = Stated.model_construct()
    """What people state of the model and its evaluation."""
