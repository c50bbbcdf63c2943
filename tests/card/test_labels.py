"""Where names and numbers stand in figures, so that none is taken for a point and none lies on a line."""

from __future__ import annotations

import math
import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

from card.drawn import of_figure
from engine.runs import BOTH, intervals, people, run
from evalpipe.card.figures import drawings
from evalpipe.card.figures.axes import unit_axis, width
from evalpipe.card.figures.labels import (
    LineLabel,
    label_lines,
    label_on_lines,
    label_rules,
    name_marks,
    name_rows,
)
from evalpipe.card.figures.panel import RowLabel, panel, rows
from evalpipe.card.figures.svg import SWATCH, Sheet, series_of
from evalpipe.card.html import html_page
from evalpipe.card.palette import STROKES
from evalpipe.results import Results
from few_by_day import few_by_day

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.card.figures.panel import Panel

CONFIGS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))
FIGURES = ("roc", "precision_recall", "gain", "lift", "windows", "reliability", "net_benefit")


@pytest.fixture(scope="module")
def alone() -> Results:
    model = {"p": {"probability": "p", "label": "Alone"}}
    return run(people(400), models=model, metrics=["roc_auc"], curves={"marks": [0.5]}, intervals=intervals(100),
               calibration=None)


@pytest.fixture(scope="module")
def both() -> Results:
    return run(people(400), models=BOTH, metrics=["roc_auc"], intervals=intervals(100), calibration=None)


@pytest.mark.parametrize("name", FIGURES)
def test_a_model_alone_is_named_by_the_title_of_its_panel(alone: Results, both: Results, name: str) -> None:
    of_one, of_two = (of_figure(results, "d", name) for results in (alone, both))
    for drawing in of_one:
        assert re.findall(r'class="([^"]+)"[^>]*>Alone<', drawing.svg) == ["bold ink"]
        assert "Other models" not in drawing.svg
    assert len(of_one) == len(of_two) > 0
    assert not any(re.findall(r'class="bold ink"[^>]*>[pq]<', drawing.svg) for drawing in of_two)


SHARED = ("roc", "precision_recall", "gain", "lift", "windows", "net_benefit")


@pytest.mark.parametrize("name", SHARED)
def test_models_in_one_panel_have_strokes_of_their_own_and_a_name_at_their_line(both: Results, name: str) -> None:
    (drawing,) = of_figure(both, "d", name)
    lines = {ink: set(re.findall(rf'class="line {ink}" d="[^"]+"(?: stroke-dasharray="([^"]+)")?/>', drawing.svg))
             for ink in ("m0", "m1")}
    assert lines == {"m0": {STROKES[0]}, "m1": {STROKES[1]}}
    for ink, label in (("m0", "p"), ("m1", "q")):
        assert len(re.findall(rf'class="text {ink}"[^>]*>{label}<', drawing.svg)) == 1
    # A marker beside a name would look like an operating point.
    assert 'class="mark' not in drawing.svg


def test_names_of_bins_have_no_marker_which_would_look_like_another_bin(both: Results) -> None:
    drawn = of_figure(both, "d", "reliability")
    assert drawn
    for drawing, (ink, label) in product(drawn, (("m0", "p"), ("m1", "q"))):
        assert len(re.findall(rf'class="text {ink}"[^>]*>{label}<', drawing.svg)) == 1
        # All bins are one path; the other marker says whose scores the strip beneath has.
        assert len(re.findall(rf'class="mark {ink}"', drawing.svg)) == 2


def test_no_figure_of_two_models_has_a_key() -> None:
    results = run(people(400), models=BOTH, metrics=["roc_auc", "accuracy", "brier"], intervals=intervals(100))
    drawn = drawings(results, "d")
    assert len(drawn) > 12
    # A key has samples, each as wide as the others.
    assert [drawing.title for drawing in drawn if f"h{SWATCH}" in drawing.svg] == []


