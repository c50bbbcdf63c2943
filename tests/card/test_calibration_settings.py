"""The figures of calibration as the spec's settings make them: the rug, the chosen curves, and every variant."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from card.blocks import facts
from card.drawn import of_figure
from engine.runs import people, run
from evalpipe.card import method
from evalpipe.card.html import html_page
from evalpipe.chapters.recalibrate.card import curve_drawings, drawings

if TYPE_CHECKING:
    from evalpipe.results import Results

FAST: dict[str, Any] = {"metrics": ["brier"], "intervals": {"method": "exact", "bands": False}}
TWO = {"p": {"probability": "p", "label": "First"}, "q": {"probability": "q", "label": "Second"}}
VARIANTS = {"recalibrate": {"fit_on": {"folds": 5}, "methods": ["logistic", "isotonic"]}}


def ran(n: int = 200, **keys: Any) -> Results:
    return run(people(n), **{**FAST, "models": TWO, "calibration": None, **keys})


def test_a_rug_marks_events_above_and_others_below_in_one_path_each() -> None:
    (first, second) = of_figure(ran(calibration={}), "d", "reliability")
    assert (first.title, second.title) == ("Reliability, bins of equal width", "Reliability, bins of equal count")
    assert len(first.svgs) == 2, "a sheet for each model"
    assert first.caption.count("Marks at the upper edge: probabilities of rows that are 1; at the lower edge: 0.") == 1
    assert "rounded" not in first.caption
    (without, _) = of_figure(ran(), "d", "reliability")
    assert len(without.svgs) == 1
    assert "Marks" not in without.caption
    plain = of_figure(ran(calibration={"rug": False}), "d", "reliability")[0]
    assert plain == without
    for svg in first.svgs:
        paths = re.findall(r'd="(M[^"]*v-?6)"', svg)
        assert [set(re.findall(r"v-?6", path)) for path in paths] == [{"v6"}, {"v-6"}]


def test_the_data_of_a_rug_stand_in_the_table_of_the_figure() -> None:
    frame = people(200)
    results = run(frame, **FAST, calibration={})
    table = {points.name: points.columns for points in of_figure(results, "d", "reliability")[0].points}["p, rug"]
    assert sum(table["Events"]) == frame["y"].sum()
    assert sum(table["Non-events"]) == 200 - frame["y"].sum()
    assert table["Predicted probability"] == sorted(frame["p"].unique())


def test_many_probabilities_are_marked_at_hundredths_and_the_figure_stays_small() -> None:
    results = run(people(5000, digits=9), **FAST, calibration={"bins": 20})
    drawing = of_figure(results, "d", "reliability")[0]
    assert "They are rounded to hundredths: the longer, the more rows." in drawing.caption
    assert len(drawing.svg) < 12_000


@pytest.mark.parametrize(("strategy", "words"), [
    ("equal_width", "bins of equal width"), ("equal_count", "bins of equal count"), (None, None)])
def test_the_chosen_bins_are_the_only_ones_and_stand_with_calibration(strategy: str | None, words: str | None) -> None:
    results = ran(calibration={"bins": 20, "strategy": strategy}, **VARIANTS)
    titles = [d.title for d in of_figure(results, "d", "reliability")]
    assert titles == ([f"Reliability, {words}"] if words else
                      ["Reliability, bins of equal width", "Reliability, bins of equal count"])
    said = facts(method.sections(results))["Reliability"]
    kinds = words.removeprefix("bins ") if words else "of equal width and of equal count"
    assert said.startswith(f"20 bins are requested, {kinds}; empty bins are not drawn.")
    (before_after, _) = drawings(results, "d")
    assert (words or "bins of equal count") in before_after.alt


def test_windows_and_smooth_curves_are_drawn_of_every_variant() -> None:
    results = ran(calibration={"window": {"width": 0.2, "step": 0.02}, "smoother": "spline"}, **VARIANTS)
    windows, smooth, *_ = list(curve_drawings(results, "d"))
    assert windows.title == "First before and after recalibration, moving windows"
    assert windows.alt.startswith(
        "Reliability of First in moving windows on d before and after recalibration. original: in ")
    assert "in windows of width 0.2 that move by 0.02." in windows.caption
    assert [points.name for points in windows.points] == ["original", "logistic", "isotonic"]
    assert smooth.title == "First before and after recalibration, smooth curves"
    assert smooth.alt.startswith("Smooth calibration curves of First on d before and after recalibration. original: ")
    for variant in ("original", "logistic", "isotonic"):
        assert f"{variant}: in " in windows.alt
        assert f"{variant}: the spline's band " in smooth.alt
    assert [points.name for points in smooth.points] == [
        "original, spline", "logistic, spline", "isotonic, spline"]
    assert "The spline is fitted on the log odds. Band: interval of the spline at each point." in smooth.caption


def test_without_the_key_variants_have_bins_alone() -> None:
    with_key, without = (
        html_page(ran(**keys, **VARIANTS)).decode() for keys in ({"calibration": {}}, {}))
    assert "First before and after recalibration, moving windows" in with_key
    assert "before and after recalibration, moving windows" not in without
    assert "First before and after recalibration" in without
