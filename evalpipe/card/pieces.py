"""What words and cells of the card are made of: pieces of text, each with its look, as frozen values.

`templates/blocks.html` has a macro of the name of each class; `card/page.py` says how blocks are made of them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Number:
    """A value as it is shown: ``value``, its ``interval``, what to ``note`` about it, and its ``exact`` digits.

    Without exact digits the value is words that say why there is no number. ``letter`` points to a remark under the
    table.
    """

    value: str
    interval: str | None = None
    note: str | None = None
    exact: str | None = None
    letter: str = ""

    @property
    def text(self) -> str:
        """The number on one line, such as ``0.785 (0.776–0.793)``."""
        return f"{self.value} ({self.interval})" if self.interval else self.value


@dataclass(frozen=True, slots=True)
class Aside:
    """Words beside others, in a style of their own such as "options" or "definition"; a space stands before them."""

    text: Cell
    style: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """Words on a further line of their own."""

    text: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that stand out."""

    text: Cell
    style: str = ""


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Words that are stressed."""

    text: Cell


@dataclass(frozen=True, slots=True)
class Code:
    """A name or a text of the machine; ``title`` is the whole of one that is shortened."""

    text: str
    title: str = ""
    style: str = ""


@dataclass(frozen=True, slots=True)
class Cite:
    """A reference to the literature."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """A link to a section or a heading of the card, by its anchor."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class ExternalLink:
    """A link that leaves the card, to an address of the web or of mail; nothing is loaded from it."""

    text: Cell
    address: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word with the sign that stands before it, coloured by its style."""

    text: str
    sign: str
    style: str = ""


@dataclass(frozen=True, slots=True)
class Styled:
    """A cell in a style of its own."""

    text: Cell
    style: str


Piece = str | Number | Aside | Line | Strong | Emphasis | Code | Cite | Link | ExternalLink | Verdict | Styled
Cell = Piece | tuple[Piece, ...]


def plain(cell: Cell) -> str:
    """Return the words of a text or a cell without styles, as a reader sees them."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, tuple):
        return "".join(map(plain, cell))
    if isinstance(cell, Number):
        return " ".join(filter(None, (f"{cell.value}{cell.letter}", cell.interval and f"({cell.interval})", cell.note)))
    if isinstance(cell, Verdict):
        return f"{cell.sign} {cell.text}"
    return f"{' ' if isinstance(cell, Aside | Line) else ''}{plain(cell.text)}"
