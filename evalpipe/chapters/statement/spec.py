"""What people state on the card: use and limits, owner, monitoring, changes."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictStr

from evalpipe.spec.kinds import Day, SpecPart

Sentence = Annotated[StrictStr, Field(min_length=1, max_length=2000)]
"""A text for people, shown as it is written."""


class Change(SpecPart):
    """One entry of the change log."""

    date: Day
    """The day of the change."""
    text: Sentence
    """What was changed."""


class Statement(SpecPart):
    """What people state on the card; what is not stated is shown as missing."""

    id: Annotated[StrictStr, Field(min_length=1, max_length=60)] | None = None
    """The id of the document; made of the name and the hash of the spec where absent."""
    status: Literal["draft", "in_review", "final"] = "draft"
    """How far the document is; whoever signs it says so outside the spec."""
    owner: Sentence | None = None
    """Who answers for the model."""
    intended_use: Sentence | None = None
    """What the model is for, and who uses it."""
    not_for: Sentence | None = None
    """What the model must not be used for."""
    limits: tuple[Sentence, ...] = ()
    """Known limitations and assumptions."""
    source: Sentence | None = None
    """Where the evaluated data come from, and of which period."""
    monitoring: Sentence | None = None
    """How the model is watched in use: what is measured, how often, and what is done about it."""
    changes: tuple[Change, ...] = ()
    """The change log, in the order in which it is to be read."""
