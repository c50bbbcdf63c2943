"""The records of priors."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Record


class PredictiveLine(Record):
    """Predictive values of any model at the declared prevalence, along one of its rates."""

    by: str
    """The rate along the line: sensitivity or specificity."""
    other: str
    """The other rate."""
    at: float
    """The fixed value of the other rate."""
    points: dict[str, list[float | None]]
    """rate, ppv, npv."""


class Prior(Record):
    """The declared prevalence: of the event, or of each level."""

    value: float | None
    """The prevalence of the event of a binary outcome, or its mean."""
    source: str | None
    levels: dict[str, float] | None = None
    """The prevalence of each of several levels, or its mean."""
    beta: list[float] | None = None
    """The parameters of its Beta distribution, where it is uncertain."""
    dirichlet: dict[str, float] | None = None
    """The parameters of its Dirichlet distribution, where it is uncertain."""
    level: float | None = None
    """How much of the distribution lies within ``limits``."""
    limits: dict[str, tuple[float, float]] = Field(default_factory=dict)
    """The central part of the distribution, for each level."""
    lines: list[PredictiveLine] = Field(default_factory=list)
    """What ppv and npv of an event are at this prevalence for any sensitivity and specificity."""
    dataset: str | None = None
    """The dataset whose outcomes gave it; null where the spec states it."""
    rows: int | None = None
    """The rows of that dataset, or the observations that they count as; null where the spec states it."""


class ObservedShare(Record):
    """The share of the event, or of a level, among the rows of an evaluated dataset."""

    dataset: str
    level: str
    value: float
    lower: float | None
    upper: float | None
    confidence: float | None
    """The confidence level of the limits."""
    method: str
    """How they were made: exact, wilson, jeffreys (of effective observations under clusters and importance weights) or
    none."""


class PrevalenceFields(Record):
    """What the results hold of it."""

    prevalence: Prior | None
    observed: list[ObservedShare] = Field(default_factory=list)
    """The shares of the levels in each evaluated dataset."""
