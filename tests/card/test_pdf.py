"""The PDF of the example cards as a file: PDF/A-3a with tags, files, fonts and bookmarks."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pikepdf
import pytest
from PIL import Image

from card.pdf_parts import bookmarks, cells, elements, fonts, page_texts, untagged
from evalpipe.card import render
from evalpipe.cli import main
from evalpipe.results import Results
from evalpipe.spec.load import load
from evalpipe.spec.schema import spec_sha256
from few_by_day import few_by_day
from installed import poppler

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
USUAL = ("audit",)
"""The card of the ordinary run: one with texts and standards."""

ALL = sorted(path.stem for path in CONFIGS.glob("*.yaml"))
NAMES = few_by_day(ALL, USUAL)


class Least(NamedTuple):
    """The least of a card's tagged pictures, its fonts and its pages, so that what is checked of each is there."""

    figures: int = 11
    fonts: int = 4
    pages: int = 8


LEAST = {"candidates": Least(figures=3, fonts=3, pages=7)}
"""A card without predictions has one figure and a formula for each measure of its goals, and is short."""

OWN_FONTS = re.compile(r"(Source-Sans-3|Source-Code-Pro|DejaVu-Sans|DejaVu-Sans-Mono)(-Semi-Bold|-Bold)?(-Oblique)?")
PART_A = "pdfaid:conformance is 'A', expected 'B'"
"""What the validator of PDF/A-3b says of a file that is PDF/A-3a, which asks for more."""


@pytest.fixture
def pdf(request: pytest.FixtureRequest, printed: Callable[[str], Path]) -> Iterator[pikepdf.Pdf]:
    with pikepdf.open(printed(request.param)) as opened:
        yield opened


@pytest.fixture
def least(request: pytest.FixtureRequest) -> Least:
    return LEAST.get(request.node.callspec.params["pdf"], Least())


every_card = pytest.mark.parametrize("pdf", NAMES, indirect=True)
every_name = pytest.mark.parametrize("name", NAMES)


# The smallest card by day: the rules are on how evalpipe and WeasyPrint write any file, and another takes eight
# seconds. What
# differs from card to card (fonts, tags, files, bookmarks) the tests below look at on each card of the ordinary run.
@pytest.mark.parametrize("name", few_by_day(ALL, {"candidates"}))
def test_it_keeps_every_rule_of_pdf_a_that_a_validator_knows(name: str, printed: Callable[[str], Path]) -> None:
    from pikepdf import pdfa  # which imports jsonschema

    report = pdfa.validate_written(printed(name), "3b")
    assert [finding.message for finding in report.findings] == [PART_A]


@every_card
def test_it_says_that_it_is_pdf_a_3a_and_is_tagged(pdf: pikepdf.Pdf) -> None:
    with pdf.open_metadata(set_pikepdf_as_editor=False) as metadata:
        assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == ("3", "A")
        assert metadata["dc:title"] == str(pdf.docinfo.Title) != ""
    assert pdf.Root.MarkInfo.Marked
    assert pdf.Root.ViewerPreferences.DisplayDocTitle
    assert str(pdf.Root.Lang) == "en"
    (intent,) = pdf.Root.OutputIntents
    assert (intent.S, intent.DestOutputProfile.N) == ("/GTS_PDFA1", 3)


@every_card
def test_all_that_is_printed_is_in_the_structure_and_every_picture_has_words(pdf: pikepdf.Pdf, least: Least) -> None:
    assert untagged(pdf) == []
    figures = elements(pdf, "/Figure")
    assert len(figures) >= least.figures
    assert [str(figure.get("/Alt", "")).strip() for figure in figures].count("") == 0


@every_card
def test_head_cells_say_what_they_head_and_cells_name_their_heads(pdf: pikepdf.Pdf) -> None:
    tables = elements(pdf, "/Table")
    heads = {bytes(cell.ID): str(cell.A.Scope) for table in tables for cell in cells(table) if cell.S == "/TH"}
    assert set(heads.values()) == {"/Column", "/Row"}
    listed = pdf.Root.StructTreeRoot.IDTree.Names
    assert [bytes(name) for name in listed[::2]] == sorted(heads)
    assert [bytes(element.ID) for element in listed[1::2]] == sorted(heads)
    for table in tables:
        own = {bytes(cell.ID) for cell in cells(table) if cell.S == "/TH"}
        assert own
        for cell in cells(table):
            named = [bytes(name) for name in cell.A.get("/Headers", [])]
            assert set(named) <= own
            assert len(set(named)) == len(named)
            if cell.S == "/TD":
                assert "/Row" in {heads[name] for name in named} or not named


@every_card
def test_every_font_is_one_of_ours_and_in_the_file(pdf: pikepdf.Pdf, least: Least) -> None:
    named = fonts(pdf)
    assert len(named) >= least.fonts
    assert [name for name, _ in named if not OWN_FONTS.fullmatch(name.split("+")[1].strip(","))] == []
    assert [name for name, embedded in named if not embedded] == []


