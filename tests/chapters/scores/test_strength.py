"""Bradley-Terry strengths: against logistic regression in statsmodels, Ford's condition, laws and coverage."""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

from evalpipe.chapters.scores.compute_strength import (
    bradley_terry,
    connected_models,
    count_wins,
    fit_strengths,
)


def drawn(seed: int, items: int = 60, models: int = 5, *, missing: float = 0.3) -> Any:
    """Return scores [items, models] of six levels, so that some tie, and some are missing."""
    rng = np.random.default_rng(seed)
    scores = np.rint(rng.normal(0, 1, (items, 1)) + rng.normal(0, 1.2, (items, models)) + np.linspace(0.8, 0, models))
    scores[rng.random(scores.shape) < missing] = np.nan
    return scores


WEIGHTS = np.random.default_rng(3).integers(1, 4, 60).astype(float)
CLUSTER = np.random.default_rng(4).integers(0, 12, 60)


def pairs(scores: Any) -> Any:
    """Return a row for each pair of models on each item: the outcome, the item, and 1 and -1 for the two."""
    rows = [(0.5 + 0.5 * np.sign(row[a] - row[b]), item, a, b) for item, row in enumerate(scores)
            for a, b in combinations(range(len(row)), 2) if not math.isnan(row[a] - row[b])]
    outcome, item, first, second = map(np.array, zip(*rows, strict=True))
    sides = np.zeros((len(rows), scores.shape[1]))
    sides[np.arange(len(rows)), first], sides[np.arange(len(rows)), second] = 1.0, -1.0
    return outcome, item, sides


def centred(models: int) -> Any:
    """Return the matrix that makes log strengths with the mean 0 of those against the first model."""
    return (np.eye(models) - 1 / models)[:, 1:]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cluster", [None, CLUSTER])
def test_strengths_and_errors_are_those_of_a_logistic_regression_without_intercept(seed: int, cluster: Any) -> None:
    scores = drawn(seed)
    outcome, item, sides = pairs(scores)
    groups = item if cluster is None else cluster[item]
    fit = sm.GLM(outcome, sides[:, 1:], family=sm.families.Binomial()).fit(
        tol=1e-14, cov_type="cluster", cov_kwds={"groups": groups, "use_correction": False})
    units = len(set(groups))
    covariance = centred(5) @ fit.cov_params() @ centred(5).T * units / (units - 1)
    strengths = bradley_terry(scores, cluster)

    np.testing.assert_allclose(strengths.log_strength, centred(5) @ fit.params, atol=1e-9)
    np.testing.assert_allclose(strengths.error, np.sqrt(np.diag(covariance)), rtol=1e-9)
    assert strengths.against_average == pytest.approx(1 / (1 + np.exp(-strengths.log_strength)), rel=1e-12)


def test_weighted_strengths_are_those_of_weighted_pairs() -> None:
    scores = drawn(5)
    outcome, item, sides = pairs(scores)
    fit = sm.GLM(outcome, sides[:, 1:], family=sm.families.Binomial(), freq_weights=WEIGHTS[item]).fit(tol=1e-14)

    np.testing.assert_allclose(bradley_terry(scores, None, WEIGHTS).log_strength, centred(5) @ fit.params, atol=1e-9)


def test_wins_are_counted_pair_by_pair() -> None:
    scores = drawn(6)
    wins, win_rate = count_wins(scores, WEIGHTS), bradley_terry(scores, None, WEIGHTS).win_rate

    for a, b in np.ndindex(5, 5):
        both = [(w, row[a], row[b]) for w, row in zip(WEIGHTS, scores, strict=True) if not math.isnan(row[a] + row[b])]
        expected = sum(w * (1.0 if x > y else 0.5 if x == y else 0.0) for w, x, y in both) if a != b else 0.0
        assert wins[a, b] == pytest.approx(expected, rel=1e-12)
    for a in range(5):
        others = [b for b in range(5) if b != a]
        games = sum(wins[a, b] + wins[b, a] for b in others)
        assert win_rate[a] == pytest.approx(sum(wins[a, b] for b in others) / games, rel=1e-12)


def test_scores_that_differ_by_rounding_tie() -> None:
    assert count_wins(np.array([[0.1 + 0.2, 0.3]])).tolist() == [[0, 0.5], [0.5, 0]]


def test_strengths_of_two_models_are_their_log_odds() -> None:
    scores = np.array([[1.0, 0.0]] * 3 + [[0.0, 1.0]])
    strengths = bradley_terry(scores)

    assert strengths.log_strength == pytest.approx([math.log(3) / 2, -math.log(3) / 2], rel=1e-12)
    # Of the log odds: 1 / (n p (1 - p)), times n / (n - 1) as items are drawn; a strength is half of them.
    assert strengths.error**2 * 4 == pytest.approx(np.full(2, 4 / 3 / (4 * 3 / 16)), rel=1e-12)
    assert strengths.win_rate.tolist() == [0.75, 0.25]


def chain(models: int, wins: float) -> Any:
    """Return the wins of models that met their neighbours alone, with one tie a pair."""
    return np.diag(np.full(models - 1, wins - 0.5), 1) + np.diag(np.full(models - 1, 0.5), -1)


