"""Figures of a card as files of their own, which look the same wherever they are shown."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

from evalpipe.card.figures.axes import width
from evalpipe.card.figures.svg import FONTS

if TYPE_CHECKING:
    from evalpipe.card.figures.svg import Drawing

MARGIN, GAP, COLUMNS = 10, 24, 2
"""Pixels about and between the sheets of a figure, and how many sheets stand side by side."""

COMMON_FONTS = "'Source Sans 3', 'Source Sans Pro', Arial, Helvetica, 'DejaVu Sans', sans-serif"
"""A file carries no font, so that it stays small; its texts keep the lengths that they have on the card."""

BOLD = 1.04
"""How much wider a bold text is."""

SHEET = re.compile(r'<svg [^>]*width="([\d.]+)" height="([\d.]+)"')
WORDS = re.compile(r"<text ([^>]*)>([^<]*)</text>")


def picture(drawing: Drawing) -> str:
    """Return a figure as one SVG on white: its sheets in rows of two, its title and its alternative text."""
    rows = [drawing.images[start : start + COLUMNS] for start in range(0, len(drawing.images), COLUMNS)]
    inside, right, top = "", 0.0, float(MARGIN)
    for row in rows:
        left = float(MARGIN)
        for sheet in row:
            inside += sheet.replace("<svg ", f'<svg x="{left:g}" y="{top:g}" ', 1)
            left += _size(sheet)[0] + GAP
        right = max(right, left - GAP)
        top += max(_size(sheet)[1] for sheet in row) + GAP
    size = f'width="{right + MARGIN:g}" height="{top - GAP + MARGIN:g}"'
    words = f"<title>{escape(drawing.title)}</title><desc>{escape(drawing.alt)}</desc>"
    paper = '<rect width="100%" height="100%" fill="#ffffff"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{words}{paper}{inside}</svg>\n'
    return WORDS.sub(_of_its_length, svg.replace(FONTS, COMMON_FONTS))


def _size(sheet: str) -> tuple[float, float]:
    size = SHEET.match(sheet)
    if size is None:
        raise ValueError("a sheet has no size")
    return float(size[1]), float(size[2])


def _of_its_length(text: re.Match[str]) -> str:
    """Fix the length of a line of text to that in the font of the card, whatever font shows it."""
    look, words = text[1], text[2]
    length = width(unescape(words)) / (1 if "font-weight" in look else BOLD)
    return f'<text {look} textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs">{words}</text>'
