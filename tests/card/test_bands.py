"""Of bands that lie over each other in one panel only the first is drawn, and the caption says so."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import polars as pl
import pytest

from card.drawn import of_figure
from engine.runs import intervals, people, run
from evalpipe.card.figures.curves import HEAVY, Band, left_out_sentence, readable
from evalpipe.card.figures.svg import series_of

ACROSS = [k / 10 for k in range(11)]


def flat(low: float, high: float, x: list[float] | None = None) -> Band:
    x = ACROSS if x is None else x
    return Band(x, [low] * len(x), [high] * len(x))


@pytest.mark.parametrize(("bands", "drawn"), [
    ([(0.0, 1.0), (0.6, 1.6)], [0, 1]), ([(0.0, 1.0), (0.4, 1.4)], [0]), ([(0.0, 1.0), (2.0, 3.0)], [0, 1]),
    ([(0.0, 1.0), (0.2, 0.4), (2.0, 3.0)], [0, 2]), ([(0.0, 1.0), (2.0, 3.0), (2.2, 3.2)], [0, 1]), ([(0.0, 1.0)], [0]),
])
def test_a_band_is_left_out_where_most_of_it_lies_over_one_before(
    bands: list[tuple[float, float]], drawn: list[int]
) -> None:
    assert HEAVY == 0.5
    assert readable({f"m{k}": flat(*ends) for k, ends in enumerate(bands)}) == [f"m{k}" for k in drawn]


def test_bands_are_compared_along_both_curves_whatever_their_points() -> None:
    wedge = Band([0.0, 1.0], [0.0, 0.0], [0.0, 2.0])
    backwards = Band([1.0, 0.0], [0.0, 0.0], [2.0, 0.0])
    # The part of the wedge above 1, a quarter of its area, is free.
    assert readable({"a": flat(0.0, 1.0), "b": wedge}) == readable({"a": flat(0.0, 1.0), "b": backwards}) == ["a"]
    assert readable({"a": flat(1.0, 2.0), "b": wedge}) == ["a", "b"]
    apart = flat(0.0, 1.0, [2.0, 3.0])
    assert readable({"a": flat(0.0, 1.0), "b": apart, "c": Band([], [], [])}) == ["a", "b", "c"]
    gaps = Band(ACROSS, [float("nan")] * 11, [float("nan")] * 11)
    assert readable({"a": gaps, "b": flat(0.0, 1.0)}) == ["a", "b"]


def test_the_caption_names_the_bands_that_are_left_out() -> None:
    models = series_of([("a", "Ridge"), ("b", "Lasso"), ("c", "Forest")])
    bands = {"a": flat(0, 1), "b": flat(0, 1), "c": flat(2, 3)}
    assert left_out_sentence(models, bands) == (
        " The band is that of Ridge and Forest; that of Lasso would lie over it.")
    assert left_out_sentence(models, {"a": flat(0, 1), "c": flat(2, 3)}) == ""


@pytest.mark.parametrize(("name", "kinds"), [
    ("roc", ["faint", "band"]), ("precision_recall", ["faint", "band"]), ("net_benefit", ["band"])])
def test_two_like_models_in_one_panel_have_one_band(name: str, kinds: list[str]) -> None:
    near = np.clip(people(400)["p"].to_numpy() + np.random.default_rng(1).normal(0, 0.01, 400), 0, 1)
    frame = people(400).with_columns(near=pl.Series(near))
    models: Any = {"p": {"probability": "p"}, "near": {"probability": "near"}}
    results = run(frame, models=models, metrics=["roc_auc"], intervals=intervals(100, bands=True))
    (drawing,) = of_figure(results, "d", name)
    assert re.findall(r'class="(band|faint) m0"', drawing.svg) == kinds
    assert 'class="band m1"' not in drawing.svg
    assert drawing.caption.endswith(" The band is that of p; that of near would lie over it.")
    # Each model alone has its band.
    only = run(frame, models={"near": models["near"]}, metrics=["roc_auc"], intervals=intervals(100, bands=True))
    (alone,) = of_figure(only, "d", name)
    assert 'class="band m0"' in alone.svg
    assert "would lie over" not in alone.caption
