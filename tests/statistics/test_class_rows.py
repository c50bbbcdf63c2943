"""Rows of several classes: each is sorted once by the scores of each class, and pairs are counted from that order."""

from __future__ import annotations

import numpy as np

from evalpipe.statistics import ClassRows, Summary


def of_classes(n: int, levels: int) -> ClassRows:
    """Rows whose probabilities have one digit, so that many are tied; no row is of the last class."""
    generator = np.random.default_rng(n)
    probabilities = np.round(generator.dirichlet(np.ones(levels), n), 1)
    truth = generator.integers(0, levels - 1, n)
    return ClassRows(truth, levels, probabilities.argmax(axis=1), probabilities)


def pairs_one_by_one(of: ClassRows, weights: np.ndarray) -> np.ndarray:
    """Count the pairs as the definition says: over every two rows, ties half."""
    wins = np.zeros((of.levels, of.levels))
    for a, level in enumerate(of.truth):
        for b, other in enumerate(of.truth):
            if level != other:
                difference = of.level_probabilities[a, level] - of.level_probabilities[b, level]
                wins[level, other] += weights[a] * weights[b] * (np.sign(difference) + 1) / 2
    return wins


def test_pairs_are_those_of_the_definition() -> None:
    classes = of_classes(60, 4)
    weights = np.random.default_rng(1).integers(0, 4, (3, len(classes.truth)))
    expected = [pairs_one_by_one(classes, row) for row in weights]
    # Weights are whole numbers: halves of them are summed without rounding.
    np.testing.assert_array_equal(Summary(classes, weights)("ranked_pairs"), expected)
    fractions = weights[0] / 3
    # Of other weights each sum may round, by some 1e-16 of it for each of 60 rows.
    np.testing.assert_allclose(Summary(classes, fractions)("ranked_pairs"), expected[0] / 9, rtol=1e-13)


def test_replicates_share_the_order_of_the_rows() -> None:
    classes = of_classes(60, 4)
    weights = np.random.default_rng(1).integers(0, 4, (3, len(classes.truth)))
    summaries = [Summary(classes, row) for row in weights]
    assert all(each.classes[0].rows.order is summaries[0].classes[0].rows.order for each in summaries)
    assert all(each.pooled.rows.order is summaries[0].pooled.rows.order for each in summaries)
