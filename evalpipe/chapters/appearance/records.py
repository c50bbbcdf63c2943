"""The record of how the card looks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalpipe.colours import COLOUR
from evalpipe.records import Record


class Appearance(Record):
    """How the card looks; no number depends on it."""

    accent: Annotated[str, Field(pattern=COLOUR)] | None = None
    """The colour of links and lines on light paper; null for evalpipe's own."""
    paper: Literal["a4", "letter"] = "a4"
