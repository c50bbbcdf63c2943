"""Differences of what was drawn together: their limits, their tests, and why there are none."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe import constants
from evalpipe.intervals.bootstrap import ROUNDING, bootstrap_error, excluding
from evalpipe.intervals.contrasts import Wald

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.arraytypes import Floats
    from evalpipe.intervals.contrasts import Contrast
    from evalpipe.results import Status

    LimitsOf = Callable[[float, Floats, float], tuple[float, float] | None]

CONSTANT = "it is the same in every resample, which tells nothing of other rows"


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference (or ratio) with its limits and what is wrong with it."""

    value: float | None
    limits: tuple[float, float] | None = None
    undefined: int = 0
    status: Status = "ok"
    reason: str | None = None

    @property
    def lower(self) -> float | None:
        """The lower limit, where there is one."""
        return self.limits[0] if self.limits else None

    @property
    def upper(self) -> float | None:
        """The upper limit, where there is one."""
        return self.limits[1] if self.limits else None


@dataclass(frozen=True, slots=True)
class Test:
    """A contrast with the names of its test and of its limits, and the figures to tell beside them."""

    __test__ = False

    contrast: Contrast
    name: str
    method: str
    details: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TestedGap(Gap):
    """A difference with limits and p-value of one and the same ``test``, None where there is none.

    ``method`` is how the limits were made. ``same`` says that the difference is nothing in every resample, so that
    there is nothing to test.
    """

    __test__ = False

    method: str = "none"
    test: Test | None = None
    same: bool = False

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value of no difference, where there is a test."""
        return None if self.test is None else self.test.contrast.p(0.0)


def gap(value: float, drawn: Floats | None, level: float, undefined: str, limits_of: LimitsOf) -> Gap:
    """Return a range or a ratio with the limits that ``limits_of`` makes of it and its replicates [B], if any."""
    if not math.isfinite(value):
        return Gap(None, status="undefined", reason=undefined)
    if drawn is None:
        return Gap(value)
    drawn, missing, status, reason = _usable(drawn, undefined)
    limits = limits_of(value, drawn, level)
    if status == "ok" and limits is not None and (excluded := excluding(value, limits, "bootstrap")) is not None:
        status, reason = "degenerate", excluded
    return Gap(value, limits, missing, status, reason)


def tested_gap(
    values: tuple[float, float], drawn: Floats | None, level: float, undefined: str, test: Test | None, units: int
) -> TestedGap:
    """Return the first of two values less the second, with the limits and the p-value of one test.

    ``drawn`` [B] are the replicates of the difference, None where none were made; ``test`` the one made for the
    measure, if any. Else the test is Wald's with the error that the replicates tell, by Student's distribution with
    ``units`` - 1 degrees of freedom: the rows or clusters of the smaller side. Efron & Tibshirani (1993), section 12.4.
    """
    value = values[0] - values[1]
    if not math.isfinite(value):
        return TestedGap(None, status="undefined", reason=undefined)
    if drawn is None:
        return TestedGap(value)
    drawn, missing, status, reason = _usable(drawn, undefined)
    if _nothing(np.append(drawn, value), max(map(abs, values))):
        return TestedGap(0.0, (0.0, 0.0), missing, method="percentile", same=True)
    if test is None:
        error = bootstrap_error(drawn)
        test = Test(Wald(value, error, max(units - 1, 1)), "bootstrap", "bootstrap_error")
    elif status != "ok":
        missing, status, reason = 0, "ok", None  # its limits need no replicates
    limits = test.contrast.limits(level)
    if limits is None and status == "ok":
        status, reason = "degenerate", CONSTANT
    known = test if status == "ok" else None
    return TestedGap(value, limits, missing, status, reason, test.method if limits else "none", known)


def _usable(drawn: Floats, undefined: str) -> tuple[Floats, int, Status, str | None]:
    """Return replicates with NaN for what is not finite, how many that are, and what is wrong where they are many."""
    drawn = np.where(np.isfinite(drawn), drawn, np.nan)
    missing = int(np.isnan(drawn).sum())
    if missing > constants.TOLERATED * len(drawn):
        return drawn, missing, "degenerate", f"undefined in {missing} of {len(drawn)} replicates: {undefined}"
    return drawn, missing, "ok", None


def _nothing(gaps: Floats, size: float) -> bool:
    """Tell whether differences of values of this size are all within rounding of zero, some being defined."""
    known = gaps[~np.isnan(gaps)]
    return len(known) > 1 and bool((np.abs(known) <= ROUNDING * size).all())


def ratio_gap(value: float, drawn: Floats | None, level: float, undefined: str) -> Gap:
    """Return a ratio with limits symmetric on the log scale, by the error of its replicates [B]; none of a ratio of 0.

    Katz, Baptista, Azen & Pike (1978) for the scale.
    """
    if not math.isfinite(value):
        return Gap(None, status="undefined", reason=undefined)
    if drawn is None or value <= 0:
        return Gap(value)
    with np.errstate(divide="ignore"):
        logs, missing, status, reason = _usable(np.log(drawn), undefined)
    limits = Wald(math.log(value), bootstrap_error(logs)).limits(level)
    if limits is None:
        return Gap(value, (value, value) if _nothing(drawn - value, value) else None, missing, status, reason)
    return Gap(value, (math.exp(limits[0]), math.exp(limits[1])), missing, status, reason)


def quotient(over: Any, under: Any) -> Any:
    """Return a ratio of values that are never below zero; NaN where the divisor is zero or either is negative."""
    over, under = np.asarray(over, float), np.asarray(under, float)
    good = (over >= 0) & (under > 0)
    return np.where(good, over / np.where(good, under, 1.0), np.nan)
