"""The records of thresholds."""

from __future__ import annotations

from pydantic import Field

from evalpipe.base.records import Record, Scalar, Status
from evalpipe.words.sentences import Sentence


class Constraint(Record):
    """A measure that a threshold's rule bounds."""

    metric: str
    params: dict[str, Scalar]
    min: float | None
    max: float | None
    apparent: float | None
    """Its value at the threshold on the rows that chose it."""
    optimism: float | None = None
    """By how much it is too good there, by the bootstrap; below zero for an upper bound."""
    corrected: float | None = None
    """The apparent value minus its optimism."""


class Threshold(Record):
    """A threshold and where it comes from."""

    dataset: str | None
    model: str
    variant: str = "original"
    value: float
    """The threshold: rows scored at or above it are predicted as events. Cross-fitted, the threshold chosen on all
    rows, for later use; the evaluated rows are classified by ``cuts``."""
    score: float | None = None
    """The threshold on the score, where a ``scale`` makes probabilities of it: rows are predicted as events by this
    number, since scores that differ may round to one probability. Of a variant, on its log odds. Null where every row
    is predicted alike (a probability of 0 or 1)."""
    lower: float | None = None
    upper: float | None = None
    rule: str
    """fixed, bayes, or what is optimized and under which bounds: "maximize sensitivity subject to specificity >= 0.9".
    """
    chosen_on: str | None = None
    """The dataset whose rows chose it; cross-fitted, the evaluated one."""
    folds: int | None = None
    """In how many folds it was cross-fitted on the evaluated rows."""
    cuts: list[float] = Field(default_factory=list)
    """Cross-fitted: the threshold of each fold's rows, chosen by the rows of the others."""
    level: float | None = None
    metric: str | None = None
    params: dict[str, Scalar] = Field(default_factory=dict)
    constraints: list[Constraint] = Field(default_factory=list)
    apparent: float | None = None
    """The measure at the threshold on the rows that chose it: too good."""
    optimism: float | None = None
    """By how much it is too good, by the bootstrap: the mean of the measure in a replicate at the replicate's
    threshold minus its value on all rows at that threshold. Below zero for a measure to be minimized. Harrell, Lee &
    Mark (1996)."""
    corrected: float | None = None
    """The apparent value minus its optimism, kept within the range of the measure."""
    n: int | None = None
    """Observations that chose."""
    events: int | None = None
    status: Status = "ok"
    reason: Sentence | None = None
    undefined_replicates: int = 0
    """Replicates in which no threshold had a value and kept to the bounds."""


class ThresholdsFields(Record):
    """What the results hold of it."""

    thresholds: list[Threshold]
