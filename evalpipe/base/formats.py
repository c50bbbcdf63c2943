"""Names of files of an output folder, formats of the card, types of cells, and patterns of cells in written csv.

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
    """The file of a format; with ``needs_verdicts`` it is written only where gates or standards are judged."""

    file: str
    needs_verdicts: bool = False
    usual: bool = True
    """Whether it is written where the spec says nothing."""


FORMATS: dict[FormatName, Format] = {
    "html": Format("card.html"), "pdf": Format("card.pdf"), "junit": Format("junit.xml", needs_verdicts=True),
    "markdown": Format("card.md", usual=False),
}
"""Every format. Its module `evalpipe.card.<name>` has a function ``document(edition)``, which returns the bytes."""


RESULTS, ESTIMATES, RUN = "results.json", "estimates.csv", "run.json"
MANIFEST, KEY_SIGNATURE = "manifest.json", "manifest.sig.json"
SIGNATURES, COMMENTS = "signatures.json", "comments.json"
REFERENCE, REFERENCE_BEFORE = "reference.json", "reference-before.json"
"""The other files of an output folder, which `RunFolder` in `evalpipe/runs/folder.py` alone opens. ``KEY_SIGNATURE`` is
the signature of the manifest by a key, `SIGNATURES` are decisions of people, and `COMMENTS` what they say of findings.
`REFERENCE` holds the results of the reference of gates `against: last`, byte for byte; `REFERENCE_BEFORE` those of the
one before, to which the night of the reference is held where it is run again."""

ROW_FILES = ("rows.parquet", "rows.csv")
RUN_FILES = (*(entry.file for entry in FORMATS.values()), RESULTS, ESTIMATES, RUN, SIGNATURES, COMMENTS, *ROW_FILES,
             MANIFEST, KEY_SIGNATURE)
"""Every file that a run may write; those of an earlier run are replaced or removed."""


def format_files(formats: Iterable[str], *, judged: bool) -> dict[str, str]:
    """Return the files by format, without those that need verdicts unless results are ``judged``."""
    entries = {str(name): entry for name, entry in FORMATS.items()}
    return {name: entries[name].file for name in formats if judged or not entries[name].needs_verdicts}


CellType = Literal["text", "number", "integer", "boolean", "date", "datetime"]

FORMULA, NUMBER = r"[=+\-@\t\r]", r"[+-]?[0-9.]+([eE][+-]?[0-9]+)?"
"""Regular expressions: what a formula of a spreadsheet begins with, and a number, which may begin alike.

Where evalpipe writes a text that begins so and is no number, such as a level of the outcome, it writes an apostrophe
before it, and the text stays a text.
"""
