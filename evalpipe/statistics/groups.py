"""Rows grouped by equal keys once, so that every batch of weights is totalled without sorting again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Values, Wholes

FEW = 16
"""Runs that are summed one by one; of more, all at once."""


def starts_of_runs(*keys: Values) -> Wholes:
    """Return the indices at which runs of neighbours that are equal in all ``keys`` [n] begin, shape [m]."""
    new = np.zeros(len(keys[0]), bool)
    new[:1] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(new)


def runs_within(ascending: Floats, edges: Floats) -> tuple[Wholes, Wholes]:
    """Return the first index of ascending values [n] in each interval that has any, and the interval's number: [used].

    Interval k is from ``edges[k]``, ascending, up to the next edge, which is not in it; the last has no end. Values
    below all edges are in interval -1.
    """
    begins = np.concatenate([[0], np.searchsorted(ascending, edges)])
    used = begins < np.append(begins[1:], len(ascending))
    return begins[used], np.flatnonzero(used) - 1


def totals_of_runs(values: Values, starts: Wholes) -> Floats:
    """Return the totals [..., m] of ``values`` [..., n] in runs of neighbours that begin at ``starts`` [m].

    Values are floats or counts. Counts are totalled as differences of running sums, which is exact and several times
    faster than adding up each run; of floats these differences would cancel.
    """
    n, m = values.shape[-1], len(starts)
    if m == n:
        return values
    if m <= FEW:
        ends = [*starts[1:], n]
        return np.stack([values[..., a:b].sum(axis=-1) for a, b in zip(starts, ends, strict=True)], axis=-1)
    if values.dtype.kind == "f":
        return np.add.reduceat(values, starts, axis=-1)
    last = np.append(starts[1:], n) - 1
    up_to = np.take(np.cumsum(values, axis=-1), last, axis=-1)
    totals = up_to.copy()
    totals[..., 1:] -= up_to[..., :-1]
    return totals


@dataclass(frozen=True)
class Groups:
    """Rows grouped by equal keys: ``order`` [n] are their positions, sorted; ``starts`` [m] where the groups begin."""

    order: Wholes
    starts: Wholes

    @classmethod
    def by(cls, *keys: Values) -> Groups:
        """Group rows by the first key [n], within it by the next, all ascending."""
        order = np.lexsort(keys[::-1])  # which sorts by its last key first
        return cls(order, starts_of_runs(*(key[order] for key in keys)))

    def totals(self, values: Values) -> Floats:
        """Return the totals [..., m] of ``values`` [..., n] in each group."""
        return totals_of_runs(np.take(values, self.order, axis=-1), self.starts)

    @property
    def first(self) -> Wholes:
        """The position of the first row of each group, shape [m]."""
        return self.order[self.starts]
