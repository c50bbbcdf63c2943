"""Constants that rooms share: numbers of the engine that the card states, formats of the card, and kinds of cells.

A new format is a name and a line here, and its module in `evalpipe/card/`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

LARGEST = 1e60
"""The largest size of a number: sums over rows of its square over the square of the smallest stay finite."""

SMALLEST = 1e-60
"""The smallest size of a number that is not zero; squares of squares of such numbers are not yet zero."""

TOLERATED = 0.05
"""Share of undefined replicates above which an interval is marked degenerate."""

WHISKERS = 1.5
"""Interquartile ranges that the whiskers of a box plot reach beyond the box at most."""

OUTLIERS = 20
"""Residuals beyond the whiskers of a box plot that are drawn, the largest ones."""

CLIP = 1e-15
"""The probability of the true level that deviance and Pearson residuals take at least, as the log loss does."""

WEIGHTINGS = 10_000
"""Random weightings of the goals, uniform over all that sum to 1."""


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
