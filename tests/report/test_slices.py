"""Slices on the card: tables, differences, disparities, worst slices, forest plots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from evalpipe.report import wording
from evalpipe.report.classes import class_blocks
from evalpipe.report.confusion import confusion_blocks
from evalpipe.report.data import facts
from evalpipe.report.disparities import difference_table, disparity_table, worst_tables
from evalpipe.report.figures import drawings, slice_drawings
from evalpipe.report.gains import gain_blocks
from evalpipe.report.measures import key_tables, measure_tables
from evalpipe.report.names import names_of
from evalpipe.report.slices import MEASURES_ABREAST, slice_tables, slices_views
from report import groups

if TYPE_CHECKING:
    from evalpipe.results import Results, Slice


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({"season": "a"}, "season = a"), ({"season": "a", "habitat": "d"}, "season = a, habitat = d"),
        ({"late_tall": "true"}, "late_tall"), ({"open": "true"}, "open = true"), ({"cap": "< 5"}, "cap < 5"),
        ({"cap": ">= 10"}, "cap >= 10"), ({"cap": "5 to < 10"}, "cap = 5 to < 10"), ({"year": 1999}, "year = 1999"),
    ],
)
def test_a_slice_is_named_by_columns_and_labels_and_a_condition_by_its_name(labels: Slice, said: str) -> None:
    assert wording.slice_name(labels, {"late_tall"}) == said


def test_slices_change_nothing_of_what_is_said_of_all_rows(results: Results, grouped: Results) -> None:
    for dataset in results.datasets:
        for written in (measure_tables, key_tables, class_blocks, confusion_blocks, gain_blocks):
            assert list(written(grouped, dataset.name)) == list(written(results, dataset.name))
        assert facts(grouped, dataset) == facts(results, dataset)


def test_sliced_confusion_tables_are_not_shown_among_those_of_all_rows(results: Results) -> None:
    more = [found.model_copy(update={"slice": {"season": "a"}}) for found in results.confusion]
    both = results.model_copy(update={"confusion": [*more, *results.confusion]})
    assert list(confusion_blocks(both, "validation")) == list(confusion_blocks(results, "validation"))
    assert drawings(both, "validation")[1] == drawings(results, "validation")[1]


def test_each_model_has_its_key_measures_by_slice_with_all_rows_first(grouped: Results) -> None:
    tables = slice_tables(grouped, "validation")
    assert [table.model for table in tables] == [model.label for model in grouped.models for _ in range(2)]
    assert all(len(table.heads) <= MEASURES_ABREAST for table in tables)
    assert [head for table in tables[:2] for head in table.heads] == [
        "Accuracy", "Sensitivity", "Specificity", "Precision", "MCC", "ROC AUC", "Brier score", "Log loss",
    ]
    rows = tables[0].rows
    assert [(row.heading, row.name) for row in rows] == [
        (None, "All rows"), ("season", "season = a"), (None, "season = b <i>"), (None, "season = w"),
        ("cap", "cap < 5"), (None, "cap = 5 to < 10"), (None, "cap >= 10"),
        ("season × habitat", "season = a, habitat = d"),
        (None, "season = a, habitat = rather long woods & meadows"), ("Conditions", "late_tall"),
    ]
    e = next(e for e in grouped.rows if e.slice == {"season": "a"} and e.metric == "accuracy")
    assert rows[1].n == f"{e.n:,}"
    assert rows[1].cells[0].number.value == f"{e.value:.3f}"


def test_a_slice_of_too_few_rows_has_its_reason_and_no_numbers(grouped: Results) -> None:
    row = slice_tables(grouped, "validation")[0].rows[3]
    assert (row.name, row.n, row.events) == ("season = w", "12", "3")
    assert (row.cells, row.few) == ((), groups.FEW)


def test_remarks_are_lettered_and_written_once(grouped: Results) -> None:
    tables = slice_tables(grouped, "rare-season")
    table = next(table for table in tables if table.remarks)
    assert ("a", "undefined: no predicted events") in table.remarks
    letters = {cell.letter for row in table.rows for cell in row.cells} - {None}
    assert letters == {letter for letter, _ in table.remarks}
    undefined = [cell.number.value for row in table.rows for cell in row.cells if cell.letter == "a"]
    assert set(undefined) == {"undefined"}
    assert len(undefined) > 1


def test_options_are_told_where_a_measure_has_several(grouped: Results) -> None:
    assert names_of(grouped).measure("f_beta", {"beta": 2.0}) == "F-beta"
    other = next(e for e in grouped.rows if e.metric == "f_beta").model_copy(update={"params": {"beta": 0.5}})
    several = grouped.model_copy(update={"rows": [*grouped.rows, other]})
    assert names_of(several).measure("f_beta", {"beta": 2.0}) == "F-beta (beta = 2)"
    assert names_of(grouped).measure("f_beta", {"beta": 2.0}, "macro", "b") == "F-beta (mean over classes), b"


def test_only_differences_that_stand_after_adjustment_are_listed_least_p_value_first(grouped: Results) -> None:
    found = [d for d in grouped.slice_differences if d.dataset == "validation"]
    table = difference_table(grouped, "validation")
    assert table is not None
    assert len(table.rows) == sum(d.p_holm < 0.05 for d in found) > 1  # type: ignore[operator]
    assert (table.tested, table.against, table.limit) == (f"{len(found)}", ("all rows",), "0.05")
    assert table.rows[0].difference.text == "−0.031 (−0.050 to −0.012)"
    assert (table.rows[0].ratio.text, table.rows[0].p, table.rows[0].adjusted) == (
        "0.961 (0.940 to 0.985)", "< 0.001", "0.003",
    )
    ranked = [d.model_copy(update={"p_holm": 0.04 - i / 1e5, "slice": {"i": i}}) for i, d in enumerate(found)]
    ordered = difference_table(grouped.model_copy(update={"slice_differences": ranked}), "validation")
    assert ordered is not None
    assert [row.slice for row in ordered.rows] == [f"i = {i}" for i in reversed(range(len(found)))]


def test_the_reference_is_named(grouped: Results) -> None:
    kinds: list[Any] = ["rest", {"season": "a"}]
    found = [d.model_copy(update={"reference": kinds[i % 2]}) for i, d in enumerate(grouped.slice_differences)]
    table = difference_table(grouped.model_copy(update={"slice_differences": found}), "validation")
    assert table is not None
    assert table.against == ("the rows outside the slice", "season = a")
    assert {row.reference for row in table.rows} <= set(table.against)


def test_disparities_have_their_meaning_their_ends_and_what_chance_adds(grouped: Results) -> None:
    table = disparity_table(grouped, "validation")
    assert table is not None
    first, second, third, fourth = table.rows[:4]
    assert [name for name, _ in table.meanings] == ["Demographic parity", "Equal opportunity", "Equalized odds"]
    assert (first.difference.text, first.ratio.text) == ("0.083 (0.040 to 0.130)", "0.871 (0.800 to 0.930)")
    assert (first.ends, first.used, first.expected) == ("a / w", "3 of 4", "+0.012")
    assert second.difference.text == "undefined: fewer than two slices have a value"
    assert (third.ends, fourth.disparity) == ("– / –", "Accuracy")


def test_the_worst_slices_keep_their_rank_and_the_number_searched(grouped: Results) -> None:
    (table,) = worst_tables(grouped, "validation")
    assert (table.measure, table.searched) == ("Brier score", "287")
    assert [row.rank for row in table.rows] == ["1", "2", "3", "4"]
    row = table.rows[0]
    assert (row.value.text, row.overall, row.difference) == ("0.300 (0.270 to 0.330)", "0.171", "+0.129")
    assert (row.n, row.events, row.adjusted) == ("1,199", "399", "0.003")
    assert worst_tables(grouped, "rare-season") == ()


def test_a_run_without_slices_has_no_section_of_them(results: Results) -> None:
    assert slices_views(results) == ()
    assert slice_drawings(results, "validation") == ()


def test_a_forest_is_drawn_for_six_measures(grouped: Results) -> None:
    drawn = slice_drawings(grouped, "validation")
    assert [drawing.title for drawing in drawn] == [
        f"{name} by slice" for name in ("Accuracy", "Sensitivity", "Specificity", "Precision", "MCC", "ROC AUC")
    ]
    assert len({drawing.key for drawing in drawn}) == 6
    assert all("n = 12, too few" in drawing.svg for drawing in drawn)
    assert "b &lt;i&gt;" in drawn[0].svg
    assert "Higher is better." in drawn[0].caption


def test_the_text_of_a_forest_names_the_lowest_and_the_highest_slice(grouped: Results) -> None:
    alt = slice_drawings(grouped, "validation")[0].alt
    known = {
        wording.slice_name(e.slice, {"late_tall"}): e.value for e in grouped.rows
        if (e.dataset, e.model, e.metric) == ("validation", "model_0", "accuracy") and e.slice and e.value is not None
    }
    lowest, highest = (choose(known, key=lambda name: known[name]) for choose in (min, max))
    said = re.search(r"Naive Bayes: over all rows (.*?)\. Gradient", alt)
    assert said is not None
    assert f"lowest {known[lowest]:.3f} (" in said[1]
    assert f"where {lowest}; highest {known[highest]:.3f} (" in said[1]
    assert said[1].endswith(f"where {highest}; 1 of 9 slices have no value")


def test_a_forest_that_is_too_tall_is_cut_and_says_so(build: Any) -> None:
    many = groups.grouped(build(datasets=1, models=1), [{"level": f"{i:03}"} for i in range(90)])
    drawing = slice_drawings(many, "validation")[0]
    drawn = sum(f">{i:03}</text>" in drawing.svg for i in range(90))
    assert drawn == 58
    assert f"The first {drawn} slices are drawn; the other {90 - drawn} are in estimates.csv." in drawing.caption


def test_a_forest_of_unbounded_or_equal_values_is_drawn(grouped: Results) -> None:
    keep = {"misclassifications", "log_loss"}
    metrics = [metric for metric in grouped.metrics if metric.name in keep]
    rows = [e for e in grouped.rows if e.metric in keep]
    equal = [e.model_copy(update={"lower": None, "upper": None, "value": 1e7}) for e in rows]
    for chosen in (rows, equal):
        found = slice_drawings(grouped.model_copy(update={"metrics": metrics, "rows": chosen}), "validation")
        assert [drawing.title for drawing in found] == ["Log loss by slice"]
        assert "nan" not in found[0].svg
