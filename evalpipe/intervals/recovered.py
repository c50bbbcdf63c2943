"""Limits of a difference of two numbers, recovered from their own limits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.base.later import np
from evalpipe.intervals.analytic import FAILS
from evalpipe.intervals.binomial import wilson
from evalpipe.intervals.declare import interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats


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


@interval(
    "newcombe", title="Newcombe", fails=FAILS,
    for_={"net_benefit": "a difference of two shares of the rows, whose own limits give its limits"},
    text="For the net benefit, a difference of two shares of the same rows, the second times the odds of the "
         "threshold. Combines the distances of the two shares from their Wilson limits, with the correlation that "
         "shares of the same rows have. Of few events, quantiles of replicates cover far too seldom.",
    ref="Newcombe, R. G. (1998). Improved confidence intervals for the difference between binomial proportions based "
    "on paired data. Statistics in Medicine 17(22), 2635–2650; Zou, G. Y. & Donner, A. (2008). Construction of "
    "confidence limits about effect measures: a general approach. Statistics in Medicine 27(10), 1693–1702.")
def net_benefit_limits(
    total: Floats, events_reached: Floats, others_reached: Floats, options: Mapping[str, Floats | float], level: float
) -> tuple[Floats, Floats]:
    """Return the limits of p1 - w p2, with w the odds of the threshold, from those of the shares; shapes broadcast.

    p1 are the true positives and p2 the false ones, r is the correlation of two counts of one multinomial draw:
    L = d - sqrt((p1 - l1)^2 + w^2 (u2 - p2)^2 - 2 r w (p1 - l1) (u2 - p2)), and U likewise. Zou & Donner (2008), eq. 6.
    """
    threshold = np.asarray(options["threshold"], float)
    odds, first, second = threshold / (1 - threshold), events_reached / total, others_reached / total
    (l1, u1), (l2, u2) = (wilson(reached, total, level) for reached in (events_reached, others_reached))
    left = (1 - first) * (1 - second)
    correlation = -np.sqrt(first * second / np.where(left > 0, left, np.inf))

    def reach(of_first: Floats, of_second: Floats) -> Floats:
        return np.asarray(np.sqrt(of_first**2 + of_second**2 - 2 * correlation * of_first * of_second))

    value = first - odds * second
    return value - reach(first - l1, odds * (u2 - second)), value + reach(u1 - first, odds * (second - l2))
