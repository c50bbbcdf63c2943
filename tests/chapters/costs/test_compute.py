"""The cost of predicting one level for all rows, of a binary outcome: against the models that do so."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from engine.runs import people, run

COSTS = [{"truth": 1, "predicted": 0, "cost": 10}, {"truth": 0, "predicted": 1, "cost": 1.5}]
KEYS: dict[str, Any] = {
    "outcome": {"column": "y", "event": 1, "levels": [0, 1]}, "metrics": ["cost"], "costs": COSTS,
    "models": {"all": {"prediction": "one"}, "none": {"prediction": "zero"}}, "intervals": {"method": "none"},
}


@pytest.mark.parametrize("weight", [
    {}, {"weight": "heavy"}, {"weight": {"column": "times", "kind": "frequency"}}], ids=["plain", "heavy", "times"])
def test_a_reference_costs_what_a_model_that_predicts_one_level_costs(weight: dict[str, Any]) -> None:
    frame = people(200).with_columns(pl.lit(1).alias("one"), pl.lit(0).alias("zero"))
    results = run(frame, **KEYS, **weight)
    assert [each.level for each in results.cost_references] == ["1", "0"]  # the event first
    assert [each.cost for each in results.cost_references] == pytest.approx(
        [row.value for row in results.rows], rel=1e-12)
    assert [each.cheapest for each in results.cost_references] == [True, False]


def test_without_named_costs_there_are_no_references() -> None:
    results = run(people(50), metrics=["accuracy"], intervals={"method": "none"})
    assert results.cost_references == []
    assert results.costs == []
