"""Texts of a figure placed by their left end, for WeasyPrint makes each text with an anchor an object of its own.

With them a PDF of many figures has a third more bytes. Elsewhere figures keep them: without one a text stands wrong
where the card's font is missing.
"""

from __future__ import annotations

import re
from html import unescape

from evalpipe.card.figures.scales import exact_width
from evalpipe.card.figures.sheet import number

LEFT_OF_IT = {"middle": 0.5, "end": 1.0}
"""The share of a text that stands left of its anchor."""

ANCHORED = re.compile(r'<text ([^<>]*)x="([^"]*)" y="([^"]*)" text-anchor="(middle|end)">([^<>]*)</text>')
BOLD = "font-weight"


def placed_by_the_left(svg: str) -> str:
    """Return a figure for print whose texts are placed by their left end, where their width is known."""
    return ANCHORED.sub(_placed, svg)


def _placed(text: re.Match[str]) -> str:
    look, x, y, anchor, content = text.groups()
    wide = None if BOLD in look else exact_width(unescape(content))
    if wide is None:
        return text[0]
    return f'<text {look}x="{number(float(x) - wide * LEFT_OF_IT[anchor])}" y="{y}">{content}</text>'
