"""The records of repeated fits."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Measured, OfModel, Record, Status
from evalpipe.words.sentences import Sentence


class RepeatedModel(OfModel):
    """A model of which there are several fits; all that is not about repeated fits is of the first file."""

    files: list[str]
    """The files of the fits, in the order of their names."""
    false_positive_rate: list[float] = Field(default_factory=list)
    """Of scores of an event: the places at which the ROC curves are given."""
    sensitivity: list[list[float | None]] = Field(default_factory=list)
    """The ROC curve of each fit at these places; null where a class is missing."""


class Repeat(Measured):
    """A measure over several fits of one model on the same rows."""

    fits: int
    values: list[float | None]
    """The value of each fit, in the order of the files."""
    mean: float | None
    """The mean of the values; null where a fit has none."""
    lower: float | None
    """Limits of the mean over fits and rows."""
    upper: float | None
    level: float | None
    freedom: float | None
    """The degrees of freedom of these limits."""
    new_lower: float | None
    """Limits of what another fit of the same training reaches in the population."""
    new_upper: float | None
    new_freedom: float | None
    sd: float | None
    """The standard deviation of the values, which the error of the rows adds to."""
    between: float | None
    """The standard deviation between fits in the population; null where nothing was resampled."""
    within: float | None
    """The standard error of a single fit over samples of rows, the root of the mean variance."""
    correlation: float | None
    """How much of the error of the rows two fits share: their mean covariance over the mean variance."""
    method: str
    n: int
    """Observations that the measure sees."""
    status: Status
    reason: Sentence | None = None
    undefined_replicates: int = 0
    """The replicates in which a fit has no value."""

    @property
    def lowest(self) -> float | None:
        """The lowest value of a fit."""
        return min((value for value in self.values if value is not None), default=None)

    @property
    def highest(self) -> float | None:
        """The highest value of a fit."""
        return max((value for value in self.values if value is not None), default=None)


class RepeatsFields(Record):
    """What the results hold of it."""

    repeated: list[RepeatedModel] = Field(default_factory=list)
    """The models of which there are several fits."""
    repeats: list[Repeat] = Field(default_factory=list)
    """Each measure over the fits of a model that has several."""
