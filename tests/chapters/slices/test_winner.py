"""The worst of 60 groups that are alike: what is shown of it allows for its having been chosen."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import binom

import evalpipe
from evalpipe.chapters.slices.card import corrected_value
from findings.planted import BINARY, events, spec_of

GROUPS, ROWS = 60, 100
LEVEL = 0.95


def winner(seed: int) -> tuple[float, tuple[float, float | None, float | None], bool]:
    """Return the value of the worst group as found, the one that is shown with limits, and whether it is a failure."""
    labels = np.random.default_rng(seed).permutation(np.repeat([f"g{k}" for k in range(GROUPS)], ROWS))
    frames = {"d": events(900 + seed, GROUPS * ROWS).with_columns(g=pl.Series(labels))}
    results = evalpipe.run(spec_of(
        frames, "binary", BINARY, metrics=["brier"], worst_slices={"columns": ["g"], "metric": "brier"},
        slice_rules={"max_levels": 100}), frames=frames)
    worst = next(row for row in results.worst_slices if row.rank == 1)
    return worst.value, corrected_value(worst), any(
        finding.kind == "fails" and finding.code == "groups-searched" for finding in results.findings)


@pytest.mark.parametrize("runs", [6, pytest.param(60, marks=pytest.mark.nightly)])
def test_the_worst_of_like_groups_is_shown_about_as_bad_as_it_is(runs: int) -> None:
    """In 60 runs: 0.045 too bad as found, 0.011 as shown; its limits missed 37 times as found, never as shown."""
    frame = events(1, 400_000)
    truth = float(((frame["y"] - frame["p"]) ** 2).mean())  # type: ignore[arg-type]
    found, shown, failures = zip(*(winner(seed) for seed in range(runs)), strict=True)
    bias, bias_as_shown = np.mean(found) - truth, np.mean([value for value, _, _ in shown]) - truth
    misses = sum(not (lower or 0) <= truth <= (upper or 1) for _, lower, upper in shown)
    print(f"{runs} runs: {bias:.4f} too bad as found, {bias_as_shown:.4f} as shown; {misses} missed")
    assert bias > 0.03
    assert abs(bias_as_shown) < 0.02
    assert misses <= binom.ppf(0.99, runs, 1 - LEVEL)
    assert sum(failures) <= binom.ppf(0.99, runs, 1 - LEVEL)
