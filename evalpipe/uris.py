"""URIs of databases: what of them may be shown, and what never is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}
"""The drivers that evalpipe comes with, by the schemes of URIs."""

SECRET_KEYS = re.compile(r"password|passwd|pwd|token|secret|credential|key", re.IGNORECASE)
"""What stands in the names of those parameters of a URI that are shown to nobody."""

_PAIR = re.compile(rf"(?:{SECRET_KEYS.pattern})\w*\s*=\s*([^\s;&]+)", re.IGNORECASE)  # as some drivers write them

HIDDEN = "…"
"""Stands in messages for what is not shown."""


@dataclass(frozen=True, slots=True)
class DatabaseUri:
    """Where a database is, with who may read it. Its ``text`` is given to the driver, and to nothing else."""

    text: str = field(repr=False)

    @property
    def scheme(self) -> str:
        """The word before ``://``, in small letters; empty where there is none."""
        word = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", self.text)
        return "" if word is None else word[1].lower()

    @property
    def _parts(self) -> SplitResult:
        """Its parts; raises ValueError where it is no URI."""
        return urlsplit(self.text)

    @property
    def file(self) -> str:
        """The path of a file that it names after three slashes, as in ``sqlite:///scores.db``; empty where none is."""
        before, _, path = self.text.partition(":///")
        return unquote(path.partition("?")[0]) if self.scheme and before.lower() == self.scheme else ""

    @property
    def shown(self) -> str:
        """What results and messages call the place: the scheme and the database, no user, host or parameter.

        Empty where there is no scheme, for then nothing says what its parts are.
        """
        if not self.scheme:
            return ""
        if self.file:
            return f"{self.scheme}:{self.file}"
        try:
            database = unquote(self._parts.path).strip("/")
        except ValueError:
            database = ""
        return f"{self.scheme}:{database}" if database else self.scheme

    @property
    def passwords(self) -> tuple[str, ...]:
        """The passwords and keys in it, as they are written and as they are meant."""
        try:
            parts = self._parts
            # Without a scheme, as some drivers have it, what stands before the @ is a user with a password too.
            given = [(parts.netloc if self.scheme else self.text).rpartition("@")[0].partition(":")[2]]
            given += [value for key, value in parse_qsl(parts.query) if SECRET_KEYS.search(key)]
        except ValueError:
            return (self.text,)
        given += [match[1] for match in _PAIR.finditer(self.text)]
        return tuple(dict.fromkeys(form for text in given if text for form in (text, unquote(text), quote(text))))

    @property
    def private(self) -> tuple[str, ...]:
        """The user, the hosts and the whole, which results do not show."""
        try:
            parts = self._parts
        except ValueError:
            return (self.text,)
        user, _, hosts = parts.netloc.rpartition("@")
        named = [user.partition(":")[0], *(host.rpartition(":")[0] or host for host in hosts.split(","))]
        return tuple(dict.fromkeys(text for text in (self.text, *named, *map(unquote, named)) if text))

    def redacted(self, message: str) -> str:
        """Return a message of a driver without passwords, and without the user and the host where it quotes them."""
        clean = message
        for secret in sorted((*self.passwords, self.text), key=len, reverse=True):
            clean = clean.replace(secret, HIDDEN)
        for name in self.private:
            clean = clean.replace(f'"{name}"', f'"{HIDDEN}"').replace(f"'{name}'", f"'{HIDDEN}'")
        return clean
