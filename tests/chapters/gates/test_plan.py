"""The limits of gates as the lowest and the highest number that they allow."""

from __future__ import annotations

import math

import pytest

from evalpipe.chapters.gates.records import GateLimits
from evalpipe.chapters.gates.spec import GateRule


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ({"min": 0.5}, (0.5, math.inf)),
        ({"max": 0.5}, (-math.inf, 0.5)),
        ({"min": 0.25, "max": 0.5}, (0.25, 0.5)),
        ({"max_increase": 0.1}, (-math.inf, 0.1)),
        ({"min_increase": 0.1}, (0.1, math.inf)),
        ({"max_decrease": 0.1}, (-0.1, math.inf)),
        ({"min_decrease": 0.1}, (-math.inf, -0.1)),
        ({"max_increase": 0.1, "max_decrease": 0.2}, (-0.2, 0.1)),
        ({"min_increase": 0.1, "max_increase": 0.2}, (0.1, 0.2)),
        ({"min_decrease": 0.1, "max_decrease": 0.2}, (-0.2, -0.1)),
    ],
)
def test_limits_are_the_lowest_and_the_highest_value_or_change(
    limit: dict[str, float], expected: tuple[float, float]
) -> None:
    gate = GateRule.model_validate({"metric": "brier", **limit})
    assert gate.limit == limit
    assert GateLimits.of(gate.limit) == GateLimits(*expected)
