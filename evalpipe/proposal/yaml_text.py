"""Write values as YAML that the strict loader reads back unchanged, and lines with aligned comments."""

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
"""The longest line whose comment is aligned with others."""

WIDTH = 110
"""The width of a comment line in characters."""

_PLAIN = re.compile(r"(?:\.\./)*\.?[^\W\d][\w./]*(?:[ -][\w./]+)*")
"""Texts that need no quotes: words of letters, digits, '_', '.' and '/', separated by single spaces or hyphens."""

_NUMBER = re.compile(r"0|-?[1-9]\d{0,14}")


class SpecLine(NamedTuple):
    """A line of a spec and the comment beside it; a line without text is a comment alone, or empty."""

    text: str = ""
    comment: str = ""


def key(text: str) -> str:
    """Return a text as a YAML mapping key, in quotes where YAML needs them."""
    return text if _needs_no_quotes(text) else _in_quotes(text)


def scalar(value: object) -> str:
    """Return a text, a number or a boolean as a YAML value; ``${`` is escaped, for it refers to the environment."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(value)
    text = value.replace("${", "$${")
    return text if _needs_no_quotes(text) else _in_quotes(text)


def yaml_level(text: str) -> str:
    """Return an outcome's level as YAML, from its text: integers, true and false are without quotes."""
    return text if _NUMBER.fullmatch(text) or text in ("true", "false") else scalar(text)


def yaml_mapping(values: Mapping[str, str]) -> str:
    """Return a YAML mapping in one line, from keys of the spec to values that are YAML already."""
    return "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"


def _needs_no_quotes(text: str) -> bool:
    """Tell whether YAML reads an unquoted text unchanged, also a reader of YAML 1.1, to which `yes` is a boolean."""
    if not _PLAIN.fullmatch(text) or text.lower() in ("yes", "no", "on", "off", "nan", "inf"):
        return False
    return text.isprintable() and resolve(text) == text


def _in_quotes(text: str) -> str:
    """Return a text in quotes, with escapes for invisible characters; in single quotes if it has double ones."""
    if '"' in text and "'" not in text and text.isprintable():
        return f"'{text}'"
    quoted = ""
    for character in json.dumps(text, ensure_ascii=False):
        code = ord(character)
        is_visible = character.isprintable() or character in JOINERS
        quoted += character if is_visible else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"
    return quoted


def lines_as_text(lines: Sequence[SpecLine]) -> str:
    """Return the text of lines, with the comments of consecutive lines aligned in one column."""
    text_lines: list[str] = []
    block: list[SpecLine] = []
    for line in (*lines, SpecLine()):
        if line.text:
            block.append(line)
            continue
        width = max((len(part.text) for part in block if len(part.text) <= MOST_INDENT), default=0)
        text_lines += [f"{part.text:<{width}}  # {printable(part.comment)}" if part.comment else part.text
                    for part in block]
        text_lines += _comment_lines(line.comment) if line.comment else [""]
        block = []
    return "\n".join(text_lines).rstrip("\n") + "\n"


def _comment_lines(comment: str) -> list[str]:
    """Wrap a comment into lines that begin with "#"; one that begins with a space, as code does, stays one line."""
    shown = printable(comment)
    if shown.startswith(" "):
        return [f"# {shown}".rstrip()]
    indent = "  " if shown.startswith("- ") else ""
    lines = textwrap.wrap(shown, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    return [f"# {line}" for line in lines]
