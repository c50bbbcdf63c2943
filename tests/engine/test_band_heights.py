"""The heights of curves in a batch of replicates, against one replicate at a time by numpy and SciPy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from scipy.optimize import isotonic_regression

from evalpipe.engine.curves.calibration import isotonic_heights
from evalpipe.engine.curves.declare import PLACES, gain_heights, pr_heights, roc_heights
from evalpipe.statistics import Rows, Summary

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats

ROUNDING = 1e-12
"""The fit to a whole batch takes the levels of blocks from their totals, SciPy's from running means."""


def drawn(n: int, decimals: int, *, floats: bool) -> Summary:
    """Return a batch of nine replicates, one without rows, one without events and one without others."""
    generator = np.random.default_rng(n)
    p = np.round(generator.random(n), decimals)
    y = generator.random(n) < p
    weights = generator.integers(0, 3, (9, n)) * (generator.random(n) if floats else 1)
    weights[2], weights[4], weights[5] = 0, weights[4] * ~y, weights[5] * y
    return Summary(Rows(y, None, p, p), weights)


SUMMARIES = [(40, 1, False), (40, 1, True), (900, 3, False), (900, 3, True)]


def points(summary: Summary) -> list[tuple[Floats, Floats]]:
    """Return events and others at or above each score from the highest down, after none, of each replicate."""
    both = (summary(name)[..., ::-1] for name in ("events_from", "others_from"))
    events, others = (np.concatenate([np.zeros((9, 1)), values], axis=-1) for values in both)
    return list(zip(events, others, strict=True))


def roc(events: Floats, others: Floats) -> Floats:
    return np.interp(PLACES, others / others[-1], events / events[-1])


def gain(events: Floats, others: Floats) -> Floats:
    return np.interp(PLACES, (events + others) / (events + others)[-1], events / events[-1])


def pr(events: Floats, others: Floats) -> Floats:
    """Take, at each place, the first threshold from above whose recall reaches it, but for rounding."""
    recall = events[1:] / events[-1]
    first = np.array([np.flatnonzero(recall >= place - 1e-12)[0] for place in PLACES])
    tested = (events + others)[1:][first]
    return np.divide(events[1:][first], tested, out=np.ones(len(PLACES)), where=tested > 0)


@pytest.mark.parametrize(("n", "decimals", "floats"), SUMMARIES)
@pytest.mark.parametrize(("heights", "alone"), [(roc_heights, roc), (pr_heights, pr), (gain_heights, gain)])
def test_heights_are_those_of_one_curve_at_a_time(
    n: int, decimals: int, floats: bool, heights: Callable[..., Floats], alone: Callable[..., Floats],
) -> None:
    summary = drawn(n, decimals, floats=floats)
    batch = heights(summary, PLACES)
    for row, (events, others) in zip(batch, points(summary), strict=True):
        both = events[-1] > 0 and others[-1] > 0
        assert np.array_equal(row, alone(events, others) if both else np.full(101, np.nan), equal_nan=True)


@pytest.mark.parametrize(("n", "decimals", "floats"), SUMMARIES)
def test_isotonic_heights_are_those_of_one_fit_at_a_time(n: int, decimals: int, floats: bool) -> None:
    summary = drawn(n, decimals, floats=floats)
    places = np.sort(np.concatenate([PLACES, np.random.default_rng(0).random(50)]))
    batch, events, total = isotonic_heights(summary, places), summary("events_at"), summary("others_at")
    total = total + events
    for row, hits, weight in zip(batch, events, total, strict=True):
        kept = weight > 0
        if not kept.any():
            assert np.isnan(row).all()
            continue
        level = isotonic_regression(hits[kept] / weight[kept], weights=weight[kept]).x
        expected = np.interp(places, summary.rows.probability_of_score[kept], level)
        assert row == pytest.approx(expected, rel=0, abs=ROUNDING)


@pytest.mark.parametrize("heights", [roc_heights, pr_heights, gain_heights, isotonic_heights])
def test_heights_keep_the_axes_of_the_weights(heights: Callable[..., Floats]) -> None:
    summary = drawn(40, 1, floats=False)
    stacked = Summary(summary.rows, summary.weights.reshape(3, 3, -1))
    expected = heights(summary, PLACES)
    assert np.array_equal(heights(stacked, PLACES), expected.reshape(3, 3, -1), equal_nan=True)
    assert np.array_equal(heights(Summary(summary.rows, summary.weights[0]), PLACES), expected[0], equal_nan=True)
