"""Many tests: p-values from limits and their adjustment; limits and values of what was chosen for being the largest.

The chosen are differences, taken as normal about the truth, with known errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

from evalpipe.arithmetic import exp
from evalpipe.base.lazy_numpy import np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


SMALLEST = 1e-300
"""The smallest p-value: a normal tail further out has none that a float holds."""

Known = tuple[float | None, float | None, float | None, float | None]
"""A value, its lower and upper limit, and their level; each None if missing."""


def p_against(known: Known, bound: float) -> float:
    """Return the two-sided p-value of the test that a number is ``bound``, from its limits; 1 without them.

    The half of the interval towards the bound is taken as that of a normal distribution: Altman & Bland (2011).
    """
    value, lower, upper, level = known
    if value is None or lower is None or upper is None or level is None or value == bound:
        return 1.0
    half = value - lower if value > bound else upper - value
    return p_of((value - bound) / half * _normal_quantile(level)) if half > 0 else SMALLEST


def p_between(first: Known, second: Known) -> float:
    """Return the two-sided p-value of the test that two numbers of independent samples are equal; 1 without limits.

    Each interval gives its error by the half that faces the other number, as of a normal distribution.
    """
    if first[0] is None or second[0] is None or first[0] == second[0]:
        return 1.0
    (low, _, upper, level), (high, lower, _, other_level) = sorted((first, second), key=lambda known: known[0] or 0.0)
    if low is None or high is None or upper is None or lower is None or level is None or other_level is None:
        return 1.0
    of_low, of_high = (upper - low) / _normal_quantile(level), (high - lower) / _normal_quantile(other_level)
    error = math.sqrt(of_low**2 + of_high**2)
    return p_of((high - low) / error) if error > 0 else SMALLEST


def limits_between(first: Known, second: Known) -> tuple[float, float]:
    """Return the limits of the second number less the first, of independent samples whose limits have one level.

    Each limit of the difference comes from the halves of both intervals that face it: Newcombe (1998). Raises
    ValueError where a limit is missing.
    """
    a, a_low, a_high, _ = first
    b, b_low, b_high, _ = second
    if a is None or b is None or a_low is None or a_high is None or b_low is None or b_high is None:
        raise ValueError("a number without limits has no limits of a difference")
    return b - a - math.hypot(b - b_low, a_high - a), b - a + math.hypot(b_high - b, a - a_low)


def p_of(z: float) -> float:
    """Return the two-sided p-value of a value ``z`` standard errors from the null hypothesis."""
    return max(2 * NormalDist().cdf(-abs(z)), SMALLEST)


def _normal_quantile(level: float) -> float:
    """Return the number of standard errors from the value to its normal limits at ``level``: 1.96 at 0.95."""
    return NormalDist().inv_cdf((1 + level) / 2)


def holm(p: Floats | Sequence[float], weights: Sequence[float] | None = None) -> Floats:
    """Return p-values adjusted so that the chance of any false rejection stays below the level.

    Of m p-values the i-th smallest is multiplied by m - i + 1, never falling, at most 1; the tests may depend on each
    other in any way. ``weights`` share the error unequally: a p-value counts by its weight, and is multiplied by the
    weights that are left over its own. Shapes are kept; NaN is no test: it stays NaN and is not counted. Holm (1979).
    """
    p_values = np.asarray(p, float)
    share = np.ones_like(p_values) if weights is None else np.asarray(weights, float)

    def step(ranked: Floats, ranked_share: Floats) -> Floats:
        left = np.cumsum(ranked_share[::-1])[::-1]
        return np.maximum.accumulate(ranked * left / ranked_share)

    return _adjusted(p_values, step, share)


def benjamini_hochberg(p: Floats | Sequence[float]) -> Floats:
    """Return p-values adjusted so that the expected share of false ones among the rejections stays below the level.

    Of m p-values the i-th smallest is multiplied by m / i, never rising towards smaller ones, at most 1; for tests that
    are independent or positively dependent. Shapes are kept; NaN is no test: it stays NaN and is not counted. Benjamini
    & Hochberg (1995).
    """

    def step(ranked: Floats, _: Floats) -> Floats:
        factors = len(ranked) / np.arange(1, len(ranked) + 1)
        return np.minimum.accumulate((ranked * factors)[::-1])[::-1]

    p_values = np.asarray(p, float)
    return _adjusted(p_values, step, np.ones_like(p_values))


def _adjusted(p_values: Floats, step: Callable[[Floats, Floats], Floats], share: Floats) -> Floats:
    """Return p-values adjusted by ``step``, in their shape and order; NaN stays NaN.

    ``step`` takes the p-values in ascending order of p over weight, with their weights ``share``.
    """
    is_test = ~np.isnan(p_values)
    family, share, adjusted = p_values[is_test], share[is_test], np.full_like(p_values, np.nan)
    order = np.argsort(family / share, kind="stable")
    family[order] = np.minimum(step(family[order], share[order]), 1.0)
    adjusted[is_test] = family
    return adjusted


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
        """Return a difference that was selected as the largest of ``searched``, shrunk to correct for the selection.

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
