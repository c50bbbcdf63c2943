"""Sums of floats that neither the order of the terms nor how these are parted changes by a bit.

Each term is cut into windows of `WIDTH` bits at places that are the same for all terms. What a window holds of a term
is a multiple of the window's unit, so that adding such parts as floats is exact. Demmel & Nguyen (2015), "Parallel
reproducible summation", IEEE Transactions on Computers 64(7), call this indexed summation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Self

    from evalpipe.base.arraytypes import Floats, Values, Wholes

WIDTH = 24
"""Bits of a window: 2^29 terms fill no more than the 53 bits that a float holds exactly."""

FIRST = -16
"""The exponent of the unit of window 0: numbers below 128, as probabilities and their logarithms are, begin there."""

KEPT = 3
"""The windows that are kept, from the window of the largest term down: at least 48 bits below it."""

MOST = 2**28
"""Terms after which totals are carried into the window above: each is less than 2^24 units."""

FEW = 16
"""Groups up to which a product with their members sums faster than going from term to term."""


@dataclass(frozen=True)
class Parts:
    """Terms [n] cut at the borders of ``windows``, from the largest term's down: ``cut`` [k, n] is what each takes."""

    windows: range
    cut: Floats

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Cut finite ``values`` [n] into parts that add up to them, each a multiple of its window's unit.

        Bits below the lowest window are dropped.
        """
        first = _first_window(float(np.abs(values).max(initial=0.0)))
        windows, cut, rest = range(first, first - KEPT, -1), np.empty((KEPT, len(values))), values
        for index, window in enumerate(windows):
            # Adding this number rounds to the unit, for a float of its size holds no smaller bits.
            large = 1.5 * 2.0 ** (_exponent(window) + 52)
            np.add(rest, large, out=cut[index])
            cut[index] -= large
            rest = rest - cut[index]
        return cls(windows, cut)


@dataclass(frozen=True)
class Members:
    """The group of each term, ``groups`` [n], of ``size``."""

    groups: Wholes
    size: int

    def totals(self, parts: Floats) -> Floats:
        """Return the sums of parts [..., n] in each group, [..., size]; whatever the order, they are exact."""
        if self.size <= FEW:
            return np.asarray(parts @ self._flags)
        return np.stack([np.bincount(self.groups, part, self.size) for part in parts])

    @cached_property
    def _flags(self) -> Floats:
        """1 where a term is in a group, else 0, [n, size]."""
        return np.asarray(self.groups == np.arange(self.size)[:, None], float).T


@dataclass
class ExactSums:
    """The totals of terms in ``size`` groups: by window, totals [size] that are multiples of the window's unit.

    ``top`` is the window of the largest term, None without terms; ``terms`` counts terms since totals were last
    carried into the window above.
    """

    size: int
    windows: dict[int, Floats] = field(default_factory=dict)
    top: int | None = None
    terms: int = 0

    def add(self, values: Floats, groups: Wholes | None = None, counts: Values | None = None) -> Self:
        """Add finite ``values`` [n] to the totals of ``groups`` [n], or all to the only group; return itself.

        ``counts`` [n], integers, say how often each value is added.
        """
        members = Members(np.zeros(len(values), np.intp) if groups is None else groups, self.size)
        return self.add_parts(Parts.of(values), members, counts)

    def add_parts(self, parts: Parts, members: Members, counts: Values | None = None) -> Self:
        """Add terms that are cut into windows already, as where several totals have the same terms; return itself."""
        rows = parts.cut.shape[1]
        terms = rows if counts is None else int(counts.sum())
        if not terms:
            return self
        if counts is not None and terms > MOST and rows > 1:  # too many for one sum to be exact
            for half in (slice(rows // 2), slice(rows // 2, rows)):
                self.add_parts(Parts(parts.windows, parts.cut[:, half]), Members(members.groups[half], members.size),
                               counts[half])
            return self
        added = members.totals(parts.cut if counts is None else parts.cut * counts)
        for window, totals in zip(parts.windows, added, strict=True):
            self.windows[window] = self.windows[window] + totals if window in self.windows else totals
        self.top = parts.windows[0] if self.top is None else max(self.top, parts.windows[0])
        self._carry(terms)
        return self

    def merge(self, other: ExactSums) -> Self:
        """Add other totals of the same groups; return itself."""
        if other.top is not None:
            self.top = other.top if self.top is None else max(self.top, other.top)
        for window, totals in other.windows.items():
            self.windows[window] = self.windows[window] + totals if window in self.windows else totals.copy()
        self._carry(other.terms)
        return self

    def grow(self, size: int) -> None:
        """Add groups with totals of 0 until there are ``size`` groups."""
        if size > self.size:
            further = np.zeros(size - self.size)
            self.windows = {window: np.append(totals, further) for window, totals in self.windows.items()}
            self.size = size

    def of_group(self, group: int) -> ExactSums:
        """Return the `ExactSums` of a single group, by its index."""
        windows = {window: totals[group : group + 1] for window, totals in self.windows.items()}
        return ExactSums(1, windows, self.top, self.terms)

    @property
    def totals(self) -> Floats:
        """The totals, each rounded once, shape [size]."""
        if not self.windows:
            return np.zeros(self.size)
        parts = zip(*(totals.tolist() for totals in self.windows.values()), strict=True)
        return np.fromiter(map(math.fsum, parts), float, self.size)

    def _carry(self, terms: int) -> None:
        """Count ``terms`` more; carry totals upwards where they have too many terms, and drop low windows."""
        self.terms += terms
        if self.terms > MOST:
            for window in sorted(self.windows):
                rounder = 1.5 * 2.0 ** (_exponent(window + 1) + 52)
                carried = (self.windows[window] + rounder) - rounder
                above = self.windows.get(window + 1)
                if above is None and not carried.any():
                    continue
                self.windows[window] = self.windows[window] - carried
                self.windows[window + 1] = carried if above is None else above + carried
            self.terms = 1
        lowest = (self.top or 0) - KEPT
        self.windows = {window: totals for window, totals in self.windows.items() if window > lowest}


def unit(window: int) -> float:
    """Return the unit of a window of the bits of floats: all totals in the window are multiples of it."""
    return 2.0 ** _exponent(window)


def _exponent(window: int) -> int:
    """Return the exponent of two of a window's unit."""
    return FIRST + WIDTH * window


def _first_window(largest: float) -> int:
    """Return the highest window that terms up to ``largest`` reach: they are at most half a unit of the next one."""
    if largest == 0:
        return -KEPT
    exponent = math.frexp(largest)[1]  # largest < 2^exponent
    return math.ceil((exponent + 1 - FIRST) / WIDTH) - 1
