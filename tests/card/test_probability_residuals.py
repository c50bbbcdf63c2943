"""Residuals of probabilities on the card: figures of all models, sizes and quantiles in tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from card.blocks import column, table
from card.drawn import of_figure
from engine.runs import BOTH, intervals, people, run
from evalpipe.card.appendix import residual_blocks
from evalpipe.card.contents import card_of
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
    sizes = table(list(residual_blocks(results, "d")), "Size of the residuals on d, with 95% intervals")
    boxes = [curve for curve in results.curves if isinstance(curve, ResidualBox)]
    assert column(sizes, "Model") == ["p", "q"]
    # The dot of the box plot is the same number, summed in another order.
    for head, values in (("RMSE", [box.notes.rmse for box in boxes]), ("MAE", [box.notes.mean for box in boxes]),
                         ("MAD (median)", [box.points.median[0] for box in boxes])):
        assert [float(cell.exact or 0) for cell in column(sizes, head)] == pytest.approx(values, rel=1e-12)
        assert all(cell.interval for cell in column(sizes, head))


def test_the_limits_of_the_sizes_are_those_of_a_bootstrap_of_the_rows() -> None:
    frame = people(400, 7)
    results = run(frame, metrics=["brier"], curves={"residuals": True}, intervals=intervals(2000))
    sizes = np.abs(frame["y"].to_numpy() - frame["p"].to_numpy())
    drawn = sizes[np.random.default_rng(1).integers(0, 400, (4000, 400))]
    oracle = {"probability_rmse": np.sqrt((drawn**2).mean(axis=1)), "probability_mae": drawn.mean(axis=1),
              "probability_mad": np.median(drawn, axis=1)}
    for name, replicates in oracle.items():
        row = next(row for row in results.diagnostics if row.metric == name)
        # Quantiles of 2,000 and of 4,000 draws differ by chance, here by less than a sixth of the interval's width.
        limits = np.quantile(replicates, [0.025, 0.975])
        assert [row.lower, row.upper] == pytest.approx(limits, abs=(limits[1] - limits[0]) / 6)
    brier = next(row for row in results.rows if row.metric == "brier")
    rmse = next(row for row in results.diagnostics if row.metric == "probability_rmse")
    # One draw serves both: the root rises, so its percentile limits are the roots, up to interpolated quantiles.
    assert [(rmse.lower or 0) ** 2, (rmse.upper or 0) ** 2] == pytest.approx([brier.lower, brier.upper], rel=1e-3)
    # Where the spec lists a measure, its own estimate is shown, and none is computed twice.
    asked = run(frame, metrics=["probability_mae"], curves={"residuals": True}, intervals=intervals(100))
    assert [row.metric for row in asked.diagnostics if row.metric.startswith("probability_")] == [
        "probability_rmse", "probability_mad"]
    assert len(column(table(list(residual_blocks(asked, "d")), "Size of the residuals on d, with 95% intervals"),
                      "MAE")) == 1


def test_without_intervals_the_sizes_have_no_limits() -> None:
    results = run(people(80), metrics=["brier"], curves={"residuals": True}, intervals={"method": "none"})
    sizes = table(list(residual_blocks(results, "d")), "Size of the residuals on d")
    assert [cell.interval for head in ("RMSE", "MAE", "MAD (median)") for cell in column(sizes, head)] == [None] * 3


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
