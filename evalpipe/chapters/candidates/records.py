"""The records of candidates."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from evalpipe.base.records import Record, Scalar, Status
from evalpipe.chapters.desirability.records import Goal
from evalpipe.words.sentences import Sentence


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


class CandidatesFields(Record):
    """What the results hold of it."""

    candidates: Candidates = Candidates()
