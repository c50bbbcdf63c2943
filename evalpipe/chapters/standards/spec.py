"""Which standards a card documents evidence for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StrictStr

from evalpipe.spec.field_types import Probability, Short, SpecPart

ProfileName = Literal[
    "model_cards_2019", "eu_ai_act_annex_iv", "nist_ai_rmf", "sr_26_2", "tripod_ai", "stard_2015", "iso_42001",
    "hugging_face",
]
"""The names of the profiles, one for each file in the folder `profiles` beside this one."""

Reason = Annotated[StrictStr, Field(min_length=1, max_length=1000)]
"""Why an item does not apply."""


class StandardRule(SpecPart):
    """A standard whose items the card answers; what it lacks stands on the card as missing."""

    profile: ProfileName
    """The standard. [standards.md](standards.md) lists the items of each, and what answers them."""
    require: Probability | None = None
    """The least share of the items that must be answered, of those that apply; below it the run fails as by a gate."""
    not_applicable: dict[StrictStr, Reason] = Field(default_factory=dict)
    """Items that do not apply, each with the reason, which the card shows; they do not count."""


Standard = Annotated[StandardRule, Short("profile")]
"""A standard, or the name of its profile alone."""
