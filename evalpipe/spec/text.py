"""Texts with the places of their characters: of the spec's files, and those that people state for the card."""

from __future__ import annotations

import bisect
import re
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.origin import path_text
from evalpipe.errors import Place, Problem
from evalpipe.words.spelling import closest_file, listed, printable

if TYPE_CHECKING:
    from evalpipe.base.origin import Loc, Origin
    from evalpipe.spec.tree import Tree


MAX_BYTES = 1_000_000
"""The size a file of the spec may have."""

STDIN = "<stdin>"
"""The name shown for the standard input."""

MAX_EXCERPT = 300
"""Lines longer than this are not shown."""

_BREAK = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class SpecText:
    """A text and the name shown for it; ``first_line`` is its line number, ``skip`` where its YAML begins.

    ``sha256`` is that of the file's bytes, None of a text that is no whole file.
    """

    file: str
    text: str
    first_line: int = 1
    skip: int = 0
    sha256: str | None = None

    @cached_property
    def _starts(self) -> list[int]:
        """The positions at which lines begin."""
        return [0, *(line_break.end() for line_break in _BREAK.finditer(self.text))]

    def place(self, start: int, end: int | None = None) -> Place:
        """Return the place of the characters from ``start`` to ``end``, counted from where the YAML begins."""
        start = min(start + self.skip, len(self.text))
        line = bisect.bisect_right(self._starts, start) - 1
        begin = self._starts[line]
        line_break = _BREAK.search(self.text, begin)
        shown = self.text[begin : line_break.start() if line_break else len(self.text)]
        last = len(shown.rstrip()) if end is None else min(end + self.skip - begin, len(shown.rstrip()))
        # What cannot be printed, such as an escape sequence, must not reach a terminal; a tab may.
        clean = "\t".join(map(printable, shown.split("\t"))) if len(shown) <= MAX_EXCERPT else None
        column = start - begin
        return Place(self.file, self.first_line + line, column + 1, max(1, last - column), clean)


def read_text(path: Path, shown: str, named_at: Place | None = None) -> SpecText | Problem:
    """Read a file of the spec, named ``shown`` to people; ``named_at`` is the place in a spec that names the file.

    A file that is shown as `STDIN` is the standard input. What prevents reading is returned, not raised.
    """
    try:
        with nullcontext(sys.stdin.buffer) if shown == STDIN else path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)  # one more tells that it is too large, without reading it all
    except (FileNotFoundError, NotADirectoryError):
        return Problem("missing-file", f"there is no file {shown}", named_at, _similar_spec(path))
    except IsADirectoryError:
        return Problem("unreadable-file", f"{shown} is a folder, not a file", named_at, "give the path of a YAML file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return Problem("unreadable-file", f"cannot read {shown}: {reason}", named_at, "name a file that can be read")
    if len(content) > MAX_BYTES:
        hint = "is this the data? Give the YAML file, and name the data under 'datasets'"
        return Problem("too-large", f"the spec is larger than {MAX_BYTES:,} bytes", Place(shown), hint)
    try:
        text = content.decode("utf-8-sig").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        return _not_utf8(shown, content, error)
    return SpecText(shown, text, sha256=bytes_sha256(content))


def _not_utf8(shown: str, content: bytes, error: UnicodeDecodeError, notes: tuple[str, ...] = ()) -> Problem:
    line = content[: error.start].count(b"\n") + 1
    message = f"the file is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}"
    return Problem("not-utf8", message, Place(shown, line), "save it as UTF-8", notes=notes)


def _similar_spec(path: Path) -> str:
    """Name the YAML file of the same folder that is most like the missing one."""
    if path.is_symlink():
        return "it is a link to what is not there"
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.suffix in (".yaml", ".yml"))
    except OSError:
        return "check the path"
    close = closest_file(path.name, names)
    return f"did you mean '{close}'?" if close else "check the path"


LONGEST = 20_000
"""The characters that one text may have."""

MAX_PROSE_BYTES = 100_000
"""The bytes that a file of one text may have, which hold as many characters of any script."""

ENDINGS = (".md", ".markdown", ".rst", ".txt")
"""How the names of files end whose texts go on a card, so that no other file gets there by mistake."""

RELATIVE = "the path is relative to the file that names it"


@dataclass(frozen=True, slots=True)
class ProseText:
    """A text that people state; of one in a file of its own, the path as it is written and the sha256.

    ``source`` knows the places of a file's characters.
    """

    text: str
    source: SpecText | None = None
    path: str | None = None
    sha256: str | None = None

    def problem(
        self, origin: Origin, loc: Loc, code: str, message: str, hint: str, span: tuple[int, int], named: str = ""
    ) -> Problem:
        """Make a problem of this text at ``loc``: of a file, at the ``span`` of characters, with where it is named.

        A text that is written in the spec has no places of its own, so the message begins with what is ``named``.
        """
        if self.source is not None:
            place = origin.place(*loc, "file")
            notes = () if place is None else (f"named at {place}",)
            return Problem(code, message, self.source.place(*span), hint, notes=notes)
        place, sentence = origin.place(*loc), f"{' '.join(named.split())}: {message}" if named else message
        return Problem(code, sentence if place is not None else f"{path_text(loc)}: {sentence}", place, hint)


def read_prose(tree: Tree, loc: Loc, written: str) -> ProseText | Problem:
    """Read the file of a text that is named at ``loc``; what prevents it is returned, not raised."""
    content = _prose_bytes(tree, loc, tree.origin.folder_of(*loc) / written)
    if isinstance(content, Problem):
        return content
    named = "the file" if tree.secret(*loc) else written
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _not_utf8(named, content, error, tree.noted("named at", *loc))
    return ProseText(text, SpecText(named, text), written, bytes_sha256(content))


def _prose_bytes(tree: Tree, loc: Loc, path: Path) -> bytes | Problem:
    """Return the bytes of the file of a text, or the problem of reading it."""
    shown = tree.show(*loc)
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_PROSE_BYTES else None
    except (FileNotFoundError, NotADirectoryError):
        return tree.problem("missing-file", f"there is no file {shown}", *loc, hint=_similar_file(path))
    except IsADirectoryError:
        return tree.problem("unreadable-file", f"{shown} is a folder, not a file", *loc, hint="name a text file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return tree.problem("unreadable-file", f"cannot read {shown}: {reason}", *loc)
    if not {path.suffix.lower(), path.resolve().suffix.lower()} <= set(ENDINGS):
        message = f"{shown} is no text for a card: its name ends in none of {listed(ENDINGS, 'and')}"
        return tree.problem("not-a-text", message, *loc, hint="if it is one, rename it")
    if content is None:
        message = f"{shown} is larger than {MAX_PROSE_BYTES:,} bytes"
        return tree.problem("too-large", message, *loc, hint="shorten it, and say where the rest is")
    return content


def _similar_file(path: Path) -> str:
    """Name the file of the same folder that is most like the missing one."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.is_file())
    except (OSError, ValueError):
        return RELATIVE
    guess = closest_file(path.name, names)
    return f"did you mean '{guess}'?" if guess else RELATIVE