@pytest.mark.parametrize("name", few_by_day(CONFIGS, ("audit", "digits", "titanic")))
def test_no_figure_of_an_example_has_a_key_but_rows_without_room_for_names(
    name: str, example: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys: list[list[str]] = []
    monkeypatch.setattr(Sheet, "key", lambda _, entries: keys.append([entry.text for entry in entries]))
    results = Results.read(example(name) / "results.json")
    html_page(results)
    assert name == "candidates" or keys
    models = [model.label for model in results.models]
    assert [texts for texts in keys if texts and texts != models] == []


def test_names_of_lines_that_run_together_have_a_thin_line_to_theirs() -> None:
    sheet = Sheet()
    drawn = panel(sheet, unit_axis("x"), unit_axis("y"), 250)
    across = [k / 50 for k in range(51)]
    lines = [LineLabel(text, ink, across, [0.5 + 0.012 * sign * math.sin(9 * x) for x in across])
             for text, ink, sign in (("first", "m0", 1), ("second", "m1", -1))]
    before = len(sheet.nodes)
    beside = drawn.left, drawn.down(0.72), drawn.left + 400, drawn.down(0.28)
    assert label_lines(drawn, lines, occupied=[beside]) == []
    written = {node.text: node for node in sheet.nodes[before:] if node.text}
    leaders = [re.findall(r"([\d.]+),([\d.]+)", node.attributes) for node in sheet.nodes[before:] if node.tag == "path"]
    assert list(written) == ["first", "second"]
    assert len(leaders) == 2
    for line, (_, (x, y)) in zip(lines, leaders, strict=True):
        at = (float(x) - drawn.left) / drawn.width * 1.03 - 0.015
        heights = {other.text: abs(drawn.down(other.y[round(50 * at)]) - float(y)) for other in lines}
        assert min(heights, key=lambda text: heights[text]) == line.text


def test_a_line_to_compare_with_that_finds_no_room_is_left_to_the_caption_and_the_others_have_their_names() -> None:
    drawn = panel(Sheet(), unit_axis("x"), unit_axis("y"), 250)
    others = [LineLabel(text, "muted", [0.0, 1.0], [y, y]) for text, y in (("a" * 60, 0.2), ("Chance", 0.6))]
    assert label_lines(drawn, [], others) == []
    assert "Chance" in [node.text for node in drawn.sheet.nodes]
    assert [entry.text for entry in label_lines(drawn, others[:1])] == ["a" * 60]


def test_a_line_that_others_surround_has_a_leader_with_a_dot_at_its_end() -> None:
    drawn = panel(Sheet(), unit_axis("x"), unit_axis("y"), 250)
    lines = [LineLabel(f"line {k}", f"m{k}", [0.0, 1.0], [y, y]) for k, y in enumerate((0.86, 0.9, 0.94))]
    beside = drawn.left, drawn.top, drawn.left + 400, drawn.down(0.5)
    assert label_lines(drawn, lines, occupied=[beside]) == []
    dots = [node for node in drawn.sheet.nodes if node.kind == "mark"]
    assert {node.ink for node in dots} >= {"m1", "m2"}
    for node in dots:
        x, y = re.findall(r"M([\d.]+) ([\d.]+)", node.attributes)[0]
        line = lines[int(node.ink[1])]
        assert abs(drawn.down(line.y[0]) - float(y)) < 1
        assert drawn.left < float(x) < drawn.left + drawn.width


def test_each_mark_is_named_once_in_the_panel_where_its_name_is_nearest() -> None:
    sheet = Sheet()
    crowded, free = (panel(sheet, unit_axis("x"), unit_axis("y"), 90) for _ in range(2))
    apart = [LineLabel(text, ink, [0.4], [y]) for text, ink, y in (("high", "m0", 0.8), ("low", "m1", 0.1))]
    together = [LineLabel(label.text, label.ink, [0.4], [0.5]) for label in apart]
    before = len(sheet.nodes)
    assert name_marks([crowded, free], [together, apart], [[], []]) == []
    written = {node.text: re.findall(r'y="([\d.]+)"', node.attributes)[0] for node in sheet.nodes[before:] if node.text}
    assert sorted(written) == ["high", "low"]
    assert all(free.top < float(y) <= free.base for y in written.values())


def test_models_whose_names_fit_beside_no_value_of_a_row_have_a_key_with_their_markers() -> None:
    models = series_of([("a", "Multinomial logistic regression"), ("b", "Random forest")])
    values = [[(0.97, 0.95, 0.99), (0.96, 0.5, 0.99)], *[[(0.9, 0.45, 1.0), (0.92, 0.4, 1.0)]] * 3]
    sheet = Sheet()
    plot = rows(sheet, [RowLabel(f"A measure with a long name, {k}") for k in range(4)], unit_axis("Value"), 2,
                named=True)
    plot.estimates(models, values)
    before = len(sheet.nodes)
    key = name_rows(plot, models, values)
    assert [(entry.text, entry.marker) for entry in key] == [(model.label, model.marker) for model in models]
    assert name_rows(plot, models[:1], [row[:1] for row in values]) == []
    assert len(sheet.nodes) == before


def test_a_mark_whose_name_has_no_room_is_returned() -> None:
    drawn = panel(Sheet(), unit_axis("x"), unit_axis("y"), 90)
    assert name_marks([drawn], [[LineLabel("b" * 90, "m0", [0.5], [0.5])]], [[]]) == ["b" * 90]


@pytest.mark.parametrize(("name", "above"), [
    ("roc", False), ("gain", False), ("precision_recall", True), ("lift", True)])
def test_the_threshold_in_use_is_written_off_the_curve(alone: Results, name: str, above: bool) -> None:
    (drawing,) = of_figure(alone, "d", name)
    (written,) = re.findall(r'y="([\d.]+)"[^>]*>0\.5<', drawing.svg.split('class="ring', 1)[1])[:1]
    (ring,) = re.findall(r'class="ring m0"[^>]*(?:cy|y)="([\d.]+)"', drawing.svg) or re.findall(
        r'class="ring m0"[^>]*d="M[\d.]+[ ,]([\d.]+)', drawing.svg)
    assert (float(written) < float(ring)) == above


@pytest.mark.parametrize("name", ["roc", "precision_recall", "gain", "lift"])
def test_the_same_threshold_is_written_once_where_models_operate_near_each_other(name: str) -> None:
    frame = people(400).with_columns(near=pl.col("p") ** 1.1)
    models = {"p": {"probability": "p"}, "near": {"probability": "near"}}
    (drawing,) = of_figure(run(frame, models=models, metrics=["roc_auc"], intervals=intervals(100)), "d", name)
    assert len(re.findall(r'class="ring m\d"', drawing.svg)) == 2
    assert len(re.findall(r'class="text m\d"[^>]*>0\.5<', drawing.svg)) == 1


def test_numbers_of_rules_stand_above_the_panel_and_meet_neither_the_name_of_the_axis_nor_each_other() -> None:
    drawn = panel(Sheet(), unit_axis("Threshold"), unit_axis("Rate"), 150)
    before = len(drawn.sheet.nodes)
    label_rules(drawn, [0.01, 0.2, 0.22, 0.5])
    written = {node.text: re.findall(r'"(-?[\d.]+)"', node.attributes) for node in drawn.sheet.nodes[before:]}
    assert list(written) == ["0.2", "0.5"]
    for text, (x, y) in written.items():
        assert float(x) == pytest.approx(drawn.across(float(text)), abs=0.05)
        assert drawn.top - 8 < float(y) < drawn.top


def fan(*ends: tuple[float, float]) -> list[LineLabel]:
    return [LineLabel(f"{k}", "muted", [0.0, 1.0], list(heights)) for k, heights in enumerate(ends)]


def middles(drawn: Panel, before: int) -> dict[str, tuple[float, float]]:
    """Return the middle of each text that was written after so many elements, in pixels."""
    places = {node.text: [float(end) for end in re.findall(r'"(-?[\d.]+)"', node.attributes)]
              for node in drawn.sheet.nodes[before:] if node.text}
    return {text: (x + width(text) / 2, y - 4.5) for text, (x, y) in places.items()}


@pytest.mark.parametrize("ends", [
    [(0.0, 0.1), (0.0, 0.5), (0.0, 0.9)], [(0.1, 1.0), (0.5, 1.0), (0.9, 1.0)], [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)]])
