"""Which standards a card documents evidence for, and their profiles: what each item asks for, and what answers it.

Profiles are read from the files in `profiles/` beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, StrictStr

from evalpipe.base.records import After
from evalpipe.spec.field_types import EMPTY_AS_ABSENT, OneOrMore, Probability, Short, SpecPart

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


FOLDER = Path(__file__).parent / "profiles"


@dataclass(frozen=True, slots=True)
class ProfileItem:
    """An item: its ``id`` in the standard, what it ``asks`` for, and what it ``needs``.

    Each need is answered by any of its names: ``card.<field>`` is what people state, ``evidence.<name>`` is computed.
    """

    id: str
    asks: str
    needs: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """A standard in an ``edition``; ``prefix`` stands before the ids of its items where several standards meet."""

    name: str
    title: str
    edition: str
    prefix: str
    remark: str
    items: tuple[ProfileItem, ...]


@cache
def profile(name: str) -> Profile:
    """Read a standard, its title, edition and items, from the YAML file of this name."""
    import yaml

    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    items = tuple(
        ProfileItem(item["id"], item["asks"], tuple(tuple(need.split(" | ")) for need in item["needs"]))
        for item in document.pop("items"))
    return Profile(**{"remark": "", **document}, items=items)


def profiles() -> tuple[Profile, ...]:
    """Return all standards that a spec may name, in the order of `ProfileName`."""
    return tuple(map(profile, get_args(ProfileName)))


class StandardsKeys(SpecPart):
    """Keys of a spec."""

    standards: Annotated[
        Annotated[tuple[Standard, ...], OneOrMore(), Field(min_length=1)] | None, After("card"), EMPTY_AS_ABSENT
    ] = None
    """The standards that the card documents evidence for: a name, a mapping, or a list of these."""
