"""How levels of an outcome are told apart: in a spec by their text, in data by their value, however it is stored."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from evalpipe.words.spelling import closest_level

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = str | bool | int | float
"""The Python types of a level."""

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d{1,3})?|[+-]?\.\d+([eE][+-]?\d{1,3})?")
_TRUTH = {"true": "1", "false": "0"}


def level_text(value: object) -> str:
    """Return the text by which a level is known: True is "true", 1 and 1.0 are "1", a text is itself."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    return str(plain)


def level_value(text: str) -> str:
    """Return a text that is the same for levels of the same value: a number, true and false, or a text.

    "1", "1.0", "+1", "true" and "TRUE" are the number 1; "0", "-0.0" and "False" the number 0; "01" is a text, as the
    codes are that begin with a nought.
    """
    plain = text.strip()
    truth = _TRUTH.get(plain.lower())
    if truth is not None:
        return truth
    if not _NUMBER.fullmatch(plain):
        return text
    # No float: identifiers of more than 15 digits would become one number.
    number = Decimal(plain).normalize()
    return "0" if number == 0 else str(number)


def find_level(text: str, levels: Sequence[str]) -> str | None:
    """Return the level that a text of the data stands for: the same text, else the only one of the same value."""
    if text in levels:
        return text
    same = [level for level in levels if level_value(level) == level_value(text)]
    return same[0] if len(same) == 1 else None


def meant_level(text: str, levels: Sequence[str]) -> str | None:
    """Return the level that was meant by a text which is none: of the same value, else misspelt; None where neither."""
    return find_level(text, levels) or closest_level(text, levels)


def other_level(event: str, written: str) -> str:
    """Return how the level that is not the event is to be written, from how the data have it ``written``.

    It is 0 beside 1 and false beside true, however it is stored: 0.0 in the data is 0 beside the event 1.
    """
    pairs = {"1": "0", "0": "1", "true": "false", "false": "true"}
    same = event in pairs and level_value(written) == level_value(pairs[event])
    return pairs[event] if same else written