def test_lines_of_a_family_have_their_numbers_on_them_where_they_are_far_apart(ends: list[tuple[float, float]]) -> None:
    drawn = panel(Sheet(), unit_axis("Sensitivity"), unit_axis("PPV"), 150)
    before = len(drawn.sheet.nodes)
    assert len(label_on_lines(drawn, fan(*ends))) == 3
    written = middles(drawn, before)
    assert list(written) == ["0", "1", "2"]
    for x, y in written.values():
        at = (x - drawn.left) / drawn.width * 1.03 - 0.015
        distances = sorted(abs(drawn.down(low + (high - low) * at) - y) for low, high in ends)
        assert distances[0] < 2
        assert distances[1] > 10
    # Each interrupts its line, so that it can be read.
    assert [node.attributes.count("M") for node in drawn.sheet.nodes[before:] if node.ink == "paper"] == [3]


def test_lines_too_close_for_a_number_have_none() -> None:
    drawn = panel(Sheet(), unit_axis("Sensitivity"), unit_axis("PPV"), 150)
    before = len(drawn.sheet.nodes)
    assert len(label_on_lines(drawn, fan((0.5, 0.5), (0.52, 0.52), (0.9, 0.9)))) == 1
    assert list(middles(drawn, before)) == ["2"]


def test_numbers_on_lines_keep_off_marks() -> None:
    drawn = panel(Sheet(), unit_axis("Sensitivity"), unit_axis("PPV"), 150)
    (line,) = fan((0.5, 0.5))
    (without,) = label_on_lines(drawn, [line])
    middle = drawn.x.low + (drawn.x.high - drawn.x.low) * ((without[0] + without[2]) / 2 - drawn.left) / drawn.width
    ((left, _, right, _),) = label_on_lines(drawn, [line], [LineLabel("", "m0", [middle], [0.5])])
    assert not left - 5 < drawn.across(middle) < right + 5


