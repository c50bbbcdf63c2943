"""Texts of figures that are printed begin at their left end: an anchor would make each an object of the PDF."""

from __future__ import annotations

import re

import pytest
from fontTools.ttLib import TTFont

from evalpipe.card.assets import templates_folder
from evalpipe.card.figures.axes import KNOWN, SIZE, exact_width
from evalpipe.card.figures.svg import Sheet, placed_by_the_left

WITHIN = 0.05
"""Coordinates are written with one decimal."""


def test_the_widths_of_letters_are_those_of_the_font() -> None:
    font = TTFont(templates_folder() / "fonts" / "source-sans-3-latin-400-normal.woff2")
    names, advances = font.getBestCmap(), font["hmtx"]

    assert font["head"].unitsPerEm == 1000
    assert {letter: advances[names[ord(letter)]][0] for letter in KNOWN} == KNOWN


@pytest.mark.parametrize(("anchor", "left"), [("middle", 0.5), ("end", 1.0)])
def test_a_text_stands_about_its_anchor_on_the_screen_and_at_the_same_place_in_print(anchor: str, left: float) -> None:
    sheet = Sheet()
    sheet.write(100, 20, "−0.25 of all", anchor=anchor)

    assert f'x="100" y="20" text-anchor="{anchor}"' in sheet.svg()
    printed = re.search(r'x="([\d.]+)" y="20">', placed_by_the_left(sheet.svg(printed=True)))
    assert printed is not None
    # Advances of Source Sans 3: − 497, 0 497, point 249, 2 and 5 497, space 200, o 542, f 292, a 504, l 255.
    wide = (4 * 497 + 249 + 2 * 200 + 542 + 292 + 504 + 2 * 255) * SIZE / 1000
    assert float(printed[1]) == pytest.approx(100 - left * wide, abs=WITHIN)


@pytest.mark.parametrize(("text", "kind"), [("模型", "text"), ("Ω", "text"), ("bold", "bold")])
def test_a_text_whose_width_is_not_known_keeps_its_anchor_in_print(text: str, kind: str) -> None:
    sheet = Sheet()
    sheet.write(100, 20, text, anchor="middle", kind=kind)

    assert 'x="100" y="20" text-anchor="middle"' in placed_by_the_left(sheet.svg(printed=True))


def test_the_width_of_a_text_with_a_letter_of_another_font_is_not_known() -> None:
    assert exact_width("10") == pytest.approx(2 * 497 * SIZE / 1000)
    assert exact_width("10 Ω") is None
