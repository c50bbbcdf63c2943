"""Why a name is refused, and what to write instead."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from evalpipe.metrics.grammar import IDENTIFIER
from evalpipe.spec.kinds import MAX_NAME, NAME, RULES, UNSEEN
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_UNSEEN = re.compile(f"[{UNSEEN}]")
_SIGNS = {"-": "which the command line reads as an option", "=": "which spreadsheets read as a formula",
          "@": "which spreadsheets read as a formula"}
"""What a name does not begin with, and why."""


LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0410\u0412\u0415\u041a\u041c\u041d\u041e"
    "\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1"
    "\u03a4\u03a5\u03a7\u03bf\u03bd",
    "aeopcyxijsdhABEKMHOPCTYXIJSABEZHIKMNOPTYXov")
"""Letters of the Cyrillic and the Greek alphabet that look like Latin ones, by these (Unicode TS 39)."""


def is_key(name: object) -> bool:
    """Tell whether a value is the name that a model, a dataset or a recalibrated variant may have."""
    return isinstance(name, str) and _fault(name, quoted(name)) is None


def bad_key(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with the name of a model, dataset or variant, ``shown`` so, and what to write instead."""
    fixed = unicodedata.normalize("NFC", _UNSEEN.sub(" ", name).replace("+", "_"))
    fixed = fixed.lstrip(" -=@")[:MAX_NAME].rstrip()
    message = _fault(name, shown)
    assert message is not None  # noqa: S101 - the pattern and the faults are of the same names
    if message == _decomposed(shown):
        return message, f"write it in the composed form: unicodedata.normalize('NFC', {quoted(name)})"
    return message, f"write '{fixed}'" if is_key(fixed) else None


def alike(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each name that is made of other letters than one before it and looks the same, with that one."""
    seen: dict[str, str] = {}
    for name in names:
        first = seen.setdefault(unicodedata.normalize("NFKC", name).translate(LOOKALIKES), name)
        if first != name:
            yield name, first


def odd_letter(name: str, other: str) -> str:
    """Say which is the first letter of a name that is not that of another, which looks the same."""
    place = next(place for place, pair in enumerate(zip(name, other, strict=False)) if len({*pair}) > 1)
    mine, theirs = (unicodedata.name(text[place], "unknown") for text in (name, other))
    return f"letter {place + 1} is {mine}, there {theirs}"


def bad_plain_name(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with the name of an evaluation or of a condition, and what to write instead."""
    fixed = re.sub(r"[^A-Za-z0-9_.-]+", "_", name).strip("_.-")[:MAX_NAME]
    message = _too_long(shown) if len(name) > MAX_NAME else f"{shown} is not {RULES[NAME]}"
    return message, f"write '{fixed}'" if fixed else None


def bad_identifier(name: str, shown: str) -> tuple[str, str | None]:
    """Return what is wrong with a name that stands in expressions, and what to write instead."""
    fixed = re.sub(r"[^A-Za-z0-9_]+", "_", name).strip("_").lstrip("0123456789_")[:MAX_NAME]
    message = _too_long(shown) if len(name) > MAX_NAME else f"{shown} is not {RULES[IDENTIFIER]}"
    return message, f"write '{fixed}'" if fixed else None


def _fault(name: str, shown: str) -> str | None:
    """Say what is wrong with the name of a model, a dataset or a variant; None where nothing is."""
    unseen = _UNSEEN.search(name)
    faults = (
        (not name, "a name must not be empty"),
        (len(name) > MAX_NAME, _too_long(shown)),
        (unseen is not None, f"the name {shown} holds {_described(unseen[0]) if unseen else ''}"),
        ("+" in name, f"the name {shown} holds '+', which stands between a model and its recalibrated variant"),
        (name.strip(" ") != name, f"the name {shown} begins or ends with a space"),
        (name[:1] in _SIGNS, f"the name {shown} begins with '{name[:1]}', {_SIGNS.get(name[:1])}"),
        (not unicodedata.is_normalized("NFC", name), _decomposed(shown)),
    )
    return next((said for wrong, said in faults if wrong), None)


def _too_long(shown: str) -> str:
    return f"the name {shown} is longer than {MAX_NAME} characters"


def _decomposed(shown: str) -> str:
    return (f"the name {shown} is not in Unicode's composed form (NFC), so that it differs from a name that looks the "
            "same")


def _described(character: str) -> str:
    if character in "\n\r\u2028\u2029\x85\v\f":
        return "a line break"
    if character == "\t":
        return "a tab"
    code = f"U+{ord(character):04X}"
    kind = unicodedata.category(character)
    return f"the space {code}, which looks like the usual one" if kind == "Zs" else (
        f"the character {code}, which cannot be seen")
