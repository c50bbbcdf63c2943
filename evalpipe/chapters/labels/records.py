"""The records of labels: which rows have an outcome, how far judges are off, and what their labels are worth."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, DescribedRow, Measured, Record, Slice, SparseRecord


class LabelledDataset(Record):
    """How many rows of a dataset have an outcome, and how they came to have it."""

    dataset: str
    method: Literal["known_only", "weighted", "prediction_powered"]
    selected: Literal["random", "probability", "strata"]
    """How rows were chosen for their outcome: as a random part of all rows, each with a probability, or by strata."""
    columns: list[str] = Field(default_factory=list)
    """The columns of the probability or the strata."""
    rows: int
    """All rows."""
    known: int
    """Rows with an outcome."""
    effective: float
    """So many rows of equal weight would give a mean as precise as those with an outcome do: Kish (1965)."""
    least_chance: float
    """The least probability of being chosen of a row with an outcome, or the least share of a stratum."""
    prevalence: float
    """The share of events: by the labels of judges too, where they take part."""
    lower: float | None
    upper: float | None
    level: float | None
    alone: float
    """The share of events by rows with an outcome alone, weighted where they are no random part."""


class JudgeBias(SparseRecord):
    """How far the labels of a judge are from the outcomes, of rows that have one."""

    absent: ClassVar[tuple[str, ...]] = ("slice", "agreement")

    dataset: str
    judge: str
    """Its column, or its model."""
    slice: Slice | None = None
    rows: int
    """Rows with an outcome."""
    label: float
    """The share of events by the judge."""
    outcome: float
    """The share of events by the outcome, of the same rows."""
    bias: float
    """`label` less `outcome`."""
    lower: float | None
    upper: float | None
    level: float | None
    agreement: float | None = None
    """The share of rows in which judge and outcome agree, of a judge that gives classes."""


class LabelWorth(Measured):
    """A measure by rows with an outcome alone, and how many more of these the labels of judges stand for."""

    shares: dict[str, float]
    """With what share the labels of each judge take part, from 0 to 1: the one at which the measure varies least."""
    alone: float | None
    """The measure on rows with an outcome alone, weighted where they are no random part."""
    lower: float | None
    upper: float | None
    n: int
    """Rows with an outcome in the measure."""
    worth: float | None
    """So many rows with an outcome alone would give limits as narrow: `n` times the ratio of the variances."""


class UnweightedValue(Measured):
    """What a measure would be if rows with an outcome were taken for a random part, though they are none."""

    unweighted: float | None


class SelectionTest(SparseRecord):
    """Whether rows with an outcome are like other rows, where they are said to be a random part."""

    absent: ClassVar[tuple[str, ...]] = ("auc", "group", "share", "others")

    dataset: str
    kind: Literal["model", "judge", "slicing"]
    name: str
    """The model, the judge, or the title of the slicing."""
    auc: float | None = None
    """The probability that a row with an outcome has a higher score than another row: 0.5 where they are alike."""
    group: str | None = None
    """Of a slicing, the slice whose share of rows with an outcome is farthest from that of all."""
    share: float | None = None
    """The share of rows with an outcome in it."""
    others: float | None = None
    """The share of rows with an outcome among all rows."""
    p_value: float
    p_adjusted: float
    """Adjusted for all such tests of the dataset: Holm (1979)."""


class LabelArrival(Record):
    """How many rows of a dataset were settled on the day of the card, where outcomes come late."""

    dataset: str
    known_by: str
    """The last day whose outcomes count as known."""
    within: int
    """The days after its own day from which on a row is settled."""
    rows: int
    """All rows."""
    settled: int
    unsettled: int
    """Rows that are not settled: their outcomes do not count, known or not."""
    judged: bool
    """Whether rows that are not settled count by the labels of judges; else they are left out."""


class LateLabels(DescribedRow):
    """How settled rows whose outcome became known late differ from those in which it did so early."""

    absent: ClassVar[tuple[str, ...]] = ("judge",)

    dataset: str
    judge: str | None = None
    """The judge whose bias is compared: how far its share of events is above that of the outcome."""
    until: float
    """The days within which an outcome is early: half of `within`."""
    early_rows: int
    late_rows: int
    early: float
    """The share of events, or the bias of the judge, of rows whose outcome became known early."""
    late: float
    difference: float
    """`late` less `early`."""
    lower: float | None
    upper: float | None
    level: float | None
    p_value: float | None
    """Two-sided, of no difference."""
    p_adjusted: float | None
    """Adjusted for all such tests of the dataset: Holm (1979)."""


class LabelsFields(Record):
    """What the results hold of it."""

    labelled: Annotated[list[LabelledDataset], UNWRITTEN] = Field(default_factory=list)
    """How many rows of each dataset have an outcome, where not all have."""
    judge_bias: Annotated[list[JudgeBias], UNWRITTEN] = Field(default_factory=list)
    """How far the labels of judges are from the outcomes."""
    label_worth: Annotated[list[LabelWorth], UNWRITTEN] = Field(default_factory=list)
    """What the labels of judges add to rows with an outcome, measure by measure."""
    unweighted: Annotated[list[UnweightedValue], UNWRITTEN] = Field(default_factory=list)
    """What measures on all rows would be if rows with an outcome did not weigh as they were chosen."""
    selection_tests: Annotated[list[SelectionTest], UNWRITTEN] = Field(default_factory=list)
    """Whether rows with an outcome are like other rows."""
    label_arrival: Annotated[list[LabelArrival], UNWRITTEN] = Field(default_factory=list)
    """How many rows were settled, where outcomes come late."""
    late_labels: Annotated[list[LateLabels], UNWRITTEN] = Field(default_factory=list)
    """How rows whose outcome became known late differ from those in which it did so early."""
