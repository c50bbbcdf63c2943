"""What the card says of thresholds that a rule chose, and where its figures show them."""

from __future__ import annotations

from typing import Any

import pytest

from card.blocks import column, facts, groups, paragraphs, table
from engine.runs import BOTH, intervals, people, run
from evalpipe.card import data
from evalpipe.card.figures import drawings
from evalpipe.card.html import html_page
from evalpipe.card.page import Aside
from evalpipe.card.tables import shown
from evalpipe.chapters.thresholds.card import sections, sweep_figures
from evalpipe.results import Results
from evalpipe.words.numbers import exact

DATASETS = {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}}
GIVEN = {"d": people(300, 0), "cal": people(400, 1)}
BOUNDED = {"maximize": "sensitivity", "subject_to": {"specificity": {"min": 0.9}}, "on": "cal"}
FOLDED = {"q": {"probability": "q", "label": "Noisy", "threshold": {"maximize": "j_index", "on": {"folds": 5}}}}


@pytest.fixture(scope="module")
def results() -> Results:
    metrics: list[Any] = ["sensitivity", "specificity", "roc_auc", {"metric": "f_beta", "beta": 2}]
    return run(GIVEN, datasets=DATASETS, models=BOTH | FOLDED, threshold=BOUNDED, metrics=metrics,
               intervals=intervals(100))


def test_the_section_has_each_rule_in_words_with_its_rows(results: Results) -> None:
    section = next(sections(results))
    first, second = groups(table([section]))
    lead, verdict, *_ = paragraphs([section])
    assert (section.title, section.anchor) == ("Thresholds", "thresholds-1")
    assert ": cross-fitted, each fold is classified by" in lead
    specificity = shown(next(e for e in results.rows if (e.model, e.metric) == ("p", "specificity"))).text
    assert verdict == (
        f"At the threshold of p, chosen for Specificity at least 0.9, Specificity on new data is {specificity}. These "
        "data do not decide. Even 100 times as many rows would decide with less than 80% probability, if the true "
        "value is 0.9005.")
    assert first.startswith("p: ")
    assert first.endswith(
        " maximize Sensitivity, with Specificity at least 0.9; chosen on cal (400 rows, 137 events)")
    assert " maximize J index; cross-fitted in 5 folds of d (300 rows, " in second
    assert second.endswith("the threshold for later use is chosen on all rows")
    of_folds = "Measures of a cross-fitted threshold, and their intervals, are of the thresholds of the folds."
    assert any(text.startswith(of_folds) for text in paragraphs([section]))


def test_the_section_has_the_measures_where_chosen_and_where_judged(results: Results) -> None:
    chosen = table(sections(results))
    row = results.thresholds[0]
    assert column(chosen, "Measure")[:2] == [
        ("Sensitivity", Aside("maximized", "options")), ("Specificity", Aside("at least 0.9", "options"))]
    assert row.apparent is not None
    assert row.optimism is not None
    # With the decimals that the interval of the judged value has.
    assert column(chosen, "Where chosen")[0].value == f"{row.apparent:.2f}"
    assert column(chosen, "Optimism")[0].exact == exact(row.optimism)
    judged = next(e for e in results.rows if (e.model, e.metric) == ("p", "sensitivity"))
    assert judged.value is not None
    assert column(chosen, "On d")[0].exact == repr(judged.value)
    assert column(chosen, "On d")[2].value == "not among the measures"


def test_a_threshold_that_no_rows_chose_says_so_in_place_of_measures() -> None:
    written = BOTH | {"q": {"probability": "q", "label": "Noisy", "threshold": 0.25}}
    chosen = table(sections(run(GIVEN, datasets=DATASETS, models=written, threshold=BOUNDED, metrics=["sensitivity"],
                                intervals={"method": "none"})))
    assert groups(chosen)[1] == "Noisy: 0.25 written in the spec"
    assert column(chosen, "Measure")[2:] == ["none: no rows were used"]
    assert [column(chosen, head)[2].value for head in ("Where chosen", "Optimism", "Corrected", "On d")] == ["–"] * 4


def test_a_run_of_written_thresholds_has_its_measures_by_threshold_in_the_appendix() -> None:
    plain = run(GIVEN["d"], metrics=["sensitivity"], intervals={"method": "none"})
    (section,) = sections(plain)
    assert (section.anchor, section.title, section.part) == ("sweep-1", "Measures by threshold on d", "appendix")
    assert len(section.blocks) == 1
    page = html_page(plain)
    assert b"thresholds-1" not in page
    assert b"Measures by threshold: p.</b>" in page


def test_a_run_without_measures_of_classes_has_no_section() -> None:
    assert list(sections(run(GIVEN["d"], metrics=["roc_auc"], intervals={"method": "none"}))) == []


def test_models_show_the_rule_where_a_number_stood(results: Results) -> None:
    first, second = (facts([model]) for model in next(data.model_sections(results)).blocks[0].blocks)
    assert first["Threshold"] == "maximize sensitivity subject to specificity >= 0.9, on cal"
    assert second["Threshold"] == "maximize j_index, cross-fitted in 5 folds"


def test_the_sweep_is_drawn_for_each_model_with_its_threshold(results: Results) -> None:
    first, second = sweep_figures(results, "d")
    assert first.title == "Measures by threshold: p"
    assert "shaded its interval" in first.caption
    assert "the threshold chosen on all rows" in second.caption
    for name in ("Sensitivity", "Specificity", "F-beta (beta = 2)"):
        assert name in first.svg
    assert f"The dashed line is the threshold in use, {results.thresholds[0].value:.3f}, " in first.caption


def test_many_measures_are_shared_evenly_among_figures() -> None:
    metrics = ["accuracy", "sensitivity", "specificity", "precision", "npv_sample", "f1", "mcc", "kappa", "j_index",
               "balanced_accuracy", "error_rate", "detection_prevalence"]
    found = sweep_figures(run(GIVEN["d"], metrics=metrics, intervals={"method": "none"}), "d")
    assert [drawing.alt.count(": from ") for drawing in found] == [6, 6]


def test_marks_on_curves_are_labelled_with_thresholds(results: Results) -> None:
    cuts = next(table for table in results.confusion if table.model == "q").cuts
    span = f"{cuts[0]:.3f}–{cuts[-1]:.3f}" if len(cuts) > 1 else f"{cuts[0]:.3f}"
    for drawing in drawings(results, "d"):
        if drawing.key in ("d1-roc", "d1-pr"):
            assert f">{results.thresholds[0].value:.3f}" in drawing.svg
            assert span in drawing.svg
            assert f"cross-fitted thresholds {span}" in drawing.alt


def test_a_written_threshold_is_marked_too() -> None:
    plain = run(GIVEN["d"], metrics=["sensitivity"], intervals={"method": "none"}, threshold=0.35)
    (drawn,) = [drawing for drawing in drawings(plain, "d") if drawing.key == "d1-roc"]
    assert ">0.35<" in drawn.svg


def test_the_confusion_matrix_says_by_which_thresholds(results: Results) -> None:
    from evalpipe.card.wording import prediction_rule

    table = next(table for table in results.confusion if table.model == "q")
    assert prediction_rule(table).startswith(
        "Predicted as 1 when the probability is at least the threshold of the row's fold, ")


def test_the_page_has_the_section_and_its_place_in_the_contents(results: Results) -> None:
    page = html_page(results).decode()
    assert '<li><a href="#thresholds-1">Thresholds</a></li>' in page
    assert "Harrell, Lee &amp; Mark 1996" in page
    assert page.count("Measures by threshold: ") >= 2
