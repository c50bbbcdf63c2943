"""Identity of levels: in a spec by their text, in data by their value, however it is stored; and periods of dates."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, get_args

from evalpipe.words.spelling import closest_level

if TYPE_CHECKING:
    from collections.abc import Sequence

LEVEL = str | bool | int | float
"""The Python types of a level."""

PeriodLength = Literal["day", "week", "month", "quarter", "year"]
"""How long periods are, the shortest first."""

LENGTHS: tuple[PeriodLength, ...] = get_args(PeriodLength)

_NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d*)?([eE][+-]?\d{1,3})?|[+-]?\.\d+([eE][+-]?\d{1,3})?")
_TRUTH = {"true": "1", "false": "0"}


def level_text(value: object) -> str:
    """Return the text that identifies a level: "true" for True, "1" for 1 and 1.0, a text itself."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, bool):
        return "true" if plain else "false"
    if isinstance(plain, float) and plain.is_integer():
        return str(int(plain))
    return str(plain)


def level_value(text: str) -> str:
    """Return a normal form of a level's text, the same for levels of the same value: number, boolean or text.

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
    """Return the level that a text in the data is: the same text, else the only level of the same value, else None."""
    if text in levels:
        return text
    equal_levels = [level for level in levels if level_value(level) == level_value(text)]
    return equal_levels[0] if len(equal_levels) == 1 else None


def meant_level(text: str, levels: Sequence[str]) -> str | None:
    """Return the level probably meant by a text: of the same value, else of similar spelling; None without such."""
    return find_level(text, levels) or closest_level(text, levels)


def other_level(event: str, text: str) -> str:
    """Return the level that is not the event, in the event's form, from its ``text`` in the data.

    It is 0 beside 1 and false beside true, however it is stored: 0.0 in the data is 0 beside the event 1.
    """
    pairs = {"1": "0", "0": "1", "true": "false", "false": "true"}
    is_counterpart = event in pairs and level_value(text) == level_value(pairs[event])
    return pairs[event] if is_counterpart else text
