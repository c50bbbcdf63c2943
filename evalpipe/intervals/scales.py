"""The scale on which the range of a measure has no end: the logit, a logarithm, or the measure as it is."""

from __future__ import annotations

import math

Limits = tuple[float, float]


def limits_on_scale(
    value: float, error: float, bounds: tuple[float, float], level: float, freedom: float | None = None
) -> Limits | None:
    """Return limits of a value that are symmetric on the scale of its range, from its standard error on that scale.

    Normal, or Student's with so many degrees of ``freedom``. None where the value is at an end of ``bounds``.
    """
    from scipy.special import ndtri, stdtrit

    if not math.isfinite(slope(value, bounds)) or not math.isfinite(error):
        return None
    tail = (1 + level) / 2
    reach = error * float(ndtri(tail) if freedom is None else stdtrit(freedom, tail))
    middle = _scaled(value, bounds)
    return _back(middle - reach, bounds), _back(middle + reach, bounds)


def slope(value: float, bounds: tuple[float, float]) -> float:
    """Return how fast that scale rises at a value, by which it multiplies a standard error; infinite at an end."""
    distances = [abs(value - end) for end in bounds if math.isfinite(end)]
    return math.inf if not all(distances) else math.fsum(1 / distance for distance in distances) if distances else 1.0


def _scaled(value: float, bounds: tuple[float, float]) -> float:
    """Return a value on the scale."""
    low, high = bounds
    if math.isfinite(low) and math.isfinite(high):
        return math.log((value - low) / (high - value))
    if math.isfinite(low):
        return math.log(value - low)
    return -math.log(high - value) if math.isfinite(high) else value


def _back(scaled: float, bounds: tuple[float, float]) -> float:
    """Return the value of a number on the scale."""
    low, high = bounds
    if math.isfinite(low) and math.isfinite(high):
        share = 1 / (1 + math.exp(-scaled)) if scaled > 0 else math.exp(scaled) / (1 + math.exp(scaled))
        return low + (high - low) * share
    if math.isfinite(low):
        return low + math.exp(scaled)
    return high - math.exp(-scaled) if math.isfinite(high) else scaled
