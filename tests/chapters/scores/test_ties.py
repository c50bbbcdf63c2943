"""Tied sets: by hand, against Piepho's insertion and absorption, and where there are too many of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.chapters.scores.compute_ties import MOST_STEPS, tied_sets


def verdicts(models: int, pairs: Any) -> Any:
    apart = np.zeros((models, models), bool)
    for first, second in pairs:
        apart[first, second] = apart[second, first] = True
    return apart


def inserted_and_absorbed(apart: Any) -> list[tuple[int, ...]]:
    """Return the sets of the display as Piepho (2004) builds it: a column is split for each pair that is apart."""
    columns = {frozenset(range(len(apart)))}
    for first, second in zip(*np.nonzero(np.triu(apart)), strict=True):
        split = {column - {member} for column in columns for member in (first, second)
                 if {first, second} <= column} | {column for column in columns if not {first, second} <= column}
        columns = {column for column in split if not any(column < other for other in split)}
    return sorted(tuple(sorted(map(int, column))) for column in columns)


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
    assert tied_sets(verdicts(models, apart)) == (expected, True)


@given(st.integers(1, 9).flatmap(lambda m: st.tuples(st.just(m), st.sets(st.sampled_from(
    list(combinations(range(m), 2)) or [(0, 0)])))))
def test_sets_are_those_of_the_letter_display(drawn: Any) -> None:
    models, pairs = drawn
    apart = verdicts(models, {pair for pair in pairs if pair[0] < pair[1]})

    assert tied_sets(apart) == (inserted_and_absorbed(apart), True)


def test_what_stands_in_one_half_of_the_matrix_counts() -> None:
    apart = verdicts(3, [(0, 2)])

    assert tied_sets(np.triu(apart)) == tied_sets(np.tril(apart)) == tied_sets(apart | np.eye(3, dtype=bool))


def test_40_models_in_a_line_have_a_set_for_each_window() -> None:
    place = np.arange(40)
    sets, complete = tied_sets(np.abs(place[:, None] - place) > 6)

    assert complete
    assert sets == [tuple(range(first, first + 7)) for first in range(34)]


@pytest.mark.parametrize("size", [2, 3, 5])
def test_too_many_sets_are_cut_to_some_that_hold_each_tied_pair(size: int) -> None:
    apart = np.kron(np.eye(39 // size, dtype=bool), np.ones((size, size), bool))  # size^(39 / size) maximal sets
    apart = np.pad(apart, (0, 1), constant_values=True)  # and one model that is apart from all
    sets, complete = tied_sets(apart)
    ties = ~(apart | np.eye(len(apart), dtype=bool))

    assert not complete
    assert len(sets) < MOST_STEPS / 2
    assert sets == sorted(set(sets))
    assert (len(apart) - 1,) in sets
    held = np.zeros_like(apart)
    for members in sets:
        assert list(members) == sorted(members)
        assert not apart[np.ix_(members, members)][~np.eye(len(members), dtype=bool)].any()
        assert not ties[:, members].all(axis=1).any(), "another model could join"
        assert members == (len(apart) - 1,) or len(members) == 39 // size
        held[np.ix_(members, members)] = True
    assert (held | ~ties).all()
