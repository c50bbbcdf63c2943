"""A condition cut into words, numbers, texts and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from evalpipe.data.errors import Unreadable

_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*"|`[^`]*`)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign><=|>=|<>|!=|==|\|\||[-+*/%(),<>=])""",
    re.DOTALL | re.VERBOSE,
)

# Names and texts in quotes are told apart, as SQL does: "age" is a column, 'age' a text.
Sort = Literal["number", "text", "quoted", "word", "sign", "end"]
SORTS: tuple[Sort, ...] = ("number", "text", "quoted", "word", "sign")


class Wrong(Unreadable):
    """A condition cannot be used."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a condition: its sort, its value (without quotes), and where it begins and ends."""

    sort: Sort
    value: str
    begin: int
    end: int


def tokens(text: str) -> list[Token]:
    """Cut a condition into tokens, the last of them its end; raises Wrong."""
    pieces: list[Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _strange(text, at)
        at = match.end()
        pieces.extend(Token(sort, _plain(sort, match[sort]), match.start(), at) for sort in SORTS if match[sort])
    return [*pieces, Token("end", "", len(text), len(text))]


def _plain(sort: Sort, written: str) -> str:
    """Take the quotes away."""
    if sort in ("text", "quoted"):
        return written[1:-1].replace(written[0] * 2, written[0])
    return written


def _strange(text: str, at: int) -> Wrong:
    sign = text[at]
    if sign in "'\"`":
        hint = "close it, or write '' inside a text"
        return Wrong("bad-sql", f"cannot be read: a quote ({sign}) is not closed", hint)
    hint = 'put a name with other characters than letters, digits and _ in double quotes, as in "blood.pressure" > 120'
    return Wrong("bad-sql", f"cannot be read at {text[at:at + 20].strip()!r}", hint)


def names(text: str) -> set[str]:
    """Return all words and quoted names of a condition, among them the columns it is about."""
    try:
        return {token.value for token in tokens(text) if token.sort in ("word", "quoted")}
    except Wrong:
        return set()
