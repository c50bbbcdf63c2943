"""The items that decide: by hand, against plain loops and searches over all subsets, and by laws."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evalpipe.chapters.scores.compute_items import item_spread, items_at, pair_items

NAN = math.nan
RNG = np.random.default_rng(1)
SCORES = RNG.integers(0, 5, (12, 4)) / 4
WEIGHTS = RNG.uniform(0.3, 2.0, 12)
CLUSTER = RNG.integers(0, 4, 12)


def test_spread_by_hand() -> None:
    means = np.array([[0, 0, 0], [1, 1, 1], [0.1 + 0.2, 0.3, 0.3], [1, 0, 1], [0, 1, NAN], [1, NAN, NAN], [NAN] * 3])
    alike, spread = item_spread(means)

    assert alike == pytest.approx(3 / 5)
    assert spread == pytest.approx(np.array([0, 0, 0, 2 / 9, 1 / 4, 0, 0]) / (2 / 9 + 1 / 4))
    # 0.1 + 0.2 is 0.3 but for rounding; the one model that has the sixth item solves it.
    assert [items_at(means, end) for end in (0.0, 0.3, 1.0, 0.5)] == [1, 1, 2, 0]


def test_spread_is_the_variance_across_models() -> None:
    variance = WEIGHTS * SCORES.var(axis=1)
    alike, spread = item_spread(SCORES, WEIGHTS)

    assert spread == pytest.approx(variance / variance.sum(), rel=1e-12)
    models, items = np.array([2, 0, 3, 1]), RNG.permutation(12)
    alike_turned, turned = item_spread(SCORES[items][:, models], 3 * WEIGHTS[items])
    assert turned == pytest.approx(spread[items], rel=1e-12)
    assert alike_turned == pytest.approx(alike)
    _, twice = item_spread(np.tile(SCORES, (2, 1)), np.tile(WEIGHTS, 2) / 2)
    assert twice == pytest.approx(np.tile(spread, 2) / 2, rel=1e-12)


@pytest.mark.parametrize(("first", "second"), list(combinations(range(4), 2)))
@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_the_fewest_items_that_carry_half_are_those_of_a_search(first: int, second: int, weights: Any) -> None:
    carriers, turning = pair_items(SCORES[:, first], SCORES[:, second], CLUSTER, weights)
    share = np.ones(12) / 12 if weights is None else weights / weights.sum()
    parts = share * (SCORES[:, first] - SCORES[:, second])

    sign = np.sign(parts.sum())
    fewest = next(k for k in range(1, 13) if max(
        sign * parts[list(chosen)].sum() for chosen in combinations(range(12), k)) >= abs(parts.sum()) / 2 - 1e-12)
    assert carriers == fewest
    for topic in range(4):
        rest = topic != CLUSTER
        expected = np.average(SCORES[rest, first] - SCORES[rest, second], weights=share[rest])
        assert (topic in turning) == (sign * expected <= 1e-12)


def test_one_topic_carries_the_difference() -> None:
    first, second = np.array([1, 1, 1, 0, 0, 1.0]), np.array([0, 0, 0, 1, 0, 1.0])
    topics = np.array([0, 0, 0, 1, 1, 2])
    # Without topics the difference is -1/3, 3/4 and 2/5.
    assert pair_items(first, second, topics) == pair_items(second, first, topics) == (1, [0])


def test_a_difference_that_ends_without_a_topic_turns() -> None:
    assert pair_items(
        np.array([0.1, 0.2, 0.0, 0.6]), np.array([0.0, 0.0, 0.3, 0.0]), np.array([0, 0, 0, 1])) == (1, [1])


def test_items_that_favour_the_other_model_carry_nothing() -> None:
    first = np.array([0.0, *[1.0] * 10])

    assert pair_items(first, np.array([3.0, *[0.0] * 10])) == (4, [])  # half of the total 7 is 3.5


def test_missing_and_weightless_items_carry_nothing() -> None:
    first, second = np.array([1.0, NAN, 0.5, 0.0]), np.array([0.0, 1.0, 0.5, 1.0])
    # Without topics the difference is 0, 2/3 and 1.
    assert pair_items(first, second, np.array([0, 1, 2, 2]), np.array([2.0, 5.0, 1.0, 0.0])) == (1, [0])


def test_equal_models_have_no_items_that_decide() -> None:
    assert pair_items(SCORES[:, 0], SCORES[:, 0] * (1 + 1e-16), CLUSTER) == (None, [])
    alike, spread = item_spread(np.full((3, 2), 0.1))
    assert alike == 1.0
    assert np.isnan(spread).all()


def test_nothing_in_common_is_nan() -> None:
    for weights, second in ((None, np.full(12, NAN)), (np.zeros(12), SCORES[:, 1])):
        assert pair_items(SCORES[:, 0], second, CLUSTER, weights) == (None, [])
    assert math.isnan(item_spread(SCORES[:, :1])[0])
    assert math.isnan(item_spread(SCORES, np.zeros(12))[0])


def test_a_single_topic_has_nothing_left_without_it() -> None:
    assert pair_items(SCORES[:, 0], SCORES[:, 1], np.zeros(12, int), [0.1] * 3 + [0.3] * 9)[1] == []
