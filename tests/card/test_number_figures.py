"""Figures and the residual table of models of numbers, from runs over frames in memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
import polars as pl
import pytest

import evalpipe
from card.blocks import column, lines, paragraphs, table, tables
from evalpipe.card.appendix import residual_blocks
from evalpipe.card.figures import drawings
from evalpipe.card.figures.axes import SIZE, tick, width
from evalpipe.results.curves.residuals import ObservedPredicted
from evalpipe.words import numbers

if TYPE_CHECKING:
    from evalpipe.card.figures import Drawing
    from evalpipe.results import Results

SHARED = [
    "Observed against predicted", "Residual against predicted", "Histogram of residuals",
    "Distribution of absolute residuals", "Box plots of absolute residuals",
]
COUNTS = [*SHARED, "Hanging rootogram"]
LONG = "A forest with a name that is far too long for any figure & <more>"


def run(columns: dict[str, Any], models: dict[str, Any], task: str = "regression", unit: str | None = "kg") -> Results:
    return evalpipe.run(
        {
            "evalpipe": 1, "name": "numbers", "task": task, "metrics": ["rmse", "mae"],
            "outcome": {"column": "y"} | ({"unit": unit} if unit else {}), "datasets": {"trial": {"path": "memory"}},
            "models": models, "intervals": {"replicates": 100}, "report": {"formats": []},
        },
        frames={"trial": pl.DataFrame(columns)},
    )


@pytest.fixture(scope="module")
def prices() -> Results:
    """Three models of a number in the thousands."""
    rng = np.random.default_rng(4)
    p = rng.uniform(3000, 7000, 600)
    y = p + rng.normal(0, 200, 600)
    return run(
        {"y": y, "a": p, "b": p - 500, "c": np.full(600, 5000.0)},
        {"a": {"prediction": "a", "label": "Near"}, "b": {"prediction": "b", "label": LONG}, "c": {"prediction": "c"}},
    )


@pytest.fixture(scope="module")
def visits() -> Results:
    """One model of a count."""
    rng = np.random.default_rng(6)
    p = rng.gamma(2, 2, 400) + 0.2
    return run({"y": rng.poisson(p), "p": p}, {"m": {"prediction": "p", "label": "Poisson"}}, "count", None)


KNOWN: dict[int, tuple[Results, dict[str, Drawing]]] = {}
"""Results and their figures, by the identity of the results."""


def drawn(results: Results) -> dict[str, Drawing]:
    """Return the figures of results by title; those of the same results are drawn once."""
    if id(results) not in KNOWN:
        KNOWN[id(results)] = results, {
            drawing.title: drawing for drawing in drawings(results, "trial") if drawing.title in COUNTS
        }
    return KNOWN[id(results)][1]


def points(results: Results, curve: str, model: str) -> dict[str, list[Any]]:
    return next(c.points.columns for c in results.curves if (c.curve, c.model) == (curve, model))


def notes(results: Results, curve: str, model: str) -> dict[str, Any]:
    return next(dict(c.notes) for c in results.curves if (c.curve, c.model) == (curve, model))


def test_every_figure_of_the_task_is_drawn(prices: Results, visits: Results) -> None:
    assert list(drawn(prices)) == SHARED
    assert list(drawn(visits)) == COUNTS
    assert drawn(prices.model_copy(update={"curves": []})) == {}


@pytest.mark.parametrize("title", COUNTS)
def test_a_figure_is_well_formed_and_says_what_it_shows(title: str, prices: Results, visits: Results) -> None:
    for results, label in ((prices, LONG), (visits, "Poisson")):
        drawing = drawn(results).get(title)
        if drawing is None:
            assert (title, results.task) == ("Hanging rootogram", "regression")
            continue
        for svg in (*drawing.svgs, *drawing.images):
            ET.fromstring(svg)  # noqa: S314 - our own text
        assert f"{label}: " in drawing.alt
        assert "on trial. " in drawing.alt
        assert re.search(r"\d", drawing.alt.split(label)[1])
        assert drawing.alt.endswith(".")
        assert drawing.caption.endswith(".")
        assert "nan" not in drawing.alt
        assert not re.search(r"<style|style=|<script|<metadata|https?:|<!--|matplotlib", drawing.svg, re.IGNORECASE)


def texts(drawing: Drawing) -> list[tuple[str, float, float]]:
    """Return every text of a figure, with where it begins: x and y of its base line in pixels from the top left."""
    found = []
    for svg in drawing.svgs:
        for node in ET.fromstring(svg).iter("text"):  # noqa: S314 - our own text
            text, anchor = "".join(node.itertext()), node.get("text-anchor", "start")
            shift = {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width(text)
            found.append((text, float(node.get("x", "")) - shift, float(node.get("y", ""))))
    return found


@pytest.mark.parametrize("title", COUNTS)
def test_no_text_reaches_beyond_the_figure(title: str, prices: Results, visits: Results) -> None:
    for results in (prices, visits):
        if title in drawn(results):
            drawing = drawn(results)[title]
            heights = [float(re.search(r' height="([\d.]+)"', svg)[1]) for svg in drawing.svgs]
            # The widths of letters are those of the page's font, with four per cent of room for bold ones.
            assert [t for t in texts(drawing) if not (
                t[1] >= -0.5 and t[1] + width(t[0]) <= 330.5 and SIZE - 4 <= t[2] <= max(heights))] == []


def test_axes_carry_the_unit(prices: Results, visits: Results) -> None:
    with_unit, without = ({t[0] for d in drawn(r).values() for t in texts(d)} for r in (prices, visits))
    assert {"Observed (kg)", "Predicted (kg)", "Residual (kg)", "Absolute residual (kg)"} <= with_unit
    assert {"Observed", "Predicted", "Residual", "Absolute residual", "Count"} <= without
    of_panels = [text for text, *_ in texts(drawn(prices)["Observed against predicted"])]
    assert of_panels.count("Observed (kg)") == of_panels.count("Predicted (kg)") == 3
    assert of_panels.count("4,000") == 6  # beside and below each panel


def test_no_residual_is_in_sight_though_all_predictions_are_too_low() -> None:
    p = 200 + np.arange(40.0)
    results = run({"y": p + 10 + np.sin(p), "p": p}, {"m": {"prediction": "p"}})
    for title in ("Residual against predicted", "Histogram of residuals"):
        assert "0" in {text for text, *_ in texts(drawn(results)[title])}
    heights = {text: y for text, _, y in texts(drawn(results)["Residual against predicted"]) if text in {"0", "10"}}
    assert heights["0"] > heights["10"]


def test_a_scatter_tells_its_range_and_its_line(prices: Results) -> None:
    near, line = (points(prices, f"observed_predicted{end}", "a") for end in ("", "_smooth"))
    notes = next(curve.notes for curve in prices.curves if isinstance(curve, ObservedPredicted))
    slope, intercept = notes.slope, notes.intercept
    assert slope is not None
    assert intercept is not None
    p, y = near["predicted"], near["observed"]
    gaps = [abs(observed - predicted) for predicted, observed in zip(*line.values(), strict=True)]
    assert max(gaps) < 0.05 * (max(p) - min(p))
    assert (
        f"Near: 400 points, predicted {min(p):,.0f} to {max(p):,.0f} kg, observed {min(y):,.0f} to {max(y):,.0f} kg; "
        f"the least-squares line has slope {slope:.3f} and intercept {numbers.number(intercept)} kg; "
        "the smooth line is close to the diagonal."
    ) in drawn(prices)["Observed against predicted"].alt
    captions = [drawn(prices)[title].caption for title in SHARED[:2]]
    assert all("of many rows, a part is drawn" in caption for caption in captions)
    line = "a smoothing spline through all rows, or the mean at each distinct prediction"
    assert all(line in caption for caption in captions)


def test_the_least_squares_line_is_drawn_where_predictions_differ(prices: Results) -> None:
    drawing = drawn(prices)["Observed against predicted"]
    notes = next(curve.notes for curve in prices.curves if isinstance(curve, ObservedPredicted))
    lines = {points.name: points.columns for points in drawing.points if points.name.endswith("least-squares line")}
    assert list(lines) == ["Near, least-squares line", f"{LONG}, least-squares line"]  # the third predicts a constant
    x, y = lines["Near, least-squares line"].values()
    near = points(prices, "observed_predicted", "a")["predicted"]
    assert notes.slope is not None
    assert notes.intercept is not None
    assert x == [min(near), max(near)]
    assert y == pytest.approx([notes.intercept + notes.slope * end for end in x])
    assert "Dashed: the least-squares line, whose slope is below 1 where predictions are too ex" in drawing.caption
    constant = drawn(run({"y": np.arange(30.0), "p": np.full(30, 5.0)}, {"m": {"prediction": "p"}}))
    assert "Dashed" not in constant["Observed against predicted"].caption


def test_a_few_rows_are_all_drawn() -> None:
    results = run({"y": np.arange(30.0) ** 1.1, "p": np.arange(30.0)}, {"m": {"prediction": "p"}})
    drawing = drawn(results)["Observed against predicted"]
    assert "Each point is a row. " in drawing.caption
    assert "m: 30 points, predicted 0 to 29 kg" in drawing.alt
    assert "The line is a smoothing spline through all rows." in drawing.caption


def test_the_bias_is_told_where_it_is_largest(prices: Results) -> None:
    line = points(prices, "residual_predicted_smooth", "b")
    x, y = max(zip(line["predicted"], line["residual"], strict=True), key=lambda point: abs(point[1]))
    alt = drawn(prices)["Residual against predicted"].alt
    assert f"furthest from zero where {x:,.0f} is predicted, at {y:,.0f}." in alt
    assert y == pytest.approx(500, abs=60)  # the noise of 200 over three rows at an end of the line


def test_the_fullest_bin_is_told(prices: Results) -> None:
    bins = points(prices, "residual_histogram", "a")
    place = int(np.argmax(bins["weight"]))
    share = 100 * bins["weight"][place] / 600
    assert f"holds {share:.1f}% of the rows." in drawn(prices)["Histogram of residuals"].alt.split("forest")[0]


def test_the_distribution_tells_the_median_and_names_each_model_at_its_line(prices: Results) -> None:
    at = dict(zip(*(points(prices, "residual_quantiles", "a")[n] for n in ("share", "absolute_residual")), strict=True))
    drawing = drawn(prices)["Distribution of absolute residuals"]
    assert f"Near: half of the rows are within {at[0.5]:.0f}, nine in ten within {at[0.9]:.0f}; the" in drawing.alt
    assert drawing.said.startswith(f"Near: half are within {at[0.5]:.0f}, nine in ten within {at[0.9]:.0f}")
    assert "Near" in {text for text, *_ in texts(drawing)}


def test_the_boxes_tell_rmse_and_outliers(prices: Results, visits: Results) -> None:
    box, seen = points(prices, "residual_box", "a"), notes(prices, "residual_box", "a")
    assert (
        f"Near: median {box['median'][0]:.0f} kg, quartiles {box['lower_quartile'][0]:.1f} and "
        f"{box['upper_quartile'][0]:.0f}, RMSE {seen['rmse']:.0f} kg; {seen['outliers']:.0f} rows lie beyond the "
        "whiskers."
    ) in drawn(prices)["Box plots of absolute residuals"].alt
    for outliers, said in ((0, "no row lies"), (1, "1 row lies"), (2.5, "2.5 rows lie")):
        changed = [
            c if c.curve != "residual_box"
            else c.model_copy(update={"notes": c.notes.model_copy(update={"outliers": outliers})})
            for c in visits.curves
        ]
        told = drawn(visits.model_copy(update={"curves": changed}))["Box plots of absolute residuals"].alt
        assert f"; {said} beyond the whiskers." in told


def test_the_rootogram_tells_zeros_and_the_worst_count(visits: Results) -> None:
    found = points(visits, "rootogram", "m")
    rows = list(zip(found["count"], found["observed"], found["expected"], strict=True))
    worst = max(rows, key=lambda row: abs(np.sqrt(row[1]) - np.sqrt(row[2])))
    alt = drawn(visits)["Hanging rootogram"].alt
    assert f"Poisson: {rows[0][1]:.0f} rows with count 0, " in alt
    assert f"differ most at {worst[0]:.0f}: {worst[1]:.0f} against " in alt


def test_the_last_bin_of_a_rootogram_says_what_it_holds() -> None:
    p = np.full(200, 44.0)
    results = run({"y": np.arange(200) % 20 + 35, "p": p}, {"m": {"prediction": "p"}}, "count")
    drawing = drawn(results)["Hanging rootogram"]
    assert "40+" in {text for text, *_ in texts(drawing)}
    assert "40" not in {text for text, *_ in texts(drawing)}


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e7, 1e15])
@pytest.mark.parametrize("shape", ["one row", "exact", "constant", "skewed"])
def test_any_size_of_numbers_can_be_drawn(scale: float, shape: str) -> None:
    rng = np.random.default_rng(1)
    y = {"one row": np.array([3.0]), "constant": np.full(20, 2.0)}.get(shape, rng.lognormal(0, 1, 50))
    p = y if shape == "exact" else np.sqrt(y)
    results = run({"y": scale * y, "p": scale * p}, {"m": {"prediction": "p"}})
    for drawing in drawn(results).values():
        assert max(len(text) for text, *_ in texts(drawing) if re.match(r"[−\d.,×⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+$", text)) <= 10
        assert "nan" not in drawing.alt


@pytest.mark.parametrize(
    ("value", "largest", "text"),
    [
        (0.0, 0.0, "0"), (-4500.0, 7000.0, "−4,500"), (0.02, 0.1, "0.02"), (250_000.0, 900_000.0, "250,000"),
        (500_000.0, 2e6, "0.5×10⁶"), (2.5e7, 3e7, "25×10⁶"), (0.0, 3e7, "0"), (2e-4, 8e-4, "2×10⁻⁴"),
    ],
)
def test_ticks_stay_short(value: float, largest: float, text: str) -> None:
    assert tick(value, largest) == text


def test_the_table_holds_the_quantiles_of_each_model(prices: Results) -> None:
    quantiles = table(residual_blocks(prices, "trial"), "Residual quantiles on trial, in kg")
    upper, lower = ([head.text for head in line] for line in quantiles.heads)
    assert (upper, lower) == (["Share of rows", "Near", LONG, "c"], ["Residual", "Absolute"] * 3)
    assert column(quantiles, "Share of rows") == [f"{share}%" for share in range(0, 101, 10)]
    for place, model in enumerate("abc"):
        found = points(prices, "residual_quantiles", model)
        for at, name in ((1, "residual"), (2, "absolute_residual")):
            cells = [line[2 * place + at] for line in lines(quantiles)]
            assert cells == [f"{value:,.0f}".replace("-", "−") for value in found[name]]
    assert paragraphs(residual_blocks(prices, "trial"))[1].endswith(" All in kg.")
    assert list(residual_blocks(prices, "elsewhere")) == []


def test_more_than_three_models_continue_in_a_further_table() -> None:
    y = np.linspace(0, 1, 20)
    results = run({"y": y, "p": y / 2}, {name: {"prediction": "p"} for name in "abcde"}, unit=None)
    first, second = tables(residual_blocks(results, "trial"), "Residual quantiles on trial")
    assert [[head.text for head in table.heads[0][1:]] for table in (first, second)] == [["a", "b", "c"], ["d", "e"]]
    assert {len(line) for line in lines(second)} == {5}
    assert lines(first)[-1] == ["100%", *["0.5000"] * 6]
    assert not paragraphs(residual_blocks(results, "trial"))[1].endswith("All in kg.")


@pytest.mark.parametrize(("name", "shown"), [
    ("age", "age"), ("weight", "column weight"), ("name", "name"), ("self", "self")])
def test_residuals_against_a_column_of_any_name_are_drawn_with_its_values(name: str, shown: str) -> None:
    generator = np.random.default_rng(0)
    truth, values = generator.normal(70, 10, 200), generator.normal(70, 10, 200)
    frame = pl.DataFrame({"y": truth, "p": truth + generator.normal(0, 5, 200), name: values})
    results = evalpipe.run({
        "evalpipe": 1, "name": "x", "task": "regression", "outcome": {"column": "y"},
        "datasets": {"d": {"path": "memory"}}, "models": {"m": {"prediction": "p"}}, "metrics": ["rmse"],
        "curves": {"residuals": {"against": [name]}}, "intervals": {"replicates": 100},
        "report": {"formats": []}}, frames={"d": frame})
    drawing = next(figure for figure in drawings(results, "d", "appendix") if "residual-against" in figure.key)
    columns = drawing.points[0].columns
    assert set(columns) == {shown, "mean", "weight", "low", "lower quartile", "median", "upper quartile", "high"}
    assert values.min() <= min(columns[shown]) < max(columns[shown]) <= values.max()
