"""The records of measures at every step of a fit."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import OfModel, Record, Scalar


class StepHistory(OfModel):
    """One measure of a model at every step that its file has."""

    metric: str
    params: dict[str, Scalar]
    average: str | None = None
    shown: int
    """The step that all other parts of the results are of."""
    steps: list[int]
    """The steps, ascending."""
    values: list[float | None]
    """The value at each step, without an interval; null where it is undefined."""
    best: int | None
    """The first step with the best value; null for a measure without a better side."""
    best_value: float | None
    ties: int = 0
    """How many other steps have the best value, up to rounding."""

    def at(self, step: int) -> float | None:
        """Return the value at a step, which must be one of ``steps``; None where it is undefined."""
        return self.values[self.steps.index(step)]

    def is_best(self, step: int) -> bool:
        """Tell whether the value at a step is the best one, up to rounding."""
        value = self.at(step)
        return value is not None and self.best_value is not None and same_value(value, self.best_value)


def same_value(value: float, other: float) -> bool:
    """Tell whether two values of a measure are equal but for the order in which their rows were summed."""
    return abs(value - other) <= TIE * max(1.0, abs(other))


TIE = 1e-12
"""What the order of a sum may change in a value, relative to its size or to 1."""


class StepsFields(Record):
    """What the results hold of it."""

    steps: list[StepHistory] = Field(default_factory=list)
    """Measures at every step of models that have steps."""
