"""Comparisons and bands on the card."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from evalpipe.report.comparisons import sections
from evalpipe.report.figures import difference_drawings, drawings
from evalpipe.report.html import html_page
from evalpipe.report.page import plain
from evalpipe.report.procedures import procedures
from evalpipe.report.tables import MOST_ROWS
from report import groups
from report.blocks import column, heads, lines, paragraphs, tables

if TYPE_CHECKING:
    from evalpipe.report.page import Section
    from evalpipe.results import Results

BASELINE = (False, "Naive Bayes")


@pytest.fixture(scope="module")
def written(grouped: Results) -> list[Section]:
    return list(sections(grouped))


def test_a_baseline_model_comes_before_a_baseline_dataset(written: list[Section]) -> None:
    titles = [section.title for section in written]
    assert titles == ["Comparison with Naive Bayes", "Comparison with dataset last year"]
    said = [paragraphs([section]) for section in written]
    assert said[0][0].startswith("Each model less Naive Bayes on the same rows, with 95% intervals of the difference.")
    assert said[1][0].startswith("Each model on a dataset less the same model on last year, the two taken as")
    assert [text for text in said[0] if text in {"validation", "rare-season"}] == ["validation", "rare-season"]


def test_a_difference_has_its_sign_its_test_its_margin_and_its_verdict(written: list[Section]) -> None:
    differences = tables(written[:1])[0]
    rows = {line[0].split(" ")[0]: line for line in lines(differences)}
    assert rows["Accuracy"] == [
        "Accuracy higher is better", "+0.012", "+0.006 to +0.018", "< 0.001 McNemar", "0.001", "±0.01", "▲ better"]
    assert [rows[name][-1] for name in ("Accuracy", "Sensitivity", "Specificity", "Precision")] == [
        "▲ better", "≈ equivalent", "▼ worse", "? undecided"]
    assert rows["F-beta"][0].startswith("F-beta (beta = 2) ")
    assert rows["Sensitivity"][-2] == "–"
    assert rows["Brier"][3].endswith(" Diebold-Mariano")


def test_the_rows_that_one_model_alone_gets_right_are_told(written: list[Section], grouped: Results) -> None:
    assert paragraphs(written[:1])[2] == (
        f"McNemar’s test of Accuracy: {grouped.models[1].label} alone gets 120 rows right, Naive Bayes alone 1,081; "
        "exact p-value < 0.001."
    )


def test_the_model_is_named_once_where_there_is_one_and_in_each_row_where_there_are_more(build: Any) -> None:
    one, two = (tables(sections(groups.grouped(build(datasets=1, models=n))))[0] for n in (2, 3))
    assert "Model" not in heads(one)
    assert plain(one.caption) != "Differences from Naive Bayes on validation"
    assert plain(two.caption) == "Differences from Naive Bayes on validation"
    assert len(set(column(two, "Model"))) == 2


def test_in_slices_what_is_undecided_is_counted_and_left_out(written: list[Section], grouped: Results) -> None:
    listed = [line for each in tables(written[:1]) if "in slices of" in plain(each.caption) for line in lines(each)]
    within = [c for c in grouped.comparisons if c.slice and c.metric not in {"f_beta", "misclassifications",
                                                                           "detection_prevalence"}]
    assert f"There are {len(within)} differences of the key measures in slices; those that are" in " ".join(
        paragraphs(written[:1]))
    assert len(listed) == sum(c.verdict in {"better", "worse", "equivalent"} for c in within) > 0
    assert {line[0] for line in listed} == {"season = a", "season = b <i>"}


def test_an_undefined_difference_says_why(grouped: Results) -> None:
    gone = {"difference": None, "lower": None, "upper": None, "status": "undefined", "reason": "no predicted events"}
    (first, *_) = grouped.comparisons
    (differences,) = tables(sections(grouped.model_copy(update={"comparisons": [first.model_copy(update=gone)]})))
    assert lines(differences)[0][1] == "undefined: no predicted events"
    assert difference_drawings(grouped.model_copy(update={"comparisons": []}), "validation", BASELINE, 1) == ()


def test_only_measures_of_one_scale_share_the_figure_of_differences(grouped: Results) -> None:
    (drawing,) = difference_drawings(grouped, "validation", BASELINE, 1)
    assert drawing.title == "Differences from Naive Bayes"
    for name in ("ROC AUC →", "Brier score ←", "MCC →", "Detection prevalence<"):
        assert f">{name}" in drawing.svg
    assert "Misclassifications" not in drawing.svg
    assert "Log loss" not in drawing.alt
    assert "ROC AUC: " in drawing.alt
    assert "+0.012 (+0.006 to +0.018), better." in drawing.alt
    assert "Within the margin" in drawing.svg
    free = [c.model_copy(update={"margin": None}) for c in grouped.comparisons]
    (unmarked,) = difference_drawings(grouped.model_copy(update={"comparisons": free}), "validation", BASELINE, 1)
    assert "Within the margin" not in unmarked.svg


@pytest.mark.parametrize("title", ["ROC curve", "Precision-recall curve", "Cumulative gain"])
def test_bands_are_shaded_twice_for_each_model_and_explained(results: Results, grouped: Results, title: str) -> None:
    without, with_bands = (
        next(d for d in drawings(each, "validation") if d.title == title) for each in (results, grouped)
    )
    said = " 95% bands: dark for each point alone, light for the whole curve at once."
    assert with_bands.caption == without.caption + said
    shaded = [len(re.findall(r'fill-opacity="0\.\d+"', drawing.svg)) for drawing in (without, with_bands)]
    assert shaded == [0, 4]


def test_bands_of_many_models_are_left_to_the_results(build: Any) -> None:
    drawing = drawings(groups.grouped(build(datasets=1, models=4)), "validation")[1]
    assert drawing.caption.endswith("Bands about so many curves are not drawn; the 95% bands are in results.json.")
    assert not re.search(r'fill-opacity="0\.\d', drawing.svg)


def test_the_bars_for_all_bins_at_once_are_thin_and_explained(results: Results, grouped: Results) -> None:
    plain, both = (
        next(d for d in drawings(each, "validation") if "equal width" in d.title) for each in (results, grouped)
    )
    assert "Thin bars: for all bins at once." in both.caption
    assert "Thin bars" not in plain.caption
    assert 'stroke-width="0.5"' in both.svg
    assert 'stroke-width="0.5"' not in plain.svg


def test_only_procedures_that_were_used_are_described(results: Results, grouped: Results) -> None:
    assert list(procedures(results)) == []
    assert [each.name for each in procedures(grouped)] == [
        "Bands", "DeLong’s test", "McNemar’s test", "Diebold-Mariano test", "Bootstrap test", "Verdicts",
        "Holm’s adjustment", "Disparities", "Worst slices",
    ]


def test_the_page_has_the_sections_with_scoped_tables_and_unique_ids(grouped: Results) -> None:
    text = html_page(grouped).decode("utf-8")
    for heading in ("Comparison with Naive Bayes", "Comparison with dataset last year", "Slices"):
        assert re.search(f"<h2[^>]*>{heading}</h2>", text)
        assert f">{heading}</a></li>" in text
    few = (
        '<tr class="few"><th scope="row">season = w</th><td class="num">12</td><td class="num">3</td>'
        f'<td colspan="4">insufficient: {groups.FEW}</td>'
    )
    for sentence in (
        few, "Found by searching 287 slices; p-values are multiplied by 287.",
        "72 differences were tested, each slice against all rows.",
        "Demographic parity is the range of the share of rows predicted as events.",
        '<span class="verdict better"><span class="sign" aria-hidden="true">▲</span> better</span>',
    ):
        assert sentence in text, sentence
    assert "b <i>" not in text
    ids = re.findall(r' id="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert {link for link in re.findall(r'href="#([^"]+)"', text) if not link.startswith("d")} <= set(ids)
    assert text.count("<table") == text.count("<caption>")
    assert all("scope=" in tag for tag in re.findall(r"<th[^>]*>", text) if not tag.startswith("<thead"))
    numbers = [int(n) for n in re.findall(r"<b>Figure (\d+)\.", text)]
    assert numbers == list(range(1, len(numbers) + 1))
    assert html_page(grouped).decode("utf-8") == text


def test_without_real_differences_a_sentence_says_so(grouped: Results) -> None:
    none = [d.model_copy(update={"p_holm": 1.0}) for d in grouped.slice_differences]
    text = html_page(grouped.model_copy(update={"slice_differences": none, "curves": []})).decode("utf-8")
    assert "None has an adjusted p-value below 0.05" in text
    assert "that differ from" not in text


def test_long_lists_of_differences_are_capped(grouped: Results) -> None:
    real = [d.model_copy(update={"p_holm": 0.001}) for d in grouped.slice_differences]
    text = html_page(grouped.model_copy(update={"slice_differences": real, "curves": []})).decode("utf-8")
    assert f"The table shows {MOST_ROWS} of 72 rows; the rest is in <code>results.json</code>." in text
