"""Strengths of models from pairwise wins on items: Bradley-Terry, where not all models have the same items.

All functions take ``means`` [items, models], the score of each item, NaN where a model lacks it, and ``weights``
[items], how much an item counts. A model wins an item against another where its score is higher; scores within `TIE`
of the largest are tied, and a tie is half a win of each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evalpipe.arithmetic import SingularError, expit, product, solve
from evalpipe.chapters.scores.compute_variance import sums_by_cluster
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes

TIE = 1e-12
"""How far apart two scores may lie and still be tied, as a share of the largest: what rounding leaves."""

MOST_STEPS = 100
"""The most steps to the strengths; ten or so are needed, some fifty for a chain of 40 models with one tie a link."""

LONGEST = 3.0
"""The longest step of a log strength: where Newton's method takes a longer one, it mostly goes too far."""

CONVERGED = 1e-9
"""The last step of a log strength, which the next would square."""


class Strengths(NamedTuple):
    """The strengths of models, each [models].

    ``log_strength`` has the mean 0: the log odds of a win are the difference of two. ``error`` is its standard error.
    ``against_average`` is the probability of a win against a model of log strength 0, ``win_rate`` the share of wins in
    all that the model was compared in, ties half. What the data cannot tell is NaN, ``win_rate`` where nothing was
    compared.
    """

    log_strength: Floats
    error: Floats
    against_average: Floats
    win_rate: Floats


def count_wins(means: Floats, weights: Floats | None = None) -> Floats:
    """Return the total weight of the items [models, models] that the model of a row wins against that of a column.

    Ties count one half for both; pairs are compared on the items that both have. The diagonal is 0.
    """
    weight = np.ones(len(means)) if weights is None else np.asarray(weights, float)
    wins = np.empty((means.shape[1],) * 2)
    for model in range(len(wins)):
        outcome = _outcomes(means, model)
        wins[model] = (weight[:, None] * np.where(np.isnan(outcome), 0.0, outcome)).sum(axis=0)
    np.fill_diagonal(wins, 0.0)
    return wins


def connected_models(wins: Floats) -> Flags:
    """Return the models [m] whose strengths are finite, from ``wins`` [m, m]: the largest set, of two or more models.

    Ford (1957, Am. Math. Mon. 64(8), 28-33): however these are split in two, a model of each part has won against one
    of the other. Whoever wins or loses all its comparisons with them is none of them. The first of equal sets is taken.
    """
    reaches = (wins > 0) | np.eye(len(wins), dtype=bool)
    for model in range(len(wins)):
        reaches |= reaches[:, model, None] & reaches[model]
    mutual = reaches & reaches.T
    largest = mutual[mutual.sum(axis=1).argmax()]
    return np.asarray(largest & (largest.sum() > 1))


def fit_strengths(wins: Floats) -> Floats:
    """Return the log strengths [m] with mean 0 that make ``wins`` [m, m] most likely; all models must be connected.

    Bradley & Terry (1952, Biometrika 39, 324-345), by Newton's method. NaN where it does not converge: where wins that
    matter are smaller than others by a factor of 10^10, which rounding hides.
    """
    strengths: Floats = np.zeros(len(wins))
    games = wins + wins.T
    for _ in range(MOST_STEPS):
        chance = expit(strengths[:, None] - strengths)
        try:
            step = solve(_information(games, chance), (wins - games * chance).sum(axis=1))
        except SingularError:
            break
        longest = np.abs(step).max()
        strengths = strengths + step * (LONGEST / max(longest, LONGEST))
        if longest < CONVERGED:
            return strengths
    return np.full(len(wins), np.nan)


def bradley_terry(means: Floats, cluster: Wholes | None = None, weights: Floats | None = None) -> Strengths:
    """Return the strengths of models with errors that treat items, or their clusters, as drawn.

    The sandwich of Huber (1967) and White (1982): an item adds the residuals of all its pairs, which depend on each
    other, and those of its ``cluster`` [items]. So do Chiang et al. (2024, Chatbot Arena, arXiv:2403.04132), whose unit
    is a vote. The factor C / (C - 1) for C clusters is that of `mean_errors`. Models that are not connected with the
    others, as they win or lose all, have neither strength nor error.
    """
    wins = count_wins(means, weights)
    connected = connected_models(wins)
    log_strength, error = (np.full(len(wins), np.nan) for _ in range(2))
    if connected.any():
        inner = wins[np.ix_(connected, connected)]
        log_strength[connected] = fitted = fit_strengths(inner)
        if not np.isnan(fitted).any():
            chance = expit(fitted[:, None] - fitted)
            bread = solve(_information(inner + inner.T, chance), np.eye(len(inner)))
            error[connected] = np.sqrt(_sandwich(bread, means, connected, chance, cluster, weights))
    win_rate = ratio(wins.sum(axis=1), (wins + wins.T).sum(axis=1))
    return Strengths(log_strength, error, expit(log_strength), win_rate)


def _outcomes(means: Floats, model: int) -> Floats:
    """Return 1 where a model wins an item against another [items, models], 0 where it loses, 1/2 where they tie."""
    difference = means[:, model, None] - means
    tied = TIE * np.max(np.abs(means), initial=0.0, where=~np.isnan(means))
    return np.where(np.abs(difference) <= tied, 0.5, 0.5 + 0.5 * np.sign(difference))


def _information(games: Floats, chance: Floats) -> Floats:
    """Return the Fisher information [m, m] of log strengths, with a constant added that holds their mean."""
    between = games * chance * (1 - chance)
    return np.asarray(np.diag(between.sum(axis=1)) - between + between.mean())


def _sandwich(
    bread: Floats, means: Floats, connected: Flags, chance: Floats, cluster: Wholes | None, weights: Floats | None
) -> Floats:
    """Return the clustered variance [k] of log strengths from the inverse of their information, ``bread``."""
    weight = np.ones(len(means)) if weights is None else np.asarray(weights, float)
    residuals = np.empty((len(means), len(bread)))
    for model, column in enumerate(np.flatnonzero(connected).tolist()):
        outcome = _outcomes(means, column)[:, connected]
        residuals[:, model] = weight * np.where(np.isnan(outcome), 0.0, outcome - chance[model]).sum(axis=1)
    sums = product(sums_by_cluster(residuals, cluster), bread)
    compared = np.where((~np.isnan(means[:, connected])).sum(axis=1) > 1, weight, 0.0)
    units = float((sums_by_cluster(compared[:, None], cluster) > 0).sum())
    return np.asarray(ratio(units, units - 1) * np.diagonal(product(np.ascontiguousarray(sums.T), sums)))
