"""The sliders of the page against the engine, in a real browser."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from playwright.sync_api import Browser, Page
from scipy.stats import binom, norm

import evalpipe
from engine.runs import people
from evalpipe.intervals.analytic import predictive_limits
from evalpipe.intervals.binomial import clopper_pearson
from evalpipe.intervals.declare import NoLimits
from evalpipe.metrics import registry
from evalpipe.statistics import Rows, Summary
from evalpipe.words import numbers

SETTINGS = 200
LEVEL = 0.95
COSTS = [{"truth": 1, "predicted": 0, "cost": 5.0}, {"truth": 0, "predicted": 1, "cost": 1.5}]
MATRIX = ((0.0, 5.0), (1.5, 0.0))
"""The costs by true and predicted level, the event first."""

SPEC = {
    "evalpipe": 1, "name": "sliders", "task": "binary", "outcome": {"column": "y", "event": 1, "levels": [0, 1]},
    "datasets": {"d": {"path": "rows.parquet"}}, "slices": ["s", ["s", "h"]], "threshold": 0.437, "costs": COSTS,
    "models": {"p": {"probability": "p"}, "q": {"probability": "q", "label": "<b>Q</b>"}}, "metrics": ["sensitivity"],
    "intervals": {"replicates": 100}, "report": {"formats": ["html"]},
}
SHOWN = """
settings => settings.map(([group, place, share, model]) => {
  const put = (id, value, kind) => {
    const control = document.getElementById(id);
    control.value = value;
    control.dispatchEvent(new Event(kind));
  };
  put("what-if-group", group, "change");
  put("what-if-threshold", place, "input");
  put("what-if-prevalence", share, "input");
  const cells = [...document.querySelectorAll(`#what-if tr[data-model="${model}"] td`)];
  return Object.fromEntries(cells.map(cell => [cell.dataset.measure, {
    value: cell.dataset.value ? Number(cell.dataset.value) : null,
    limits: cell.dataset.lower ? [Number(cell.dataset.lower), Number(cell.dataset.upper)] : null,
    text: cell.textContent }]));
})
"""


@pytest.fixture(scope="module")
def rows() -> pl.DataFrame:
    return people(400, seed=5)


@pytest.fixture(scope="module")
def folder(rows: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a card with sliders for two models in all rows and in seven groups."""
    place = tmp_path_factory.mktemp("sliders")
    rows.write_parquet(place / "rows.parquet")
    (place / "spec.yaml").write_text(json.dumps(SPEC))
    evalpipe.run(place / "spec.yaml", out=place / "out")
    return place / "out"


