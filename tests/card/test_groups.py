"""Slices, comparisons and bands on the page."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from card import groups
from card.drawn import of_figure
from evalpipe.card.html import html_page
from evalpipe.card.tables import MOST_ROWS

if TYPE_CHECKING:
    from evalpipe.results import Results


@pytest.mark.parametrize("name", ["roc", "precision_recall", "gain"])
def test_bands_are_shaded_twice_for_each_model_and_explained(results: Results, grouped: Results, name: str) -> None:
    (without,), (with_bands,) = (of_figure(each, "validation", name) for each in (results, grouped))
    said = " Dark: 95% interval at each point. Light: 95% band for the whole curve."
    assert with_bands.caption == without.caption + said
    shaded = [len(re.findall(r'class="(?:band|faint) m\d"', drawing.svg)) for drawing in (without, with_bands)]
    assert shaded == [0, 4]


def test_each_of_many_models_has_its_bands_in_a_panel_of_its_own(build: Any) -> None:
    (drawing,) = of_figure(groups.grouped(build(datasets=1, models=5)), "validation", "roc")
    assert len(drawing.svgs) == 2
    assert re.findall(r'class="(band|faint) (m\d)"', drawing.svg) == [
        (kind, f"m{model}") for model in range(5) for kind in ("faint", "faint", "band")]  # first that to the diagonal
    assert [len(re.findall(r'class="thin pale" d="M', svg)) for svg in drawing.svgs] == [4, 1]
    assert "Grey: the other models." in drawing.caption


def test_the_bars_for_all_bins_at_once_are_thin_and_explained(results: Results, grouped: Results) -> None:
    plain, both = (
        next(d for d in of_figure(each, "validation", "reliability") if "equal width" in d.title)
        for each in (results, grouped)
    )
    assert "Thin bars: for all bins together." in both.caption
    assert "Thin bars" not in plain.caption
    bars = [len(re.findall(r'class="thin m\d"', drawing.svg)) for drawing in (plain, both)]
    assert bars == [2, 4]  # a thin line through the bins of each model, and then its thin bars


def test_the_page_has_the_sections_with_scoped_tables_and_unique_ids(grouped: Results) -> None:
    text = html_page(grouped).decode("utf-8")
    for heading in ("Comparison with Naive Bayes", "Comparison with dataset last year", "Slices"):
        assert re.search(f"<h2[^>]*>{heading}</h2>", text)
        assert f">{heading}</a></li>" in text
    few = (
        '<tr class="few"><th scope="row">season = w</th><td>all</td><td class="num">12</td><td class="num">3</td>'
        f'<td colspan="4">{groups.FEW}</td>'
    )
    for sentence in (
        few, "Worst of 287 groups searched; p-values are corrected for that.",
        "72 differences were tested, each slice against all rows.",
        "Demographic parity is the range of the share of rows predicted as events.",
        '<span class="verdict better"><span class="sign" aria-hidden="true">▲</span> better</span>',
    ):
        assert sentence in text.replace(">\n<", "><"), sentence
    assert "b <i>" not in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {link for link in re.findall(r'href="#([^"]+)"', text) if not link.startswith("d")} <= set(ids)
    levels = [int(level) for level in re.findall(r"<h([1-6])", text)]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert text.count("<table") == text.count("<caption>")
    assert all("scope=" in tag for tag in re.findall(r"<th[^>]*>", text) if not tag.startswith("<thead"))
    numbers = [int(n) for n in re.findall(r"<b>Figure (\d+)\.", text)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_without_real_differences_a_sentence_says_so(grouped: Results) -> None:
    none = [d.model_copy(update={"p_holm": 1.0}) for d in grouped.slice_differences]
    text = html_page(grouped.model_copy(update={"slice_differences": none, "curves": []})).decode("utf-8")
    assert "None has an adjusted p-value below 0.05" in text
    assert "that differ from" not in text


def test_long_lists_of_differences_are_capped(grouped: Results) -> None:
    real = [d.model_copy(update={"p_holm": 0.001}) for d in grouped.slice_differences]
    text = html_page(grouped.model_copy(update={"slice_differences": real, "curves": []})).decode("utf-8")
    assert f"The table shows {MOST_ROWS} of 72 rows; the rest is in <code>results.json</code>." in text
