"""The equivocal zone on the card: by the confusion matrix, above the measures, with the model, under the figures."""

from __future__ import annotations

from typing import Any

import pytest

from card.blocks import column, facts, lines, table
from engine.runs import BOTH, intervals, people, run
from evalpipe.card import data
from evalpipe.card.dataset_results import confusion_blocks, measure_tables
from evalpipe.card.figures import drawings
from evalpipe.card.html import html_page
from evalpipe.card.page import plain
from evalpipe.card.tables import shown
from evalpipe.chapters.equivocal.card import matrix, reach, reading
from evalpipe.chapters.slices.card import sections
from evalpipe.errors import SpecError
from evalpipe.results import Confusion, Results, Zone

FAST = intervals(100)
KEYS: dict[str, Any] = {"metrics": ["accuracy", "roc_auc"], "intervals": FAST, "slices": ["h"]}


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(400), equivocal={"below": 0.1, "above": 0.05}, **KEYS)


@pytest.fixture(scope="module")
def without() -> Results:
    return run(people(400), **KEYS)


def confusion(zone: Zone | None, equivocal: float = 12) -> Confusion:
    return Confusion(dataset="d", model="m", levels=["a", "b"], counts=[[1, 2], [3, 4]], threshold=0.5, at_threshold=0,
                     equivocal=equivocal, zone=zone)


@pytest.mark.parametrize(("zone", "said"), [
    (Zone(below=0.1, above=0.05, low=0.4, high=0.55), "from 0.4 to 0.55"),
    (Zone(below=0, above=0, low=0.5, high=0.5), "exactly 0.5"),
    (Zone(below=0.1, above=0.05), "from 0.1 under the threshold to 0.05 over it"),
    (Zone(min_probability=0.6), "below 0.6"),
])
def test_a_zone_is_told_in_words(zone: Zone, said: str) -> None:
    assert reach(zone) == said


@pytest.mark.parametrize(("zone", "equivocal", "weighted", "said"), [
    (Zone(low=0.4, high=0.55), 12, False,
     "No level is predicted in the equivocal zone, probability from 0.4 to 0.55, both ends included: 12 rows."),
    (Zone(low=0.5, high=0.5), 1, False, "No level is predicted in the equivocal zone, probability exactly 0.5: 1 row."),
    (Zone(min_probability=0.6), 12.5, True,
     "No level is predicted in the equivocal zone, highest probability below 0.6: total weight 12.5."),
])
def test_the_rows_of_a_zone_are_counted(
    results: Results, zone: Zone, equivocal: float, weighted: bool, said: str
) -> None:
    weight = {"column": "w", "kind": "frequency"} if weighted else None
    whole = next(row for row in results.rows if row.metric == "reportable_rate" and row.slice is None)
    rate = whole.model_copy(update={"model": "m", "value": 0.9, "lower": 0.8, "upper": 1.0})
    for rows, share in (([], ""), ([rate], " Reportable rate 0.90 (0.80–1.00).")):
        given = results.model_copy(update={"rows": rows, "weight": weight})
        assert list(matrix(given, confusion(zone, equivocal), "probability")) == [f"{said}{share}"]


def test_the_card_says_what_measures_of_classes_are_of(results: Results) -> None:
    caption = plain(table(confusion_blocks(results, "d")).caption)
    (about,) = reading(results, "d")
    rate = next(row for row in results.rows if row.metric == "reportable_rate" and row.slice is None)
    hidden = results.confusion[0].equivocal
    assert " Outside the equivocal zone, predicted as 1 when the probability is above 0.5. No level" in caption
    assert f": {hidden:.0f} rows. Reportable rate {shown(rate).text}" in caption
    page = html_page(results.model_copy(update={"curves": []})).decode()
    assert about in page
    assert "per cent of all reportable rows" in page
    assert facts(data.model_sections(results))["Equivocal zone"] == "from 0.4 to 0.55"
    assert "Reportable rate" in [title[0] for title in column(next(measure_tables(results, "d")), "Measure")]


def test_a_finding_says_that_some_rows_get_no_class(results: Results, without: Results) -> None:
    stated = [finding.text for finding in results.findings if finding.code == "rows-without-class"]
    assert [text.partition(". ")[0] for text in stated] == ["p gives no class to rows in the equivocal zone"]
    assert "rows-without-class" not in {finding.code for finding in without.findings}


def test_a_card_without_a_zone_says_nothing_of_one(without: Results) -> None:
    assert list(reading(without, "d")) == []
    page = html_page(without).decode()
    assert "quivocal" not in page.replace("equivocal: null", "").replace("No equivocal zone is declared", "")
    assert "eportable" not in page


def test_captions_say_that_markers_are_of_other_rows_than_curves(results: Results, without: Results) -> None:
    told = " Markers use the reportable rows and curves use all rows, so a marker may lie off its curve."
    drawn, unmarked = (drawings(one, "d") for one in (results, without))
    marked = {drawing.title for drawing in drawn if told in drawing.caption}
    assert {"ROC curve", "Precision-recall curve"} <= marked
    assert not any(told in drawing.caption for drawing in unmarked)
    assert any("threshold 0.5 among the reportable rows" in drawing.alt for drawing in drawn)


def test_differences_say_that_either_side_has_its_own_reportable_rows() -> None:
    told = "Measures of predicted classes compare each side on its own reportable rows."
    keys: dict[str, Any] = KEYS | {"slices": None, "models": BOTH, "compare": {"baseline": "q"}, "recalibrate": {
        "fit_on": {"folds": 3}, "methods": ["logistic"]}}
    evaluated = (run(people(200), **keys, **zone) for zone in ({"equivocal": 0.1}, {}))
    pages = [html_page(each.model_copy(update={"curves": []})).decode() for each in evaluated]
    assert [page.count(told) for page in pages] == [2, 0]


def test_tables_of_slices_count_all_rows(results: Results) -> None:
    sizes = {line[0]: line[1] for line in lines(table(sections(results)))}
    assert sizes["All rows"] == "400"
    assert sizes["h = x"] == f"{people(400)['h'].to_list().count('x')}"


@pytest.mark.parametrize(("reach", "hint"), [
    (1.5, None), (2, "did you mean 0.02?"), (100, "did you mean 1?"), (101, None)])
def test_a_reach_in_per_cent_is_told_as_a_share(reach: float, hint: str | None) -> None:
    with pytest.raises(SpecError) as caught:
        run(people(10), equivocal=reach, **KEYS)
    (problem,) = caught.value.problems
    assert (problem.code, problem.hint) == ("out-of-range", hint)
