"""What people state on the card: the fields of `evalpipe/fields.py`, limits and changes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, StrictStr, create_model

from evalpipe.fields import FIELDS
from evalpipe.spec.kinds import Day, SpecPart

Sentence = Annotated[StrictStr, Field(min_length=1, max_length=2000)]
"""A text for people, shown as it is written."""


class Change(SpecPart):
    """One entry of the change log."""

    date: Day
    """The day of the change."""
    text: Sentence
    """What was changed."""


class DocumentState(SpecPart):
    """What tells a document from others, and how far it is."""

    id: Annotated[StrictStr, Field(min_length=1, max_length=60)] | None = None
    """The id of the document; made of the name and the hash of the spec where absent."""
    status: Literal["draft", "in_review", "final"] = "draft"
    """How far the document is; whoever signs it says so outside the spec."""


_fields: dict[str, Any] = {
    key: (Sentence | None, Field(default=None, description=field.meaning)) for key, field in FIELDS.items()}


class Statement(create_model("StatedFields", __base__=DocumentState, **_fields)):  # type: ignore[misc]
    """What people state on the card; see `standards` for what must be stated."""

    limits: tuple[Sentence, ...] = ()
    """Known limitations and assumptions."""
    changes: tuple[Change, ...] = ()
    """The change log, in the order in which it is to be read."""
