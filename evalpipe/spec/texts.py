"""Texts that people state for the card, written in the spec or in a file of their own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.digests import bytes_sha256
from evalpipe.base.origin import path_text
from evalpipe.errors import Place, Problem
from evalpipe.spec.text import SpecText
from evalpipe.words.spelling import closest, listed

if TYPE_CHECKING:
    from pathlib import Path

    from evalpipe.base.origin import Loc, Origin
    from evalpipe.spec.tree import Tree

LONGEST = 20_000
"""The characters that one text may have."""

MAX_BYTES = 100_000
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
        place, said = origin.place(*loc), f"{' '.join(named.split())}: {message}" if named else message
        return Problem(code, said if place is not None else f"{path_text(loc)}: {said}", place, hint)


def read_prose(tree: Tree, loc: Loc, written: str) -> ProseText | Problem:
    """Read the file of a text that is named at ``loc``; what prevents it is returned, not raised."""
    content = _content(tree, loc, tree.origin.folder_of(*loc) / written)
    if isinstance(content, Problem):
        return content
    named = "the file" if tree.secret(*loc) else written
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        message = f"the file is not UTF-8 text: byte 0x{content[error.start]:02x} in line {line}"
        return Problem("not-utf8", message, Place(named, line), "save it as UTF-8", notes=tree.noted("named at", *loc))
    return ProseText(text, SpecText(named, text), written, bytes_sha256(content))


def _content(tree: Tree, loc: Loc, path: Path) -> bytes | Problem:
    """Return the bytes of the file of a text, or what prevents that they are read."""
    shown = tree.show(*loc)
    try:
        content = path.read_bytes() if path.stat().st_size <= MAX_BYTES else None
    except (FileNotFoundError, NotADirectoryError):
        return tree.problem("missing-file", f"there is no file {shown}", *loc, hint=_sibling(path))
    except IsADirectoryError:
        return tree.problem("unreadable-file", f"{shown} is a folder, not a file", *loc, hint="name a text file")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        return tree.problem("unreadable-file", f"cannot read {shown}: {reason}", *loc)
    if not {path.suffix.lower(), path.resolve().suffix.lower()} <= set(ENDINGS):
        message = f"{shown} is no text for a card: its name ends in none of {listed(ENDINGS, 'and')}"
        return tree.problem("not-a-text", message, *loc, hint="if it is one, rename it")
    if content is None:
        message = f"{shown} is larger than {MAX_BYTES:,} bytes"
        return tree.problem("too-large", message, *loc, hint="shorten it, and say where the rest is")
    return content


def _sibling(path: Path) -> str:
    """Name the file of the same folder that is most like the missing one."""
    try:
        names = sorted(file.name for file in path.parent.iterdir() if file.is_file())
    except (OSError, ValueError):
        return RELATIVE
    guess = closest(path.name, names)
    return f"did you mean '{guess}'?" if guess else RELATIVE
