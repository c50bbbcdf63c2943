"""Rows gathered by equal keys once, so that every batch of weights is totalled without sorting again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Wholes

FEW = 16
"""Runs that are summed one by one; of more, all at once."""


def totals_of_runs(values: Any, starts: Wholes) -> Any:
    """Total ``values`` [..., n] of each run of neighbours; the runs begin at ``starts`` [m]: [..., m].

    Counts are totalled as differences of running sums, which is exact and several times faster than adding up each
    run; of floats these differences would cancel.
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
    found = up_to.copy()
    found[..., 1:] -= up_to[..., :-1]
    return found


@dataclass(frozen=True)
class Groups:
    """Rows gathered by equal keys: ``order`` [n] are their positions, sorted; ``starts`` [m] where the groups begin."""

    order: Wholes
    starts: Wholes

    @classmethod
    def by(cls, *keys: Any) -> Groups:
        """Gather by the first key [n], within it by the next, all ascending."""
        order = np.lexsort(keys[::-1])
        new = np.zeros(len(order), bool)
        new[:1] = True
        for key in keys:
            new[1:] |= key[order][1:] != key[order][:-1]
        return cls(order, np.flatnonzero(new))

    def totals(self, values: Any) -> Any:
        """Total ``values`` [..., n] of each group: [..., m]."""
        return totals_of_runs(np.take(values, self.order, axis=-1), self.starts)

    @property
    def first(self) -> Wholes:
        """A row of each group, shape [m]."""
        return self.order[self.starts]
