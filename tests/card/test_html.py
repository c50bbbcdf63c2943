from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from evalpipe.card.contents import card_of
from evalpipe.card.edition import Edition
from evalpipe.card.html import ROW_LIMIT, document, html_page, write_page
from evalpipe.words.spelling import isolated

if TYPE_CHECKING:
    from evalpipe.results import Results

VOID = {"meta", "br", "wbr", "link", "img", "input", "hr", "use", "path", "circle"}


class Page(HTMLParser):
    """Collect the tags and the text of a page, and check that tags are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "title"} & set(self.open):
            self.words.append(data)


@pytest.fixture(scope="module")
def text(results: Results) -> str:
    return html_page(results).decode("utf-8")


@pytest.fixture(scope="module")
def page(text: str) -> Page:
    return Page(text)


def test_every_tag_is_closed(page: Page) -> None:
    assert page.open == []


def test_names_with_markup_are_shown_as_they_are(text: str) -> None:
    assert text.count("<script") == len(re.findall(r"<script>\"use strict\";\n", text)) == 1
    assert "<i>friends" not in text
    assert "<b>bold" not in text
    assert "Naive Bayes on secondary mushrooms &amp; &lt;i&gt;friends&lt;/i&gt;" in text
    assert "edible &lt;b&gt;&amp;" in text
    assert "&lt;/pre&gt;&lt;b&gt;ü ≥" in text


def test_nothing_is_loaded_from_outside(page: Page, text: str) -> None:
    loading = {"src", "href", "xlink:href"}
    addresses = [value for _, attrs in page.tags for name, value in attrs.items() if name in loading]
    assert addresses
    assert all(value and value.startswith("#") for value in addresses)
    assert all(inside.startswith(("#", "data:")) for inside in re.findall(r"url\(([^)]{5})", text))
    assert "@import" not in text


def test_headings_are_in_order(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_ids_are_unique_and_links_lead_somewhere(page: Page) -> None:
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for tag, attrs in page.tags if tag == "a"} <= set(ids)


def test_every_figure_has_a_text_and_a_caption(page: Page, text: str) -> None:
    figures = [tag for tag, _ in page.tags if tag == "figure"]
    assert len(figures) == len([tag for tag, _ in page.tags if tag == "figcaption"]) == 33
    labelled = [attrs["aria-labelledby"] for tag, attrs in page.tags if tag == "svg" and attrs.get("role") == "img"]
    assert all(f'<title id="{name}">' in text for name in labelled)
    sheets = [attrs for _, attrs in page.tags if attrs.get("class") == "sheets"]
    assert len(sheets) == len(figures)
    assert all(attrs["role"] == "img" and re.search(r"\d", attrs["aria-label"]) for attrs in sheets)
    assert all(attrs["aria-hidden"] == "true" for _, attrs in page.tags if attrs.get("class") == "chart")


def test_every_table_has_a_caption_and_scoped_headers(page: Page) -> None:
    tags = [tag for tag, _ in page.tags]
    assert tags.count("table") == tags.count("caption") > 0
    assert all(attrs.get("scope") for tag, attrs in page.tags if tag == "th")


def test_the_page_says_its_language_and_has_a_skip_link(page: Page) -> None:
    assert ("html", {"lang": "en"}) in page.tags
    assert ("a", {"class": "skip", "href": "#main"}) in page.tags


def test_undefined_measures_say_why(text: str) -> None:
    assert '<span class="undefined">undefined: no predicted events</span>' in text


def test_the_card_has_the_facts_an_auditor_needs(page: Page, results: Results) -> None:
    words = " ".join(" ".join(page.words).split())
    for fact in (
        results.spec_sha256, results.inputs[1].sha256 or "", "0.555 (source: training set)", "season = 'a' AND cap > 2",
        "6,107", "evalpipe run mushrooms.yaml", "Clopper, C. J. & Pearson, E. S. (1934)", "Efron, B. (1979)", "p ≥ t",
        "seed 364", "DRAFT, not signed", "MISSING",
        "clipped validation, model_0: 3 probabilities were limited to the range from 1e-15 to 1 - 1e-15 for Log loss",
        "van Rijsbergen (1979)", "active features", r"\unknown{TP+FP}",
    ):
        assert fact in words, fact


def test_no_claim_of_conformity_is_made(text: str) -> None:
    assert not re.search("compliant|certified", text, re.IGNORECASE)


def test_the_predicted_and_the_true_axis_are_named(text: str) -> None:
    assert re.search(r"<th[^>]*>Truth</th><th[^>]*>Predicted</th>", text)


def test_the_parts_stand_in_their_order_and_the_contents_name_each_section_once(page: Page, results: Results) -> None:
    card = card_of(results)
    assert [title for title, _ in card.parts] == [
        "Use and limits", "Results", "Calibration", "Decisions", "Data", "Monitoring", "Sign-off", "Annex"]
    anchors = [section.anchor for section in card.sections]
    assert anchors == [
        "use", "dataset-1", "dataset-2", "calibration-1", "calibration-2", "decisions-1", "decisions-2", "prevalence",
        "data", "monitoring", "sign-off", "annex", "prevalence-1", "prevalence-2", "datasets", "models", "warnings",
        "further-1", "further-2", "method", "definitions", "references", "spec", "provenance"]
    ids = [attrs["id"] for _, attrs in page.tags if attrs.get("id") in anchors]
    assert ids == anchors
    listed = [attrs["href"][1:] for tag, attrs in page.tags if tag == "a" and attrs["href"][1:] in anchors]
    assert listed[: len(anchors)] == anchors


def test_the_appendix_is_folded_with_its_anchors_inside_and_open_on_paper(results: Results, text: str) -> None:
    folds = re.findall(
        r'<details>\n<summary><h2 id="([a-z0-9-]+)-title">.*?</h2></summary>\n<div id="([a-z0-9-]+)"', text)
    assert [anchor for anchor, _ in folds] == [anchor for _, anchor in folds] == [
        section.anchor for section in card_of(results).sections if section.part == "appendix"][1:]
    assert text.count("<details>") == len(folds)
    assert ".appendix > details::details-content { content-visibility: visible; block-size: auto; }" in text
    paper = write_page(Edition(results.model_copy(update={"curves": []})), 300, linked=True).decode("utf-8")
    assert "<script" not in paper
    assert "<details" not in paper
    assert "details-content" not in paper


def test_long_tables_stop_at_the_limit_only_where_one_is_set(results: Results) -> None:
    many = [results.inputs[0].model_copy(update={"path": f"data/part-{i:04}.csv"}) for i in range(1200)]
    grown = results.model_copy(update={"inputs": many, "curves": []})
    text = html_page(grown, 300).decode("utf-8")
    assert (text.count("part-0011.csv"), text.count("part-0012.csv")) == (2, 1)  # the files that were read are twelve
    assert (text.count("part-0298.csv"), text.count("part-0299.csv")) == (1, 0)  # fingerprints begin with the spec's
    assert "The table shows 12 of 1,200 rows; the rest is in <code>results.json</code>." in text
    assert "The table shows 300 of 1,201 rows; the rest is in <code>results.json</code>." in text
    assert "part-1199.csv" in html_page(grown).decode("utf-8")


def test_a_table_of_the_page_has_as_many_rows_as_a_browser_shows(results: Results) -> None:
    many = [results.inputs[0].model_copy(update={"path": f"data/part-{i:04}.csv"}) for i in range(ROW_LIMIT + 1)]
    text = document(Edition(results.model_copy(update={"inputs": many, "curves": []}))).decode("utf-8")
    assert "The table shows 5,000 of 5,002 rows; the rest is in <code>results.json</code>." in text


def test_a_long_table_of_measures_points_at_the_estimates(results: Results) -> None:
    text = html_page(results.model_copy(update={"curves": []}), 5).decode("utf-8")
    assert "The table shows 5 of 11 rows; the rest is in <code>estimates.csv</code>." in text


def test_a_weighted_card_speaks_of_weights(build: Any) -> None:
    weighted = build(datasets=1, models=1, weight="importance")
    text = html_page(weighted.model_copy(update={"curves": []})).decode("utf-8")
    assert "importance weights: a row counts in proportion to its weight" in text
    assert "Counts (total weights)" in text


@pytest.mark.parametrize("name", ["نموذج الغابة", "יער"])
def test_a_name_from_right_to_left_turns_no_numbers_beside_it(name: str) -> None:
    assert isolated(f"ROC AUC of {name} 0.62–0.78, n = 5") == f"ROC AUC of \u2068{name}\u2069 0.62–0.78, n = 5"
    assert isolated("森林 0.62–0.78, Forêt") == "森林 0.62–0.78, Forêt"
