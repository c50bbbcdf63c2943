"""References as the card cites them: a short name that links to the full text in the list of references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalpipe.card.bibliography import BIBLIOGRAPHY
from evalpipe.card.page import Cite, Link

if TYPE_CHECKING:
    from evalpipe.card.page import Piece

SHORT = re.compile(r"(.*?\(\d{4})[^)]*\)")
"""The names and the year that a reference begins with."""

AUTHOR = re.compile(r"(?:^|, |& )([^,&]+), (?:[^\W\d_]\.[ -]?)+")
"""The family name of an author before his initials."""

MOST_AUTHORS = 3
"""The authors that a short name lists; of more it gives the first."""


def cited(reference: str) -> tuple[Piece, ...]:
    """Write a reference by its short name, each of several linked to its full text where that is known."""
    pieces: list[Piece] = []
    for text in reference.split("; "):
        short, full = resolved(text)
        pieces += ["; ", Link(short, anchor(short)) if full else Cite(text)]
    return tuple(pieces[1:])


def resolved(reference: str) -> tuple[str, str]:
    """Return the short name of a reference and its full text; an empty text where that is not known.

    A reference is a short name in the bibliography, with or without a place within the work, or the full text itself.
    """
    match = SHORT.match(reference)
    if match is None:
        return reference, ""
    head = f"{match[1]})"
    if head in BIBLIOGRAPHY:
        return reference, BIBLIOGRAPHY[head]
    names = AUTHOR.findall(match[1])
    if not names or match.end() == len(reference):
        return reference, ""
    year, full = match[1][-4:], f"{reference.rstrip('.')}."
    if len(names) > MOST_AUTHORS:
        return f"{names[0]} et al. ({year})", full
    *others, last = names
    return f"{', '.join(others)}{' & ' if others else ''}{last} ({year})", full


def anchor(short: str) -> str:
    """Return the anchor of a reference, of its names and year alone."""
    match = SHORT.match(short)
    words = re.findall(r"[a-z0-9]+", (match[1] if match else short).lower())
    return f"ref-{'-'.join(words)}"
