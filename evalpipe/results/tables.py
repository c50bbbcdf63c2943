"""The records of which results are made: frozen rows of tables, written to and read from JSON."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.base.records import Measured, Record, Scalar, Slice, Status
from evalpipe.chapters.equivocal.records import Zone


class ModelSummary(Record):
    """A model and the columns that hold its predictions."""

    name: str
    label: str
    columns: dict[str, str]
    scale: str | None = None
    """How a raw score became a probability: logit or margin; null for a probability, a rank or classes."""
    threshold: float | None
    equivocal: Zone | None = None
    """The equivocal zone of its own classes; null where none is declared."""
    threshold_rule: str | None = None
    """How the threshold is chosen, in words, where it is no number of the spec."""
    characteristics: dict[str, Scalar]


class MetricSummary(Record):
    """What a metric means."""

    name: str
    title: str
    definition: str
    formula: str
    direction: Literal["maximize", "minimize", "none"]
    range: tuple[float | None, float | None]
    """Lowest and highest possible value; null where unbounded."""
    undefined: str
    reference: str
    own_prevalence: bool = False
    """Whether a prevalence is in its formula; any other measure at a prevalence uses reweighted rows."""
    matrices: dict[str, list[list[float]]] = Field(default_factory=dict)
    """What each pair of a true (outer) and a predicted level weighs or costs, by name, where it depends on that."""
    expression: str | None = None
    """The expression of other measures that it is, where the spec declares it as one."""
    measures: dict[str, str] = Field(default_factory=dict)
    """Of an expression: its measures by their names in it, each with the options that the spec gives it."""

    @property
    def is_whole(self) -> bool:
        """Whether it may be a number of rows, which is shown without decimals."""
        return self.range[1] is None


class Estimate(Measured):
    """One number, with its interval and support."""

    value: float | None
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    """How the interval was made: the name of one of the methods of docs/intervals.md; none without an interval."""
    n: int
    """Observations in its own denominator, regardless of their weight: for sensitivity the events, for precision the
    predicted events. For measures that are not proportions, and for averages over classes: all rows used; with an
    equivocal zone, measures of predicted classes use the reportable rows. Of a slice of too few rows, all of them."""
    events: int | None
    """Events among these, of a binary outcome; of one class of several, the rows of that class among them."""
    status: Status
    reason: str | None = None
    classes_used: int | None = None
    """Of an average over classes: how many of them have a value."""
    no_information: float | None = None
    """The value if truth and prediction were independent."""
    skill: float | None = None
    """0 at the value without information, 1 at the best value, below zero where the value is worse than without
    information."""
    undefined_replicates: int = 0
    monte_carlo_error: float | None = None
    """Of bootstrap limits: the larger of their two Monte-Carlo standard errors, from the limited number of
    replicates."""
    degrees_of_freedom: int | None = None
    """Of the Hosmer-Lemeshow test: the number of groups, minus two on all the rows that the model was fitted to; null
    of other measures, and of an average over classes."""
    error_bound: float | None = None
    """How far the grid of the replicates is from the value itself, which is exact; limits are moved back by it. Null
    where every row was drawn and every score kept."""


class Confusion(Record):
    """Counts (with weights: their totals); ``counts[i][j]`` is truth level i, predicted level j.

    Rows in the equivocal zone are in no cell.
    """

    dataset: str
    model: str
    variant: str = "original"
    slice: Slice | None = None
    levels: list[str]
    counts: list[list[float]]
    threshold: float | None
    cuts: list[float] = Field(default_factory=list)
    """The distinct thresholds of the folds, where the threshold was cross-fitted; ``threshold`` is null then."""
    at_threshold: int
    """Rows whose probability equals their threshold; they are predicted as events. None in an equivocal zone, which
    holds the threshold."""
    events_at_threshold: int = 0
    """The events among them. Labels drawn at random there, as Watt, Borhani & Katsaggelos (2020), section 6.8, draw
    them, would move half of these rows to the other prediction, on average."""
    tied: int = 0
    """Rows whose highest probability several levels share; the first of them is predicted."""
    equivocal: float = 0.0
    """Rows (with weights: their total) in the equivocal zone, which have no predicted level."""
    zone: Zone | None = None
    """The equivocal zone; null where none is declared."""


class Warned(Record):
    """Something a reader should know."""

    code: str
    message: str


GONE = ("model-gone", "dataset-gone", "gate-gone")
"""The codes of warnings of what the run before had, by the ledger, and this one has not."""

OF_LEDGER = (*GONE, "unknown-was")
"""The codes of warnings that depend on the runs before."""


class Draw(Record):
    """What replicates drew together: all rows of a dataset, or the slices of one slicing, for some models."""

    dataset: str
    models: list[str]
    slicing: str | None = None
    """The title of the slicing; null where all rows were drawn."""
    mode: Literal["rows", "clusters", "groups", "cells"]
    """What was drawn: "groups" are random groups of whole clusters."""
    units: int
    """How many rows, clusters, groups, or cells of like rows were drawn from."""
    lost: float = 0.0
    """Where rows were counted in cells: the largest share of the variance of any model's predictions, by rank, that
    lies within cells."""
    variance_error: float | None = None
    """Of random groups: the standard error of the variances that they tell, in parts of these. Wolter (2007), ch. 2."""
    reason: str


class Method(Record):
    """How the intervals of the run were made."""

    level: float
    replicates: int
    pairings: int = 0
    """Random pairings behind the values without information that are not exact; 0 where none were requested."""
    seed: int
    methods: dict[str, str]
    """The interval method of each metric, with the reason for it."""
    resampling: str = "multinomial"
    units: dict[str, int] = Field(default_factory=dict)
    """For each dataset drawn on a grid: the most cells of like rows that represent all its rows in replicates."""
    draws: list[Draw] = Field(default_factory=list)
    """What replicates drew, and why."""
