"""Costs, profit and net benefit on the card."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import evalpipe
from evalpipe.report.costs import CostsView, costs_view
from evalpipe.report.figures import cost_drawings, drawings
from evalpipe.report.html import html_page
from evalpipe.results import Results

N = 400
COSTS = [{"truth": "sick", "predicted": "well", "cost": 12}, {"truth": "well", "predicted": "sick", "cost": 1.5}]
PROFIT = {"benefit": 50, "cost": 20, "fixed": 100, "groups": 5}


def made(level: dict[str, Any] | None = None, **keys: Any) -> Results:
    generator = np.random.default_rng(2)
    chance = generator.random(N)
    truth = np.where(generator.random(N) < chance, "sick", "well")
    given = {"costs": COSTS, "profit": PROFIT, "metrics": ["cost", "expected_cost"]} | keys
    return evalpipe.evaluate(
        truth, {"good": chance, "poor": generator.random(N)}, event="sick", levels=["well", "sick"],
        intervals=level or {"replicates": 100}, **{key: value for key, value in given.items() if value is not None})


@pytest.fixture(scope="module")
def results() -> Results:
    return made()


@pytest.fixture(scope="module")
def view(results: Results) -> CostsView:
    found = costs_view(results)
    assert found is not None
    return found


def words(page: str) -> str:
    """Return the text of the section, each run of blanks as one."""
    section = page[page.index('<section id="costs"'):]
    return " ".join(re.sub(r"<[^>]+>", " ", section[: section.index("</section>")]).split())


def test_the_named_costs_stand_beside_the_models_and_the_policies_that_need_none(view: CostsView) -> None:
    assert view.named == (("sick", "well", "12"), ("well", "sick", "1.5"))
    (worth,) = view.datasets
    assert worth.heads == ("Cost", "Expected cost")
    assert [(row.name, row.reference) for row in worth.costs] == [
        ("good", False), ("poor", False), ("Always sick", True), ("Always well", True)]
    assert all(cell.interval for row in worth.costs[:2] for cell in row.cells)
    assert [cell.note for row in worth.costs[2:] for cell in row.cells] == ["cheapest without a model"] * 2 + [None] * 2


def test_the_table_of_profits_says_where_it_is_largest(view: CostsView, results: Results) -> None:
    (worth,) = view.datasets
    for table, best in zip(worth.profits, results.best_profit, strict=True):
        assert [row.group for row in table.rows] == ["0", "1", "2", "3", "4", "5"]
        assert [row.group for row in table.rows if row.best] == [str(best.group)]
        assert table.rows[0].profit.text == "0"
        assert table.rows[1].contacted == "80"
        assert sum(float(row.others[-1].rstrip("%")) for row in table.rows) == pytest.approx(100, abs=0.31)
    assert worth.best[0].depth.value == f"{20 * results.best_profit[0].group}.0%"
    assert worth.best[0].corrected == f"{results.best_profit[0].corrected:,.0f}"


def test_the_section_is_on_the_card_and_in_its_contents(results: Results) -> None:
    page = html_page(results).decode()
    assert '<a href="#costs">Costs and profit</a>' in page
    said = words(page)
    assert "An event contacted brings 50 A row contacted costs 20 Fixed cost of contacting any 100" in said
    assert "cut into 5 groups" in said
    assert "Less optimism" in said


def test_a_card_without_costs_and_profit_has_no_such_section() -> None:
    page = html_page(made({"method": "none"}, costs=None, profit=None, metrics=["accuracy"])).decode()
    assert "Costs and profit" not in page


def test_without_replicates_nothing_is_said_of_them() -> None:
    said = words(html_page(made({"method": "none"}, costs=None, metrics=["accuracy"])).decode())
    assert "optimism:" not in said
    assert "replicates" not in said
    assert "Best in" not in said
    assert "Named costs" not in said


def test_costs_without_measures_of_cost_still_tell_the_references() -> None:
    (worth,) = costs_view(made({"method": "none"}, profit=None, metrics=["accuracy"])).datasets
    assert worth.heads == ("Cost",)
    assert [row.name for row in worth.costs] == ["Always sick", "Always well"]


def test_several_levels_have_a_policy_each() -> None:
    generator = np.random.default_rng(3)
    chances = generator.dirichlet([1, 1, 1], 90)
    truth = generator.choice(["a", "b", "c"], 90)
    found = evalpipe.evaluate(
        truth, probabilities=chances, task="multiclass", levels=["a", "b", "c"], metrics=["cost"],
        costs=[{"truth": "a", "predicted": "b", "cost": 3}], intervals={"method": "none"})
    (worth,) = costs_view(found).datasets
    assert [row.name for row in worth.costs if row.reference] == ["Always a", "Always b", "Always c"]
    assert cost_drawings(found, found.datasets[0].name) == ()


def test_the_figure_of_profit_marks_the_best_depth_and_says_it(results: Results) -> None:
    (drawing,) = cost_drawings(results, "data")
    best = results.best_profit[0]
    assert f"good: largest profit {best.profit:,.0f} at {20 * best.group}.0% of the rows." in drawing.alt
    assert "95% bands" in drawing.caption
    assert "Perfect ranking" in drawing.svg
    assert "bands" not in cost_drawings(made({"method": "none"}), "data")[0].caption


def test_the_decision_curve_says_where_a_model_is_of_use(results: Results) -> None:
    drawn = {drawing.title: drawing for drawing in drawings(results, "data")}
    curve = next(c for c in results.curves if c.curve == "net_benefit" and c.model == "good")
    at = curve.notes.largest_gain_at
    assert f"good: furthest above both acting on all rows and on none at threshold {at}, by " in (
        drawn["Decision curve"].alt)
    assert "Acting on all rows" in drawn["Decision curve"].svg
    assert "95% bands" in drawn["Decision curve"].caption


def test_a_model_that_is_of_no_use_anywhere_is_said_to_be() -> None:
    truth = np.array([1, 0] * 100)
    found = evalpipe.evaluate(truth, 1 - truth * 0.98 - 0.01, event=1, metrics=["brier"], intervals={"method": "none"})
    drawing = next(d for d in drawings(found, "data") if d.title == "Decision curve")
    assert "at no threshold above both acting on all rows and on none" in drawing.alt
    assert "bands" not in drawing.caption
