"""What was chosen for being the largest of many: limits that hold for all of them, a value that allows for the choice.

Differences are taken as normal about the truth, with known errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import exp

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

PLACES = 100
"""The most observed differences, evenly by rank, at which true differences are assumed to lie; 0 is a further one."""

STEPS = 100
"""Of the EM algorithm: five times as many change the mean error of simulated winners by 0.002 standard errors."""

LEAST_WEIGHT = 1e-300
"""Of a place, so that a difference with a smaller error than those of which the weights are has a likely place."""

LARGEST_PART = 0.7
"""A correction is at most this part of what the choice adds where all true differences are alike, by the median."""


def reach_of_all(searched: int, level: float) -> float:
    """Return how many standard errors limits reach that hold for ``searched`` differences at once (Bonferroni)."""
    from scipy.special import ndtri

    return -float(ndtri((1 - level) / 2 / searched))


@dataclass(frozen=True)
class TrueDifferences:
    """A discrete distribution of true differences: their possible values, ``values``, and ``weights``, both [m]."""

    values: Floats
    weights: Floats

    def corrected(self, difference: float, error: float, searched: int) -> float:
        """Return a difference, the larger the more likely chosen, corrected for being chosen out of ``searched``.

        It is the mean of the true differences that may lie behind it, which depends on no rank: it grows with the
        difference, and without leaps. As there may be a lone large one that the others do not tell of, the correction
        is limited (Efron & Morris 1972), and is 0 where nothing was chosen. It stops at 0.
        """
        from scipy.special import ndtri

        most = LARGEST_PART * float(ndtri(0.5 ** (1 / searched))) * error
        likely = self.weights * _likelihoods(np.array([difference]), np.array([error]), self.values)[0]
        mean = float((likely * self.values).sum() / likely.sum())
        return min(difference, max(0.0, mean, difference - most))


def true_differences(differences: Floats, errors: Floats) -> TrueDifferences:
    """Return the distribution of true differences that makes ``differences`` with ``errors`` most likely.

    All [n]; those without an error are left out. The estimate supposes no shape: Kiefer & Wolfowitz (1956), by EM; with
    unequal errors Jiang (2020). It takes the differences as independent.
    """
    differences, errors = differences[errors > 0], errors[errors > 0]
    chosen_ranks = np.linspace(0, len(differences) - 1, min(len(differences), PLACES)).astype(np.intp)
    values = np.concatenate([[0.0], np.sort(differences)[chosen_ranks]])
    likelihoods = _likelihoods(differences, errors, values)
    weights = np.full(len(values), 1 / len(values))
    for _ in range(STEPS if len(differences) else 0):
        likely = weights * likelihoods
        weights = (likely / likely.sum(axis=1, keepdims=True)).mean(axis=0)
    return TrueDifferences(values, np.maximum(weights, LEAST_WEIGHT))


def _likelihoods(differences: Floats, errors: Floats, values: Floats) -> Floats:
    """Return the likelihood of each difference [n] if the true one is each of ``values`` [m], relative to its largest.

    The result is [n, m].
    """
    away = ((differences[:, None] - values) / errors[:, None]) ** 2
    return exp((away.min(axis=1, keepdims=True) - away) / 2)
