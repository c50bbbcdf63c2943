"""The profiles of standards: what each item asks for, and the names of what answers it, read from files."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, get_args

from evalpipe.chapters.standards.spec import ProfileName

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
    """Return the profile of a name."""
    import yaml

    document = yaml.safe_load((FOLDER / f"{name}.yaml").read_text(encoding="utf-8"))
    items = tuple(_item(item) for item in document.pop("items"))
    return Profile(**{"remark": "", **document}, items=items)


def _item(item: dict[str, Any]) -> ProfileItem:
    return ProfileItem(item["id"], item["asks"], tuple(tuple(need.split(" | ")) for need in item["needs"]))


def profiles() -> tuple[Profile, ...]:
    """Return every profile, in the order of the spec."""
    return tuple(map(profile, get_args(ProfileName)))
