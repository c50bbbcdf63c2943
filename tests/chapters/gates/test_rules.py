"""Gates in the spec: what a gate may be on, how its limits are read, how it is written again."""

from __future__ import annotations

from typing import Any

import pytest

from evalpipe.base.origin import Origin
from evalpipe.chapters.gates.plan import rules
from evalpipe.chapters.gates.spec import KEYS, GateRule
from evalpipe.metrics import registry
from evalpipe.spec.draft import Draft
from evalpipe.spec.load import load
from evalpipe.spec.schema import resolved
from evalpipe.spec.tree import flatten, from_plain

SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1},
    "datasets": {"d": {"path": "d.csv"}}, "models": {"m": {"probability": "p"}},
}


def test_options_beside_a_name_are_those_of_the_measure() -> None:
    beside = {"metric": "f_beta", "beta": 2, "min": 0.5}
    within = {"metric": {"metric": "f_beta", "beta": 2}, "min": 0.5}
    assert GateRule.model_validate(beside) == GateRule.model_validate(within)
    written = [resolved(load(SPEC | {"gates": [gate]}))["gates"][0] for gate in (beside, within)]
    assert written[0] == written[1]
    assert written[0]["metric"] == {"metric": "f_beta", "beta": 2.0}
    assert "class_" not in written[0]


def test_no_measure_has_an_option_that_is_a_key_of_gates() -> None:
    assert {option for entry in registry for option in entry.option_types} & KEYS == set()


def desired(**gate: Any) -> list[str]:
    ramp = {"low": 0, "high": 1}
    goals = [{"metric": "brier", "minimize": ramp}, {"characteristic": "licence", "category": {"open": 1}},
             {"metric": "f_beta", "beta": 2, "maximize": ramp}]
    tree = flatten(from_plain(SPEC | {"desirability": goals, "gates": [gate]}, Origin()), None, {})
    return [str(problem).replace("gates[0].", "") for problem in rules(Draft(tree))]


@pytest.mark.parametrize("goal", ["overall", "minimize brier", "category licence", "maximize f_beta (beta=2)"])
def test_a_gate_may_be_on_the_desirability_of_declared_goals(goal: str) -> None:
    assert desired(desirability=goal, min=0.5) == []


def test_a_goal_that_is_not_declared_is_refused() -> None:
    (told,) = desired(desirability="kappa", min=0.5)
    assert told.startswith("error[no-goals]: desirability: no goal is called 'kappa'\n")
    assert told.endswith("choose one of 'overall', 'minimize brier', 'category licence' or 'maximize f_beta (beta=2)'")


@pytest.mark.parametrize("key", ["class", "slice", "slices"])
def test_desirability_is_of_all_rows(key: str) -> None:
    told = desired(desirability="overall", min=0.5, **{key: "all"})
    assert told[0].startswith(f"error[unused-key]: {key}: '{key}' has no effect: desirability is of all rows")
