"""The rows of one model on one dataset, and their order by score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Whole = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class Rows:
    """Truth and predictions of n rows: ``truth`` and ``predicted`` are whether the row is (predicted as) the event.

    ``probability`` of the event, or None where a model gives only classes. All of shape [n].
    """

    truth: Flags
    predicted: Flags
    probability: Floats | None = None

    @property
    def scored(self) -> Floats:
        """The probabilities of rows that have them."""
        if self.probability is None:
            raise TypeError("these rows have no probabilities")
        return self.probability

    @cached_property
    def order(self) -> Whole:
        """The positions of the rows in ascending order of score, shape [n]."""
        return np.argsort(self.scored, kind="stable")

    @cached_property
    def starts(self) -> Whole:
        """The first position, in that order, of each distinct score, shape [m]."""
        ordered = self.scored[self.order]
        return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])

    @cached_property
    def distinct(self) -> Floats:
        """The distinct scores in ascending order, shape [m]."""
        return self.scored[self.order][self.starts]

    def by_score(self, ordered: Floats) -> Floats:
        """Total ``ordered`` values [..., n], already in the order of score, at each distinct score: [..., m]."""
        return ordered if len(self.starts) == len(self.order) else np.add.reduceat(ordered, self.starts, axis=-1)
