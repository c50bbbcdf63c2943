"""References in a spec: ``${env:NAME}``, ``${env:NAME:-default}``, ``${date}`` for its day, ``$${`` for ``${``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.ed25519 import SIGNING_KEY

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)(?P<end>\}?)")
_BODY = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)
_DAY = "date"


class BadReferenceError(Exception):
    """A reference cannot be replaced; its arguments are the code of its problem, what is wrong, and the way out."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A text that waits for the day of the spec; ``parts`` are what stands before, between and after its days."""

    parts: tuple[str, ...]

    def on(self, day: str) -> str:
        """Return the text with a day in place of each ``${date}``."""
        return day.join(self.parts)


def refers(text: str) -> bool:
    """Tell whether a text holds a reference to the environment, or what was to be one."""
    return any(token["body"] not in (None, _DAY) for token in _TOKEN.finditer(text))


def expand(text: str, environment: Mapping[str, str]) -> str | Dated:
    """Replace the references in ``text``. A default is taken when its variable is unset or empty, as in a shell.

    A text with ``${date}`` waits for the day. Raises BadReferenceError for the first reference that cannot be replaced.
    """
    parts, end = [""], 0
    for token in _TOKEN.finditer(text):
        parts[-1] += text[end : token.start()]
        end = token.end()
        if token["body"] == _DAY and token["end"]:
            parts.append("")
        else:
            parts[-1] += "${" if token["body"] is None else _value(token, environment)
    parts[-1] += text[end:]
    return parts[0] if len(parts) == 1 else Dated(tuple(parts))


def _value(token: re.Match[str], environment: Mapping[str, str]) -> str:
    """Return what a reference stands for."""
    body = _BODY.fullmatch(token["body"])
    if not token["end"]:
        raise BadReferenceError("bad-reference", f"the reference {token[0][:40]!r} is not closed", "end it with '}'")
    if body is None:
        guess = re.fullmatch(r"(?:env\.|env:)?([A-Za-z_][A-Za-z0-9_]*)", token["body"])
        way = f"write ${{env:{guess[1]}}}" if guess else "write ${env:NAME} or ${env:NAME:-default}"
        if token["body"].strip().casefold() in (_DAY, "as_of", "day"):
            way = "write ${date} for the day under 'as_of'"
        hint = f"{way}; for the text itself, '$${{'"
        raise BadReferenceError("bad-reference", f"{token[0][:40]!r} is not a reference", hint)
    name, default = body["name"], body["default"]
    if name == SIGNING_KEY:
        raise BadReferenceError("secret-variable", f"{name} holds the key that cards are signed with",
                                "a spec is printed on its card: leave the key out")
    value = environment.get(name)
    if default is not None:
        return value or default
    if value is None:
        hint = f"set it, or give a default: ${{env:{name}:-…}}"
        raise BadReferenceError("unset-variable", f"the environment variable {name} is not set", hint)
    return value
