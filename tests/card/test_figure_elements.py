"""Texts and paths of figures in the PDF: whole words in any script, and the same lines as on the screen."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from evalpipe.card.figures.svg import Sheet
from evalpipe.card.pdf import load_weasyprint, path_operators, register_elements, with_pdf_elements

if TYPE_CHECKING:
    from pathlib import Path

NAME = "مستشفى الملك"


def _pdf_of(tmp_path: Path, svg: str) -> Path:
    """Return a PDF of one page with an SVG as the card's PDF has it."""
    weasyprint = load_weasyprint()
    register_elements()
    picture = tmp_path / "picture.svg"
    picture.write_text(with_pdf_elements(svg), encoding="utf-8")
    page = tmp_path / "page.pdf"
    page.write_bytes(weasyprint.HTML(string=f"<style>@page {{ size: 400px 200px; margin: 0 }} body {{ margin: 0 }}"
                                            f"</style><img src='{picture.as_uri()}'>").write_pdf())
    return page


def _words(page: Path) -> list[tuple[str, float, float]]:
    """Return the words of a PDF with the pixels of their left and right ends, as pdftotext reads them."""
    text = subprocess.run(["pdftotext", "-bbox", page, "-"], capture_output=True, check=True, encoding="utf-8").stdout
    return [(word, float(left) / 0.75, float(right) / 0.75) for left, right, word in
            re.findall(r'<word xMin="([\d.]+)" yMin="[\d.]+" xMax="([\d.]+)" yMax="[\d.]+">(.*)</word>', text)]


def test_a_name_in_arabic_is_drawn_from_right_to_left(tmp_path: Path) -> None:
    sheet = Sheet()
    sheet.write(20, 40, NAME)
    sheet.bottom = 100

    page = _pdf_of(tmp_path, sheet.svg(printed=True))

    # Letters drawn one by one from the left are read as the name backwards.
    text = subprocess.run(["pdftotext", "-layout", page, "-"], capture_output=True, check=True, encoding="utf-8").stdout
    assert NAME in text


@pytest.mark.parametrize(("anchor", "left"), [("", 0.0), ("middle", 0.5), ("end", 1.0)])
def test_a_text_stands_about_its_anchor(tmp_path: Path, anchor: str, left: float) -> None:
    sheet = Sheet()
    sheet.write(200, 40, "Sensitivity", anchor=anchor)
    sheet.bottom = 100

    ((_, start, end),) = _words(_pdf_of(tmp_path, sheet.svg(printed=True)))

    # The page has whole hundredths of a point.
    assert start + left * (end - start) == pytest.approx(200, abs=0.1)


@pytest.mark.parametrize(("d", "operators"), [
    ("M1,2L3,4h5v-1z", "1.00 2.00 m\n3.00 4.00 l\n8.00 4.00 l\n8.00 3.00 l\nh"),
    ("M1 2 3 4H9V8", "1.00 2.00 m\n3.00 4.00 l\n9.00 4.00 l\n9.00 8.00 l"),
    ("M.5-.5l1 1-2 3zl1 0", "0.50 -0.50 m\n1.50 0.50 l\n-0.50 3.50 l\nh\n1.50 -0.50 l"),
    ("M0,0q3 0 3 3", "0.00 0.00 m\n2.00 0.00 3.00 1.00 3.00 3.00 c"),
])
def test_a_path_becomes_operators_of_pdf(d: str, operators: str) -> None:
    assert path_operators(d) == operators


def test_a_path_with_an_arc_is_left_to_the_library() -> None:
    assert path_operators("M0 0a4 4 0 1 0 8 0") is None
