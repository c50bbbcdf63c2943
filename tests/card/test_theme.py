from __future__ import annotations

import base64
import hashlib
import io
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError
from pypdf import PdfReader

from evalpipe.card import render
from evalpipe.card.html import html_page
from evalpipe.chapters.appearance.records import Appearance
from evalpipe.errors import DataError
from evalpipe.results import Results

if TYPE_CHECKING:
    from pathlib import Path

RED = Appearance(accent="#b00020")


@pytest.fixture(scope="module")
def plain(build: Any) -> Results:
    results: Results = build(datasets=1, models=1)
    return results.model_copy(update={"curves": []})


def themed(plain: Results, appearance: Appearance) -> str:
    return html_page(plain.model_copy(update={"appearance": appearance})).decode()


def styles(page: str) -> list[tuple[str, str]]:
    return re.findall(r"<style(?: media=\"([^\"]*)\")?>(.*?)</style>", page, re.DOTALL)


def test_the_accent_stands_after_the_sheets_that_it_changes_with_a_shade_for_the_dark(plain: Results) -> None:
    sheets = styles(themed(plain, RED))
    assert sheets[:-2] == styles(html_page(plain).decode())
    assert sheets[-2:] == [("", ":root { --accent: #b00020; }\n"),
                           ("screen and (prefers-color-scheme: dark)", ":root { --accent: #ff4063; }\n")]


def test_the_policy_allows_the_styles_of_the_theme_and_nothing_more(plain: Results) -> None:
    policies = [re.search(r'Content-Security-Policy" content="([^"]*)"', page)
                for page in (html_page(plain).decode(), themed(plain, RED))]
    before, after = (policy[1].replace("&#39;", "'").split("; ") for policy in policies if policy)
    hashes = [base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
              for _, sheet in styles(themed(plain, RED))]
    assert after[1] == "style-src " + " ".join(f"'sha256-{digest}'" for digest in hashes)
    assert [part for part in after if part not in before] == [after[1]]


def test_the_paper_of_the_pdf_is_the_one_that_is_asked_for(plain: Results) -> None:
    sizes = []
    for paper in ("a4", "letter"):
        results = plain.model_copy(update={
            "appearance": Appearance(paper=paper), "estimates": plain.rows[:3], "curves": []})
        sizes.append({tuple(round(float(side)) for side in page.mediabox[2:])
                      for page in PdfReader(io.BytesIO(render(results, ["pdf"])["card.pdf"])).pages})
    assert sizes == [{(595, 842)}, {(612, 792)}]


@pytest.mark.parametrize("accent", ["red", "#b00020;}body{display:none}", "</style><script>", "#b00020\n"])
def test_results_whose_accent_is_no_colour_are_not_read(plain: Results, accent: str) -> None:
    with pytest.raises(ValidationError):
        Appearance(accent=accent)
    text = plain.model_copy(update={"appearance": RED}).to_json().replace('"#b00020"', '"red;}"')
    with pytest.raises(DataError) as caught:
        Results.from_json(text)
    assert str(caught.value) == (
        "error[not-results]: results.json does not hold results of evalpipe: appearance.accent: string should match "
        "pattern '^#[0-9a-fa-f]{6}$'\n"
        "  = help: give the output folder of `evalpipe run`, written by this version or an earlier one")


def test_a_theme_changes_no_number_of_a_run(root: Path) -> None:
    import evalpipe

    few = ["intervals.replicates=150", "report.formats=[]"]
    spec = root / "configs" / "titanic.yaml"
    before, after = (evalpipe.run(spec, overrides=[*few, *more]) for more in (
        (), ('report.theme={accent: "#b00020", paper: letter}',)))
    assert after.appearance == Appearance(accent="#b00020", paper="letter")
    assert before.appearance == Appearance()
    kept = {"spec", "spec_sha256", "appearance"}
    assert before.model_dump(exclude=kept) == after.model_dump(exclude=kept)
