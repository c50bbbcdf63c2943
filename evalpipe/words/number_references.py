"""References to numbers in the texts that people write, such as ``{{ value("roc_auc", model="forest") }}``.

They have a grammar of their own, which this file reads; nothing in a text is ever run. The spec's rules and the plan
check them, the card writes the numbers in their place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

Literal = str | float | int | bool

FUNCTION = "value"
"""What a reference begins with."""

WHERE = ("dataset", "model", "variant", "slice", "average", "class")
"""The names that say which number of a measure is meant; any other is an option of the measure."""

EXAMPLE = 'write {{ value("roc_auc", model="…") }}'

_REFERENCE_BEGIN = re.compile(r"(?<!\\)(?<!\\\{)\{\{(?:\s*(?P<name>[A-Za-z_]\w*)\s*\()?")
_ESCAPED = re.compile(r"\\\{\{")
_OTHER_BRACES = re.compile(r"\{\{[^{}\n]{0,50}(?:\}\})?")
_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"[^"\n]*"|'[^'\n]*')|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z_]\w*)|(?P<sign>\}\}|[(){}=,:]))""")


@dataclass(frozen=True, slots=True)
class NumberReference:
    """A reference as it is ``written``, from ``start`` on; ``options`` are all that it names beside the measure."""

    written: str
    start: int
    metric: str
    options: Mapping[str, Literal | Mapping[str, Literal]]


@dataclass(frozen=True, slots=True)
class ReferenceFault:
    """A reference that cannot be read, from ``start`` to ``end``: why, and the way out."""

    start: int
    end: int
    message: str
    hint: str


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


class _UnreadableError(Exception):
    """Raised at a token that is not what was expected; ``expected`` is that in words."""

    def __init__(self, expected: str, token: _Token) -> None:
        self.expected, self.token = expected, token


def references(text: str) -> Iterator[NumberReference | ReferenceFault]:
    """Yield the references of a text in their order; a fault in place of one that cannot be read.

    ``{{`` begins one, unless a backslash stands before it.
    """
    begin = _REFERENCE_BEGIN.search(text)
    while begin is not None:
        reference = _read_reference(text, begin)
        yield reference
        end = reference.end if isinstance(reference, ReferenceFault) else reference.start + len(reference.written)
        begin = _REFERENCE_BEGIN.search(text, end)


def without_escapes(text: str) -> str:
    r"""Return a text with ``{{`` in place of each ``\{{``."""
    return _ESCAPED.sub("{{", text)


def _read_reference(text: str, begin: re.Match[str]) -> NumberReference | ReferenceFault:
    """Return the reference that begins at a match of ``{{``, or why it cannot be read and up to where."""
    if begin["name"] is None:
        braces = _OTHER_BRACES.match(text, begin.start())
        end = begin.end() if braces is None else braces.end()
        message = f"{text[begin.start() : end]!r} is no reference to a number"
        return ReferenceFault(begin.start(), end, message, f"{EXAMPLE}, or \\{{{{ for the braces themselves")
    if begin["name"] != FUNCTION:
        message = f"a text can refer to 'value(…)' alone, not to '{begin['name']}(…)'"
        return ReferenceFault(begin.start(), begin.end(), message, EXAMPLE)
    reader = _CallReader(text, begin.end())
    try:
        metric, options = reader.read_call()
    except _UnreadableError as error:
        token = error.token
        found_instead = f"got {token.text!r}" if token.text else "the text ends"
        message = f"this reference to a number cannot be read: expected {error.expected}, {found_instead}"
        return ReferenceFault(token.start, max(token.start + len(token.text), begin.end()), message, EXAMPLE)
    return NumberReference(text[begin.start() : reader.position], begin.start(), metric, MappingProxyType(options))


class _CallReader:
    """Reads the call in a reference, from its opening bracket to ``}}``, token by token."""

    def __init__(self, text: str, position: int) -> None:
        self.text, self.position = text, position

    def next(self) -> _Token:
        """Return the next token and move behind it; a token of no kind where the text ends or none begins."""
        match = _TOKEN.match(self.text, self.position)
        if match is None or match.lastgroup is None:
            rest = re.compile(r"\s*").match(self.text, self.position)
            start = self.position if rest is None else rest.end()
            return _Token("", self.text[start : start + 1], start)
        self.position = match.end()
        return _Token(match.lastgroup, match[match.lastgroup], match.start(match.lastgroup))

    def read_sign(self, *signs: str) -> str:
        """Return the next token, which must be one of these signs; raises _UnreadableError otherwise."""
        token = self.next()
        if token.text not in signs:
            raise _UnreadableError(" or ".join(f"'{sign}'" for sign in signs), token)
        return token.text

    def literal_of(self, token: _Token) -> Literal:
        """Return the value of a token: a text, a number or a truth value; raises _UnreadableError otherwise."""
        if token.kind == "text":
            return token.text[1:-1]
        if token.kind == "number":
            return float(token.text) if "." in token.text else int(token.text)
        if token.text in ("true", "false"):
            return token.text == "true"
        raise _UnreadableError("a text in quotes or a number", token)

    def read_call(self) -> tuple[str, dict[str, Literal | Mapping[str, Literal]]]:
        """Read up to the end of the reference; return the name of the metric, and all named arguments."""
        first, options = self.next(), dict[str, Literal | Mapping[str, Literal]]()
        if first.kind != "text":
            raise _UnreadableError("the name of a metric in quotes", first)
        while self.read_sign(",", ")") == ",":
            name = self.next()
            if name.kind != "word":
                raise _UnreadableError("a name such as 'model'", name)
            if name.text in options:
                raise _UnreadableError("each name once", name)
            self.read_sign("=")
            options[name.text] = self.read_setting()
        self.read_sign("}}")
        return first.text[1:-1], options

    def read_setting(self) -> Literal | Mapping[str, Literal]:
        """Return the value of an argument, or a mapping such as ``{"season": "a"}``."""
        token = self.next()
        if token.text != "{":
            return self.literal_of(token)
        labels: dict[str, Literal] = {}
        while True:
            key = self.next()
            if key.kind != "text":
                raise _UnreadableError("a text in quotes", key)
            self.read_sign(":")
            labels[key.text[1:-1]] = self.literal_of(self.next())
            if self.read_sign(",", "}") == "}":
                return MappingProxyType(labels)
