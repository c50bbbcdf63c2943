"""Tied sets: by hand, against a search over all subsets, and where there are too many of them."""

from __future__ import annotations

import sys
from itertools import combinations, compress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.chapters.scores.compute_ties import MOST_SETS, tied_sets

PLACE = np.arange(40)


def verdicts(models: int, pairs: Any) -> Any:
    apart = np.zeros((models, models), bool)
    for first, second in pairs:
        apart[first, second] = apart[second, first] = True
    return apart


def searched(apart: Any) -> list[tuple[int, ...]]:
    """Return the sets of models of which no two are apart and that no other model can join, of all subsets."""
    tied = [{int(other) for other in np.flatnonzero(~row)} for row in apart]
    subsets = (set(chosen) for size in range(1, len(apart) + 1) for chosen in combinations(range(len(apart)), size))
    return sorted(tuple(sorted(chosen)) for chosen in subsets
                  if set.intersection(*(tied[model] for model in chosen)) == chosen)


@pytest.mark.parametrize(
    ("models", "apart", "expected"),
    [
        (1, [], [(0,)]),
        (3, [], [(0, 1, 2)]),
        (3, [(0, 1), (0, 2), (1, 2)], [(0,), (1,), (2,)]),
        (4, [(0, 1), (0, 2), (0, 3), (1, 3)], [(0,), (1, 2), (2, 3)]),  # A; B and C; C and D
        (4, [(0, 3)], [(0, 1, 2), (1, 2, 3)]),
        (3, [(0, 1)], [(0, 2), (1, 2)]),  # more noise in the last
        (5, [(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)], [(0, 1), (0, 4), (1, 2), (2, 3), (3, 4)]),  # a ring
    ],
)
def test_sets_by_hand(models: int, apart: Any, expected: Any) -> None:
    assert tied_sets(verdicts(models, apart)) == expected


def test_sets_of_five_models_are_those_of_a_search_whatever_is_tied() -> None:
    pairs = list(combinations(range(5), 2))
    for number in range(2 ** len(pairs)):
        apart = verdicts(5, compress(pairs, map(int, f"{number:010b}")))
        assert tied_sets(apart) == searched(apart)


@given(st.integers(1, 9).flatmap(lambda m: st.tuples(st.just(m), st.sets(st.sampled_from(
    list(combinations(range(m), 2)) or [(0, 0)])))))
def test_sets_of_more_models_are_those_of_a_search(drawn: Any) -> None:
    models, pairs = drawn
    apart = verdicts(models, {pair for pair in pairs if pair[0] < pair[1]})

    assert tied_sets(apart) == searched(apart)


@pytest.mark.parametrize("tied_places", range(1, 40, 6))
def test_40_models_in_a_line_have_a_set_for_each_window(tied_places: int) -> None:
    sets = tied_sets(np.abs(PLACE[:, None] - PLACE) > tied_places)

    assert sets == [tuple(range(first, first + tied_places + 1)) for first in range(40 - tied_places)]


def groups(size: int, count: int) -> Any:
    """Return verdicts on ``count`` groups of models; those of a group are apart: there are size^count sets."""
    return np.kron(np.eye(count, dtype=bool), ~np.eye(size, dtype=bool))


def test_of_more_sets_than_are_listed_there_are_none() -> None:
    sets = tied_sets(groups(2, 7))

    assert sets is not None
    assert len(sets) == 2**7 < MOST_SETS < 2**8
    assert tied_sets(groups(2, 8)) is None


EACH_FROM_ONE = np.eye(40, k=20, dtype=bool) | np.eye(40, k=-20, dtype=bool)
EACH_FROM_ONE[20:, 20:] = ~np.eye(20, dtype=bool)


@pytest.mark.parametrize(
    ("apart", "number", "most"),
    [
        (np.abs(PLACE[:, None] - PLACE) > 6, 34, 5_000),
        (EACH_FROM_ONE, 21, 5_000),  # 2^20 sets while nothing parts the last 20
        (np.pad(groups(14, 2), (0, 12)), 196, 40 * MOST_SETS * MOST_SETS),
        (groups(2, 20), None, 8 * MOST_SETS * MOST_SETS),
    ],
)
def test_40_models_take_few_steps(apart: Any, number: int | None, most: int) -> None:
    steps = 0

    def count(_frame: object, event: str, _value: object) -> None:
        nonlocal steps
        steps += event == "call"  # of a generator, each comparison of two sets

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        sets = tied_sets(apart)
    finally:
        sys.setprofile(before)
    assert (None if sets is None else len(sets)) == number
    assert len(apart) < steps < most
