"""Sums of floats that no order and no parting of the terms changes."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalpipe.statistics.exact_sums import ExactSums

GENERATOR = np.random.default_rng(1)


def spread(n: int) -> np.ndarray:
    return GENERATOR.normal(size=n) * 10.0 ** GENERATOR.integers(-8, 8, n)


def test_totals_are_those_of_exact_arithmetic() -> None:
    values = spread(10_000)
    # At least 48 bits below the largest term are kept of each.
    error = 10_000 * np.abs(values).max() * 2.0**-48
    assert ExactSums(1).add(values).totals[0] == pytest.approx(math.fsum(values), abs=error, rel=0)


def test_probabilities_are_summed_without_error() -> None:
    values = GENERATOR.random(10_000)
    groups = GENERATOR.integers(0, 5, 10_000)
    totals = ExactSums(5).add(values, groups).totals
    # The windows end 2^-64 after the point, so that a probability loses nothing that shows in a sum of thousands.
    assert totals.tolist() == [math.fsum(values[groups == group]) for group in range(5)]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 400), max_size=6), st.integers(0, 2**32 - 1))
def test_no_order_and_no_parting_changes_a_bit(cuts: list[int], seed: int) -> None:
    values, groups = spread(400), GENERATOR.integers(0, 3, 400)
    expected = ExactSums(3).add(values, groups).totals
    order = np.random.default_rng(seed).permutation(400)
    merged = ExactSums(3)
    for part in np.split(order, sorted(cuts)):
        merged.merge(ExactSums(3).add(values[part], groups[part]))
    assert merged.totals.tolist() == expected.tolist()


def test_counts_are_repetitions() -> None:
    values, counts = spread(300), GENERATOR.integers(0, 1000, 300)
    repeated = ExactSums(1).add(np.repeat(values, counts))
    assert ExactSums(1).add(values, counts=counts).totals.tolist() == repeated.totals.tolist()


def test_large_counts_are_exact_too() -> None:
    values, counts = 100 + GENERATOR.random(3_000), GENERATOR.integers(1, 2**24, 3_000)
    total = sum(Fraction(value) * int(count) for value, count in zip(values, counts, strict=True))
    # Windows that end 2^-64 after the point hold all bits of these values; the total is rounded once.
    assert ExactSums(1).add(values, counts=counts).totals[0] == pytest.approx(float(total), rel=2.0**-52)
    order = GENERATOR.permutation(3_000)
    parted = ExactSums(1).add(values[order[:7]], counts=counts[order[:7]]).add(
        values[order[7:]], counts=counts[order[7:]])
    assert parted.totals.tolist() == ExactSums(1).add(values, counts=counts).totals.tolist()


def test_totals_that_outgrow_a_window_are_carried() -> None:
    sums = ExactSums(1)
    for _ in range(40):
        sums = ExactSums(1).merge(sums).merge(sums).merge(ExactSums(1).add(np.array([1.0, 2.0**-40])))
    # 2^40 - 1 times the two terms: more than the lower window holds without a carry.
    assert sums.totals[0] == (2**40 - 1) * (1 + 2.0**-40)


def test_nothing_comes_to_nothing() -> None:
    assert ExactSums(2).totals.tolist() == [0.0, 0.0]
    assert ExactSums(1).add(np.zeros(3)).add(np.array([])).totals.tolist() == [0.0]
