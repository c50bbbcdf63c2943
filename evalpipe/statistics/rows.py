"""The rows of one model on one dataset, and their order by score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

Array = TypeVar("Array", bound=np.ndarray[Any, Any])
Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]
Whole = np.ndarray[Any, np.dtype[np.intp]]


@dataclass(frozen=True)
class Rows:
    """Truth and predictions of n rows: ``truth`` and ``predicted`` are whether the row is (predicted as) the event.

    ``probability`` of the event and ``score``, which ranks the rows (the probability where it is not given). All of
    shape [n]; None where a model does not give it.
    """

    truth: Flags
    predicted: Flags | None
    probability: Floats | None = None
    score: Floats | None = None

    @property
    def classes(self) -> Flags:
        """Whether each row is predicted as the event; raises TypeError where the model gives no classes."""
        return _present(self.predicted, "predicted classes")

    @property
    def chances(self) -> Floats:
        """The probability of the event; raises TypeError where the model gives none."""
        return _present(self.probability, "probabilities")

    @property
    def scored(self) -> Floats:
        """What ranks the rows; raises TypeError where the model gives classes alone."""
        return _present(self.probability if self.score is None else self.score, "scores")

    @property
    def ranked(self) -> bool:
        """Whether the model gives scores."""
        return self.probability is not None or self.score is not None

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


def _present(values: Array | None, called: str) -> Array:
    if values is None:
        raise TypeError(f"these rows have no {called}")
    return values
