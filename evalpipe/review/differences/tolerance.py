"""By how much numbers may differ, and whether two values of results are alike by that."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeGuard

NUMBER = re.compile(r"[+\-−]?\d(?:[\d,.]*\d)?(?:e[+\-−]?\d+)?")
"""A number within a text."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """An ``absolute`` and a ``relative`` tolerance, of which the wider counts, and absolute ones of single metrics."""

    absolute: float = 0.0
    relative: float = 0.0
    by_metric: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_exact(self) -> bool:
        """Whether every difference counts."""
        return not (self.absolute or self.relative or any(self.by_metric.values()))

    def covers(self, a: float, b: float, metric: str | None = None) -> bool:
        """Tell whether two numbers differ by no more than the tolerance, that of a ``metric`` where it has one.

        A difference of just the tolerance is covered, whatever the rounding of the subtraction makes of it.
        """
        own = self.by_metric.get(metric) if metric is not None else None
        allowed = max(self.absolute, self.relative * max(abs(a), abs(b))) if own is None else own
        return a == b or abs(a - b) <= allowed * (1 + 1e-9)

    def covers_both(self, a: float | None, b: float | None, metric: str | None = None) -> bool:
        """Tell the same of numbers that may be missing: a number differs from none."""
        return a is b if a is None or b is None else self.covers(a, b, metric)

    def alike(self, a: object, b: object) -> bool:
        """Tell whether two JSON values are the same, but for numbers that the tolerance covers.

        With a tolerance, the numbers within texts do not count, for they are those of other values.
        """
        if _is_number(a) and _is_number(b):
            return self.covers(a, b)
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(self.alike(value, b[key]) for key, value in a.items())
        if isinstance(a, list | tuple) and isinstance(b, list | tuple):
            return len(a) == len(b) and all(map(self.alike, a, b))
        if isinstance(a, str) and isinstance(b, str) and not self.is_exact:
            return a == b or NUMBER.sub("#", a) == NUMBER.sub("#", b)
        return type(a) is type(b) and a == b


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
