"""How marked thresholds, areas and guides stand on the curves and in the tables of a card."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from card.blocks import column, groups, paragraphs, table
from card.drawn import of_figure
from engine.runs import BOTH, intervals, people, run
from evalpipe.card.figures.axes import unit_axis, width
from evalpipe.card.figures.context import context_of
from evalpipe.card.figures.labels import operating_point_layer
from evalpipe.card.figures.panel import Panel
from evalpipe.card.figures.ranking import ON_ROC
from evalpipe.card.figures.svg import Sheet
from evalpipe.chapters.curves.card import procedures, sections
from evalpipe.chapters.thresholds.card import sweep_figures
from evalpipe.results.curves.events import Gain, Marks
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.results import Results

CUTS = ["0.1", "0.5", "0.9"]
METRICS = ["roc_auc", "gini", "average_precision", "sensitivity", "f1"]


@pytest.fixture(scope="module")
def results() -> Results:
    return run(people(400), models=BOTH, metrics=METRICS, curves={"marks": [0.1, 0.5, 0.9]}, intervals=intervals(100))


@pytest.fixture(scope="module")
def plain() -> Results:
    return run(people(400), models=BOTH, metrics=METRICS, intervals=intervals(100))


@pytest.fixture(scope="module")
def single() -> Results:
    return run(people(400), metrics=["roc_auc", "gini"], intervals=intervals(100))


@pytest.mark.parametrize("name", ["roc", "precision_recall", "gain", "lift"])
def test_each_model_has_a_panel_with_its_marks_labelled(results: Results, plain: Results, name: str) -> None:
    (drawing,), (together,) = (of_figure(each, "d", name) for each in (results, plain))
    assert (len(drawing.svgs), len(together.svgs)) == (2, 1)
    for svg, ink in zip(drawing.svgs, ("m0", "m1"), strict=True):
        written = re.findall(rf'class="text {ink}"[^>]*>([^<]+)<', svg)
        assert set(CUTS) <= set(written)
        assert 'class="thin pale"' in svg  # the other model
    assert "the thresholds that the spec marks" in drawing.caption
    assert "marks" not in together.caption
    table_of_marks = [points for points in drawing.points if points.name == "p, marked"]
    assert [points.columns["Threshold"] for points in table_of_marks] == [[0.1, 0.5, 0.9]]
    assert "at marked threshold 0.9 " in drawing.alt
    assert "at marked threshold" not in together.alt


@pytest.mark.parametrize("name", ["roc", "precision_recall", "gain"])
def test_no_number_of_a_mark_lies_on_the_curve(name: str) -> None:
    cuts = [0.01, 0.02, 0.04, 0.1, 0.5, 0.9, 0.99]
    results = run(people(400), metrics=["roc_auc"], curves={"marks": cuts}, intervals=intervals(100))
    (drawing,) = of_figure(results, "d", name)
    ((left, top, across, down, *ends, _),) = json.loads(unescape(re.findall(r'data-axes="([^"]+)"', drawing.svg)[0]))
    x, y = next(points.columns.values() for points in drawing.points if points.name == "p")
    parts = [((a - ends[0]) / (ends[1] - ends[0]), (b - ends[2]) / (ends[3] - ends[2]))
             for a, b in zip(x, y, strict=True)]
    curve = [(left + a * across, top + down - b * down) for a, b in parts]
    written = [(float(a), float(b), text) for a, b, text in re.findall(
        r'class="text m0" x="([\d.]+)" y="([\d.]+)">(0\.\d+)<', drawing.svg) if float(text) in cuts]
    assert 0 < len(written) < len(cuts)
    for a, foot, text in written:
        assert not [point for point in curve if a < point[0] < a + width(text) and foot - 9 < point[1] < foot]


def test_a_threshold_is_written_in_every_panel_wherever_in_memory_that_lies(results: Results) -> None:
    context = context_of(results, "d")
    draw, (series, _) = operating_point_layer(context, ON_ROC), context.curves(Marks)[0]
    for _ in range(20):  # a panel that is thrown away leaves its place in memory to the next
        panel = Panel(unit_axis("x"), unit_axis("y"), 0, 0, 400, 300, sheet=Sheet())
        for _ in range(2):
            draw(panel, series, ())
        assert [node.text for node in panel.sheet.nodes if node.text] == ["0.5"]


def test_the_area_to_the_diagonal_is_shaded_where_a_model_is_alone(
    results: Results, plain: Results, single: Results
) -> None:
    (of_many,), (of_marks,), (of_one,) = (of_figure(each, "d", "roc") for each in (plain, results, single))
    shaded = [len(re.findall(r'class="faint m\d"', drawing.svg)) for drawing in (of_many, of_marks, of_one)]
    assert shaded == [0, 2, 1]
    gini, area = (next(row.value for row in single.rows if row.metric == metric) for metric in ("gini", "roc_auc"))
    assert gini is not None
    assert area is not None
    assert re.findall(r'text-anchor="end">((?:AUC|Gini)[^<]*)<', of_one.svg) == [
        f"Gini {gini:.2f}", f"AUC {area:.2f}"]
    assert "Shaded between the curve and the diagonal: half the Gini coefficient." in of_one.caption
    assert "Shaded" not in of_many.caption
    assert of_one.finding.startswith(f"p AUC {area:.2f} (")
    assert f", Gini {gini:.2f} (" in of_one.finding


def test_the_gini_of_the_marks_is_said_where_no_measure_has_it() -> None:
    results = run(people(400), metrics=["roc_auc"], curves={"marks": [0.5]}, intervals=intervals(100))
    noted = next(curve for curve in results.curves if isinstance(curve, Marks)).notes.gini
    (drawing,) = of_figure(results, "d", "roc")
    assert noted is not None
    assert f"Gini {noted:.3f}" in drawing.finding


def test_the_guide_of_gain_says_which_rows_hold_half_of_the_events(single: Results, plain: Results) -> None:
    (drawing,), (both,) = (of_figure(each, "d", "gain") for each in (single, plain))
    share = next(curve for curve in single.curves if isinstance(curve, Gain)).notes.tested_for_half_of_events
    assert share is not None
    text = numbers.percent(share, 1)
    assert f"half of the events in the first {text} of the rows" in drawing.finding
    assert f"half of the events are in the first {text}" in drawing.alt
    assert f">{text}<" in drawing.svg
    assert 'class="faint pale"' in drawing.svg  # between random and perfect order
    assert len(re.findall(r'class="thin m\d"[^>]*dasharray="1 3"', both.svg)) == 2


def test_lift_has_the_threshold_in_use(plain: Results) -> None:
    (drawing,) = of_figure(plain, "d", "lift")
    assert len(re.findall(r'class="ring m\d"', drawing.svg)) == 2
    matrix = next(matrix for matrix in plain.confusion if matrix.model == "p")
    i = matrix.levels.index("1")
    (tp, fn), (fp, tn) = ((row[i], row[1 - i]) for row in (matrix.counts[i], matrix.counts[1 - i]))
    lift = (tp / (tp + fp)) / ((tp + fn) / (tp + fp + fn + tn))
    assert f"at threshold 0.5 lift {lift:.3f}" in drawing.alt


def test_true_and_false_positives_are_drawn_together(plain: Results) -> None:
    (drawing,) = of_figure(plain, "d", "true_and_false_positives")
    assert [points.name for points in drawing.points] == [
        f"{model}, {rate} positive rate" for model in ("p", "q") for rate in ("true", "false")]


def test_where_the_rates_are_furthest_apart_is_read_off_every_threshold() -> None:
    frame = people(3000, digits=6)
    (drawing,) = of_figure(run(frame, metrics=["brier"], intervals={"method": "none"}), "d", "true_and_false_positives")
    alarms, hits, cuts = roc_curve(frame["y"], frame["p"], drop_intermediate=False)
    best = int(np.argmax(hits - alarms))
    assert drawing.finding == (f"p: the rates are furthest apart at threshold {cuts[best]}, with {hits[best]:.3f} and "
                               f"{alarms[best]:.3f}.")


def test_where_sensitivity_and_specificity_are_closest_is_read_off_every_threshold() -> None:
    frame = people(3000, digits=6)
    (drawing,) = of_figure(run(frame, metrics=["brier"], intervals={"method": "none"}), "d", "rates")
    alarms, hits, cuts = roc_curve(frame["y"], frame["p"], drop_intermediate=False)
    best = int(np.argmin(np.abs(hits - (1 - alarms))))
    assert drawing.said == f"p: sensitivity and specificity closest at {cuts[best]:.3f}."
    assert drawing.alt.endswith(f"p: sensitivity and specificity are closest at threshold {cuts[best]}, with "
                                f"{hits[best]:.3f} and {1 - alarms[best]:.3f}.")


def test_marks_are_points_on_rates_and_on_every_measure(results: Results) -> None:
    (rates,) = of_figure(results, "d", "rates")
    assert "Dotted: the marked thresholds 0.1, 0.5 and 0.9." in rates.caption
    (of_p,) = (points for points in rates.points if points.name == "p, marked")
    assert list(of_p.columns) == ["Threshold", "Sensitivity", "Specificity", "Precision"]
    first = next(sweep_figures(results, "d"))
    assert "thresholds that the spec marks, 0.1, 0.5, 0.9." in first.caption
    assert [points.name for points in first.points] == ["Sensitivity", "Sensitivity, marked", "F1", "F1, marked"]


def test_the_tables_have_each_mark_of_each_model(results: Results, plain: Results) -> None:
    assert list(sections(plain)) == []
    (section,) = sections(results)
    assert (section.anchor, section.title, section.part) == ("marks-1", "Marked thresholds on d", "appendix")
    rates = table([section], "Rates at marked thresholds on d, with 95% intervals")
    assert groups(rates) == ["p", "q"]
    assert column(rates, "Threshold") == CUTS * 2
    curve = next(curve for curve in results.curves if isinstance(curve, Marks))
    assert column(rates, "Sensitivity")[0].exact == numbers.exact(curve.points.sensitivity[0] or 0)
    measures = table([section], "Measures of predicted levels at marked thresholds on d")
    assert column(measures, "Measure") == ["Sensitivity", "F1"] * 2
    assert paragraphs([section])[0].startswith("What each model would do at the thresholds that the spec marks.")


def test_the_method_says_how_limits_at_marks_are_made(results: Results, plain: Results) -> None:
    assert list(procedures(plain)) == []
    (procedure,) = procedures(results)
    assert "Their limits are of each rate alone: Clopper-Pearson." in procedure.text


def test_a_plan_lists_the_marks(tmp_path: Any) -> None:
    from evalpipe.cli.plan import plan_document
    from evalpipe.run import plan

    people(50).write_parquet(tmp_path / "d.parquet")
    (tmp_path / "x.yaml").write_text(
        "evalpipe: 1\nname: x\ntask: binary\noutcome: {column: y, event: 1}\n"
        "datasets: {d: {path: d.parquet}}\nmodels: {p: {probability: p}}\ncurves: {marks: [0.9, 0.1]}\n")
    assert plan_document(plan(tmp_path / "x.yaml"))["marks"] == [0.1, 0.9]
