"""Rates at a cut: against a loop over the cuts and scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_curve

from evalpipe.metrics.labels import sensitivity_at_specificity as sensitivity_at
from evalpipe.metrics.labels import specificity_at_sensitivity as specificity_at


def rows(seed: int, weighted: bool) -> tuple[Any, Any, Any]:
    generator = np.random.default_rng(seed)
    truth = generator.random(70) < 0.4
    truth[:2] = [True, False]
    score = np.round(generator.normal(truth * 0.8, 1), 1)
    return truth, score, generator.integers(0, 4, 70) + (np.arange(70) < 2) if weighted else np.ones(70, int)


def tables(truth: Any, score: Any, weight: Any) -> tuple[Any, Any]:
    """Return the events and the others scored at or above each distinct score, ascending."""
    at = np.unique(score)
    return tuple(np.array([weight[chosen & (score >= cut)].sum() for cut in at]) for chosen in (truth, ~truth))  # type: ignore[return-value]


def every_cut(truth: Any, score: Any, weight: Any) -> list[tuple[float, float]]:
    """Return sensitivity and specificity at each cut, the one above all scores last."""
    events, others = weight[truth].sum(), weight[~truth].sum()
    return [
        (weight[truth & (score >= cut)].sum() / events, weight[~truth & (score < cut)].sum() / others)
        for cut in [*np.unique(score), np.inf]
    ]


@pytest.mark.metrics("sensitivity_at_specificity", "specificity_at_sensitivity")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_loop_over_the_cuts_agrees_on_rates_at_a_cut(seed: int, weighted: bool) -> None:
    given = rows(seed, weighted)
    found, cuts = tables(*given), every_cut(*given)
    reached = {rate for pair in cuts for rate in pair}  # a rate that a cut has exactly is reached by that cut
    for asked in (*np.arange(41) / 40, *reached):
        assert sensitivity_at(*found, at=asked) == pytest.approx(max(se for se, sp in cuts if sp >= asked), abs=1e-12)
        assert specificity_at(*found, at=asked) == pytest.approx(max(sp for se, sp in cuts if se >= asked), abs=1e-12)


@pytest.mark.metrics("sensitivity_at_specificity", "specificity_at_sensitivity")
@pytest.mark.parametrize("asked", [0.5, 0.8, 0.9, 0.95, 0.99])
def test_scikit_learn_agrees_on_rates_at_a_cut(asked: float) -> None:
    truth, score, weight = rows(8, weighted=True)
    alarmed, sensed, _ = roc_curve(truth, score, sample_weight=weight, drop_intermediate=False)
    found = tables(truth, score, weight)
    # 1e-12: scikit-learn gives the complement of the specificity.
    assert sensitivity_at(*found, at=asked) == pytest.approx(sensed[1 - alarmed >= asked - 1e-12].max(), abs=1e-12)
    assert specificity_at(*found, at=asked) == pytest.approx((1 - alarmed)[sensed >= asked - 1e-12].max(), abs=1e-12)


def test_rates_at_a_cut_take_tables_of_any_shape() -> None:
    truth, score, _ = rows(9, weighted=False)
    weights = np.random.default_rng(9).integers(0, 3, (4, 70))
    stacked = [np.stack(part) for part in zip(*(tables(truth, score, weight) for weight in weights), strict=True)]
    for ask in (sensitivity_at, specificity_at):
        together = ask(*stacked, at=0.8)
        assert together.shape == (4,)
        for place, weight in enumerate(weights):
            assert together[place] == ask(*tables(truth, score, weight), at=0.8)


def test_rates_at_a_cut_reach_both_ends_of_the_curve() -> None:
    events, others = np.array([3.0, 2, 1]), np.array([4.0, 3, 1])  # one of each class at or above the highest score
    assert sensitivity_at(events, others, at=1.0) == 0.0  # only the cut above all scores spares all others
    assert specificity_at(events, others, at=1.0) == 0.0
    assert sensitivity_at(events, others, at=0.0) == 1.0
    assert specificity_at(events, others, at=0.0) == 1.0
    assert sensitivity_at(events, others, at=0.75) == pytest.approx(1 / 3)
    assert specificity_at(events, others, at=2 / 3) == 0.25


def test_a_rate_that_rounding_alone_misses_is_reached() -> None:
    rows = np.arange(10.0, 0, -1)
    light, heavy = (np.cumsum(np.full(10, weight))[::-1] for weight in (0.1, 0.7))
    assert (light[0] - light[8]) / light[0] < 0.8  # eight of ten rows of equal weight
    assert heavy[2] / heavy[0] < 0.8
    assert sensitivity_at(rows, light, at=0.8) == pytest.approx(0.2)
    assert specificity_at(heavy, rows, at=0.8) == pytest.approx(0.2)


def test_without_a_class_there_is_no_rate_at_a_cut() -> None:
    some, none = np.array([2.0, 1]), np.zeros(2)
    for events, others in ((some, none), (none, some)):
        assert np.isnan([sensitivity_at(events, others, at=0.5), specificity_at(events, others, at=0.5)]).all()
