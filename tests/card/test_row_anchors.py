"""The links from findings to the rows that show their numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from card import groups
from card.blocks import tables
from evalpipe.card.contents import QUESTIONS, card_of
from evalpipe.card.html import html_page
from evalpipe.card.page import Link, Row, Section, plain
from evalpipe.card.tables import NO_LINKS, EvidenceLinks, row_anchor
from evalpipe.findings.words import finding
from evalpipe.results import Results

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evalpipe.results.document import Finding


def with_findings(results: Results, *found: Finding) -> Results:
    changed = results.model_copy(update={"finding_rows": list(found), "curves": []})
    changed.__dict__["findings"] = list(found)
    return changed


def row_of(text: str, anchor: str) -> str:
    """Return the words of the row with this id on a page."""
    (row,) = re.findall(rf'<tr id="{anchor}".*?</tr>', text, re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", row).split())


def link_of(results: Results, found: Finding) -> Link:
    return EvidenceLinks.of(card_of(results).sections).link(found)


def test_a_finding_on_all_rows_leads_to_the_row_of_its_measure(results: Results) -> None:
    e = next(e for e in results.rows if e.metric == "mcc" and e.dataset == "validation")
    found = finding("fails", 50, "MCC is low.", "dataset-1", [e])
    link = link_of(results, found)
    assert row_of(html_page(with_findings(results, found)).decode(), link.anchor).startswith("MCC ")
    assert link.name == "Evidence: MCC is low. (Results on validation, MCC)"


def test_a_finding_on_a_slice_leads_to_its_row_of_the_matrix_with_the_measure(grouped: Results) -> None:
    for metric, model in (("accuracy", "model_1"), ("log_loss", "model_0")):
        e = next(e for e in grouped.rows if (e.metric, e.model, e.dataset, e.slice) == (
            metric, model, "validation", {"cap": "< 5"}))
        anchor = link_of(grouped, finding("fails", 50, "It is worse.", "slices", [e])).anchor
        (at,) = [(table, row) for table in tables(s for s in card_of(grouped).sections if s.anchor == "slices")
                 for row in table.rows if isinstance(row, Row) and row.anchor is not None and row.anchor.id == anchor]
        assert plain(at[1].cells[0]) == "cap < 5"
        heads = [column.head for column in at[0].columns]
        assert {"accuracy": "Accuracy", "log_loss": "Log loss"}[metric] in heads


def test_the_first_of_the_numbers_that_a_table_shows_is_led_to(results: Results) -> None:
    e = next(e for e in results.rows if e.metric == "mcc" and e.dataset == "validation")
    unseen = e.model_copy(update={"metric": "no_such_measure"})
    link = link_of(results, finding("fails", 50, "x", "dataset-1", [unseen, e]))
    assert link.anchor == link_of(results, finding("fails", 50, "x", "dataset-1", [e])).anchor
    assert link_of(results, finding("fails", 50, "x", "dataset-1", [unseen])).anchor == "dataset-1"
    assert NO_LINKS.link(finding("fails", 50, "x", "dataset-1", [e])).anchor == "dataset-1"


def test_every_finding_on_a_measure_leads_to_the_row_that_shows_it(example: Callable[[str], Path]) -> None:
    results = Results.read(example("prevalence") / "results.json")
    links = EvidenceLinks.of(card_of(results).sections)
    anchors = {finding.code: links.link(finding).anchor for finding in results.findings if finding.estimates}
    assert {"probabilities-spread", "probabilities-on-average", "better-than-trivial"} <= anchors.keys()
    assert {code for code, anchor in anchors.items() if not re.search(r"-[0-9a-f]{8}$", anchor)} == set()


def test_rows_have_anchors_of_their_own_which_are_the_same_in_every_run(grouped: Results) -> None:
    anchors = [row.anchor.id for table in tables(card_of(grouped).on_screen.sections) for row in table.rows
               if isinstance(row, Row) and row.anchor is not None]
    assert len(anchors) > 50
    assert len(anchors) == len(set(anchors))
    e = grouped.rows[0]
    assert row_anchor("dataset-1", [e]) == row_anchor("dataset-1", [e.model_copy(update={"value": 0.1})])
    assert row_anchor("dataset-1", [e]).id != row_anchor("dataset-2", [e]).id != row_anchor("dataset-2", [e], "a").id


def test_links_have_names_of_their_own(results: Results) -> None:
    e = next(e for e in results.rows if e.metric == "mcc")
    found = [finding("fails", 50, "MCC is low " + "so " * 40, "dataset-1", [e]), finding("note", 40, "Few.", "data")]
    text = html_page(with_findings(results, *found)).decode()
    names = re.findall(r'aria-label="(Evidence[^"]*)">Evidence</a>', text)
    assert len(names) == 4  # on the first screen and in the section of all findings
    assert len(set(names)) == 2
    assert names[1] == "Evidence: Few. (Data)"
    assert max(map(len, names)) < 120


def test_what_readers_ask_is_an_anchor_of_the_first_section_that_answers(build: Any) -> None:
    grouped = groups.grouped(build(datasets=2)).model_copy(update={"curves": []})
    text, sections = html_page(grouped).decode(), card_of(grouped).sections
    for part, question in QUESTIONS.items():
        answering = [section for section in sections if section.question == question]
        assert [section.part for section in answering] == [part]
        assert re.search(rf'<span id="{question.anchor}"></span>\s*<section id="{answering[0].anchor}"', text)
        assert f'<a href="#{question.anchor}">{question.text}</a>' in text
    assert Section("x", "X", ()).question is None


def test_a_question_that_no_section_answers_is_not_asked(results: Results) -> None:
    assert "for-whom" not in html_page(results.model_copy(update={"curves": []})).decode()
