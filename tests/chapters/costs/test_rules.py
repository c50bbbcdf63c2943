"""Specs whose costs or profit cannot be: every problem of each, and none of those beside them that can."""

from __future__ import annotations

from typing import Any

import pytest

from evalpipe.errors import SpecError
from evalpipe.spec.load import load

LEVELS = {"column": "y", "event": "a", "levels": ["a", "b"]}
COST = {"truth": "a", "predicted": "b", "cost": 3}
TWICE = [COST, COST | {"predicted": "a"}, COST | {"cost": 4}]
CLASSES, SCORES = {"m": {"prediction": "c"}}, {"n": {"probability": "p"}}
NO_LEVELS = ("missing-key: costs: costs name levels, but 'outcome.levels' is missing (add 'levels: […, …]' to the "
             "outcome)")
IS_TWICE = "duplicate-cost: costs[2]: the cost of 'a' predicted as 'b' is given twice (remove one of the two)"
NO_RANKS = ("nothing-to-rank: profit: 'profit' takes rows from the highest score down, but no model gives scores "
            "(add 'probability: …' or 'score: …' to a model)")


def problems(**keys: Any) -> list[str]:
    spec = {"evalpipe": 1, "name": "x", "task": "binary", "outcome": LEVELS, "models": SCORES,
            "datasets": {"d": {"path": "d.csv"}}, "metrics": ["accuracy"]}
    try:
        load(spec | keys)
    except SpecError as error:
        return [f"{problem.code}: {problem.message} ({problem.hint})" for problem in error.problems]
    return []


@pytest.mark.parametrize(("keys", "expected"), [
    ({"costs": [COST, COST | {"truth": "b", "predicted": "a"}]}, []),
    ({"costs": TWICE}, [IS_TWICE]),
    ({"costs": [*TWICE, COST]}, [IS_TWICE, IS_TWICE.replace("[2]", "[3]")]),
    ({"costs": [COST], "outcome": {"column": "y", "event": "a"}}, [NO_LEVELS]),
    ({"costs": TWICE, "outcome": {"column": "y", "event": "a"}}, [NO_LEVELS]),  # which is which nobody knows yet
    ({"costs": TWICE, "task": "multiclass", "outcome": {"column": "y", "levels": ["a", "b", "c"]},
      "models": CLASSES}, [IS_TWICE]),
    ({"profit": {"benefit": 2, "cost": 1}}, []),
    ({"profit": {"benefit": 2, "cost": 1}, "models": CLASSES}, [NO_RANKS]),
    ({"profit": {"benefit": 2, "cost": 1}, "models": CLASSES | SCORES}, []),
    ({"models": CLASSES}, []),
])
def test_every_problem_of_costs_and_profit_is_listed(keys: dict[str, Any], expected: list[str]) -> None:
    assert problems(**keys) == expected
