"""The figure of the parts of the Brier score at each rounded probability."""

from __future__ import annotations

import re
from typing import Any

import pytest

from card.drawn import of_figure
from engine.runs import people, run

PARTS = ["brier_reliability", "brier_refinement", "brier_resolution"]


def test_both_parts_are_drawn_side_by_side_from_the_same_groups() -> None:
    results = run(people(300), metrics=["brier"], intervals={"replicates": 100}, calibration=None)
    (drawing,) = of_figure(results, "d", "refinement")
    assert drawing.title == "Reliability and refinement"
    reliability, refinement = (dict(points.columns) for points in drawing.points)
    assert [points.name for points in drawing.points] == ["p, reliability", "p, refinement"]
    assert reliability["Predicted probability"] == refinement["Predicted probability"]
    curve = next(c for c in results.curves if c.curve == "refinement")
    assert reliability["Share of events"] == curve.points.columns["event_rate"]
    # A product of two floats, against the engine's own.
    assert refinement["Rate × (1 − rate)"] == pytest.approx(
        [rate * (1 - rate) for rate in reliability["Share of events"]], rel=1e-12)
    assert re.fullmatch(r"Reliability and refinement on d\. p: mean refinement 0\.\d+\.", drawing.alt)
    assert "Line: spline." in drawing.caption
    assert "corrected" not in drawing.caption


def test_measured_parts_stand_in_the_words_with_what_their_intervals_are_corrected_for() -> None:
    results = run(people(300), metrics=PARTS, intervals={"replicates": 100})
    (drawing,) = of_figure(results, "d", "refinement")
    number = r"[\d.]+ \([\d.]+–[\d.]+\)"
    assert re.fullmatch(
        f"Reliability and refinement on d\\. p: reliability {number}, refinement {number}, resolution {number}\\.",
        drawing.alt)
    assert drawing.caption.endswith(
        " Chance moves the event rates: it makes reliability and resolution larger than they truly are and refinement "
        "smaller. The values are as computed; the intervals are corrected for this.")


@pytest.mark.parametrize(("settings", "words"), [
    ({"smoother": "logistic"}, "Line: logistic line."), ({"smoother": "isotonic"}, "Line: isotonic fit.")])
def test_the_line_is_the_smoother_that_the_spec_chooses(settings: Any, words: str) -> None:
    results = run(people(300), metrics=["brier"], intervals={"method": "none"}, calibration=settings)
    (drawing,) = of_figure(results, "d", "refinement")
    assert words in drawing.caption
