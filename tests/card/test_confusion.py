"""What darkens the cells of confusion matrices, and the matrices of recalibrated variants."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest

from card.blocks import paragraphs, plain, rows, tables
from engine.runs import intervals, people, run
from evalpipe.card.contents import card_of
from evalpipe.card.dataset_results import confusion_blocks, variant_blocks
from evalpipe.card.html import html_page

if TYPE_CHECKING:
    from evalpipe.results import Results

FRAMES = {"d": people(300), "cal": people(300, 1)}
CALIBRATED: dict[str, Any] = {
    "datasets": {"d": {"path": "memory"}, "cal": {"path": "memory", "role": "calibrate"}},
    "recalibrate": {"fit_on": "cal", "methods": ["logistic", "isotonic"]},
}


def made(asked: str | None = None, **keys: Any) -> Results:
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