@every_card
def test_bookmarks_are_distinct_and_lead_to_their_headings_in_order(pdf: pikepdf.Pdf) -> None:
    marks = bookmarks(pdf)
    titles = Counter(title for _, title, _ in marks)
    assert [title for title, times in titles.items() if times > 1] == []
    assert [page for _, _, page in marks] == sorted(page for _, _, page in marks)
    assert marks[-1][1] in ("How to read the figures", "How to reproduce")


@every_name
def test_every_page_is_headed_and_numbered(
    name: str, printed: Callable[[str], Path], example: Callable[[str], Path]
) -> None:
    pages, stated = page_texts(printed(name)), Results.read(example(name) / "results.json")
    document = re.search(r"Model card (\S+)", pages[0])
    assert document is not None
    in_annex = [words.startswith("Annex: ") for words in pages]
    assert in_annex == sorted(in_annex)
    for number, (words, annexed) in enumerate(zip(pages, in_annex, strict=True), 1):
        head, part = f"{document[1]}, page {number} of {len(pages)} ", "Annex: " if annexed else ""
        assert words.startswith(head if number == 1 else f"{part}{stated.title} {head}")
        foot = "Annex to the evalpipe model card" if annexed else "evalpipe model card"
        assert words.endswith(f" evidence {stated.evidence_sha256[:8]} {foot}")


@every_name
def test_every_page_shows_something_on_upright_paper(
    name: str, printed: Callable[[str], Path], tmp_path: Path
) -> None:
    subprocess.run([poppler("pdftoppm"), "-r", "40", "-gray", "-png", printed(name), tmp_path / "page"], check=True)
    pages = sorted(tmp_path.glob("page*.png"))
    assert len(pages) >= LEAST.get(name, Least()).pages
    for page in pages:
        with Image.open(page) as picture:
            assert picture.width < picture.height
            assert sum(picture.convert("L").histogram()[:192]) > 100, page.name


@every_name
def test_it_carries_the_files_of_the_folder_and_the_spec(
    name: str, printed: Callable[[str], Path], example: Callable[[str], Path], tmp_path: Path
) -> None:
    folder = example(name)
    with pikepdf.open(printed(name)) as pdf:
        files = {file: pdf.attachments[file] for file in pdf.attachments}
        contents = {file: attached.get_file().read_bytes() for file, attached in files.items()}
        assert {file: (str(attached.relationship), attached.get_file().mime_type) for file, attached in files.items()
                } == {"estimates.csv": ("/Data", "text/csv"), "results.json": ("/Data", "application/json"),
                      "spec.yaml": ("/Source", "application/yaml")}
        assert all(attached.description for attached in files.values())
        assert [str(file.UF) for file in pdf.Root.AF] == list(files)
    assert contents["results.json"] == (folder / "results.json").read_bytes()
    assert contents["estimates.csv"] == (folder / "estimates.csv").read_bytes()
    for beside in CONFIGS.iterdir():
        (tmp_path / beside.name).symlink_to(beside)
    (tmp_path / "spec.yaml").write_bytes(contents["spec.yaml"])
    assert spec_sha256(load(tmp_path / "spec.yaml")) == json.loads(contents["results.json"])["spec_sha256"]
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["validate", str(tmp_path / "spec.yaml")])


@pytest.mark.parametrize(("variant", "version", "part", "conformance"), [
    ("pdf/a-3b", "1.7", "3", "B"), pytest.param("pdf/a-3u", "1.7", "3", "U", marks=pytest.mark.nightly),
    ("pdf/a-4f", "2.0", "4", "F"),
])
def test_other_variants_say_what_they_are_and_carry_the_same_files(
    variant: str, version: str, part: str, conformance: str, build: Any, tmp_path: Path
) -> None:
    small = build(datasets=1, models=1)
    day = None if variant == "pdf/a-3b" else "2026-11-21"
    spec = small.spec | {"report": {"pdf_variant": variant}}
    small = small.model_copy(update={"spec": spec, "curves": [], "as_of": day})
    (tmp_path / "card.pdf").write_bytes(render(small, ["pdf"])["card.pdf"])
    with pikepdf.open(tmp_path / "card.pdf") as pdf:
        assert ("/Info" in pdf.trailer) == (part == "3")  # PDF/A-4 forbids it
        with pdf.open_metadata(set_pikepdf_as_editor=False) as metadata:
            assert (metadata["pdfaid:part"], metadata["pdfaid:conformance"]) == (part, conformance)
            assert metadata.get("pdfaid:rev") == ("2020" if part == "4" else None)
            assert metadata["dc:title"] == small.title
        assert pdf.pdf_version == version
        assert pdf.Root.MarkInfo.Marked
        assert [str(file.UF) for file in pdf.Root.AF] == ["estimates.csv", "results.json", "spec.yaml"]
        carried = pdf.attachments["results.json"].get_file()
        assert carried.read_bytes() == small.to_json().encode()
        assert f"{carried.creation_date:%Y-%m-%d}" == f"{carried.mod_date:%Y-%m-%d}" == (day or "2000-01-01")
    if variant == "pdf/a-3b":
        from pikepdf import pdfa  # which imports jsonschema

        assert pdfa.validate_written(tmp_path / "card.pdf", "3b").findings == []
