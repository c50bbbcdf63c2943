"""What the card, the terminal and junit.xml say of standards."""

from __future__ import annotations

import re

import pytest

from card.blocks import lines, paragraphs, tables
from card.test_html import Page
from chapters.standards.runs import run
from evalpipe.card.contents import card_of
from evalpipe.card.html import html_page
from evalpipe.card.page import Section, plain
from evalpipe.chapters.standards.spec import profiles
from evalpipe.results import Results

CARD = {"why_metrics": "They fit.", "risks": "Few.", "limits": ["One."]}
LEFT_OUT = {"1f": "no part of a product", "8": "not on the market"}


@pytest.fixture(scope="module")
def annex() -> Results:
    return run({"profile": "eu_ai_act_annex_iv", "require": 0.5, "not_applicable": LEFT_OUT}, card=CARD)


@pytest.fixture(scope="module")
def everything() -> Results:
    return run([profile.name for profile in profiles()], card=CARD)


def section(results: Results, anchor: str) -> Section:
    return next(part for part in card_of(results).sections if part.anchor == anchor)


def test_the_section_says_first_that_it_is_no_statement_of_conformity(annex: Results) -> None:
    part = section(annex, "standards")

    assert part.part == "sign_off"
    assert paragraphs([part])[0].startswith(
        "This card documents evidence for the standards below; it is no statement of conformity.")


def test_the_completeness_of_each_standard_is_counted(annex: Results) -> None:
    (summary,) = tables([section(annex, "standards")], "Completeness")

    assert lines(summary) == [[
        "EU AI Act, Annex IV Regulation (EU) 2024/1689 of 13 June 2024, OJ L, 12.7.2024, Annex IV",
        "1", "20", "2", "4.7%", "50% ✗ not reached"]]


def test_gaps_say_what_is_missing_and_what_is_there(annex: Results) -> None:
    (missing,) = tables([section(annex, "standards")], "Missing for")
    rows = {row[0]: row[1:] for row in lines(missing)}

    assert len(rows) == 20
    assert rows["A4-1b"] == ["What other hardware and software it works with", "Interactions"]
    assert rows["A4-5"] == ["How risks are managed", "Mitigation There: Risks"]
    assert "A4-4" not in rows


def test_what_does_not_apply_has_its_reason(annex: Results) -> None:
    (left_out,) = tables([section(annex, "cross-walk")], "Not applicable of")

    assert [(row[0], row[2]) for row in lines(left_out)] == [
        ("A4-1f", "no part of a product"), ("A4-8", "not on the market")]


def test_the_cross_walk_has_each_field_against_each_standard(everything: Results) -> None:
    part = section(everything, "cross-walk")
    (crosswalk,) = tables([part], "What answers which item")
    rows = {row[0]: row[1:] for row in lines(crosswalk)}

    assert part.part == "appendix"
    assert len(crosswalk.columns) == 2 + len(profiles())
    assert rows["Why these measures"] == [
        "stated", "4", "4", "MEASURE 1.1, MEASURE 2.13", "–", "12e", "–", "–", "testing-metrics"]
    assert rows["Confusion matrix"] == ["computed", "–", "–", "–", "–", "–", "23", "–", "–"]
    assert rows["Mitigation"][0] == "missing"


def test_what_is_present_links_to_where_it_stands(annex: Results) -> None:
    (present,) = tables([section(annex, "cross-walk")], "Present of")
    (row,) = present.rows

    assert [plain(cell) for cell in row.cells] == [  # type: ignore[union-attr]
        "A4-4", "Why the measures of performance are appropriate", "Why these measures"]
    assert 'href="#choices">Why these measures</a>' in html_page(annex).decode()


def test_a_field_that_an_item_asks_for_is_missing_by_its_number(annex: Results) -> None:
    page = "".join(Page(html_page(annex).decode()).words)

    assert "MISSING (A4-1a)" in page  # intended use, also on the first screen
    assert "MISSING (A4-1a, A4-1c)" in page  # version
    assert "MISSING (A4-5)" in page
    assert "MISSING (A4-6)" in page  # changes, which are a list
    assert "MISSING (A4-2e, A4-3)" in page
    assert "A4-1f" not in " ".join(re.findall(r"MISSING \(([^)]*)\)", page))  # does not apply


def test_the_verdict_of_the_card_says_what_is_not_reached(annex: Results) -> None:
    (_, verdict, *_) = card_of(annex).masthead

    assert isinstance(verdict, Section)
    assert plain(verdict.title) == (
        "✗ No verdict: no gate says how good is good enough; EU AI Act, Annex IV is answered to 4.7%, required 50%")
    assert verdict.style == "gates fail"


def test_a_standard_that_is_reached_is_no_verdict_on_the_model() -> None:
    (_, verdict, *_) = card_of(run({"profile": "model_cards_2019", "require": 0})).masthead

    assert isinstance(verdict, Section)
    assert plain(verdict.title) == "? No verdict: no gate says how good is good enough"
    assert verdict.style in ("gates warn", "gates inconclusive")


def test_the_finding_says_what_is_missing(annex: Results, everything: Results) -> None:
    said = [(finding.kind, finding.text) for finding in annex.findings if finding.section == "standards"]
    notes = [finding.kind for finding in everything.findings if finding.section == "standards"]
    held = run({"profile": "model_cards_2019", "require": 0}, card=CARD).findings

    assert said == [("fails", ("EU AI Act, Annex IV: 1 of 21 items answered (4.7%); required 50%. Missing: "
                                "A4-1a, A4-1b, A4-1c, A4-1d and 16 more."))]
    assert notes == ["note"] * len(profiles())
    assert [(finding.kind, finding.text) for finding in held if finding.section == "standards"] == [
        ("passes", ("Model Cards for Model Reporting: 0 of 9 items answered (0%); required 0%. Missing: "
                   "MC1, MC2, MC3, MC4 and 5 more."))]


def test_a_standard_that_is_answered_whole_says_so() -> None:
    left_out = {str(number): "no" for number in range(1, 10) if number != 6}
    results = run({"profile": "model_cards_2019", "require": 1, "not_applicable": left_out},
                  card={"training_data": "All."})

    assert "Every item that applies is answered; the cross-walk in the annex says where." in paragraphs(
        [section(results, "standards")])
    assert [f.text for f in results.findings if f.section == "standards"] == [
        "Model Cards for Model Reporting: 1 of 1 items answered (100%); required 100%."]


def test_a_card_without_standards_has_no_section_on_them() -> None:
    assert not {"standards", "cross-walk"} & {part.anchor for part in card_of(run([])).sections}


def test_no_card_claims_conformity(everything: Results) -> None:
    page = html_page(everything).decode()

    assert Page(page).open == []
    assert not re.search("compliant|certified", page, re.IGNORECASE)
    assert "documents evidence for" in page
