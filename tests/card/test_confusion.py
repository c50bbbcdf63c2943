"""What darkens the cells of confusion matrices, and the matrices of recalibrated variants."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from card.blocks import paragraphs, plain, rows, tables
from card.many_levels import ANIMALS, SHORT, of_levels
from card.pages import cut, pages_of, small_texts
from engine.runs import intervals, people, run
from evalpipe.card.contents import card_of
from evalpipe.card.dataset_results import confusion_blocks, variant_blocks
from evalpipe.card.html import html_page
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.results import Results

FRAMES = {"d": people(300), "cal": people(300, 1)}
CALIBRATED: dict[str, Any] = {
    "datasets": {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}},
    "recalibrate": {"fit_on": "cal", "methods": ["logistic", "isotonic"]},
}


def made(asked: object = None, **keys: Any) -> Results:
    report = {"formats": [], **({} if asked is None else {"confusion": asked})}
    return run(FRAMES["d"], metrics=["accuracy"], intervals=intervals(100), report=report, **keys)


def styles(results: Results) -> list[list[str]]:
    (matrix,) = tables(list(confusion_blocks(results, "d")))
    return [[cell.style for cell in row.cells[1:3]] for row in rows(matrix)]


@pytest.mark.parametrize(("asked", "larger"), [("counts", "its count"), ("shares", "its share of the row")])
def test_cells_are_as_dark_as_their_count_or_their_share(asked: str, larger: str) -> None:
    results = made(asked)
    counts = results.confusion[0].counts
    most = max(map(max, counts))
    expected = [
        [f"{'right' if i == j else 'wrong'} shade-{math.ceil(10 * count / (most if asked == 'counts' else sum(row)))}"
         for j, count in enumerate(row)] for i, row in enumerate(counts)]
    assert styles(results) == expected
    assert paragraphs(list(confusion_blocks(results, "d")))[1].endswith(
        f"; the stronger the colour of a cell, the larger {larger}.")
    page = html_page(results).decode()
    assert len(re.findall(r'class="num (?:right|wrong) shade-\d+"', page)) == 4
    assert all(f".confusion .{side}.shade-{tenths} " in page for side in ("right", "wrong") for tenths in range(11))


def test_few_levels_have_one_colour_for_right_and_one_for_wrong_unless_asked() -> None:
    results = made()
    assert styles(results) == [["right", "wrong"], ["wrong", "right"]]
    assert "confusion" not in results.spec["report"]
    assert paragraphs(list(confusion_blocks(results, "d")))[1] == (
        "Counts, per cent of all rows, and per cent of the table's row.")


def test_recalibrated_variants_have_matrices_in_the_appendix() -> None:
    results = run(FRAMES, metrics=["accuracy"], intervals=intervals(100), **CALIBRATED)
    captions = [plain(table.caption) for table in tables(list(variant_blocks(results, "d")))]
    assert captions == [
        f"p ({variant}) Predicted as 1 when the probability is at least 0.5. No row is exactly at this threshold."
        for variant in ("logistic", "isotonic")]
    assert len(tables(list(confusion_blocks(results, "d")))) == 1
    (further,) = (section for section in card_of(results).sections if section.anchor == "further-1")
    assert "Confusion matrices of recalibrated variants" in [
        getattr(block, "text", None) for block in further.blocks]
    assert list(variant_blocks(made(), "d")) == []


def matrix_of(results: Results) -> list[list[str]]:
    (matrix,) = tables(list(confusion_blocks(results, results.datasets[0].name)))
    return [[plain(cell) for cell in row.cells] for row in rows(matrix)]


def test_the_cells_of_a_binary_matrix_are_named() -> None:
    results = made()
    (tp, fn), (fp, tn) = results.confusion[0].counts
    assert results.confusion[0].levels[0] == results.event
    named = [[re.sub(r" [\d.]+% of .*", "", cell) for cell in row[1:3]] for row in matrix_of(results)]
    assert named == [[f"{tp:.0f} TP", f"{fn:.0f} FN, type II error"], [f"{fp:.0f} FP, type I error", f"{tn:.0f} TN"]]


@pytest.mark.parametrize("frames", [FRAMES["d"], None])
def test_rows_are_the_predicted_levels_where_asked(frames: object) -> None:
    if frames is None:  # of several levels
        truth, predicted = np.array(list("aabbbccccc")), np.array(list("abbbcccaaa"))
        outcome = {"column": "y", "levels": ["a", "b", "c"]}
        by_truth, by_predicted = (run(
            pl.DataFrame({"y": truth, "p": predicted}), task="multiclass", outcome=outcome, metrics=["accuracy"],
            models={"m": {"prediction": "p"}}, intervals={"method": "none"}, report={"formats": [], **report})
            for report in ({}, {"confusion": {"rows": "predicted"}}))
    else:
        by_truth, by_predicted = made(), made({"rows": "predicted"})
    assert by_truth.confusion == by_predicted.confusion
    counts = [list(map(int, row)) for row in by_truth.confusion[0].counts]
    assert counts != [list(column) for column in zip(*counts, strict=True)]  # else nothing is told apart
    for results, cells in ((by_truth, counts), (by_predicted, [list(column) for column in zip(*counts, strict=True)])):
        (matrix,) = tables(list(confusion_blocks(results, results.datasets[0].name)))
        assert [[int(cell.split()[0]) for cell in row[1:]] for row in matrix_of(results)] == [
            [*row, sum(row)] for row in cells]
        (foot,) = matrix.foot
        assert [int(plain(cell)) for cell in foot.cells[1:]] == [
            *map(sum, zip(*cells, strict=True)), sum(map(sum, cells))]
        assert [column.over for column in matrix.columns[1:-1]] == [
            "Predicted" if cells is counts else "Truth"] * len(cells)
        assert matrix.columns[0].head == ("Truth" if cells is counts else "Predicted")
        shares = [[float(cell.rpartition("%")[0].split()[-1]) for cell in row[1:-1]] for row in matrix_of(results)]
        assert [sum(row) for row in shares] == pytest.approx([100] * len(cells), abs=0.2)  # of the table's row
    if frames is not None:
        assert [[" ".join(cell.split()[1:2]).strip(",") for cell in row[1:3]] for row in matrix_of(by_predicted)] == [
            ["TP", "FP"], ["FN", "TN"]]


def test_a_shade_may_be_asked_for_beside_the_rows() -> None:
    assert styles(made({"shade": "counts"})) == styles(made("counts"))
    turned = styles(made({"rows": "predicted", "shade": "counts"}))
    assert turned == [list(column) for column in zip(*styles(made("counts")), strict=True)]
    assert made({"rows": "predicted"}).spec["report"]["confusion"] == {"rows": "predicted"}


def test_long_levels_are_numbered_in_the_heads_of_columns_and_named_in_the_rows() -> None:
    (matrix,) = tables(list(confusion_blocks(of_levels(ANIMALS, 600), "d")))
    assert [column.head for column in matrix.columns] == ["Truth", *SHORT, "Total"]
    assert [plain(row.cells[0]) for row in rows(matrix)] == [f"{k} {name}" for k, name in enumerate(ANIMALS, 1)]
    assert matrix.style.split() == ["confusion", "many", "tall"]
    (matrix,) = tables(list(confusion_blocks(of_levels(SHORT, 600), "d")))
    assert [column.head for column in matrix.columns] == ["Truth", *SHORT, "Total"]
    assert [plain(row.cells[0]) for row in rows(matrix)] == [*SHORT]
    (matrix,) = tables(list(confusion_blocks(of_levels(("low", "middle", "high", "top"), 200), "d")))
    assert [column.head for column in matrix.columns] == ["Truth", "low", "middle", "high", "top", "Total"]
    assert matrix.style.split() == ["confusion", "many"]


def test_many_levels_have_whole_per_cents_and_no_count_is_none() -> None:
    results = of_levels(SHORT)
    shares = [cell.split()[1] for row in matrix_of(results) for cell in row[1:-1] if cell.split()[1:]]
    assert "100%" in shares
    assert all(re.fullmatch(r"<1%|[1-9]\d?%|100%", share) for share in shares)
    assert [numbers.whole_percent(part, 1000) for part in (0, 4, 5, 16, 996)] == ["0%", "<1%", "<1%", "2%", "100%"]
    assert numbers.whole_percent(1, 0) == "–"


def test_twelve_levels_fit_a_page() -> None:
    pages = pages_of(of_levels(ANIMALS))
    assert cut(pages) == []
    assert small_texts(pages, 8) == []
