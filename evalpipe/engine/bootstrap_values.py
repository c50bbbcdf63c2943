"""A number with its bootstrap replicates: it subtracts, divides, takes ranges, and knows its limits and its status."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base import constants
from evalpipe.intervals.bootstrap import FEWEST, excluding
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.results import Status

    LimitsOf = Callable[[float, Floats, float], tuple[float, float] | None]
    from evalpipe.words.sentences import Sentence

CLUSTERS = 20
"""The clusters from which on quantiles of their bootstrap are trusted; of fewer they cover too seldom, as the
between-cluster variance is known too badly: Cameron & Miller (2015), section VI, who call fewer than 20 to 50 few."""

STUDENTS = ("cluster_t", "bootstrap_logit")
"""The methods that allow for how badly few clusters tell their variance: their quantiles are Student's."""

ONE_CLUSTER = sentence("one-cluster")


@dataclass(frozen=True, slots=True)
class Limited:
    """A number, None where it is undefined, with its limits, their method, and a status with its reason.

    ``drawn`` is the number with the replicates that the limits are computed from; None where they need none.
    """

    value: float | None
    limits: tuple[float, float] | None = None
    method: str = "none"
    status: Status = "ok"
    reason: Sentence | None = None
    drawn: Drawn | None = None

    @property
    def lower(self) -> float | None:
        """The lower limit, where there is one."""
        return self.limits[0] if self.limits else None

    @property
    def upper(self) -> float | None:
        """The upper limit, where there is one."""
        return self.limits[1] if self.limits else None

    def fields(self, level: float) -> dict[str, object]:
        """Return the limits, their confidence level (None without limits) and status as fields of a record."""
        return {"lower": self.lower, "upper": self.upper, "level": level if self.limits else None,
                "status": self.status, "reason": self.reason}

    @property
    def missing(self) -> int:
        """How many of the replicates behind the limits are undefined."""
        return 0 if self.drawn is None else self.drawn.missing

    def doubted(self, reason: Sentence | None) -> Limited:
        """Return the number with status degenerate for a ``reason``; unchanged without one or with another status."""
        return self if reason is None or self.status != "ok" else replace(self, status="degenerate", reason=reason)


