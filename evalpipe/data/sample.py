"""Step 3's value: validated arrays of one dataset, ready for statistics."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from evalpipe.results import DatasetSummary, InputFile, Warned

if TYPE_CHECKING:
    from collections.abc import Mapping

Floats = np.ndarray[Any, np.dtype[np.float64]]
Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Predictions:
    """One model's predictions for the rows of a sample.

    ``score`` ranks the rows, shape [n], None where the model gives only classes; ``probability`` of the event, shape
    [n], None where there is none; ``predicted`` whether the row is predicted as the event, shape [n], None where no
    threshold makes classes of a score; ``threshold`` the cut that made ``predicted``, None for given classes.
    """

    score: Floats | None
    probability: Floats | None
    predicted: Flags | None
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of one dataset in canonical order: sorted by their values, so the order in the files changes nothing.

    ``truth`` is whether the row is an event, shape [n]; ``weight`` the case weights, shape [n], all above zero, or
    None; ``models`` the predictions by model name; ``event`` and ``other`` the names of the two levels.
    """

    dataset: str
    role: Literal["evaluate", "reference"]
    event: str
    other: str
    truth: Flags
    weight: Floats | None
    weight_kind: Literal["frequency", "importance"] | None
    summary: DatasetSummary
    files: tuple[InputFile, ...]
    models: Mapping[str, Predictions] = field(default_factory=lambda: MappingProxyType({}))
    warnings: tuple[Warned, ...] = ()

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.truth)
