"""References in a spec: ``${env:NAME}``, ``${env:NAME:-default}``, ``${date}`` for its day, ``$${`` for ``${``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.ed25519 import SIGNING_KEY
from evalpipe.base.uris import holds_secret

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TOKEN = re.compile(r"\$\$\{|\$\{(?P<body>[^}]*)(?P<end>\}?)")
_BODY = re.compile(r"env:(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)
_DAY = "date"

_SECRET_NAME = re.compile(
    r"(?:^|_)(?:PASSWORDS?|PASSWD|PASSPHRASE|SECRETS?|TOKENS?|CREDENTIALS?|(?:API|ACCESS|PRIVATE|SECRET|SIGNING)_?KEYS?)"
    r"(?:_|$)|_PWD$", re.IGNORECASE)


class BadReferenceError(Exception):
    """A reference cannot be replaced; its arguments are the code of its problem, what is wrong, and the way out."""


@dataclass(frozen=True, slots=True)
class Dated:
    """A text that waits for the day of the spec; ``parts`` are what stands before, between and after its days."""

    parts: tuple[str, ...]

    def on(self, day: str) -> str:
        """Return the text with a day in place of each ``${date}``."""
        return day.join(self.parts)


def is_private(path: Sequence[str]) -> bool:
    """Tell whether the value at a path of keys stands in no output, so that it may hold a secret."""
    match path:
        case ["ledger"] | ["datasets", _, "uri"]:
            return True
        case _:
            return False


def refers(text: str) -> bool:
    """Tell whether a text holds a reference to the environment, or what was to be one."""
    return any(token["body"] not in (None, _DAY) for token in _TOKEN.finditer(text))


def expand(
    text: str, environment: Mapping[str, str], *, private: bool = False, printed: str = "on the card"
) -> str | Dated:
    """Replace the references in ``text``. A default is taken when its variable is unset or empty, as in a shell.

    A text with ``${date}`` waits for the day. Raises BadReferenceError for the first reference that cannot be replaced,
    and for one to a secret, by the name or the look of its value, unless the text is ``private``: in no output.
    ``printed`` says where it is printed otherwise.
    """
    parts, end = [""], 0
    for token in _TOKEN.finditer(text):
        parts[-1] += text[end : token.start()]
        end = token.end()
        if token["body"] == _DAY and token["end"]:
            parts.append("")
        else:
            parts[-1] += "${" if token["body"] is None else _value(
                token, environment, None if private else printed)
    parts[-1] += text[end:]
    return parts[0] if len(parts) == 1 else Dated(tuple(parts))


def literal(text: str) -> str:
    """Return what a text says without the environment: defaults in place of references, nothing where there is none."""
    return _TOKEN.sub(lambda token: "${" if token["body"] is None else _default(token["body"]), text)


def _default(body: str) -> str:
    """Return the default of a reference; nothing where it has none."""
    parts = _BODY.fullmatch(body)
    return "" if parts is None else parts["default"] or ""


def _value(token: re.Match[str], environment: Mapping[str, str], printed: str | None) -> str:
    """Return what a reference stands for, which is ``printed`` somewhere; None where it stands in no output."""
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
    if printed is not None:
        _refuse_secret(name, value or "", printed)
    if default is not None:
        return value or default
    if value is None:
        hint = f"set it, or give a default: ${{env:{name}:-…}}"
        raise BadReferenceError("unset-variable", f"the environment variable {name} is not set", hint)
    return value


def _refuse_secret(name: str, value: str, printed: str) -> None:
    """Refuse a variable whose name or value is that of a secret."""
    if _SECRET_NAME.search(name):
        what = f"the name of the environment variable {name} is that of a secret"
    elif holds_secret(value):
        what = f"the environment variable {name} holds a password or a private key"
    else:
        return
    raise BadReferenceError("secret-variable", f"{what}, and this value is printed {printed}",
                            "leave it out, or take it from a variable that holds no secret")
