"""Limits of a difference of two independent numbers, recovered from their own limits."""

from __future__ import annotations

import math

from evalpipe.intervals.declare import interval


@interval(
    "recovered", title="recovery of variances",
    text="For a difference between two runs, or from a reference rate with limits, taken as independent samples. "
         "Combines the distances of the two values from their limits: the root of the sum of their squares. If the "
         "two share rows, it is wider than necessary.",
    ref="Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: a general "
    "approach. Statistics in Medicine 27(10), 1693–1702.")
def recovered_limits(
    first: tuple[float, float, float], second: tuple[float, float, float]
) -> tuple[float, float]:
    """Return the limits of the first number less the second; each is (value, lower, upper) at one level.

    The method of variance estimates recovery of Zou & Donner (2008), eq. 4: L = d - sqrt((v1 - l1)^2 + (u2 - v2)^2),
    U = d + sqrt((u1 - v1)^2 + (v2 - l2)^2) with d = v1 - v2. It assumes that the two are independent: where they share
    rows the limits are wider than they need be. A limit on the wrong side of its value counts as at the value.
    """
    (v1, l1, u1), (v2, l2, u2) = first, second
    below, above = max(v1 - l1, 0.0), max(u1 - v1, 0.0)
    below2, above2 = max(v2 - l2, 0.0), max(u2 - v2, 0.0)
    return v1 - v2 - math.hypot(below, above2), v1 - v2 + math.hypot(above, below2)
