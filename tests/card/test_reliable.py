"""The figures of calibration without bins: moving windows and smooth curves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from card.drawn import of_figure
from evalpipe.card.figures.svg import data_tables
from evalpipe.results import Curve, Results
from evalpipe.results.curves import CURVES

if TYPE_CHECKING:
    from evalpipe.card.figures import Drawing

WINDOWS, SMOOTH = "Reliability, moving windows", "Reliability, smooth curves"


def drawn(results: Results, title: str, models: str = "") -> Drawing | None:
    name = {WINDOWS: "windows", SMOOTH: "smooth"}[title]
    return next((d for d in of_figure(results, "validation", name) if d.title == title + models), None)


def holding(results: Results, *curves: Curve) -> Results:
    return results.model_copy(update={"curves": list(curves)})


def of(name: str, points: dict[str, Any], **notes: Any) -> Curve:
    curve = f"calibration_{name}"
    return CURVES[curve](curve=curve, dataset="validation", model="model_0", points=points, notes=notes)


WINDOW = {
    "centre": [0.2, 0.25, 0.8], "mean_probability": [0.2, 0.25, 0.8], "event_rate": [0.2, 0.3, 0.6],
    "lower": [0.1, 0.2, 0.5], "upper": [0.3, 0.4, 0.7], "weight": [9.0, 8.0, 9.0], "rows": [9.0, 8.0, 9.0],
}
LINE = {
    "probability": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "event_rate": [0.2, 0.3, 0.3, 0.2, 0.5, 0.9],
    "lower": [0.15, 0.25, 0.2, 0.1, 0.4, 0.8], "upper": [0.25, 0.35, 0.4, 0.3, 0.6, 1.0],
}


def test_windows_say_how_many_intervals_miss_the_diagonal(results: Results) -> None:
    drawing = drawn(holding(results, of("window", WINDOW, width=0.1, step=0.05, method="wilson")), WINDOWS)
    assert drawing is not None
    assert drawing.alt == (
        "Reliability in moving windows on validation. Naive Bayes: in 1 of 3 windows the interval excludes the "
        "diagonal; widest gap at mean probability 0.800, where the share of events is 0.600."
    )
    assert "in windows of width 0.1 that move by 0.05." in drawing.caption
    assert drawing.caption.endswith("Shaded: 95% interval of each window (Wilson score).")


def test_windows_without_limits_have_no_shade(results: Results) -> None:
    bare = WINDOW | {"lower": [None] * 3, "upper": [None] * 3}
    drawing = drawn(holding(results, of("window", bare, width=0.1, step=0.05, method="none")), WINDOWS)
    assert drawing is not None
    assert "Shaded" not in drawing.caption
    assert drawing.alt.endswith(
        "Naive Bayes: widest gap at mean probability 0.800, where the share of events is 0.600.")


def test_the_text_says_where_the_band_leaves_the_diagonal(results: Results) -> None:
    line = of("logistic", LINE, intercept=-0.25, slope=0.75)
    drawing = drawn(holding(results, line, of("spline", LINE, edf=3.2)), SMOOTH)
    assert drawing is not None
    assert drawing.alt == (
        "Smooth calibration curves on validation. Naive Bayes: the spline's band is above the diagonal from 0.100 to "
        "0.200, below the diagonal at 0.400, above the diagonal at 0.600; the logistic line has intercept −0.250 and "
        "slope 0.750."
    )
    assert "Spline with 95% band" in drawing.svg
    assert "Isotonic" not in drawing.svg
    assert "miscalibration" not in drawing.caption


def test_a_band_that_holds_the_diagonal_says_so(results: Results) -> None:
    wide = LINE | {"lower": [0.0] * 6, "upper": [1.0] * 6}
    drawing = drawn(holding(results, of("spline", wide, edf=3.2)), SMOOTH)
    assert drawing is not None
    assert "Naive Bayes: the spline's band includes the diagonal everywhere." in drawing.alt


def test_curves_without_limits_are_drawn_without_a_band(results: Results) -> None:
    bare = LINE | {"lower": [None] * 6, "upper": [None] * 6}
    drawing = drawn(holding(results, of("spline", bare, edf=3.25)), SMOOTH)
    assert drawing is not None
    assert "band" not in drawing.caption + drawing.alt
    assert "Spline" in drawing.svg


@pytest.mark.parametrize("moved", [0.0, 30.0])
def test_rows_that_were_moved_off_the_ends_are_told(results: Results, moved: float) -> None:
    line = of("logistic", LINE, intercept=0.0, slope=1.0, clipped=moved)
    drawing = drawn(holding(results, line), SMOOTH)
    assert drawing is not None
    assert ("which pull the line on the log odds: Naive Bayes 30." in drawing.caption) == (moved > 0)


def test_the_parts_of_the_brier_score_stand_in_a_table_and_not_in_the_plot(results: Results) -> None:
    parts = {"miscalibration": 0.0123, "discrimination": 0.0456, "uncertainty": 0.2468}
    drawing = drawn(holding(results, of("isotonic", LINE, **parts)), SMOOTH)
    assert drawing is not None
    assert not re.search("MCB|DSC|UNC|0.0123", drawing.svg)
    table = next(table for table in data_tables(drawing) if "Miscalibration" in table.heads)
    assert table.heads == ("Series", "Miscalibration", "Discrimination", "Uncertainty")
    assert table.rows == (("Naive Bayes", "0.0123", "0.0456", "0.2468"),)
    assert drawing.alt == (
        "Smooth calibration curves on validation. Naive Bayes: the isotonic fit's band is above the diagonal from "
        "0.100 to 0.200, below the diagonal at 0.400, above the diagonal at 0.600; miscalibration 0.0123, "
        "discrimination 0.0456, uncertainty 0.2468."
    )
    assert "The isotonic fit is the best non-decreasing curve. Band: interval of the isotonic fit at each point. " in (
        drawing.caption)
    assert "Isotonic fit with 95% band" in drawing.svg


@pytest.mark.parametrize("title", [WINDOWS, SMOOTH])
def test_of_many_models_the_first_four_are_drawn(build: Any, title: str) -> None:
    many = drawn(build(datasets=1, models=6), title, ", 4 of 6 models")
    four = drawn(build(datasets=1, models=4), title)
    assert many is not None
    assert four is not None
    assert "model_3" in many.svg
    assert "model_4" not in many.svg + many.alt


@pytest.mark.parametrize("models", [1, 2, 3, 4])
def test_every_model_has_a_panel_with_its_name(build: Any, models: int) -> None:
    drawing = drawn(build(datasets=1, models=models), SMOOTH)
    assert drawing is not None
    assert sum("Miscalibration" in points.columns for points in drawing.points) == models
    assert drawing.svg.count("Predicted probability</text>") == models == len(drawing.svgs)


def test_without_the_curves_nothing_is_drawn(results: Results) -> None:
    assert drawn(holding(results), WINDOWS) is None
    assert drawn(holding(results), SMOOTH) is None
