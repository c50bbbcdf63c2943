"""PyYAML's complaints about a text that is not YAML, in plain words with a way out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import yaml
from yaml.reader import ReaderError

from evalpipe.errors import Problem

if TYPE_CHECKING:
    from evalpipe.spec.text import SpecText

_QUOTE = "put the whole value in quotes"


class _Fault(NamedTuple):
    """A complaint of PyYAML as a pattern, the message and hint for it, and whether it is shown where it began."""

    pattern: str
    message: str
    hint: str | None
    code: str = "yaml-syntax"
    at_start: bool = False


_CLOSE = "end the text with the same quote"
# The first that matches counts: what is said of a tab, or of a text after a value, stands above what is said of any.
_CASES = (
    _Fault(r"found character '\\t'", "a tab cannot indent or begin a value", "use spaces"),
    _Fault(r"found character '(.)'", r"a value cannot begin with '\1'", _QUOTE),
    _Fault(r"mapping values are not allowed", "this ':' begins a value where none can stand",
           "put a text that holds ': ' in quotes; else check the indentation"),
    _Fault(r"sequence entries", "this '-' begins a list where none can stand", "begin the list on a new line"),
    _Fault(r"expected ',' or '\]'", "this list is not closed, or a ',' is missing in it", "end it with ']'",
           at_start=True),
    _Fault(r"expected ',' or '\}'", "this mapping is not closed, or a ',' is missing in it", "end it with '}'",
           at_start=True),
    _Fault(r"unexpected (end of stream|document separator)", "this quote is not closed", _CLOSE, at_start=True),
    _Fault(r"could not find expected ':'", "a ':' is missing after this key", "write 'key: value'", at_start=True),
    _Fault(r"undefined alias '?(.*?)'?$", r"'*\1' refers to an anchor that does not exist",
           "put a text that begins with '*' in quotes"),
    _Fault(r"second occurrence", "this anchor is defined already", "give each anchor its own name"),
    _Fault(r"another document", "a second document begins here; a spec is one document", "remove this line",
           code="many-documents"),
    _Fault(r"unknown escape character '(.*)'", r"'\\\1' is not an escape in double quotes",
           r"use single quotes, or write '\\'"),
    _Fault(r"expected alphabetic or numeric", "a value that begins with '*', '&' or '%' has a meaning of its own",
           _QUOTE),
    _Fault(r"expected <block end>, but found '<scalar>'", "this text follows a value that has ended",
           "put the whole value in double quotes"),
    _Fault(r"expected <block end>", "this line does not fit the indentation of the lines above it",
           "align it with them"),
    _Fault(r"expected '<document start>'", "this is outside the mapping above it", "write every line as 'key: value'"),
    _Fault(r"expected the node content", "a value is missing before this character", "put a text in quotes"),
    _Fault(r"chomping or indentation", "'|' and '>' begin a block of text on the lines below", _QUOTE),
    _Fault(r"expected (URI|' '|'>')|tag handle", "'!' begins a tag here", _QUOTE),
    _Fault(r"expected a digit", "'%' begins a directive here", "put a text that begins with '%' in quotes"),
    _Fault(r"incompatible YAML document", "this version of YAML is not known", "remove the line"),
)


def explained(error: yaml.YAMLError, text: SpecText) -> Problem:
    """Turn PyYAML's error about ``text`` into a problem."""
    if isinstance(error, ReaderError):
        code = f"U+{error.character:04X}" if isinstance(error.character, int) else f"U+{ord(error.character):04X}"
        place = text.place(error.position, error.position + 1)
        return Problem("yaml-syntax", f"the character {code} is not allowed in YAML", place, "remove it")
    complaint = getattr(error, "problem", None) or "it cannot be read"
    here, start = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    for case in _CASES:
        match = re.search(case.pattern, complaint)
        if match:
            mark = start if case.at_start and start is not None else here
            return _problem(case, match, text, mark)
    mark = here or start
    return Problem("yaml-syntax", f"this is not valid YAML: {complaint}", text.place(mark.index) if mark else None)


def _problem(case: _Fault, match: re.Match[str], text: SpecText, mark: yaml.Mark | None) -> Problem:
    """Return the problem of a complaint that is known; ``match`` is its pattern's, ``mark`` where it is shown."""
    place = text.place(mark.index, mark.index + 1) if mark is not None else None
    hint = case.hint
    # YAML reads the '{' of an unquoted reference inside [ ] as the beginning of a mapping.
    if place is not None and place.text is not None and "${" in place.text and case.at_start:
        hint = "inside [ ] and { }, put quotes around ${env:…}"
    return Problem(case.code, match.expand(case.message), place, hint)
