"""Slices on the card: tables, differences, disparities, worst slices, forest plots."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from card import groups
from card.blocks import column, heads, lines, paragraphs, rows, table, tables
from card.blocks import groups as headings
from card.drawn import of_figure
from engine.runs import people, run
from evalpipe.base.records import Measured
from evalpipe.card import wording
from evalpipe.card.appendix import gain_blocks
from evalpipe.card.data import facts
from evalpipe.card.dataset_results import class_blocks, confusion_blocks, measure_tables
from evalpipe.card.edition import Edition
from evalpipe.card.html import html_page, write_page
from evalpipe.card.page import Styled, Table, numbers_in, plain
from evalpipe.card.tables import MEASURES_ABREAST, shown
from evalpipe.card.wording import names_of
from evalpipe.chapters.gates.records import Gate
from evalpipe.chapters.slices.card import groups_against_others, procedures, sections
from evalpipe.chapters.slices.card_figures import (
    FIRST,
    MORE,
    MOST_GROUPS,
    SIGNS,
    USUAL_GROUPS,
    slice_forests,
    verdict_of,
)

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
        for written in (measure_tables, class_blocks, confusion_blocks, gain_blocks):
            assert list(written(grouped, dataset.name)) == list(written(results, dataset.name))
        assert facts(grouped, dataset) == facts(results, dataset)


def test_sliced_confusion_tables_are_not_shown_among_those_of_all_rows(results: Results) -> None:
    more = [found.model_copy(update={"slice": {"season": "a"}}) for found in results.confusion]
    both = results.model_copy(update={"confusion": [*more, *results.confusion]})
    assert list(confusion_blocks(both, "validation")) == list(confusion_blocks(results, "validation"))
    assert of_figure(both, "validation", "roc") == of_figure(results, "validation", "roc") != ()


def matrices(results: Results, dataset: str = "validation") -> list[Table]:
    """Return the matrices of groups and measures of a dataset, all rows of each."""
    return [each for each in tables(sections(results)) if f"in slices of {dataset}" in plain(each.caption)
            and each.fold is not None]


def test_one_matrix_has_the_key_measures_of_all_models_by_slice_with_all_rows_first(grouped: Results) -> None:
    by_slice = matrices(grouped)
    assert [each.label for each in by_slice] == [
        "Slices of validation, Accuracy to Precision", "Slices of validation, MCC to Log loss"]
    assert all(heads(each)[:4] == ["Slice", "Model", "n", "Events"] for each in by_slice)
    assert all(len(heads(each)) <= 4 + MEASURES_ABREAST for each in by_slice)
    assert [head for each in by_slice for head in heads(each)[4:]] == [
        "Accuracy", "Sensitivity", "Specificity", "Precision", "MCC", "ROC AUC", "Brier score", "Log loss",
    ]
    assert [headings(each) for each in by_slice] == [[]] * 2  # none is worse, so they stand as the spec has them
    names = column(by_slice[0], "Slice")
    assert names[:2] == ["All rows"] * 2
    assert column(by_slice[1], "Slice") == names  # both in one order
    assert names[2::2] == [
        "season = a", "season = b <i>", "cap < 5", "cap = 5 to < 10", "cap >= 10", "season = a, habitat = d",
        "season = a, habitat = rather long woods & meadows", "late_tall", "season = w"]
    assert names[3::2] == names[2:-1:2]
    e = next(e for e in grouped.rows if e.slice == {"season": "a"} and e.metric == "accuracy")
    line = next(line for line in lines(by_slice[0]) if line[:2] == ["season = a", "Naive Bayes"])
    assert line[2] == f"{e.n:,}"
    assert line[4].endswith(shown(e, places=2).text)


def test_a_single_model_needs_no_column_of_models(grouped: Results) -> None:
    alone = grouped.model_copy(update={"models": grouped.models[:1]})
    assert all("Model" not in heads(each) for each in matrices(alone))


def test_numbers_and_intervals_of_a_column_have_the_same_decimals(grouped: Results) -> None:
    for each in matrices(grouped):
        for head in heads(each)[4:]:
            cells = [cell for row in rows(each) if row.style != "few" for cell in numbers_in(
                row.cells[[c.head for c in each.columns].index(head)]) if cell.exact]
            assert len(cells) > 10
            ends = [cell.value for cell in cells] + [
                end for cell in cells if cell.interval for end in re.split("–| to ", cell.interval)]
            assert len({len(end.partition(".")[2]) for end in ends}) == 1, head


def test_events_are_counted_where_there_is_an_event(grouped: Results) -> None:
    without = grouped.model_copy(update={"event": None})
    assert not any("Events" in heads(each) for each in tables(sections(without)))


def test_a_slice_of_too_few_rows_has_its_reason_once_and_no_numbers_and_is_last(grouped: Results) -> None:
    row = rows(matrices(grouped)[0])[-1]
    assert row.cells == ("season = w", "all", "12", "3", groups.FEW)
    assert row.style == "few"


@pytest.mark.parametrize(("difference", "lower", "upper", "p", "verdict"), [
    (-0.2, -0.3, -0.06, 0.001, "worse"), (-0.2, -0.3, -0.04, 0.001, "undecided"), (-0.2, -0.3, -0.06, 0.2, "undecided"),
    (-0.02, -0.04, 0.01, 0.2, "within"), (0.1, -0.06, 0.3, 0.2, "undecided"), (0.3, 0.2, 0.4, 0.001, "within"),
    (-0.2, None, None, None, None),
])
def test_a_slice_is_worse_only_beyond_the_margin_and_after_correction(
    grouped: Results, difference: float, lower: float | None, upper: float | None, p: float | None, verdict: str | None,
) -> None:
    changes = {"difference": difference, "lower": lower, "upper": upper, "p_holm": p, "status": "ok"}
    row = next(d for d in grouped.slice_differences if d.metric == "accuracy").model_copy(update=changes)
    assert verdict_of(grouped, row, 0.7) == verdict
    error = next(m for m in grouped.metrics if m.name == "accuracy").model_copy(update={"direction": "minimize"})
    turned = {"difference": -difference, "lower": None if upper is None else -upper,
              "upper": None if lower is None else -lower}
    as_error = grouped.model_copy(update={"metrics": [error]})
    assert verdict_of(as_error, row.model_copy(update=turned), 1 - difference) == verdict  # 5% of a value of 1


def test_verdicts_are_signs_and_the_worst_slices_come_first(grouped: Results) -> None:
    known = [d for d in grouped.slice_differences if d.metric == "accuracy" and d.dataset == "validation"]
    far = {"difference": -0.3, "lower": -0.4, "upper": -0.2, "p_holm": 0.001, "status": "ok"}
    one = next(d for d in known if d.slice == {"cap": ">= 10"} and d.model == "model_1").model_copy(update=far)
    (first, *_) = matrices(grouped.model_copy(update={"slice_differences": [one]}))
    assert headings(first) == ["Slices, worst first"]
    worst = rows(first)[2]
    assert worst.cells[:2] == ("cap >= 10", grouped.models[1].label)
    assert isinstance(worst.cells[4], Styled)
    assert worst.cells[4].style == "worse"
    assert plain(worst.cells[4]).startswith(f"{SIGNS['worse']} 0.")
    assert sum(isinstance(cell, Styled) for row in rows(first) for cell in row.cells) == 1
    said = next(text for text in paragraphs(sections(grouped)) if SIGNS["worse"] in text)
    assert said == ("✗ worse than all rows by more than the margin (0.05), after correction for the number of slices "
                    "(Holm). ✓ not worse by more than that. ? these data do not decide.")
    of_error = one.model_copy(update={"metric": "log_loss"})
    said = next(text for text in paragraphs(sections(grouped.model_copy(update={"slice_differences": [of_error]})))
                if SIGNS["worse"] in text)
    assert "the margin (0.05; of errors, 5% of their value), after" in said


def test_rows_after_the_tenth_are_folded_and_in_the_annex_of_the_pdf(grouped: Results) -> None:
    (first, *_), (further, *_) = matrices(grouped), [each for each in sections(grouped) if each.anchor == MORE]
    assert len(rows(first.at_once)) == FIRST + len(grouped.models)
    assert first.folded is not None
    assert rows(first.at_once) + rows(first.folded) == rows(first)
    assert (further.part, further.paper) == ("appendix", True)
    assert first.folded in further.blocks
    page, paper = (write_page(Edition(grouped.model_copy(update={"curves": []})), linked=linked).decode()
                   for linked in (False, True))
    for text, folds, sections_of_more in ((page, 4, 0), (paper, 0, 1)):
        assert text.count('<details class="further">') == folds
        assert len(re.findall(rf'<(?:section|h2) id="{MORE}"', text)) == sections_of_more
        assert text.count('<tr class="few">') == 4  # each row once, whatever is folded


def test_remarks_are_lettered_and_written_once(grouped: Results) -> None:
    remarked = next(each for each in matrices(grouped, "rare-season") if each.remarks)
    assert ("a", "undefined: no predicted events") in remarked.remarks
    cells = [cell for row in rows(remarked) for cell in numbers_in(row.cells)]
    assert {cell.letter for cell in cells} - {""} == {letter for letter, _ in remarked.remarks}
    undefined = [cell.value for cell in cells if cell.letter == "a"]
    assert set(undefined) == {"undefined"}
    assert len(undefined) > 1


def test_options_are_told_where_a_measure_has_several(grouped: Results) -> None:
    assert names_of(grouped).measure("f_beta", {"beta": 2.0}) == "F-beta"
    other = next(e for e in grouped.rows if e.metric == "f_beta").model_copy(update={"params": {"beta": 0.5}})
    several = grouped.model_copy(update={"rows": [*grouped.rows, other]})
    assert names_of(several).measure("f_beta", {"beta": 2.0}) == "F-beta (beta = 2)"
    assert names_of(grouped).measure("f_beta", {"beta": 2.0}, "macro", "b") == "F-beta (mean over classes), b"


def differing(results: Results) -> Table:
    """Return the table of differences on the first dataset."""
    return table(sections(results), "Slices of validation that differ")


def test_only_differences_that_stand_after_adjustment_are_listed_least_p_value_first(grouped: Results) -> None:
    known = [d for d in grouped.slice_differences if d.dataset == "validation"]
    listed = differing(grouped)
    assert len(rows(listed)) == sum(d.p_holm < 0.05 for d in known) > 1  # type: ignore[operator]
    (lead, _) = (text for text in paragraphs(sections(grouped)) if "were tested" in text)
    assert lead.startswith(f"{len(known)} differences were tested, each slice against all rows. Those with an adjusted "
                           "p-value below 0.05 are listed. p-values are adjusted (Holm) over the slices of each model")
    assert lines(listed)[0][3:] == ["−0.031 (−0.050 to −0.012)", "0.96 (0.94–0.98)", "< 0.001", "0.003"]
    ranked = [d.model_copy(update={"p_holm": 0.04 - i / 1e5, "slice": {"i": i}}) for i, d in enumerate(known)]
    ordered = differing(grouped.model_copy(update={"slice_differences": ranked}))
    assert column(ordered, "Slice") == [f"i = {i}" for i in reversed(range(len(known)))]


def test_where_no_difference_stands_that_is_said_and_there_is_no_table(grouped: Results) -> None:
    (one, *_) = (d.model_copy(update={"p_holm": 0.5}) for d in grouped.slice_differences if d.p_value is not None)
    none = grouped.model_copy(update={"slice_differences": [one]})
    assert not tables(sections(none), "Slices of validation that differ")
    assert any("1 difference was tested, each slice against all rows. None has an adjusted p-value below 0.05." in text
               for text in paragraphs(sections(none)))


def test_the_reference_is_named(grouped: Results) -> None:
    assert "Reference" not in heads(differing(grouped))
    kinds: list[Any] = ["rest", {"season": "a"}]
    known = [d.model_copy(update={"reference": kinds[i % 2]}) for i, d in enumerate(grouped.slice_differences)]
    listed = differing(grouped.model_copy(update={"slice_differences": known}))
    assert listed.caption == "Slices of validation that differ from the rows outside the slice or season = a"
    assert set(column(listed, "Reference")) <= {"the rows outside the slice", "season = a"}


def test_disparities_have_their_meaning_their_ends_and_what_chance_adds(grouped: Results) -> None:
    listed = table(sections(grouped), "Disparities between slices of validation")
    assert heads(listed)[3:] == ["Difference", "Ratio", "Lowest / highest", "Slices used", "Expected from chance"]
    first, second, third, fourth = lines(listed)[:4]
    (lead, *_) = (text for text in paragraphs(sections(grouped)) if text.startswith("How far apart the slices"))
    assert all(name in lead for name in ("Demographic parity is", "Equal opportunity is", "Equalized odds is"))
    assert first[3:] == ["0.08 (0.04–0.13)", "0.87 (0.80–0.93)", "a / w", "3 of 4", "0.01"]
    assert second[3] == "undefined: fewer than two slices have a value"
    assert (third[5], fourth[1]) == ("– / –", "Accuracy")


def test_of_many_disparities_the_ten_furthest_beyond_chance_are_shown_and_the_others_folded(grouped: Results) -> None:
    one = next(d for d in grouped.disparities if d.difference is not None)
    many = [one.model_copy(update={"slicing": f"s{k}", "difference": k / 20, "lower": k / 20, "upper": k / 20,
                                   "expected": 0.0 if k else None,
                                   "status": "degenerate" if k == 11 else "ok"}) for k in range(12)]
    results = grouped.model_copy(update={"disparities": many})
    found = list(sections(results))
    (shown,) = (block for block in found[0].blocks
                if isinstance(block, Table) and plain(block.caption).startswith("Disparities between"))
    assert [row[0] for row in lines(shown.at_once)] == [f"s{k}" for k in range(10, 0, -1)]
    assert shown.folded is not None
    assert [row[0] for row in lines(shown.folded)] == ["s0", "s11"]  # a value that cannot be trusted stands last
    (more,) = (section for section in found if section.anchor == MORE)
    assert shown.folded in more.blocks


def test_the_worst_slices_keep_their_rank_and_the_number_searched(grouped: Results) -> None:
    (worst,) = (each for each in tables(sections(grouped)) if "worst slices" in each.caption)
    assert worst.caption.endswith(": worst slices of validation by Brier score")
    assert "Worst of 287 groups searched; p-values are corrected for that." in paragraphs(sections(grouped))
    assert column(worst, "Rank") == ["1", "2", "3", "4"]
    assert lines(worst)[0][2:] == ["1,199", "399", "0.28 (0.22–0.38)", "0.17", "+0.13", "0.11 (0.05–0.21)", "0.003"]


def test_how_disparities_and_the_worst_slices_are_found_is_told_where_there_are_any(grouped: Results) -> None:
    none: dict[str, list[Any]] = {"disparities": [], "worst_slices": []}
    assert [each.name for each in procedures(grouped)] == ["Disparities", "Worst slices"]
    assert list(procedures(grouped.model_copy(update=none))) == []


def test_a_run_without_slices_has_no_section_of_them(results: Results) -> None:
    assert list(sections(results)) == []
    assert slice_forests(results, "validation") == ()


def test_forests_stand_under_a_heading_that_says_how_many_there_are(grouped: Results) -> None:
    assert paragraphs(sections(grouped)).count("Of the first 6 key measures; all are in estimates.csv.") == 2
    page = html_page(grouped.model_copy(update={"curves": []})).decode()
    assert page.count("by slice.</b>") == 12


def test_the_heading_of_forests_counts_those_that_are_drawn(grouped: Results, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalpipe.chapters.slices.card_figures.MOST_FORESTS", 1)
    assert paragraphs(sections(grouped)).count("Of the first 1 key measure; all are in estimates.csv.") == 2
    assert len(slice_forests(grouped, "validation")) == 1


def test_a_forest_is_drawn_for_six_measures(grouped: Results) -> None:
    drawn = slice_forests(grouped, "validation")
    assert [drawing.title for drawing in drawn] == [
        f"{name} by slice" for name in ("Accuracy", "Sensitivity", "Specificity", "Precision", "MCC", "ROC AUC")
    ]
    assert len({drawing.key for drawing in drawn}) == 6
    assert all("n = 12, too few" in drawing.svg for drawing in drawn)
    assert "b &lt;i&gt;" in drawn[0].svg
    assert "Higher is better." in drawn[0].caption


def test_the_text_of_a_forest_names_the_lowest_and_the_highest_slice(grouped: Results) -> None:
    alt = slice_forests(grouped, "validation")[0].alt
    known = {
        wording.slice_name(e.slice, {"late_tall"}): e for e in grouped.rows
        if (e.dataset, e.model, e.metric) == ("validation", "model_0", "accuracy") and e.slice and e.value is not None
    }
    lowest, highest = (choose(known, key=lambda name: known[name].value or 0) for choose in (min, max))
    said = re.search(r"Naive Bayes: over all rows (.*?)\. Gradient", alt)
    assert said is not None
    assert f"lowest {shown(known[lowest]).text} where" in said[1]
    assert f"where {lowest}; highest {shown(known[highest]).text} where" in said[1]
    assert said[1].endswith(f"where {highest}; 1 of 9 slices have no value")


def forest_of(build: Any, models: int = 1, slices: int = 42) -> tuple[Results, Any]:
    many = groups.grouped(build(datasets=1, models=models), [{"level": f"{i:03}"} for i in range(slices)])
    return many, slice_forests(many, "validation")[0]


def test_a_forest_of_many_groups_draws_the_worst_and_says_how_many_are_left_out(build: Any) -> None:
    many, drawing = forest_of(build)
    values = {str(e.slice["level"]): e for e in many.rows
              if (e.metric, e.dataset) == ("accuracy", "validation") and e.slice and e.value is not None}
    (whole,) = [e.value for e in many.rows if (e.metric, e.dataset, e.slice, e.class_) == (
        "accuracy", "validation", None, None)]
    assert whole is not None
    drawn = re.findall(r">(\d{3})</text>", drawing.svg)
    worse = {level for level, e in values.items() if e.upper is not None and e.upper < whole}
    ranked = sorted(values, key=lambda level: (level not in worse, values[level].value))
    # Ten, and all that are clearly worse, up to twenty.
    assert drawn == ranked[:min(max(USUAL_GROUPS, len(worse)), MOST_GROUPS)]
    assert (USUAL_GROUPS, MOST_GROUPS) == (10, 20)
    assert USUAL_GROUPS <= len(drawn) <= MOST_GROUPS
    assert re.findall(r'class="bold ink"[^>]*>(\d{3})<', drawing.svg) == [level for level in drawn if level in worse]
    left_out = 42 - len(drawn)
    assert f"; {left_out} of 42 groups not drawn" in drawing.said
    assert f"Of 42 slices {len(drawn)} are drawn; the other {left_out} are in estimates.csv." in drawing.caption
    assert drawing.said.startswith(f"Worst for level = {min(values, key=lambda level: values[level].value or 0)}: ")


def test_more_than_ten_groups_are_drawn_where_more_are_clearly_worse(build: Any) -> None:
    many, _ = forest_of(build)
    for count, drawn in ((14, 14), (30, 20)):
        rows = [row.model_copy(update={"value": 0.1, "lower": 0.05, "upper": 0.15})
                if row.metric == "accuracy" and row.slice and str(row.slice["level"]) < f"{count:03}" else row
                for row in many.rows]
        drawing = slice_forests(many.model_copy(update={"rows": rows}), "validation")[0]
        assert len(re.findall(r">(\d{3})</text>", drawing.svg)) == drawn


def test_a_group_whose_gate_failed_is_drawn_however_good_it_looks(build: Any) -> None:
    many, drawing = forest_of(build)
    values = {str(e.slice["level"]): e.value for e in many.rows
              if (e.metric, e.dataset) == ("accuracy", "validation") and e.slice and e.value is not None}
    best = max(values, key=lambda level: values[level])
    assert f">{best}</text>" not in drawing.svg
    gate = Gate.model_construct(
        verdict="fail", dataset="validation", model="model_0", metric="accuracy", average=None, slice={"level": best})
    (failing, *_) = slice_forests(many.model_copy(update={"gates": [gate]}), "validation")
    assert re.search(rf'class="bold ink"[^>]*>{best}<', failing.svg)


def test_models_are_named_in_a_row_of_the_forest_and_not_in_a_key(build: Any) -> None:
    results, _ = forest_of(build, models=2)
    names = ["First", "Second"]
    models = [model.model_copy(update={"label": name}) for model, name in zip(results.models, names, strict=True)]
    drawing = slice_forests(results.model_copy(update={"models": models}), "validation")[0]
    assert [len(re.findall(rf'class="text m{k}"[^>]*>{name}<', drawing.svg)) for k, name in enumerate(names)] == [1, 1]


def test_a_forest_of_unbounded_or_equal_values_is_drawn(grouped: Results) -> None:
    keep = {"misclassifications", "log_loss"}
    metrics = [metric for metric in grouped.metrics if metric.name in keep]
    rows = [e for e in grouped.rows if e.metric in keep]
    equal = [e.model_copy(update={"lower": None, "upper": None, "value": 1e7}) for e in rows]
    for chosen in (rows, equal):
        found = slice_forests(grouped.model_copy(update={"metrics": metrics, "rows": chosen}), "validation")
        assert [drawing.title for drawing in found] == ["Log loss by slice"]
        assert "nan" not in found[0].svg


def test_groups_are_judged_by_one_look_at_the_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search through all estimates for each difference took 18 seconds of a run with 1,200 groups."""
    frame = people(1200).with_columns(many=pl.Series([f"g{k % 40}" for k in range(1200)]))
    results = run(frame, metrics=["brier", "accuracy"], slices=["many"])
    about, looks = Measured.about, list[Measured]()

    def counted(row: Measured) -> object:
        looks.append(row)
        return about.__get__(row)

    monkeypatch.setattr(Measured, "about", property(counted))
    list(groups_against_others(results))
    assert len(results.slice_differences) >= 40
    assert 0 < len(looks) <= len(results.rows) + len(results.slice_differences)
