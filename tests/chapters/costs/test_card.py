"""Costs and profit on the card."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalpipe
from card.blocks import column, facts, heads, lines, paragraphs, rows, table, tables
from evalpipe.card.html import html_page
from evalpipe.chapters.costs.card import _short_number, profit_figures, sections
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


def test_the_named_costs_stand_beside_the_models_and_the_policies_that_need_none(results: Results) -> None:
    named = table(sections(results), "Named costs")
    assert heads(named) == ["True level", "sick", "well"]
    assert [column.over for column in named.columns] == ["", "Predicted level", "Predicted level"]
    assert lines(named) == [["sick", "0", "12"], ["well", "1.5", "0"]]
    costs = table(sections(results), "Cost of a row of data, with 95% intervals")
    assert heads(costs) == ["Predictions", "Cost", "Expected cost"]
    assert column(costs, "Predictions") == ["good", "poor", "Always sick", "Always well"]
    cells = [row.cells[1:] for row in rows(costs)]
    assert all(cell.interval for row in cells[:2] for cell in row)
    assert [cell.note for row in cells[2:] for cell in row] == ["cheapest without a model"] * 2 + [None] * 2


@pytest.mark.parametrize(("count", "first"), [(6, ["a", "0", "2", "0", "0", "0", "0"]), (7, ["a", "b", "2"])])
def test_named_costs_are_a_matrix_of_few_levels_and_a_list_of_many(count: int, first: list[str]) -> None:
    levels = list("abcdefg")[:count]
    results = evalpipe.evaluate(
        levels * 5, task="multiclass", prediction=levels * 5, levels=levels, metrics=["cost"],
        costs=[{"truth": "a", "predicted": "b", "cost": 2}], intervals={"method": "none"})
    assert lines(table(sections(results), "Named costs"))[0] == first


def test_the_table_of_profits_says_where_it_is_largest(results: Results) -> None:
    largest = table(sections(results), "Largest profit on data")
    assert heads(largest) == ["Model", "Rows to contact", "Profit", "Corrected", "Profit per row"]
    assert column(largest, "Rows to contact")[0].value == f"{20 * results.best_profit[0].group}.0%"
    assert column(largest, "Corrected")[0] == f"{results.best_profit[0].corrected:,.0f}"
    for best in results.best_profit:
        by_depth = table(sections(results), f"{best.model}: profit by depth on data")
        groups = ["0", "1", "2", "3", "4", "5"]
        groups[best.group] += " best"
        assert [line[0] for line in lines(by_depth)] == groups
        assert column(by_depth, "Profit")[0].text == "0"
        assert column(by_depth, "Rows so far")[1] == "80"
        assert sum(float(share.rstrip("%")) for share in column(by_depth, "Best in")) == pytest.approx(100, abs=0.31)


def test_the_section_is_on_the_card_and_in_its_contents(results: Results) -> None:
    page = html_page(results.model_copy(update={"curves": []})).decode()
    assert '<a href="#costs">Costs and profit</a>' in page
    assert page.count('<section id="costs"') == 1
    assert facts(sections(results)) == {
        "An event contacted brings": "50", "A row contacted costs": "20", "Fixed cost of contacting any": "100"}
    assert "cut into 5 groups" in " ".join(paragraphs(sections(results)))


def test_a_card_without_costs_and_profit_has_no_such_section() -> None:
    without = made({"method": "none"}, costs=None, profit=None, metrics=["accuracy"])
    assert "Costs and profit" not in html_page(without.model_copy(update={"curves": []})).decode()


def test_without_replicates_nothing_is_said_of_them() -> None:
    results = made({"method": "none"}, costs=None, metrics=["accuracy"])
    words = " ".join(paragraphs(sections(results)))
    assert "The largest profit is optimistic: the depth" in words
    assert "optimism:" not in words
    assert "replicates" not in words
    shown = [head for part in tables(sections(results)) for head in heads(part)]
    assert {"Best in", "Corrected"}.isdisjoint(shown)
    assert tables(sections(results), "Named costs") == []


def test_costs_without_measures_of_cost_still_tell_the_references() -> None:
    costs = table(sections(made({"method": "none"}, profit=None, metrics=["accuracy"])), "Cost of a row")
    assert heads(costs) == ["Predictions", "Cost"]
    assert column(costs, "Predictions") == ["Always sick", "Always well"]


def test_several_levels_have_a_policy_each() -> None:
    generator = np.random.default_rng(3)
    chances = generator.dirichlet([1, 1, 1], 90)
    truth = generator.choice(["a", "b", "c"], 90)
    found = evalpipe.evaluate(
        truth, probabilities=chances, task="multiclass", levels=["a", "b", "c"], metrics=["cost"],
        costs=[{"truth": "a", "predicted": "b", "cost": 3}], intervals={"method": "none"})
    costs = table(sections(found), "Cost of a row of data")
    assert column(costs, "Predictions")[-3:] == ["Always a", "Always b", "Always c"]
    assert "Profit" not in paragraphs(sections(found))


def test_the_figure_of_profit_marks_the_best_depth_and_says_it(results: Results) -> None:
    (drawing,) = profit_figures(results, "data")
    best = results.best_profit[0]
    assert f"good: largest profit {best.profit:,.0f} at {20 * best.group}.0% of the rows." in drawing.alt
    assert "95% interval at each point" in drawing.caption
    assert "Perfect ranking" in drawing.svg
    assert "interval" not in profit_figures(made({"method": "none"}), "data")[0].caption


@pytest.mark.parametrize(("profit", "text"), [
    (999_999, "999,999"), (1e6, "1 m"), (-2.5e6, "−2.5 m"), (1e9, "1 bn"), (0.25, "0.25"),
])
def test_an_axis_of_profit_is_in_millions_from_one_million_on(profit: float, text: str) -> None:
    assert _short_number(profit) == text
