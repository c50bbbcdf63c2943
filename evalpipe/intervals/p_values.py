"""p-values from limits, of a number against a bound and of two numbers, and their adjustment for many tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

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
    """Return how many standard errors limits at a level lie from the value."""
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
