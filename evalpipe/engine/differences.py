"""Differences of replicates, and the limits and tests that come from them; everything compared was drawn together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.estimates import TOLERATED
from evalpipe.intervals import bootstrap_p, percentile_limits

if TYPE_CHECKING:
    from evalpipe.results import Status

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference (or ratio) with its limits, its p-value and what is wrong with it."""

    value: float | None
    limits: tuple[float, float] | None = None
    p_value: float | None = None
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


def gap(value: float, drawn: Floats | None, level: float, undefined: str, null: float = 0.0) -> Gap:
    """Return a difference with the percentile limits of its replicates [B], if any; ``null`` is no difference."""
    if not math.isfinite(value):
        return Gap(None, status="undefined", reason=undefined)
    if drawn is None:
        return Gap(value)
    drawn = np.where(np.isfinite(drawn), drawn, np.nan)
    missing, limits = int(np.isnan(drawn).sum()), percentile_limits(drawn, level)
    p = bootstrap_p(drawn, null)
    status: Status = "ok"
    reason = None
    if missing > TOLERATED * len(drawn):
        status, reason = "degenerate", f"undefined in {missing} of {len(drawn)} replicates: {undefined}"
    return Gap(value, limits, None if math.isnan(p) else p, missing, status, reason)


def quotient(over: Any, under: Any) -> Any:
    """Return a ratio of values that are never below zero; NaN where the divisor is zero or either is negative."""
    over, under = np.asarray(over, float), np.asarray(under, float)
    good = (over >= 0) & (under > 0)
    return np.where(good, over / np.where(good, under, 1.0), np.nan)
