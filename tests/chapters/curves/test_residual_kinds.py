"""Figures, tables and words of deviance and Pearson residuals and of what residuals are held to."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from card.blocks import column, paragraphs, table
from card.drawn import of_figure
from engine.runs import BOTH, people, run
from evalpipe.card.appendix import residual_blocks
from evalpipe.chapters.curves.card import procedures
from evalpipe.results import Results

ALL: dict[str, Any] = {"kinds": ["deviance", "pearson"], "figures": ["scale_location", "half_normal"]}
NUMBER: dict[str, Any] = {
    "task": "regression", "outcome": {"column": "y", "unit": "kg"}, "models": {"m": {"prediction": "p"}},
    "metrics": ["rmse"], "curves": {"residuals": {"figures": ["scale_location", "half_normal", "predicted_observed"]}}}


@pytest.fixture(scope="module")
def events() -> Results:
    frame = people(500).with_columns(p=pl.when(pl.int_range(pl.len()) == 7).then(1 - pl.col("y")).otherwise("p"))
    return run(frame, models=BOTH, metrics=["brier"], curves={"residuals": ALL}, intervals={"method": "none"})


@pytest.fixture(scope="module")
def numbers() -> Results:
    rng = np.random.default_rng(3)
    p = rng.uniform(10, 20, 300)
    return run(pl.DataFrame({"y": p + rng.normal(0, 1, 300), "p": p}), intervals={"method": "none"}, **NUMBER)


def test_every_model_is_in_each_figure(events: Results) -> None:
    for name in ("deviance_residuals", "pearson_residuals", "scale_location", "half_normal"):
        (drawing,) = of_figure(events, "d", name)
        assert {points.name.split(",")[0] for points in drawing.points} == {"p", "q"}
        assert "p: " in drawing.alt
        assert "q: " in drawing.alt


def test_a_caption_says_what_rows_are_held_to(events: Results, numbers: Results) -> None:
    captions = [of_figure(results, "d", name)[0].caption for results, name in (
        (events, "deviance_residuals"), (events, "pearson_residuals"), (events, "half_normal"),
        (numbers, "half_normal"))]
    assert "Dotted: its mean if outcomes were drawn as predicted, which need not be zero." in captions[0]
    assert "Dotted: its mean if outcomes were drawn as predicted. " in captions[1]
    assert "what is expected if outcomes were drawn as predicted. Band: where each would lie in 95%" in captions[2]
    assert "Dotted: what is expected if residuals were normal." in captions[3]
    assert "Its slope is below 1 for a calibrated model too" in of_figure(numbers, "d", "predicted_observed")[0].caption


def test_the_finding_counts_points_beyond_the_limits(numbers: Results) -> None:
    (half,) = [c for c in numbers.curves if c.curve == "half_normal"]
    points = half.points.columns
    above = sum(y > high for y, high in zip(points["absolute_residual"], points["upper"], strict=True))
    (drawing,) = of_figure(numbers, "d", "half_normal")
    assert f"of {len(points['upper'])} points {above} lie above the limits" in drawing.finding


def test_quantiles_of_each_kind_stand_in_a_table_with_what_was_clipped(events: Results) -> None:
    blocks = list(residual_blocks(events, "d"))
    for kind in ("Deviance", "Pearson"):
        quantiles = table(blocks, f"{kind} residual quantiles on d")
        assert len(column(quantiles, "Share of rows")) == 11
    assert "1 probability of the true level is below 1e-15 and counts as that." in paragraphs(blocks)


def test_the_methods_say_what_the_residuals_are(events: Results, numbers: Results) -> None:
    said = {procedure.name: procedure.text for procedure in procedures(events)}
    assert "the signed root of −2 log p" in said["Deviance and Pearson residuals"]
    assert "(y − p) / √(p (1 − p))" in said["Deviance and Pearson residuals"]
    assert "drawn from the predicted probabilities" in said["What residuals are held to"]
    of_numbers = {procedure.name: procedure.text for procedure in procedures(numbers)}
    assert list(of_numbers) == ["What residuals are held to"]
    assert "normal with one spread" in of_numbers["What residuals are held to"]


@pytest.fixture(scope="module")
def columns() -> Results:
    frame = people(600).with_columns(age=pl.when(pl.int_range(pl.len()) < 3).then(None).otherwise("age"))
    return run(frame, models=BOTH, metrics=["brier"], intervals={"method": "none"},
               curves={"residuals": {"against": ["age", "s"], "order": "who"}})


def test_residuals_by_columns_are_bands_of_numbers_and_boxes_of_levels(columns: Results) -> None:
    (drawing,) = of_figure(columns, "d", "residual_against")
    assert len(drawing.svgs) == 4  # two models, a column of numbers and one of levels
    assert [points.name for points in drawing.points] == ["p", "q", *(f"{m}, {level}" for m in "pq" for level in "abc")]
    assert "by age the mean is furthest from zero at age " in drawing.finding
    assert "groups of at least 30" in drawing.caption
    assert "Left out: rows 3 without age." in drawing.caption
    (ordered,) = of_figure(columns, "d", "residual_order")
    assert "Durbin-Watson statistic" in ordered.finding
    assert "over 100 places" in ordered.finding


def test_the_methods_say_how_rows_are_taken_together(columns: Results) -> None:
    said = {procedure.name: procedure.text for procedure in procedures(columns)}
    assert "groups of at least 30" in said["Residuals by columns of the data"]
    assert "are one place, with their mean" in said["Residuals in order"]
