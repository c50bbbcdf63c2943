"""The record of how the card looks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from evalpipe.base.colours import COLOUR
from evalpipe.base.records import Record


class TemplateRecord(Record):
    """A template that the page and the PDF are made with."""

    name: str
    sha256: str
    text: str
    """The whole of it, so that the card can be rendered again without the folder."""


class PluginRecord(Record):
    """An installed package's addition to the card."""

    name: str
    package: str
    version: str
    gives: list[Literal["sections", "figures", "findings"]]


class Appearance(Record):
    """How the card looks; no number depends on it."""

    accent: Annotated[str, Field(pattern=COLOUR)] | None = None
    """The colour of links and lines on light paper; null for evalpipe's own."""
    paper: Literal["a4", "letter"] = "a4"
    templates: list[TemplateRecord] = Field(default_factory=list)
    """The templates that were not evalpipe's own; none for its own."""
    plugins: list[PluginRecord] = Field(default_factory=list)
    """The plugins that the spec names. Only findings among what they add are in the results."""


class AppearanceFields(Record):
    """What the results hold of it."""

    appearance: Appearance = Appearance.model_construct()
    """How the card looks."""
