"""URIs of databases in a spec, with what of them may be shown, and the text of queries."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from evalpipe.base.digests import json_sha256

if TYPE_CHECKING:
    from collections.abc import Sequence


SCHEMES = {"postgresql": "postgresql", "postgres": "postgresql", "sqlite": "sqlite"}
"""The drivers that evalpipe comes with, by the schemes of URIs."""

FILE_ENDINGS = (".sqlite", ".sqlite3", ".db", ".db3")
"""The endings of a path of an SQLite file, which may be given in place of a URI."""

SECRET_KEYS = re.compile(r"password|passwd|pwd|token|secret|credential|key", re.IGNORECASE)
"""The words in names of secret parameters of a URI, whose values are never shown."""

HIDDEN = "…"
"""The text in messages in place of a secret."""

# A name and its value, as libpq, ODBC and ADO.NET, parameters of addresses and JSON have them. Counts are bounded, so
# that the time that a long text takes does not grow with its square.
_PAIR = re.compile(
    r"""(?:pass(?:word|wd|phrase)|pwd|secret|(?:access|account|api|auth|private|shared)[\w ]{0,12}(?:key|token))\w{0,20}
    (?:["']?\s{0,9}=|["']\s{0,9}:)\s{0,9}
    ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\{[^}]*\}|[^\s;&]*[^\s;&"'}])""", re.IGNORECASE | re.VERBOSE)
_BEFORE_HOST = re.compile(  # after one slash or two, and after none where a database follows the host
    r":/{1,2}[^/\s:@]{0,200}:(?!\d+(?:[/?#]|$))([^\s@]{1,500})@"
    r"|[\w%]:([^\s@/]{1,200})@[\w.-]{1,200}(?::\d{1,5})?/\w")
_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_HOSTS = re.compile(r"(?:(?:\[[^][]*\]|[^][:,]*)(?::\d*)?(?:,|$))+")
_KEYED = re.compile(r"[?&][\w.]+=[^&]*")
_NO_PATH = re.compile(r"^[a-z][a-z0-9+.-]+:|(?:^|[\s;])(?:host|hostaddr|port|dbname|database|user|uid|service|server|"
                      r"driver|dsn)\s*=", re.IGNORECASE)
"""The beginnings that no path has: a scheme, or a name and its value as libpq and ODBC write them."""

WAY = ("write scheme://user:password@host:port/database, and '@', '/', '?' and '#' of a password as %40, %2F, %3F "
       "and %23")


def secrets_in(text: str) -> tuple[str, ...]:
    """Return the passwords and keys in a text of any kind, recognised by the text around them."""
    secrets = [match[match.lastindex or 0] for pattern in (_PAIR, _BEFORE_HOST) for match in pattern.finditer(text)]
    return tuple(dict.fromkeys(form for secret in secrets for form in (secret, secret.strip("'\"{}")) if form))


def holds_secret(text: str) -> bool:
    """Tell whether a text seems to contain a password or a private key."""
    return bool(secrets_in(text) or _PRIVATE_KEY.search(text))


@dataclass(frozen=True, slots=True)
class DatabaseUri:
    """The URI of a database, with user and password. Its ``text`` is given to the driver, and never shown."""

    text: str = field(repr=False)

    @property
    def scheme(self) -> str:
        """The word before ``://``, in small letters; empty where there is none."""
        word = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", self.text)
        return "" if word is None else word[1].lower()

    @property
    def address(self) -> str:
        """The URI with its scheme in small letters, as drivers need it."""
        return self.scheme + self.text[len(self.scheme):]

    @property
    def is_path(self) -> bool:
        """Whether this is not a URI but the path of an SQLite file: by its ending, and without signs of a URI."""
        return not (self.scheme or self.passwords or _CONTROL.search(self.text) or _NO_PATH.search(self.text)) and (
            self.text.lower().endswith(FILE_ENDINGS))

    @property
    def fault(self) -> tuple[str, str] | None:
        """The message and the hint for an invalid URI; None for a valid one.

        Drivers would misread such a URI, and quote parts of a password as a host.
        """
        if _CONTROL.search(self.text):
            return "this URI holds a line break or another control character", "remove it"
        if self.scheme.partition("+")[0] == "sqlite" and self.file in ("", ":memory:"):
            return "a URI of SQLite names a file after three slashes", "write it as in sqlite:///scores.db"
        authority, rest = self._authority
        hosts = authority.rpartition("@")[2]
        if "@" in rest or authority.count("@") > 1 or not _HOSTS.fullmatch(hosts):
            return "the user, the password and the host of this URI cannot be told apart", WAY
        return None

    @property
    def no_ledger(self) -> tuple[str, str] | None:
        """The message and the hint where this is neither a valid URI nor a path of an SQLite file; None where it is."""
        if self.scheme:
            return self.fault
        if self.is_path:
            return None
        kind = "neither a URI of a database nor the path of a file of SQLite" if self.text else "empty"
        endings = f"{', '.join(FILE_ENDINGS[:-1])} or {FILE_ENDINGS[-1]}"
        return f"this is {kind}", f"write postgresql://user@host/database, or a path that ends in {endings}"

    @property
    def _authority(self) -> tuple[str, str]:
        """The text between ``://`` and the path, and the rest without parameters (empty for a file)."""
        rest = self.text.partition("://")[2]
        authority = re.split("[/?#]", rest, maxsplit=1)[0]
        return authority, "" if self.file else _KEYED.sub("", rest[len(authority):])

    @property
    def _parts(self) -> SplitResult:
        """The parts of the URI; raises ValueError where it is none."""
        return urlsplit(self.text)

    @property
    def file(self) -> str:
        """The path of a file after three slashes, as in ``sqlite:///scores.db``; empty where there is none.

        In a URI of PostgreSQL, a database of this machine follows the three slashes.
        """
        scheme, _, path = self.text.partition(":///")
        is_file_uri = self.scheme and scheme.lower() == self.scheme and not self.scheme.startswith("postgres")
        return unquote(path.partition("?")[0]) if is_file_uri else ""

    @property
    def shown(self) -> str:
        """The database in results and messages: scheme and database, without user, host and parameters.

        Empty where there is no scheme, for then the parts are not known.
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
    def without_password(self) -> str:
        """The (valid) URI with asterisks for its password, and without parameters."""
        return re.sub(r"^([^:]+://[^:@/]*):[^@/]*@", r"\1:***@", self.address.partition("?")[0])

    @property
    def passwords(self) -> tuple[str, ...]:
        """The passwords and keys in the URI, quoted and unquoted; where it is ambiguous, all parts that may be some."""
        authority, rest = self._authority
        user, _, hosts = authority.rpartition("@")
        candidates = [user.partition(":")[2]]
        if not self.scheme or "@" in rest or authority.count("@") > 1:
            # A password with an "@" or "/" of its own: it may end at any sign before the last "@".
            after_scheme = self.text.partition("://")[2] if self.scheme else self.text
            after_user = after_scheme.rpartition("@")[0].partition(":")[2]
            candidates += [after_user, *re.split(r"[@/?#:]", after_user)]
        elif not _HOSTS.fullmatch(hosts):
            candidates += re.split(r"[,:]", hosts.partition(":")[2])  # what stands where a port should
        try:
            candidates += [value for key, value in parse_qsl(self._parts.query) if SECRET_KEYS.search(key)]
        except ValueError:
            candidates.append(self.text)
        candidates += [*secrets_in(self.text), *secrets_in(unquote(self.text))]
        return tuple(dict.fromkeys(form for text in candidates if text for form in (text, unquote(text), quote(text))))

    @property
    def private(self) -> tuple[str, ...]:
        """The URI itself, its user and its hosts, which results do not show."""
        try:
            parts = self._parts
        except ValueError:
            return (self.text,)
        user, _, hosts = parts.netloc.rpartition("@")
        names = [user.partition(":")[0], *(host.rpartition(":")[0] or host for host in hosts.split(","))]
        return tuple(dict.fromkeys(text for text in (self.text, *names, *map(unquote, names)) if text))

    def hidden(self, message: str) -> str:
        """Return a message with `HIDDEN` in place of this URI and its passwords."""
        for secret in sorted((*self.passwords, self.text, self.address), key=len, reverse=True):
            message = message.replace(secret, HIDDEN) if secret else message
        return message

    def redacted(self, message: str) -> str:
        """Return a driver's message with `HIDDEN` in place of this URI, its passwords, and user and hosts in quotes."""
        clean = self.hidden(message)
        for name in self.private:
            clean = clean.replace(f'"{name}"', f'"{HIDDEN}"').replace(f"'{name}'", f"'{HIDDEN}'")
        return clean


READING = ("SELECT", "WITH", "VALUES", "TABLE")
"""The first words of SQL statements that return rows and write none."""

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"""
    r"""|(?P<end>;)|(?P<word>\w+)|(?P<space>\s+)|.""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QueryText:
    """An SQL text: its first statement (``body``), the first word in capitals, the position of another statement."""

    body: str
    first: str
    another: int | None


def query_text(text: str) -> QueryText:
    """Split an SQL text at the end of its first statement, outside of quotes, comments and dollar quotes."""
    first, end, another = "", None, None
    for token in _TOKEN.finditer(text):
        if token["comment"] or token["space"] or token[0] == "(":
            continue
        if token["end"]:
            end = token.start() if end is None else end
        elif end is not None:
            another = token.start()
            break
        elif not first:
            first = (token["word"] or token[0]).upper()
    return QueryText(text if end is None else text[:end], first, another)


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Return the 1-based line and column of a 0-based position in a text."""
    before = text[:position]
    return before.count("\n") + 1, position - before.rfind("\n")


def query_sha256(text: str, parameters: Sequence[str | bool | float]) -> str:
    """Return the sha256 of the JSON list of a query's text and its parameters."""
    return json_sha256([text, list(parameters)])
