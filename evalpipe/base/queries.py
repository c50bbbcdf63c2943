"""The text of a query: whether it is one statement that reads, where in it something stands, and its sha256."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.digests import json_sha256

if TYPE_CHECKING:
    from collections.abc import Sequence

READING = ("SELECT", "WITH", "VALUES", "TABLE")
"""The words that a statement begins with that returns rows and writes none."""

_TOKEN = re.compile(
    r"""(?P<comment>--[^\n]*|/\*.*?\*/)|'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$"""
    r"""|(?P<end>;)|(?P<word>\w+)|(?P<space>\s+)|.""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class QueryText:
    """The ``body`` of a text without what ends it, its first word in capitals, and where another statement begins."""

    body: str
    first: str
    another: int | None


def query_text(text: str) -> QueryText:
    """Look at a text of SQL; quotes, comments and texts between dollars are passed over."""
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
    """Return the sha256 of a query's text and parameters, as a list in JSON without spaces, in UTF-8."""
    return json_sha256([text, list(parameters)])
