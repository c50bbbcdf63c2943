"""What a run says of scores that rank well and are squeezed together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalpipe

N = 2000


def said(truth: Any, chance: Any, **more: Any) -> list[str]:
    given = {"event": 1, "metrics": ["brier"], "intervals": {"method": "none"}}
    results = evalpipe.evaluate(truth.astype(int), chance, **(given | more))
    return [warning.message for warning in results.warnings if warning.code == "squeezed-scores"]


def drawn(seed: int, n: int = N, mean: float = 0.0) -> tuple[Any, Any]:
    """Return outcomes and the probabilities that they were drawn with."""
    generator = np.random.default_rng(seed)
    chance = 1 / (1 + np.exp(-generator.normal(mean, 2, n)))
    return generator.random(n) < chance, chance


def test_scores_that_rank_well_but_are_squeezed_are_named() -> None:
    truth, chance = drawn(1)
    (message,) = said(truth, 0.5 + (chance - 0.5) / 4)
    assert "the scores rank well (ROC AUC 0.8" in message
    assert "98 % of them lie between 0.38 and 0.6" in message
    assert message.endswith("they are too close together and need recalibration")


@pytest.mark.parametrize("case", ["calibrated", "rare", "blunt", "few rows", "slightly squeezed"])
def test_other_scores_are_not(case: str) -> None:
    truth, chance = drawn(2)
    if case == "rare":  # as narrow, and right: the probabilities of rare events
        truth, chance = drawn(2, 20 * N, -7)
        assert np.quantile(chance, 0.99) < 0.25
    elif case == "blunt":
        chance = np.random.default_rng(3).normal(0.5, 0.02, N)
    elif case == "few rows":
        truth, chance = np.array([0, 0, 1, 0, 1, 0, 1, 1]) == 1, np.linspace(0.45, 0.55, 8)
    elif case == "slightly squeezed":
        chance = 0.5 + (chance - 0.5) / 1.5
    assert said(truth, chance) == []


def test_importance_weights_count_as_fewer_rows() -> None:
    truth, chance = drawn(5, 60)
    squeezed = 0.5 + (chance - 0.5) / 4
    weight = np.ones(60)
    weight[:8] = 300.0
    assert said(truth, squeezed)
    assert said(truth, squeezed, weight=weight, weight_kind="importance") == []
