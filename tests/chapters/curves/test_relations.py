"""Figures of measures against the prevalence and against each other."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from engine.runs import intervals, people, run
from evalpipe.chapters.curves.card import relations

if TYPE_CHECKING:
    from evalpipe.results import Results

MEASURES = ["accuracy", "balanced_accuracy", "f1", "mcc"]


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(300), metrics=["roc_auc"], intervals=intervals(100), curves={"relations": {"measures": MEASURES}})


def test_each_measure_is_drawn_against_the_prevalence_and_the_first(results: Results) -> None:
    drawings = list(relations(results, "d"))
    assert [drawing.title for drawing in drawings] == [
        "Measures by prevalence", "Balanced accuracy against Accuracy", "F1 against Accuracy", "MCC against Accuracy"]
    first, second = drawings[0], drawings[1]
    assert "p: over all prevalences Accuracy 0." in first.alt
    assert [points.name for points in second.points] == ["p, prevalence 0.05", "p, prevalence 0.4"]
    assert "p: at prevalence 0.05 the highest Accuracy 0.9" in second.alt
    assert second.caption == (
        "Both at every threshold, with the rows reweighted to a prevalence of 0.05 and 0.4. "
        "Grey line: both are the same.")


def test_a_single_prevalence_has_a_panel_as_wide_as_the_figure() -> None:
    asked = {"relations": {"measures": ["accuracy", "f1"], "prevalences": [0.9]}}
    _, drawing = relations(run(people(200), metrics=["roc_auc"], intervals=intervals(100), curves=asked), "d")
    (sheet,) = drawing.svgs
    (axes,) = json.loads(unescape(re.findall(r'data-axes="([^"]+)"', sheet)[0]))

    assert axes[2] > 290  # of 330 pixels
    assert [points.name for points in drawing.points] == ["p, prevalence 0.9"]
