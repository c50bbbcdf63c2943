"""References to environment variables in a spec: ``${env:NAME}``, ``${env:NAME:-default}``, ``$${`` for ``${``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)(?P<end>\}?)")
_BODY = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class BadReference:
    """A reference that cannot be replaced: the code of its problem, what is wrong, and the way out."""

    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Expanded:
    """A text with its references replaced; ``used`` tells whether there was one; ``fault`` what is wrong."""

    text: str
    used: bool = False
    fault: BadReference | None = None


def expand(text: str, environment: Mapping[str, str]) -> Expanded:
    """Replace the references in ``text``. A default is taken when its variable is unset or empty, as in a shell."""
    if "${" not in text:
        return Expanded(text)
    parts, used, end = [], False, 0
    for token in _TOKEN.finditer(text):
        parts.append(text[end : token.start()])
        end = token.end()
        if token["body"] is None:
            parts.append("${")
            continue
        value = _value(token, environment)
        if isinstance(value, BadReference):
            return Expanded(text, used=True, fault=value)
        parts.append(value)
        used = True
    return Expanded("".join([*parts, text[end:]]), used)


def _value(token: re.Match[str], environment: Mapping[str, str]) -> str | BadReference:
    """Return what a reference stands for."""
    body = _BODY.fullmatch(token["body"])
    if not token["end"]:
        return BadReference("bad-reference", f"the reference {token[0][:40]!r} is not closed", "end it with '}'")
    if body is None:
        guess = re.fullmatch(r"(?:env\.|env:)?([A-Za-z_][A-Za-z0-9_]*)", token["body"])
        way = f"write ${{env:{guess[1]}}}" if guess else "write ${env:NAME} or ${env:NAME:-default}"
        hint = f"{way}; for the text itself, '$${{'"
        return BadReference("bad-reference", f"{token[0][:40]!r} is not a reference", hint)
    name, default = body["name"], body["default"]
    value = environment.get(name)
    if default is not None:
        return value or default
    if value is None:
        return BadReference(
            "unset-variable",
            f"the environment variable {name} is not set",
            f"set it, or give a default: ${{env:{name}:-…}}",
        )
    return value
