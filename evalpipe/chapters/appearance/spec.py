"""The keys of how the card looks."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictStr
from pydantic_core import PydanticCustomError

from evalpipe.base.colours import COLOUR, is_colour
from evalpipe.base.records import After
from evalpipe.spec.field_types import IdleWithout, SpecPart


def _colour(text: str) -> str:
    """Return a colour such as `#1F5FA8` in lower case; raise a validation error for a text that is no colour."""
    if not is_colour(text):
        raise PydanticCustomError("no_colour", "not a colour")
    return text.lower()


Colour = Annotated[StrictStr, AfterValidator(_colour), Field(json_schema_extra={"pattern": COLOUR})]
"""A colour as `#rrggbb`."""

ACCENT = "#174f80"


class Theme(SpecPart):
    """How the card looks. Colours of models in figures stay as they are: they can be told apart by everybody."""

    accent: Colour = ACCENT
    """The colour of links and of the lines over sections, in quotes: `"#1f5fa8"`. Its contrast is 4.5 to 1 or more on
    everything light that it stands on; on a dark screen, a lighter shade of it is used that has this too."""
    paper: Literal["a4", "letter"] = "a4"
    """The paper of the PDF, and of the page where it is printed."""


class AppearanceReportKeys(SpecPart):
    """Keys of `report`."""

    theme: Annotated[Theme | None, After("rows"), IdleWithout()] = None
    """How the card looks: a mapping with `accent` and `paper`. It changes no number."""
