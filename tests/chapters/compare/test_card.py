"""Comparisons on the card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from card import groups
from card.blocks import column, heads, lines, paragraphs, tables
from evalpipe.card import method
from evalpipe.card.page import Facts, Figures, Heading, plain
from evalpipe.chapters.compare.card import procedures, sections

if TYPE_CHECKING:
    from evalpipe.card.figures import Drawing
    from evalpipe.card.page import Section
    from evalpipe.results import Results

@pytest.fixture(scope="module")
def written(grouped: Results) -> list[Section]:
    return list(sections(grouped))


def forests(results: Results) -> list[list[Drawing]]:
    """Return the figures of each dataset of the first comparison."""
    blocks = next(section for section in sections(results) if section.part == "appendix").blocks
    return [list(block.draw()) for block in blocks if isinstance(block, Figures)]


def test_a_baseline_model_comes_before_a_baseline_dataset(written: list[Section]) -> None:
    titles = [section.title for section in written]
    assert titles == ["Comparison with Naive Bayes", "Differences from Naive Bayes",
                      "Comparison with dataset last year", "Differences from dataset last year"]
    said = [paragraphs([section]) for section in written if section.part == "comparison"]
    assert said[0][0].startswith("Each model minus Naive Bayes on the same rows, with 95% intervals of the difference.")
    assert said[1][0].startswith("Each model on a dataset minus the same model on last year, as independent samples")
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
    said = f"There are {len(within)} differences of the key measures in slices; the decided differences are listed."
    assert said in " ".join(paragraphs(written[:1]))
    assert len(listed) == sum(c.verdict in {"better", "worse", "equivalent"} for c in within) > 0
    assert {line[0] for line in listed} == {"season = a", "season = b <i>"}


def test_an_undefined_difference_says_why(grouped: Results) -> None:
    gone = {"difference": None, "lower": None, "upper": None, "status": "undefined", "reason": "no predicted events"}
    (first, *_) = grouped.comparisons
    alone = grouped.model_copy(update={"comparisons": [first.model_copy(update=gone)]})
    (differences,) = tables(sections(alone))
    assert lines(differences)[0][1] == "undefined: no predicted events"
    assert forests(alone) == [[]]


def test_only_measures_of_one_scale_share_the_figure_of_differences(grouped: Results) -> None:
    (drawing,) = forests(grouped)[0]
    assert drawing.title == "Differences from Naive Bayes"
    for name in ("ROC AUC →", "Brier score ←", "MCC →", "Detection prevalence<"):
        assert f">{name}" in drawing.svg
    assert "Misclassifications" not in drawing.svg
    assert "Log loss" not in drawing.alt
    assert "ROC AUC: " in drawing.alt
    assert "+0.012 (+0.006 to +0.018), better." in drawing.alt
    assert 'class="band muted"' in drawing.svg
    assert "The shaded zone of a measure is its margin" in drawing.caption
    free = [c.model_copy(update={"margin": None}) for c in grouped.comparisons]
    (unmarked,) = forests(grouped.model_copy(update={"comparisons": free}))[0]
    assert 'class="band muted"' not in unmarked.svg
    assert "margin" not in unmarked.caption


def test_only_tests_that_were_made_are_described(results: Results, grouped: Results) -> None:
    assert [procedure.name for procedure in procedures(results)] == ["Margins of findings"]
    assert [procedure.name for procedure in procedures(grouped)] == [
        "DeLong’s test", "McNemar’s test", "Diebold-Mariano test", "Bootstrap test", "Verdicts", "Holm’s adjustment",
        "Margins of findings"]


def test_the_method_explains_bands_first_then_differences_and_slices(grouped: Results) -> None:
    (section,) = method.sections(grouped)
    heading = section.blocks.index(Heading("Bands, differences and slices"))
    explained = section.blocks[heading + 1]
    assert isinstance(explained, Facts)
    names = [name for name, _ in explained.entries]
    assert names[0] == "Bands"
    assert {"Verdicts", "Disparities", "Worst slices"} <= set(names)
