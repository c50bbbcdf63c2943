"""Values as YAML that the strict loader reads back the same, and lines with their comments below each other."""

from __future__ import annotations

import json
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.spec.yaml import resolve
from evalpipe.words.spelling import JOINERS, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_INDENT = 48
"""The column beyond which a comment does not move to stand below others."""

WIDTH = 110
"""The characters of a line of comment."""

_PLAIN = re.compile(r"(?:\.\./)*\.?[^\W\d][\w./]*(?:[ -][\w./]+)*")
"""Texts that need no quotes: words of letters, digits, '_', '.' and '/', apart by single spaces or hyphens."""

_NUMBER = re.compile(r"0|-?[1-9]\d{0,14}")


class SpecLine(NamedTuple):
    """A line of a spec and the comment beside it; a line without text is a comment alone, or empty."""

    text: str = ""
    comment: str = ""


def key(text: str) -> str:
    """Write a text as a key."""
    return text if _needs_no_quotes(text) else _in_quotes(text)


def scalar(value: object) -> str:
    """Write a text, a number, or true or false as a value; what would be a reference to the environment is escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text = value.replace("${", "$${")
    return text if _needs_no_quotes(text) else _in_quotes(text)


def level(text: str) -> str:
    """Write a level, given by its text: whole numbers and true and false without quotes."""
    return text if _NUMBER.fullmatch(text) or text in ("true", "false") else scalar(text)


def inline(values: Mapping[str, str]) -> str:
    """Write a mapping of keys of the spec to values that are YAML already, in one line."""
    return "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"


def _needs_no_quotes(text: str) -> bool:
    """Tell whether a text is read as itself without quotes; words of YAML 1.1 are quoted too, for other readers."""
    if not _PLAIN.fullmatch(text) or text.lower() in ("yes", "no", "on", "off", "nan", "inf"):
        return False
    return text.isprintable() and resolve(text) == text


def _in_quotes(text: str) -> str:
    """Write a text in quotes, with escapes for what cannot be seen; what holds double quotes stands in single ones."""
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    written = ""
    for character in json.dumps(text, ensure_ascii=False):
        code = ord(character)
        seen = character.isprintable() or character in JOINERS
        written += character if seen else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
    return written


def lines_as_text(lines: Sequence[SpecLine]) -> str:
    """Write lines, the comments of those that follow each other in one column."""
    written: list[str] = []
    block: list[SpecLine] = []
    for line in (*lines, SpecLine()):
        if line.text:
            block.append(line)
            continue
        width = max((len(part.text) for part in block if len(part.text) <= MOST_INDENT), default=0)
        written += [f"{part.text:<{width}}  # {printable(part.comment)}" if part.comment else part.text
                    for part in block]
        written += _comment_lines(line.comment) if line.comment else [""]
        block = []
    return "\n".join(written).rstrip("\n") + "\n"


def _comment_lines(comment: str) -> list[str]:
    """Write a comment in lines, indented as its first begins; code, which is indented, stays in one."""
    shown = printable(comment)
    if shown.startswith(" "):
        return [f"# {shown}".rstrip()]
    indent = "  " if shown.startswith("- ") else ""
    lines = textwrap.wrap(shown, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [f"# {line}" for line in lines]
