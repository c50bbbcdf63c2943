"""Formats: the files of the card, and what the cells of data and of written csv may be.

A new format of the card is a name and a line here, and its module in `evalpipe/card/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

FormatName = Literal["html", "pdf", "junit", "markdown"]

PdfVariant = Literal["pdf/a-3a", "pdf/a-3u", "pdf/a-3b", "pdf/a-4f"]
"""The variants of PDF that a card is written in: those for archives that may carry files."""

USUAL_VARIANT: PdfVariant = "pdf/a-3a"


class Format(NamedTuple):
    """The file of a format, and whether it holds verdicts, so that there is none where nothing is judged."""

    file: str
    needs_verdicts: bool = False
    usual: bool = True
    """Whether it is written where the spec says nothing."""


FORMATS: dict[FormatName, Format] = {
    "html": Format("card.html"), "pdf": Format("card.pdf"), "junit": Format("junit.xml", needs_verdicts=True),
    "markdown": Format("card.md", usual=False),
}
"""Every format. Its module `evalpipe.card.<name>` has a function ``document(edition)``, which returns the bytes."""


def format_files(formats: Iterable[str], *, judged: bool) -> dict[str, str]:
    """Return the file of each of the formats that is written, given whether anything is ``judged``."""
    known = {str(name): entry for name, entry in FORMATS.items()}
    return {name: known[name].file for name in formats if judged or not known[name].needs_verdicts}


CellType = Literal["text", "number", "integer", "boolean", "date", "datetime"]

FORMULA, NUMBER = r"[=+\-@\t\r]", r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?"
"""Regular expressions: what a formula of a spreadsheet begins with, and a number, which may begin alike.

Where evalpipe writes a text that begins so and is no number, such as a level of the outcome, it writes an apostrophe
before it, and the text stays a text.
"""