@pytest.mark.parametrize("beside", [0.5, 0.9])
def test_the_name_of_a_mark_is_right_beside_it_or_has_a_thin_line_to_it(beside: float) -> None:
    drawn = panel(Sheet(), unit_axis("x"), unit_axis("y"), 250)
    marks = [LineLabel("here", "m0", [0.5], [0.5], scattered=True), LineLabel("there", "m1", [beside], [0.5])]
    before = len(drawn.sheet.nodes)
    assert label_lines(drawn, marks) == []
    lines = [node for node in drawn.sheet.nodes[before:] if node.tag == "path"]
    for label in marks:
        (node,) = [node for node in drawn.sheet.nodes[before:] if node.text == label.text]
        left, foot = (float(end) for end in re.findall(r'"([\d.]+)"', node.attributes))
        x, y = drawn.across(label.x[0]), drawn.down(label.y[0])
        gap = math.hypot(max(left - x, 0, x - left - width(label.text)), max(foot - 12.5 - y, 0, y - foot - 3.5))
        ends = [tuple(map(float, pair)) for line in lines for pair in re.findall(r"([\d.]+),([\d.]+)", line.attributes)]
        assert 4 < gap <= 7.5 or min(math.dist(end, (x, y)) for end in ends) < 1


def test_no_thin_line_runs_along_the_frame() -> None:
    drawn = panel(Sheet(), unit_axis("x"), unit_axis("y"), 250)
    before = len(drawn.sheet.nodes)
    full = [LineLabel("", "m0", [0.0, 1.0], [y, y]) for y in (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)]
    assert label_lines(drawn, [], [LineLabel("Perfect calibration", "muted", [0, 1], [0, 1])], (), full) == []
    leaders = [node.attributes for node in drawn.sheet.nodes[before:] if node.tag == "path"]
    for leader in leaders:
        (_, _), (x, y) = (map(float, pair) for pair in re.findall(r"([\d.]+),([\d.]+)", leader))
        assert drawn.left + 6 < x < drawn.left + drawn.width - 6
        assert drawn.top + 6 < y < drawn.base - 6