@dataclass(frozen=True)
class Drawn:
    """A number with its replicates [B], or one number a class [K] with replicates [B, K].

    ``value`` is NaN where it is undefined, for the reason ``undefined``, which holds for undefined replicates too;
    ``absent`` is the code of the sentence about these. ``replicates`` is None where none were drawn. ``units`` is how
    many rows were resampled, or how many clusters where rows are ``clustered``. Further inputs of limits: ``jackknife``
    values [J], the standard ``errors`` [B] of the replicates and ``error`` of the value, and the ``shift`` from the
    grid that replicates were drawn on; see `Replicates`. ``rare`` says, of the number or of each class, why limits
    cover too seldom where no row, or few clusters, have the rarer level; None where enough have.
    """

    value: Any
    replicates: Floats | None
    units: int
    clustered: bool = False
    undefined: Sentence | None = None
    absent: str = "undefined-replicates"
    jackknife: Floats | None = None
    errors: Floats | None = None
    error: Floats | None = None
    shift: Floats | None = None
    rare: Sequence[Sentence | None] = ()

    @property
    def clusters(self) -> int | None:
        """How many clusters were resampled; None where rows were resampled."""
        return self.units if self.clustered else None

    @property
    def known(self) -> Floats:
        """The replicates [B] of a number that is known to have them; NaN where they are undefined."""
        assert self.replicates is not None  # noqa: S101 - asked of what was drawn alone
        return self.replicates

    @property
    def missing(self) -> int:
        """How many replicates are undefined."""
        return 0 if self.replicates is None else int(np.isnan(self.replicates).sum())

    def of_class(self, k: int) -> Drawn:
        """Return the k-th class's number with its replicates."""
        def of_k(table: Floats | None) -> Floats | None:
            return None if table is None else table[..., k]

        return replace(
            self, value=float(self.value[k]), replicates=of_k(self.replicates), jackknife=of_k(self.jackknife),
            errors=of_k(self.errors), error=of_k(self.error), shift=of_k(self.shift), rare=self.rare[k : k + 1])

    def __sub__(self, other: Drawn) -> Drawn:
        """Return the difference of two numbers that were drawn together."""
        return together([self, other], lambda values: values[..., 0] - values[..., 1])

    def __truediv__(self, other: Drawn) -> Drawn:
        """Return the ratio of two numbers drawn together; NaN if the divisor is zero or either is negative."""
        return together([self, other], lambda values: quotient(values[..., 0], values[..., 1]))

    def unlimited(self, *, needs_replicates: bool = True) -> Limited | None:
        """Return the value with why it can have no confidence limits; None where limits can be computed.

        They cannot be where the value is undefined, nothing was resampled, or all rows are of one cluster.
        ``needs_replicates`` is whether the limits would come from the replicates.
        """
        if math.isnan(self.value):
            return Limited(None, status="undefined", reason=self.undefined)
        if needs_replicates and self.replicates is None:
            return Limited(self.value)
        if self.clusters == 1:
            return Limited(self.value, status="degenerate", reason=ONE_CLUSTER)
        return None

    def doubt(self, level: float, method: str = "percentile") -> Sentence | None:
        """Return why limits of a method from the replicates cannot be relied on; None where they can."""
        total = 0 if self.replicates is None else len(self.replicates)
        if self.missing > constants.TOLERATED * total:
            return sentence(self.absent, undefined=self.missing, replicates=total, because=self.undefined)
        return self.few(level, method)

    def few(self, level: float, method: str = "percentile") -> Sentence | None:
        """Return why limits from few clusters, or few rows of the rarer level, cannot be relied on; else None."""
        least = FEWEST if method in STUDENTS else CLUSTERS
        if self.clusters is not None and self.clusters < least:
            return sentence("few-clusters", clusters=self.clusters, least=least, level=level)
        return next((reason for reason in self.rare if reason is not None), None)

    def limited(self, level: float, limits_of: LimitsOf, excludes: str | None = "bootstrap") -> Limited:
        """Return the number with limits that ``limits_of`` computes from value and replicates, and a status.

        ``excludes`` is the method in the reason where limits exclude the value; None where this is no fault.
        """
        unlimited = self.unlimited()
        if unlimited is not None:
            return unlimited
        limits = limits_of(self.value, self.known, level)
        limited = Limited(self.value, limits, drawn=self).doubted(self.doubt(level))
        if excludes is None or limits is None:
            return limited
        return limited.doubted(excluding(self.value, limits, excludes))


def together(parts: Sequence[Drawn], combine: Callable[[Floats], Floats]) -> Drawn:
    """Return the number that ``combine`` computes from several numbers along the last axis, such as their range.

    Its replicates come from theirs, which were drawn together; its units are the fewest of theirs.
    """
    replicates_of_parts = [part.replicates for part in parts if part.replicates is not None]
    replicates = combine(np.stack(replicates_of_parts, axis=-1)) if len(replicates_of_parts) == len(parts) else None
    value = float(combine(np.array([part.value for part in parts])))
    first, rare = parts[0], [reason for part in parts for reason in part.rare]
    return Drawn(value, replicates, min(part.units for part in parts), first.clustered, first.undefined, rare=rare)


def quotient(over: Floats, under: Floats) -> Floats:
    """Return a ratio of values that are never negative; NaN where the divisor is zero or either is negative."""
    is_defined = (over >= 0) & (under > 0)
    return np.where(is_defined, over / np.where(is_defined, under, 1.0), np.nan)


def range_of(parts: Sequence[Drawn]) -> Drawn:
    """Return the range of several numbers."""
    return together(parts, lambda values: values.max(axis=-1) - values.min(axis=-1))


def smallest_over_largest(parts: Sequence[Drawn]) -> Drawn:
    """Return the smallest of several numbers over the largest."""
    return together(parts, lambda values: quotient(values.min(axis=-1), values.max(axis=-1)))
