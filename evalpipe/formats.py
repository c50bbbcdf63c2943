"""The formats that a card is written in: a new one is a name and a line here, and its module in `evalpipe/card/`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

FormatName = Literal["html", "pdf", "junit"]


class Format(NamedTuple):
    """The file of a format, and whether it holds the verdicts of gates, so that there is none without gates."""

    file: str
    needs_gates: bool = False


FORMATS: dict[FormatName, Format] = {
    "html": Format("card.html"), "pdf": Format("card.pdf"), "junit": Format("junit.xml", needs_gates=True),
}
"""Every format. Its module `evalpipe.card.<name>` has a function ``document(edition)``, which returns the bytes."""


def files(formats: Iterable[str], *, gates: bool) -> dict[str, str]:
    """Return the file of each of the formats that is written, given whether there are ``gates``."""
    known = {str(name): entry for name, entry in FORMATS.items()}
    return {name: known[name].file for name in formats if gates or not known[name].needs_gates}
