from __future__ import annotations

import io

import pytest
import weasyprint
from pypdf import PdfReader
from weasyprint.text.fonts import FontConfiguration

from evalpipe.card.edition import Edition
from evalpipe.card.html import write_page
from evalpipe.card.picture import COMMAND, COMMANDS, Picture, operators
from evalpipe.errors import InternalError
from evalpipe.results import Results

SVG = "<svg xmlns='http://www.w3.org/2000/svg' font-family='DejaVu Sans' font-size='10' viewBox='0 0 100 50'>{}</svg>"


def page(*elements: str) -> bytes:
    fonts = FontConfiguration()
    picture = Picture(SVG.format("".join(elements)), fonts)
    html = weasyprint.HTML(string=(
        "<style>@page { size: 200px 200px; margin: 0 } body { margin: 0; color: #00f }</style>"
        "<img src='picture:one' style='display: block; width: 200px'>"))
    return bytes(html.render(font_config=fonts, cache={"picture:one": picture}).write_pdf(uncompressed_pdf=True))


@pytest.mark.parametrize(("d", "written"), [
    ("M1,2L3,-.5H7V8z", "1 2 m|3 -0.5 l|7 -0.5 l|7 8 l|h"),
    ("M1,2h3v-4zh1", "1 2 m|4 2 l|4 -2 l|h|2 2 l"),
    ("M0 0Q3 3 6 0", "0 0 m|2 2 4 2 6 0 c"),
    ("M0 0C1 2 3 4 5 6h1", "0 0 m|1 2 3 4 5 6 c|6 6 l"),
])
def test_a_path_is_written_in_operators(d: str, written: str) -> None:
    assert operators(d).decode().split("\n") == written.split("|")


def test_a_circle_passes_through_its_four_points_and_ends_where_it_began() -> None:
    ends = [tuple(map(float, line.split()[-3:-1])) for line in operators("M8,5a2 2 0 1 0 4 0a2 2 0 1 0 -4 0z").decode(
        ).split("\n") if line.endswith(" c")]
    assert ends == [(10, 7), (12, 5), (10, 3), (8, 5)]


def test_a_command_that_figures_do_not_have_is_no_path() -> None:
    with pytest.raises(KeyError, match="S"):
        operators("M0,0S1,1")


def test_paths_are_drawn_in_their_ink_and_line() -> None:
    written = page('<path d="M0,0H9" fill="none" stroke="#ff0000" stroke-width="2" stroke-dasharray="4 3" '
                   'stroke-linecap="round"/>', '<path d="M0,0H9V9z" fill="currentColor" fill-opacity=".5"/>')
    assert b"1 0 0 RG" in written
    assert b"2 w\n[4 3] 0 d\n1 J\n0 j\n0 0 m\n9 0 l\nS" in written
    assert b"0 0 1 rg" in written
    assert b"0 0 m\n9 0 l\n9 9 l\nh\nf" in written
    assert b"/ca 0.5" in written


def test_a_picture_is_as_large_as_its_place() -> None:
    assert b"2 0 0 2 0 0 cm" in page('<path d="M0,0H9" fill="none" stroke="#000"/>')


@pytest.mark.parametrize(("anchor", "share"), [("", 0.0), ("middle", 0.5), ("end", 1.0)])
def test_a_text_lies_about_its_anchor(anchor: str, share: float) -> None:
    (left,) = places(page(f'<text x="80" y="30" text-anchor="{anchor}">mmmm</text>'))
    assert left == pytest.approx(80 - share * 4 * 10 * 0.974, abs=0.1)  # an m of DejaVu Sans is 0.974 em wide


def places(written: bytes) -> list[float]:
    """Return where each text of the first page begins, across, in units of the picture."""
    stream = PdfReader(io.BytesIO(written)).pages[0].get_contents()
    assert stream is not None
    return [float(operands[4]) for operands, operator in stream.operations if operator == b"Tm"]


def test_a_text_stays_one_text() -> None:
    written = page('<text x="5" y="20">Predicted &lt;probability&gt;</text>')
    assert PdfReader(io.BytesIO(written)).pages[0].extract_text().strip() == "Predicted <probability>"


def test_another_element_is_a_fault() -> None:
    with pytest.raises(InternalError) as caught:
        page('<rect width="3" height="3"/>')
    assert caught.value.problems[0].message == "a figure has an element <rect> that no PDF draws"


def test_all_figures_are_of_elements_and_commands_that_are_drawn(results: Results, grouped: Results) -> None:
    for whole in (results, grouped):
        edition = Edition(whole)
        write_page(edition, linked=True)
        images = edition.images()
        assert {address.split(":")[0] for address in images} == {"figure", "formula"}
        for svg in images.values():
            picture = Picture(svg, None)
            paths = [attributes["d"] for tag, attributes, _ in picture.nodes if tag == "path"]
            assert {tag for tag, _, _ in picture.nodes} <= {"path", "text", "title"}
            assert {letter for d in paths for letter, _ in COMMAND.findall(d)} <= set(COMMANDS)
            assert [half for d in paths for letter, given in COMMAND.findall(d) if letter == "a"
                    for half in [arc(given)] if half[3:5] != [1, 0] or half[6] != 0] == []


def arc(given: str) -> list[float]:
    from evalpipe.card.picture import NUMBER

    return [float(value) for value in NUMBER.findall(given)]
