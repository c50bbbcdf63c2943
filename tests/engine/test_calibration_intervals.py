"""Which intervals the measures of calibration have: an inversion where bins are fixed, replicates, or none at all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import evalpipe


def drawn(seed: int) -> tuple[Any, Any]:
    """Return outcomes and the probabilities that they were drawn with."""
    generator = np.random.default_rng(seed)
    chance = generator.beta(1, 2, 300)
    return (generator.random(300) < chance).astype(int), chance


@pytest.mark.parametrize(("options", "method"), [
    ({}, "folded"), ({"strategy": "quantile"}, "percentile"), ({"norm": "l2"}, "percentile"),
    ({"norm": "max"}, "percentile"), ({"norm": "l2", "debiased": True}, "percentile"),
])
def test_only_a_sum_of_distances_in_fixed_bins_is_inverted(options: dict[str, Any], method: str) -> None:
    truth, chance = drawn(6)
    intervals = {"replicates": 100}
    row = evalpipe.evaluate(
        truth, chance, event=1, metrics=[{"metric": "ece"} | options], intervals=intervals,
    ).rows[0]
    assert row.method == method
    assert row.lower is not None


@pytest.mark.parametrize("method", ["auto", "percentile"])
def test_a_test_has_no_limits(method: str) -> None:
    truth, chance = drawn(7)
    metrics = ["spiegelhalter_z", "spiegelhalter_p", "hosmer_lemeshow", "hosmer_lemeshow_p"]
    rows = evalpipe.evaluate(
        truth, chance, event=1, metrics=metrics, intervals={"method": method, "replicates": 100},
    ).rows
    assert [(row.method, row.lower, row.status) for row in rows] == [("none", None, "ok")] * 4
