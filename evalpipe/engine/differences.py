"""Differences and ratios of what was drawn together: their limits, their tests, and why there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.engine.drawn import Limited
from evalpipe.intervals.bootstrap import ROUNDING, bootstrap_error
from evalpipe.intervals.contrasts import Wald
from evalpipe.intervals.recovered import recovered_limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats
    from evalpipe.engine.drawn import Drawn
    from evalpipe.intervals.contrasts import Contrast
    from evalpipe.plan.measures import KnownPlan
    from evalpipe.results import Estimate

CONSTANT = "it is the same in every resample, so its uncertainty is unknown"


@dataclass(frozen=True, slots=True)
class Test:
    """A contrast with the names of its test and of its limits, and the figures to tell beside them."""

    __test__ = False

    contrast: Contrast
    name: str
    method: str
    details: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tested(Limited):
    """A difference with limits and p-value of one and the same ``test``, None where there is none.

    ``same`` says that the difference is nothing in every resample, so that there is nothing to test.
    """

    __test__ = False

    test: Test | None = None
    same: bool = False

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value of no difference, where there is a test."""
        return None if self.test is None else self.test.contrast.p(0.0)


def tested(first: Drawn, second: Drawn, level: float, test: Test | None, undefined: str) -> Tested:
    """Return the first number less the second, with the limits and the p-value of one test.

    ``test`` is the one made for the measure, if any; it needs no replicates. Else the test is Wald's with the error
    that the replicates tell, by Student's distribution with one degree of freedom less than there are rows or clusters
    on the smaller side: Efron & Tibshirani (1993), section 12.4. ``undefined`` says why there is no difference.
    """
    difference = replace(first - second, undefined=undefined)
    unlimited = difference.unlimited()
    if unlimited is not None:
        return Tested(unlimited.value, status=unlimited.status, reason=unlimited.reason)
    value = difference.value
    if _nothing(np.append(difference.known, value), max(abs(first.value), abs(second.value))):
        return _marked(Tested(0.0, (0.0, 0.0), "percentile", drawn=difference, same=True), difference.few(level))
    if test is not None:
        limits, drawn = test.contrast.limits(level), None if difference.doubt(level) else difference
        return _marked(Tested(value, limits, test.method if limits else "none", drawn=drawn, test=test), None)
    test = Test(Wald(value, bootstrap_error(difference.known), max(difference.units - 1, 1)), "bootstrap",
                "bootstrap_error")
    limits = test.contrast.limits(level)
    return _marked(Tested(value, limits, test.method if limits else "none", drawn=difference, test=test),
                   difference.doubt(level))


def less_known(estimate: Estimate, known: KnownPlan) -> Estimate:
    """Return an estimate less a value that was found elsewhere, with limits recovered from those of both.

    The two are taken as independent. Of a value without limits, known without error, the limits are the estimate's own
    less that value.
    """
    if estimate.value is None:
        return estimate
    difference = {"value": estimate.value - known.value}
    if estimate.lower is None or estimate.upper is None:
        return estimate.model_copy(update=difference)
    limits, method = (estimate.lower - known.value, estimate.upper - known.value), estimate.method
    if known.limits is not None:
        numbers = (estimate.value, estimate.lower, estimate.upper), (known.value, *known.limits)
        limits, method = recovered_limits(*numbers), "recovered"
    return estimate.model_copy(update={**difference, "lower": limits[0], "upper": limits[1], "method": method})


def _marked(difference: Tested, doubt: str | None) -> Tested:
    """Mark a difference that cannot be relied on, for a ``doubt`` or as it has no limits; it has no test then."""
    doubt = doubt or (CONSTANT if difference.limits is None else None)
    return difference if doubt is None else replace(difference, status="degenerate", reason=doubt, test=None)


def _nothing(gaps: Floats, size: float) -> bool:
    """Tell whether differences of values of this size are all within rounding of zero, some being defined."""
    known = gaps[~np.isnan(gaps)]
    return len(known) > 1 and bool((np.abs(known) <= ROUNDING * size).all())


def ratio_limited(ratio: Drawn, level: float) -> Limited:
    """Return a ratio with limits symmetric on the log scale, by the error of its replicates; none of a ratio of 0.

    Katz, Baptista, Azen & Pike (1978) for the scale.
    """
    if not ratio.value > 0:
        return ratio.unlimited() or Limited(ratio.value)
    return ratio.limited(level, _on_log_scale, excludes=None)


def _on_log_scale(value: float, replicates: Floats, level: float) -> tuple[float, float] | None:
    logs = log(np.where(replicates > 0, replicates, np.nan))
    limits = Wald(math.log(value), bootstrap_error(logs)).limits(level)
    if limits is None:
        return (value, value) if _nothing(replicates - value, value) else None
    return math.exp(limits[0]), math.exp(limits[1])
