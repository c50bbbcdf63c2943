"""Rows gathered by equal keys once, so that every batch of weights is totalled without sorting again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class Groups:
    """Rows gathered by equal keys: ``order`` [n] are their positions, sorted; ``starts`` [m] where the groups begin."""

    order: Whole
    starts: Whole

    @classmethod
    def by(cls, *keys: Floats | Whole) -> Groups:
        """Gather by the first key, within it by the next, all ascending."""
        order = np.lexsort(keys[::-1])
        new = np.zeros(len(order), bool)
        new[0] = True
        for key in keys:
            new[1:] |= key[order][1:] != key[order][:-1]
        return cls(order, np.flatnonzero(new))

    def totals(self, values: Floats) -> Floats:
        """Total ``values`` [..., n] of each group: [..., m]."""
        ordered = np.take(values, self.order, axis=-1)
        return ordered if len(self.starts) == len(self.order) else np.add.reduceat(ordered, self.starts, axis=-1)

    @property
    def first(self) -> Whole:
        """A row of each group, shape [m]."""
        return self.order[self.starts]