@pytest.mark.parametrize(
    "wins",
    [
        np.array([[0.0, 1e6, 1e5], [1.0, 0.0, 3e4], [1e-3, 2.0, 0.0]]),
        np.array([[0.0, 1256, 0, 2357], [1, 0, 73959, 0], [0, 98, 0, 4], [0, 0, 3, 0]]),  # whole steps go too far
        chain(40, 5000.0),
        chain(40, 5000.0) + np.triu(np.full((40, 40), 300.0), 1),
    ],
)
def test_the_fit_balances_wins_that_are_far_from_even(wins: Any) -> None:
    strengths = fit_strengths(wins)
    chance = 1 / (1 + np.exp(strengths - strengths[:, None]))

    np.testing.assert_allclose(((wins + wins.T) * chance).sum(axis=1), wins.sum(axis=1), rtol=1e-9)
    assert strengths.sum() == pytest.approx(0.0, abs=1e-9)


def test_a_chain_has_the_log_odds_of_its_links() -> None:
    assert np.diff(fit_strengths(chain(40, 5000.0))) == pytest.approx(-math.log(4999.5 / 0.5), rel=1e-9)


def test_wins_that_rounding_hides_have_no_strengths() -> None:
    wins = np.array([[0.0, 1e18, 0.0], [1e18, 0.0, 1e-9], [0.0, 1e-9, 0.0]])

    assert np.isnan(fit_strengths(wins)).all()


def test_the_order_of_models_changes_nothing() -> None:
    scores, models = drawn(7), np.array([3, 0, 4, 1, 2])
    strengths, turned = bradley_terry(scores, CLUSTER, WEIGHTS), bradley_terry(scores[:, models], CLUSTER, WEIGHTS)

    np.testing.assert_allclose(turned.log_strength, strengths.log_strength[models], atol=1e-12)
    np.testing.assert_allclose(turned.error, strengths.error[models], rtol=1e-9)
    np.testing.assert_allclose(turned.win_rate, strengths.win_rate[models], rtol=1e-12)


def test_weights_are_copies_of_an_item_in_its_cluster() -> None:
    scores, rows = drawn(8), np.repeat(np.arange(60), WEIGHTS.astype(int))
    weighted, copied, halved = (bradley_terry(scores, None, WEIGHTS), bradley_terry(scores[rows], rows),
                                bradley_terry(scores, None, WEIGHTS / 2))

    for other in (copied, halved):
        for result, expected in zip(other, weighted, strict=True):
            np.testing.assert_allclose(result, expected, rtol=1e-8, atol=1e-10)
    zeroed = np.where(np.arange(60) < 40, WEIGHTS, 0.0)
    np.testing.assert_allclose(bradley_terry(scores, None, zeroed).error,
                               bradley_terry(scores[:40], None, WEIGHTS[:40]).error, rtol=1e-9)


def test_errors_cover_under_items_that_help_all_models() -> None:
    """A model's score on an item is 1 with one chance of the item for all: pairs of an item depend on each other."""
    rng, covered = np.random.default_rng(9), 0
    for _ in range(400):
        scores = (rng.random((150, 4)) < rng.beta(1, 1, (150, 1))).astype(float)
        strengths = bradley_terry(scores)
        covered += int((np.abs(strengths.log_strength) <= 1.96 * strengths.error).sum())

    assert 0.93 <= covered / 1600 <= 0.97


NAN = math.nan


@pytest.mark.parametrize(
    ("scores", "connected"),
    [
        ([[3, 2, 1], [3, 1, 2]], [False, True, True]),  # the first wins all
        ([[2, 3, 1], [3, 2, 1]], [True, True, False]),  # the last wins none
        ([[3, 2, 1]], [False] * 3),
        ([[1, 1, 1]], [True] * 3),  # a tie counts for both
        ([[2, 1, NAN], [1, 2, NAN]], [True, True, False]),  # the last was compared with none
        ([[4, 3, 2, 1], [3, 4, 1, 2]], [True, True, False, False]),  # two sets of two
        ([[4, 2, 1, 3], [NAN, 2, 1, 3], [NAN, 1, 2, NAN], [NAN, 3, NAN, 2]], [False, True, True, True]),
        ([[2, 1, NAN], [NAN, 2, 1], [1, NAN, 2]], [True] * 3),  # a ring
        ([[5]], [False]),
        ([[NAN, 1], [1, NAN]], [False] * 2),
    ],
)
def test_models_that_win_or_lose_all_have_no_strength(scores: Any, connected: Any) -> None:
    scores = np.array(scores, float)
    strengths = bradley_terry(scores)

    assert connected_models(count_wins(scores)).tolist() == connected
    assert (~np.isnan(strengths.log_strength)).tolist() == connected
    if len(scores) > 1:
        assert (~np.isnan(strengths.error)).tolist() == connected
    assert np.nansum(strengths.log_strength) == pytest.approx(0.0, abs=1e-12)
    if any(connected):
        alone = bradley_terry(scores[:, connected])
        np.testing.assert_allclose(strengths.log_strength[connected], alone.log_strength, atol=1e-12)


def test_what_has_no_items_is_nan() -> None:
    scores = drawn(10, missing=0.0)
    for strengths in (bradley_terry(scores, None, np.zeros(60)), bradley_terry(np.full((4, 5), NAN))):
        assert np.isnan(strengths.win_rate).all()
        assert np.isnan(strengths.log_strength).all()
    single = bradley_terry(scores, np.zeros(60, int))
    assert np.isfinite(single.log_strength).all()
    assert np.isnan(single.error).all()
