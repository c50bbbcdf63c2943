"""Residuals of probabilities on the card: figures of all models, sizes and quantiles in tables."""

from __future__ import annotations

from typing import Any

import pytest

from card.blocks import column, table
from card.drawn import of_figure
from engine.runs import BOTH, intervals, people, run
from evalpipe import numbers
from evalpipe.card.contents import card_of
from evalpipe.card.residuals import residual_blocks
from evalpipe.chapters.curves.card import procedures
from evalpipe.results import Results
from evalpipe.results.curves.residuals import ResidualBox

LEVELS: dict[str, Any] = {
    "task": "multiclass", "outcome": {"column": "h", "levels": ["x", "z"]},
    "models": {"m": {"probabilities": {"x": "p", "z": "rest"}}}, "metrics": ["log_loss"],
    "intervals": {"replicates": 100},
}


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(300), models=BOTH, metrics=["roc_auc"], curves={"residuals": True}, intervals=intervals(100))


@pytest.fixture(scope="module")
def levels() -> Results:
    frame = people(300)
    return run(frame.with_columns(rest=1 - frame["p"]), curves={"residuals": True}, **LEVELS)


def test_all_models_are_in_each_figure_of_residuals(results: Results) -> None:
    for name in ("histogram", "distribution", "boxes"):
        drawing = of_figure(results, "d", name)[-1]
        assert {points.name.split(":")[0] for points in drawing.points} == {"p", "q"}
        assert "p: " in drawing.alt
        assert "q: " in drawing.alt


def test_the_caption_says_what_the_residual_is(results: Results, levels: Results) -> None:
    of_event, of_levels = (of_figure(each, "d", "histogram")[-1].caption for each in (results, levels))
    assert of_event == (
        "Share of rows by residual: 1 − p of an event, −p of the others, in bins of equal width. Line: no error; right "
        "of it predictions are too low.")
    assert of_levels == (
        "Share of rows by residual: 1 − probability of the true level, in bins of equal width. Line: no error.")


def test_the_sizes_are_in_a_table(results: Results) -> None:
    sizes = table(list(residual_blocks(results, "d")), "Size of the residuals on d")
    boxes = [curve for curve in results.curves if isinstance(curve, ResidualBox)]
    assert column(sizes, "Model") == ["p", "q"]
    assert [cell.exact for cell in column(sizes, "RMSE")] == [numbers.exact(box.notes.rmse or 0) for box in boxes]
    assert [cell.exact for cell in column(sizes, "MAE")] == [numbers.exact(box.notes.mean or 0) for box in boxes]
    assert [cell.exact for cell in column(sizes, "MAD (median)")] == [
        numbers.exact(box.points.median[0] or 0) for box in boxes]


def test_they_stand_on_the_card_with_the_ranking(results: Results) -> None:
    anchors = [section.anchor for section in card_of(results).sections]
    assert {"dataset-1", "further-1"} <= set(anchors)
    of_event, = procedures(results)
    assert of_event.name == "Residuals of probabilities"
    assert "1 minus the probability of the event for an event" in of_event.text


def test_several_levels_say_what_their_residual_is(levels: Results) -> None:
    (procedure,) = procedures(levels)
    assert "1 minus the probability of the true level" in procedure.text
    assert "Brier" not in procedure.text
