"""p-values from limits: of a number against a bound, and of two numbers of independent samples."""

from __future__ import annotations

from statistics import NormalDist

SMALLEST = 1e-300
"""The smallest p-value: a normal tail further out has none that a float holds."""

Known = tuple[float | None, float | None, float | None, float | None]
"""A value, its lower and upper limit, and their level; None of what there is not."""


def p_against(known: Known, bound: float) -> float:
    """Return the two-sided p-value of the test that a number is ``bound``, from its limits; 1 without them.

    The half of the interval towards the bound is taken as that of a normal distribution: Altman & Bland (2011).
    """
    value, lower, upper, level = known
    if value is None or lower is None or upper is None or level is None or value == bound:
        return 1.0
    half = value - lower if value > bound else upper - value
    return p_of((value - bound) / half * _reach(level)) if half > 0 else SMALLEST


def p_between(first: Known, second: Known) -> float:
    """Return the two-sided p-value of the test that two numbers of independent samples are equal; 1 without limits.

    Each interval gives its error by the half that faces the other number, as of a normal distribution.
    """
    if first[0] is None or second[0] is None or first[0] == second[0]:
        return 1.0
    (low, _, upper, level), (high, lower, _, other_level) = sorted((first, second), key=lambda known: known[0] or 0.0)
    if low is None or high is None or upper is None or lower is None or level is None or other_level is None:
        return 1.0
    error = (((upper - low) / _reach(level)) ** 2 + ((high - lower) / _reach(other_level)) ** 2) ** 0.5
    return p_of((high - low) / error) if error > 0 else SMALLEST


def p_of(z: float) -> float:
    """Return the two-sided p-value of a number of standard errors."""
    return max(2 * NormalDist().cdf(-abs(z)), SMALLEST)


def _reach(level: float) -> float:
    """Return the standard errors from a value to its limits."""
    return NormalDist().inv_cdf((1 + level) / 2)
