"""The records of fitted recalibrators."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from evalpipe.base.records import Record, Scalar


class Applied(Record):
    """What a recalibrator changed in the predictions on one evaluated dataset."""

    dataset: str
    distinct_before: int
    """The distinct predictions of the model, or of its scores where probabilities are made of them; of several levels,
    distinct rows of probabilities."""
    distinct_after: int
    """The distinct predictions of the variant."""
    clipped: int
    """Rows whose probability was moved away from 0 or 1 before a logarithm was taken."""


class Recalibration(Record):
    """A fitted recalibrator: what it takes to apply it again."""

    model: str
    variant: str
    method: str
    options: dict[str, Scalar | list[float]]
    fitted_on: str
    """The dataset that it was fitted on. Cross-fitted, the parameters are of a fit on all its rows, for later use;
    the variant's predictions come from the folds."""
    folds: int | None
    """The number of folds, where it was cross-fitted on the evaluated rows."""
    n: int
    """Observations it was fitted on."""
    events: int | None
    clipped: int
    """Rows fitted on whose probability was moved away from 0 or 1 before a logarithm was taken."""
    applied: list[Applied]
    parameters: dict[str, Any]
    """The fit. Where the model's score has a scale, log odds are the score itself, and the places ``at`` of isotonic
    fits and of Venn-Abers are scores; else they are probabilities."""

    @property
    def shifts(self) -> bool:
        """Whether it turned probabilities to another prevalence, so that the rows of the sample do not judge it."""
        return "to" in self.parameters


class RecalibrateFields(Record):
    """What the results hold of it."""

    recalibration: list[Recalibration] = Field(default_factory=list)
