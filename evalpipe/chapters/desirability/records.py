"""The records of desirability, of models and of candidates."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field

from evalpipe.base.records import OfModel, Record, Scalar, Status
from evalpipe.words.sentences import Sentence

FACTORS = {0.5: "halved", 2.0: "doubled"}
"""By what the weight of each goal is multiplied, to see whether the ranking holds, and what that is called."""


class Goal(Record):
    """A goal of desirability and its curve."""

    goal: str
    """Its name: the form and what it is of."""
    kind: Literal["minimize", "maximize", "target", "box", "category", "custom"]
    metric: str | None = None
    params: dict[str, Scalar] = Field(default_factory=dict)
    average: str | None = None
    characteristic: str | None = None
    shape: dict[str, Any]
    """The limits, points or levels as the spec gives them."""
    weight: float
    missing: float | None = None
    """The desirability of a value that does not exist; null where it leaves the overall desirability undefined."""
    x: list[float] = Field(default_factory=list)
    """Values along the curve, over its limits and all that was found; none of a goal by category."""
    desirability: list[float] = Field(default_factory=list)
    """The desirability at each."""


class Individual(OfModel):
    """The desirability of one model in one goal."""

    goal: str
    metric: str | None = None
    params: dict[str, Scalar] = Field(default_factory=dict)
    average: str | None = None
    characteristic: str | None = None
    value: Scalar | None
    """The value of the measure, or the characteristic."""
    value_lower: float | None = None
    """The lower limit of ``value``, on the scale of the measure, as its estimate has it; none of a characteristic."""
    value_upper: float | None = None
    """The upper limit of ``value``."""
    desirability: float | None
    """From 0, unacceptable, to 1."""
    lower: float | None = None
    """The lower limit of ``desirability``, from 0 to 1, from the replicates of the value; none of a characteristic,
    which is a constant."""
    upper: float | None = None
    """The upper limit of ``desirability``."""
    level: float | None = None
    weight: float
    status: Status = "ok"
    reason: Sentence | None = None
    undefined_replicates: int = 0


class Overall(OfModel):
    """The overall desirability of one model: the weighted geometric mean over its goals."""

    value: float | None
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    rank: int | None = None
    """1 for the most desirable on the dataset; ties share the better rank."""
    probability_best: float | None = None
    """The share of replicates in which it is the most desirable; ties share a replicate equally."""
    pareto: bool | None = None
    """Whether no other model or variant is as good in every goal and better in one."""
    weights_best: float | None = None
    """The share of 10,000 random sets of weights under which it is the most desirable."""
    status: Status = "ok"
    reason: Sentence | None = None
    undefined_replicates: int = 0
    monte_carlo_error: float | None = None
    """The standard error of the limits that comes from drawing so few replicates."""


class WeightChange(Record):
    """The overall desirability of one model where the weight of one goal is changed."""

    dataset: str
    goal: str
    factor: float
    """By what the goal's weight is multiplied."""
    model: str
    variant: str = "original"
    value: float | None
    first: bool
    """Whether it is then the most desirable, alone or with others that tie."""


class Desirability(Record):
    """Desirability of the models; empty until goals are declared."""

    has_tables: ClassVar[bool] = True

    goals: list[Goal] = Field(default_factory=list)
    individual: list[Individual] = Field(default_factory=list)
    overall: list[Overall] = Field(default_factory=list)
    sensitivity: list[WeightChange] = Field(default_factory=list)


class CandidateGoal(Goal):
    """A goal that candidates are ranked by, and where its values stand in their table."""

    column: str
    """The column of the table; of a table with a row for each measure, the measure's name there."""
    std_err: bool = False
    """Whether some of its values have a standard error."""


class RankedCandidate(Record):
    """One candidate: its values, and its desirability in each goal, by the names of the goals, and overall."""

    id: dict[str, Scalar | None]
    """What tells it from others, by column."""
    value: float | None
    """The overall desirability: the weighted geometric mean over the goals."""
    rank: int | None
    """1 for the most desirable; ties share the better rank. Null where a goal has no value."""
    pareto: bool | None
    """Whether no other candidate is as good in every goal and better in one."""
    front: bool | None = None
    """The same in the two goals of the figure alone."""
    near: bool | None = None
    """Whether its overall desirability is at least `within`; null where the best have no standard errors."""
    values: dict[str, Scalar | None]
    desirability: dict[str, float | None]
    std_err: dict[str, float] = Field(default_factory=dict)
    """The standard errors of its values, of the goals that have them."""
    status: Status = "ok"
    reason: Sentence | None = None


class Candidates(Record):
    """Candidates in the order of their rank, then of their ids; empty until a table of them is declared."""

    has_tables: ClassVar[bool] = True

    id: list[str] = Field(default_factory=list)
    """The columns that tell them apart."""
    goals: list[CandidateGoal] = Field(default_factory=list)
    axes: list[str] = Field(default_factory=list)
    """The two goals of the Pareto figure; none of a single goal."""
    within: float | None = None
    """The overall desirability that a best candidate would have with each value one standard error worse (the least of
    those that tie): candidates from here up lie within one standard error of the best. Null without standard
    errors."""
    ranking: list[RankedCandidate] = Field(default_factory=list)


class DesirabilityFields(Record):
    """What the results hold of it."""

    desirability: Desirability = Desirability.model_construct()
    candidates: Candidates = Candidates.model_construct()
