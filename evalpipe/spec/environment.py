"""References to environment variables in a spec: ``${env:NAME}``, ``${env:NAME:-default}``, ``$${`` for ``${``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TOKEN = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)(?P<end>\}?)")
_BODY = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)


class BadReferenceError(Exception):
    """A reference cannot be replaced; its arguments are the code of its problem, what is wrong, and the way out."""


def refers(text: str) -> bool:
    """Tell whether a text holds a reference, or what was to be one."""
    return any(token["body"] is not None for token in _TOKEN.finditer(text))


def expand(text: str, environment: Mapping[str, str]) -> str:
    """Replace the references in ``text``. A default is taken when its variable is unset or empty, as in a shell.

    Raises BadReferenceError for the first reference that cannot be replaced.
    """
    return _TOKEN.sub(lambda token: "${" if token["body"] is None else _value(token, environment), text)


def _value(token: re.Match[str], environment: Mapping[str, str]) -> str:
    """Return what a reference stands for."""
    body = _BODY.fullmatch(token["body"])
    if not token["end"]:
        raise BadReferenceError("bad-reference", f"the reference {token[0][:40]!r} is not closed", "end it with '}'")
    if body is None:
        guess = re.fullmatch(r"(?:env\.|env:)?([A-Za-z_][A-Za-z0-9_]*)", token["body"])
        way = f"write ${{env:{guess[1]}}}" if guess else "write ${env:NAME} or ${env:NAME:-default}"
        hint = f"{way}; for the text itself, '$${{'"
        raise BadReferenceError("bad-reference", f"{token[0][:40]!r} is not a reference", hint)
    name, default = body["name"], body["default"]
    value = environment.get(name)
    if default is not None:
        return value or default
    if value is None:
        hint = f"set it, or give a default: ${{env:{name}:-…}}"
        raise BadReferenceError("unset-variable", f"the environment variable {name} is not set", hint)
    return value
