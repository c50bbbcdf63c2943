"""The test of whether as many counts are zero as a Poisson distribution with the predicted means expects."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.arithmetic.functions import exp
from evalpipe.engine.curves.residual_tests import ResidualTest

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

FEW = 25
"""The variance from which on a number of rows is near enough to normal."""


def zeros(truth: Floats, predicted: Floats, weight: Floats, rows: float) -> ResidualTest | None:
    """Test the number of zeros among counts [m] that are Poisson with means ``predicted`` [m], of ``weight`` [m].

    Each row is zero with the probability exp(-mean), independently, so that the number has the variance of a sum of
    such rows. The p-value is two-sided, from the normal distribution; where the variance is below `FEW`, from the
    Poisson distribution, whose variance is larger. ``rows`` is the number of independent rows that the weights amount
    to. None where no number is uncertain.
    """
    from scipy.special import ndtr, pdtr, pdtrc

    weight = weight * (rows / weight.sum())
    chance = exp(-predicted)
    error = math.sqrt(float((weight * chance * (1 - chance)).sum()))
    if not error:
        return None
    observed, expected = (float((weight * zero).sum()) for zero in (truth == 0, chance))
    statistic = (observed - expected) / error
    if error**2 >= FEW:
        return ResidualTest(statistic, 2 * float(ndtr(-abs(statistic))))
    at_most, at_least = pdtr(math.floor(observed), expected), pdtrc(math.ceil(observed) - 1, expected)
    return ResidualTest(statistic, min(2 * float(min(at_most, at_least if observed > 0 else 1.0)), 1.0))
