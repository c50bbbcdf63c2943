"""The evidence of a night: by all that can happen, where that can be listed, and by simulation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from evalpipe.chapters.gates.compute_sequence import (
    ALLOWANCE,
    SCALES,
    SHARES,
    of_a_mean,
    proportion_evidence,
    ratio_evidence,
    value_evidence,
)


@pytest.mark.parametrize("trials", [0, 1, 7, 40])
@pytest.mark.parametrize("limit", [0.02, 0.5, 0.75, 0.99])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_mean_of_the_evidence_is_one_on_the_limit(trials: int, limit: float, side: int) -> None:
    """Of all numbers of successes: 1 on the limit, at most 1 where it is kept, for and against."""
    hits = np.arange(trials + 1.0)
    evidence = proportion_evidence(hits, np.array(float(trials)), limit, side)
    on_it = binom.pmf(hits, trials, limit) @ np.exp(evidence.against), binom.pmf(hits, trials, limit) @ np.exp(
        evidence.kept)
    kept = binom.pmf(hits, trials, limit - side * 0.01) @ np.exp(evidence.against)
    missed = binom.pmf(hits, trials, limit + side * 0.01) @ np.exp(evidence.kept)
    # Sums of 41 terms of which the largest are near 1: rounding alone.
    np.testing.assert_allclose(on_it, 1, rtol=1e-12)
    assert (kept <= 1 + 1e-12).all()
    assert (missed <= 1 + 1e-12).all()


def test_the_evidence_on_a_proportion_is_a_likelihood_ratio() -> None:
    """A bet of b is the likelihood ratio of the proportion limit * (1 - b * (1 - limit)) to the limit."""
    hits, trials, limit = 200.0, 300.0, 0.75
    others = [limit * (1 - share) for share in SHARES]  # of which the largest bet is 1 / (1 - limit)
    ratios = [binom.logpmf(hits, trials, other) - binom.logpmf(hits, trials, limit) for other in others]
    evidence = proportion_evidence(np.array(hits), np.array(trials), limit, -1)
    # Logarithms of probabilities of about 1e-5 lose four digits.
    np.testing.assert_allclose(evidence.against, ratios, rtol=1e-9)


def test_a_proportion_is_a_mean_of_zeros_and_ones() -> None:
    values = np.array([1.0, 0.0])
    both = [of_a_mean(values, np.array([41.0, 9.0]), 0.9, side, (0.0, 1.0)) for side in (-1, 1)]
    own = [proportion_evidence(np.array(41.0), np.array(50.0), 0.9, side) for side in (-1, 1)]
    np.testing.assert_array_equal(both, own)


def test_the_evidence_on_a_ratio_is_of_mean_one_over_all_samples_of_rows() -> None:
    """F1 at 0.6: true positives, false positives and false negatives of probabilities that make F1 0.6, three rows."""
    chances, limit = np.array([0.3, 0.3, 0.1, 0.3]), 0.6  # 2 * 0.3 / (2 * 0.3 + 0.3 + 0.1)
    total = np.zeros((2, len(SHARES)))
    for rows in itertools.product(range(4), repeat=3):
        counts = np.bincount(rows, minlength=4)[:3]
        evidence = ratio_evidence([(2, 2), (0, 1), (0, 1)], counts, limit, -1)
        total += chances[list(rows)].prod() * np.exp(evidence)
    # Sums of 64 terms: rounding alone.
    np.testing.assert_allclose(total, 1, rtol=1e-12)


def test_one_row_against_a_limit_that_none_may_miss() -> None:
    """A proportion that must be 1: one failure is worth more than any level asks, and no success tells anything."""
    evidence = proportion_evidence(np.array([50.0, 49.0]), np.array(50.0), 1.0, -1)
    assert evidence.against[0].tolist() == [0.0] * len(SHARES)
    assert evidence.against[1].max() == pytest.approx(np.log1p(0.5e6))
    assert evidence.kept[0].max() == pytest.approx(0, abs=1e-12)  # not even by all successes, for the limit is the end


def test_the_evidence_on_a_value_is_of_mean_one_where_it_is_normal_and_off_by_the_allowance() -> None:
    """By Gauss-Hermite quadrature; below one on the limit."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    below, above = (value_evidence(0.8 + 0.02 * (nodes + off), 0.02, 0.8, -1) for off in (-ALLOWANCE, ALLOWANCE))
    shares = weights / weights.sum()
    # The quadrature of 60 nodes is exact for polynomials, and the exponential is near one here.
    np.testing.assert_allclose(shares @ np.exp(below.against), np.ones(len(SCALES)), rtol=1e-9)
    np.testing.assert_allclose(shares @ np.exp(above.kept), np.ones(len(SCALES)), rtol=1e-9)
    on_it = value_evidence(0.8 + 0.02 * nodes, 0.02, 0.8, -1)
    np.testing.assert_allclose(shares @ np.exp(on_it.against), np.exp(-ALLOWANCE * np.array(SCALES)), rtol=1e-9)


@pytest.mark.parametrize("side", [-1, 1])
def test_what_is_for_a_limit_below_is_against_one_above(side: int) -> None:
    first, second = (of_a_mean(np.array([0.2, 0.7]), np.array([30.0, 20.0]), 0.4, s, (0.0, 1.0)) for s in (side, -side))
    np.testing.assert_array_equal(first.against, second.kept)
    assert first.against.max() != first.kept.max()
