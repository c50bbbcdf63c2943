"""Plain YAML scalars to values, by the core schema of YAML 1.2."""

from __future__ import annotations

import math
import re

Scalar = str | bool | int | float | None

_WORDS: dict[str, Scalar] = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INFINITE = re.compile(r"([-+]?)\.(?:inf|Inf|INF)")
_BASES = {"0o": 8, "0x": 16}


def resolve(text: str) -> Scalar:
    """Return the value of an unquoted scalar: null, a boolean, a number, else the text itself.

    Raises OverflowError for a number that a float cannot hold.
    """
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return _integer(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        if math.isinf(value):
            raise OverflowError(text)
        return value
    infinite = _INFINITE.fullmatch(text)
    if infinite:
        return -math.inf if infinite[1] == "-" else math.inf
    return math.nan if text in (".nan", ".NaN", ".NAN") else text


def _integer(text: str) -> int:
    """Return a whole number written in decimal, octal (0o) or hexadecimal (0x); raises OverflowError."""
    base = _BASES.get(text[:2], 10)
    # Far beyond any float; Python itself refuses the digits of longer numbers.
    if len(text.lstrip("+-0xo")) > 400:
        raise OverflowError(text)
    value = int(text[2:] if base != 10 else text, base)
    float(value)  # raises OverflowError where no float can hold it
    return value


PLAIN = "plain"
"""Stands for the tag of a scalar that has none and no quotes."""

CORE = "tag:yaml.org,2002:"
"""How the tags of the core schema begin."""

TAGS: dict[str, tuple[type, ...]] = {
    f"{CORE}null": (type(None),), f"{CORE}bool": (bool,), f"{CORE}int": (int,), f"{CORE}float": (float, int),
}
"""The core tags of scalars and the types of their values; a text's tag accepts any scalar."""


def tagged(text: str, tag: str) -> Scalar:
    """Return the value of a scalar: by the core schema where it is `PLAIN`, else by its tag.

    Raises OverflowError for a number that a float cannot hold, ValueError for a text that does not fit the tag, and
    KeyError for a tag that is none of a scalar.
    """
    if tag == f"{CORE}str":
        return text
    value = resolve(text)
    if tag != PLAIN and type(value) not in TAGS[tag]:
        raise ValueError(text)
    return float(value) if tag.endswith("float") and value is not None else value