@pytest.fixture(scope="module")
def folder_with_prevalence(rows: pl.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a card that has figures at a declared prevalence too."""
    place = tmp_path_factory.mktemp("sliders")
    rows.write_parquet(place / "rows.parquet")
    (place / "spec.yaml").write_text(json.dumps(SPEC | {"prevalence": 0.3, "slices": ["h"]}))
    evalpipe.run(place / "spec.yaml", out=place / "out")
    return place / "out"


@pytest.fixture
def opened(browser: Browser) -> Iterator[Callable[[Path], Page]]:
    """Return a function that opens a card; whatever the page's console says is an error."""
    context = browser.new_context(offline=True)
    said: list[str] = []

    def page(folder: Path) -> Page:
        tab = context.new_page()
        tab.on("console", lambda message: said.append(message.text))
        tab.on("pageerror", lambda error: said.append(str(error)))
        tab.goto((folder / "card.html").as_uri())
        return tab

    yield page
    context.close()
    assert said == []


class Engine:
    """What the engine says of a model on some rows, at a threshold and a prevalence."""

    def __init__(self, rows: pl.DataFrame, model: str, threshold: float, prevalence: float) -> None:
        truth, chance = rows["y"].to_numpy() == 1, rows[model].to_numpy()
        self.prevalence, self.threshold = prevalence, threshold
        held = Rows(truth, chance >= threshold, chance)
        self.plain = Summary(held, np.ones(len(truth)))
        sizes = np.where(truth, truth.sum(), (~truth).sum())
        self.weighed = Summary(held, np.where(truth, prevalence, 1 - prevalence) / sizes)
        self.counts = {name: float(self.plain(name)) for name in ("tp", "fn", "fp", "tn")}
        self.events, self.others = (self.counts[a] + self.counts[b] for a, b in (("tp", "fn"), ("fp", "tn")))

    def value(self, name: str) -> float:
        """Return a measure; NaN where it is undefined."""
        of, options = self.plain, {}
        if name in ("ppv", "npv"):
            options = {"prevalence": self.prevalence}
        elif name == "net_benefit":
            of, options = self.weighed, {"threshold": self.threshold}
        elif name == "cost":
            of, options = self.weighed, {"costs": MATRIX}
        value = of.value(registry[name], options)
        return float(getattr(value, "value", value))

    def limits(self, name: str) -> tuple[float, float] | None:
        """Return the limits of a measure; None where there are none."""
        counts, value = self.counts, self.value(name)
        if name in ("sensitivity", "specificity"):
            hit, miss = ("tp", "fn") if name == "sensitivity" else ("tn", "fp")
            low, high = clopper_pearson(counts[hit], counts[hit] + counts[miss], LEVEL)
            return float(low), float(high)
        if name in ("ppv", "npv"):
            try:
                return predictive_limits(name, value, *(np.float64(counts[x]) for x in ("tp", "fp", "fn", "tn")), LEVEL)
            except NoLimits:
                return None
        return self.by_enumeration(name, value)

    def by_enumeration(self, name: str, value: float) -> tuple[float, float] | None:
        """Return limits from the variance of two binomial counts, each summed up over all its outcomes."""
        share = self.counts["tp"] / self.events, self.counts["tn"] / self.others
        odds = self.threshold / (1 - self.threshold) if self.threshold < 1 else math.inf
        unit = (1.0, odds) if name == "net_benefit" else (-5.0, -1.5)
        factors = unit[0] * self.prevalence, unit[1] * (1 - self.prevalence)
        parts = [(f, s, n) for f, s, n in zip(factors, share, (self.events, self.others), strict=True) if f]
        if any(s in (0, 1) for _, s, _ in parts):
            return None
        variance = 0.0
        for factor, s, n in parts:
            outcomes = np.arange(n + 1)
            chances = binom.pmf(outcomes, n, s)
            variance += factor**2 * float((chances * (outcomes / n - s) ** 2).sum())
        reach = float(norm.ppf((1 + LEVEL) / 2)) * math.sqrt(variance)
        return value - reach, value + reach


def test_the_sliders_say_what_the_engine_says(
    rows: pl.DataFrame, folder: Path, opened: Callable[[Path], Page]
) -> None:
    """Tolerances: values 1e-12, sums and ratios of the same counts; limits 1e-9, by another series of the same beta."""
    (table,) = evalpipe.Results.read(folder / "results.json").what_if
    groups = list({str(row.slice): row.slice for row in table.groups}.values())
    assert len(groups) == 8
    generator = np.random.default_rng(14)
    settings = [(int(generator.integers(len(groups))), int(generator.integers(len(table.thresholds))),
                 int(generator.integers(1, 1000)), int(generator.integers(2))) for _ in range(SETTINGS)]
    page = opened(folder)
    shown = page.evaluate(SHOWN, settings)
    assert table.thresholds.index(0.437) == 44
    for (group, place, share, model), cells in zip(settings, shown, strict=True):
        labels, threshold = groups[group], table.thresholds[place]
        part = rows if labels is None else rows.filter([pl.col(name) == label for name, label in labels.items()])
        _same(cells, Engine(part, "pq"[model], threshold, share / 1000))


BARS = """
() => ({caption: document.querySelector(".thousand caption span").textContent,
        counts: [...document.querySelectorAll(".thousand tr")].map(
          row => [...row.querySelectorAll("[data-part]")].map(part => Number(part.textContent))),
        ends: [...document.querySelectorAll(".thousand tr")].map(row => [...row.querySelectorAll("rect")].map(
          rect => parseFloat(rect.getAttribute("x")) + parseFloat(rect.getAttribute("width"))).at(-1))})
"""


def test_the_sliders_move_the_bars_of_a_thousand_rows(
    rows: pl.DataFrame, folder: Path, opened: Callable[[Path], Page]
) -> None:
    results = evalpipe.Results.read(folder / "results.json")
    (table,) = results.what_if
    groups = list({str(row.slice): row.slice for row in table.groups}.values())
    page = opened(folder)
    before = page.evaluate(BARS)
    assert before["counts"] == [[row.true_positives, row.false_negatives, row.false_positives, row.true_negatives]
                                for row in results.per_thousand]
    for group, place, share in ((0, 44, 300), (0, 10, 20), (3, 70, 999), (5, 0, 1), (0, 101, 500)):
        labels, threshold, prevalence = groups[group], table.thresholds[place], share / 1000
        part = rows if labels is None else rows.filter([pl.col(name) == label for name, label in labels.items()])
        page.evaluate(SHOWN, [(group, place, share, 0)])
        moved = page.evaluate(BARS)
        assert moved["caption"].endswith(f", at threshold {threshold:g}, if {share} in 1,000 are '1'")
        for model, counts, end in zip("pq", moved["counts"], moved["ends"], strict=True):
            engine = Engine(part, model, threshold, prevalence)
            exact = [1000 * prevalence * engine.counts["tp"] / engine.events,
                     1000 * prevalence * engine.counts["fn"] / engine.events,
                     1000 * (1 - prevalence) * engine.counts["fp"] / engine.others,
                     1000 * (1 - prevalence) * engine.counts["tn"] / engine.others]
            assert (sum(counts), round(end, 6)) == (1000, 100)
            assert np.abs(np.subtract(counts, exact)).max() < 1  # whole numbers that add up
    page.click("#what-if-reset")
    assert page.evaluate(BARS) == before


LINES = """
kind => [...document.querySelectorAll(`figure[data-key$="-${kind}"] .chart`)].map(chart => ({
  panel: JSON.parse(chart.dataset.axes)[0],
  at: [...chart.querySelectorAll("line")].filter(line => line.style.display !== "none").map(
    line => Number(line.getAttribute("x1"))),
  bands: [...chart.querySelectorAll(".band")].filter(band => band.style.display !== "none").length,
  paths: Object.fromEntries([...chart.querySelectorAll("path.line")].map(
    path => [[...path.classList].at(-1), path.getAttribute("d")])) }))
"""


def test_the_sliders_move_the_lines_of_predictive_values_and_of_the_decision_curve(
    rows: pl.DataFrame, folder_with_prevalence: Path, opened: Callable[[Path], Page]
) -> None:
    """Tolerance: half a pixel, for x is rounded to one decimal where lines are steep."""
    (table,) = evalpipe.Results.read(folder_with_prevalence / "results.json").what_if
    page = opened(folder_with_prevalence)
    before = {kind: page.evaluate(LINES, kind) for kind in ("predictive", "net-benefit")}
    assert [len(charts) for charts in before.values()] == [2, 1]
    assert all(chart["at"] == [] for charts in before.values() for chart in charts)
    for place, share in ((10, 200), (60, 900)):
        threshold = table.thresholds[place]
        page.evaluate(SHOWN, [(0, place, share, 0)])
        for kind, value in (("predictive", share / 1000), ("net-benefit", threshold)):
            for chart in page.evaluate(LINES, kind):
                left, _, wide, _, low, high, *_ = chart["panel"]
                assert chart["at"] == [pytest.approx(left + wide * (value - low) / (high - low), abs=1e-9)]
        for name, chart in zip(("ppv", "npv"), page.evaluate(LINES, "predictive"), strict=True):
            left, top, wide, tall, low, high, bottom, above, _ = chart["panel"]
            assert chart["bands"] == 0
            assert set(chart["paths"]) == {"m0", "m1"}
            for model, ink in (("p", "m0"), ("q", "m1")):
                points = [tuple(map(float, pair.split(","))) for pair in re.findall(
                    r"-?[\d.]+,-?[\d.]+", chart["paths"][ink])]
                assert len(points) > 90
                for x, y in points[:: len(points) // 5]:
                    prevalence = low + (x - left) / wide * (high - low)
                    exact = Engine(rows, model, threshold, prevalence).value(name)
                    assert y == pytest.approx(top + tall * (above - exact) / (above - bottom), abs=0.5)
    page.click("#what-if-reset")
    assert {kind: page.evaluate(LINES, kind) for kind in before} == before


def _same(cells: dict[str, Any], engine: Engine) -> None:
    assert {name: cells[name]["value"] for name in engine.counts} == engine.counts
    for name in ("sensitivity", "specificity", "ppv", "npv", "net_benefit", "cost"):
        cell, value = cells[name], math.nan if name == "net_benefit" and engine.threshold == 1 else engine.value(name)
        if math.isnan(value):
            assert (cell["value"], cell["text"]) == (None, "–")
            continue
        assert cell["value"] == pytest.approx(value, abs=1e-12)
        limits = engine.limits(name)
        assert cell["limits"] == (None if limits is None else pytest.approx(limits, abs=1e-9))
        shown = f"{cell['value']}" if limits is None else " ".join(
            (numbers.interval(value, *limits)[0], f"({numbers.interval(value, *limits)[1]})"))
        assert limits is None or cell["text"] == shown
