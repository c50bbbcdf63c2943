"""What the results of a run hold: the records of their tables, and the fields in the order of `results.json`.

Frozen rows: estimates, models and measures, what was read, findings; then the document that holds them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from evalpipe.base.records import DescribedRow, Measured, Record, Scalar, Slice, SparseRecord, Status
from evalpipe.chapters import composed
from evalpipe.chapters.checks.records import OUTCOMES, Check, CheckKind, Outcome
from evalpipe.chapters.compare.records import Comparison
from evalpipe.chapters.costs.records import BestProfit, CostReference, NamedCost, Profit
from evalpipe.chapters.desirability.records import (
    CandidateGoal,
    Candidates,
    Desirability,
    Individual,
    Overall,
    RankedCandidate,
)
from evalpipe.chapters.equivocal.records import Zone
from evalpipe.chapters.gates.records import (
    ORDER,
    FailOn,
    Gate,
    GateEvidence,
    GateSequence,
    Kind,
    RunVerdict,
    Verdict,
    current_word,
    holds,
    worst,
)
from evalpipe.chapters.optimism.records import Optimism
from evalpipe.chapters.prevalence.records import ObservedShare, PredictiveLine, Prior
from evalpipe.chapters.recalibrate.records import Applied, Recalibration
from evalpipe.chapters.reference_rates.records import RateDifference
from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
from evalpipe.chapters.row_file.records import RowColumn, RowFile
from evalpipe.chapters.slices.records import Disparity, SliceDifference, SliceSummary, WorstSlice
from evalpipe.chapters.steps.records import StepHistory
from evalpipe.chapters.thresholds.records import Constraint, Threshold
from evalpipe.results.curves import AnyCurve
from evalpipe.words.sentences import Sentence, sentence

__all__ = [
    "GONE", "OF_LEDGER", "ORDER", "OUTCOMES", "AnyCurve", "Applied", "BestProfit", "CandidateGoal", "Candidates",
    "Check", "CheckKind", "ChosenMethod", "Comparison", "Confusion", "Constraint", "CostReference", "DatasetDifference",
    "DatasetSummary", "Desirability", "Disparity", "Document", "Draw", "Estimate", "FailOn", "Finding", "FindingKind",
    "Gate", "GateEvidence", "GateSequence", "Individual", "InputFile", "Kind", "LevelCount", "Matched", "Method",
    "MetricSummary", "ModelSummary", "NamedCost", "ObservedShare", "Optimism", "Outcome", "Overall", "PredictiveLine",
    "Prior", "Profit", "RankedCandidate", "RateDifference", "Recalibration", "Repeat", "RepeatedModel", "RowColumn",
    "RowFile", "RunVerdict", "SliceDifference", "SliceSummary", "StepHistory", "Threshold", "Verdict", "Warned",
    "WorstSlice", "Zone", "current_word", "holds", "worst",
]

if TYPE_CHECKING:
    from pydantic import GetJsonSchemaHandler
    from pydantic_core import CoreSchema

    from evalpipe.chapters.appearance.records import AppearanceFields
    from evalpipe.chapters.checks.records import ChecksFields
    from evalpipe.chapters.compare.records import CompareFields
    from evalpipe.chapters.costs.records import CostsFields
    from evalpipe.chapters.desirability.records import DesirabilityFields
    from evalpipe.chapters.deviance.records import DevianceFields
    from evalpipe.chapters.folds.records import FoldsFields
    from evalpipe.chapters.gates.records import GatesFields
    from evalpipe.chapters.labels.records import LabelsFields
    from evalpipe.chapters.optimism.records import OptimismFields
    from evalpipe.chapters.prevalence.records import PrevalenceFields
    from evalpipe.chapters.recalibrate.records import RecalibrateFields
    from evalpipe.chapters.reference_rates.records import ReferenceRatesFields
    from evalpipe.chapters.repeats.records import RepeatsFields
    from evalpipe.chapters.row_contents.records import RowContentsFields
    from evalpipe.chapters.row_file.records import RowFileFields
    from evalpipe.chapters.scores.records import ScoresFields
    from evalpipe.chapters.slices.records import SlicesFields
    from evalpipe.chapters.standards.records import StandardsFields
    from evalpipe.chapters.statement.records import StatementFields
    from evalpipe.chapters.steps.records import StepsFields
    from evalpipe.chapters.thresholds.records import ThresholdsFields
    from evalpipe.chapters.trend.records import TrendFields
    from evalpipe.chapters.what_if.records import WhatIfFields

    class FieldsOfChapters(
        StandardsFields, StatementFields, LabelsFields, ScoresFields, PrevalenceFields, ThresholdsFields, CostsFields,
        DevianceFields, RecalibrateFields, CompareFields, FoldsFields, RepeatsFields, OptimismFields,
        ReferenceRatesFields, DesirabilityFields, SlicesFields, StepsFields, WhatIfFields, RowContentsFields,
        GatesFields, ChecksFields, TrendFields, AppearanceFields, RowFileFields,
    ):
        """What the results hold of chapters."""
else:
    FieldsOfChapters = composed("records", "Fields")


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
        """Whether the metric may count rows, and is then shown without decimals: its range has no upper end."""
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
    reason: Sentence | None = None
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
    """Something a reader should know: its code and the numbers of its sentence."""

    code: str
    message: Sentence

    @classmethod
    def of(cls, code: str, **numbers: Any) -> Self:
        """Return the warning of a code; ``numbers`` fill in its template in `evalpipe.words.sentences`."""
        return cls(code=code, message=sentence(code, **numbers))

    @classmethod
    def of_text(cls, code: str, text: str) -> Self:
        """Return a warning whose sentence is a text, without a template, such as one from the spec."""
        return cls(code=code, message=Sentence(code, {"text": text}))

    @model_validator(mode="before")
    @classmethod
    def _read(cls, value: object) -> object:
        """Return the fields of a warning from its row in `results.json`, the code and the numbers of its sentence."""
        if not isinstance(value, dict) or isinstance(value.get("message"), Sentence):
            return value
        return {"code": value.get("code"), "message": Sentence.read(value)}

    @model_serializer
    def _document(self) -> dict[str, Any]:
        """Return the row of `results.json`: the code and the numbers of the sentence, not the sentence itself."""
        return self.message.document

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Return the JSON Schema of a warning in results: a code, and whatever numbers its sentence has."""
        return {"type": "object", "title": cls.__name__, "description": cls.__doc__, "required": ["code"],
                "properties": {"code": {"type": "string"}}}


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
    reason: Sentence


class ChosenMethod(Record):
    """The interval method of a metric, and why it was chosen."""

    method: str
    reason: Sentence


class Method(Record):
    """How the intervals of the run were made."""

    level: float
    replicates: int
    pairings: int = 0
    """Random pairings behind the values without information that are not exact; 0 where none were requested."""
    seed: int
    methods: dict[str, list[ChosenMethod]]
    """The interval method of each metric, with the reason for it; several where its averages differ."""
    resampling: str = "multinomial"
    units: dict[str, int] = Field(default_factory=dict)
    """For each dataset drawn on a grid: the most cells of like rows that represent all its rows in replicates."""
    draws: list[Draw] = Field(default_factory=list)
    """What replicates drew, and why."""


class InputFile(SparseRecord):
    """One file that was read, or one query."""

    absent: ClassVar[tuple[str, ...]] = ("query_sha256",)

    dataset: str
    role: str
    path: str | None
    """The path as the spec gives it, relative to the spec; null for data held in memory."""
    sha256: str | None
    rows: int
    """Rows in the file."""
    used_rows: int
    """Rows that met `where` and have a weight above zero."""
    columns: list[str]
    """The columns that were read."""
    query_sha256: str | None = None
    """The sha256 of the query's text and parameters, as a list in JSON without spaces; absent of files. `path` is then
    the scheme of the URI and the database, `sha256` that of the rows in any order (see docs/sql.md)."""


class LevelCount(Record):
    """How often a level of the outcome occurs."""

    level: str
    rows: int
    weight: float


class Matched(Record):
    """How the rows of a model's file of predictions were matched to the rows of a dataset."""

    model: str
    by: Literal["id", "position"]
    """`id`: rows with the same id belong together. `position`: the first row with the first, and so on."""
    agree: list[str] = Field(default_factory=list)
    """Matched by position: the columns that both have and that agree in every row; none where they share no column."""


class DatasetDifference(Record):
    """How the outcome of a dataset differs from that of the first one."""

    dataset: str
    baseline: str
    """The first dataset."""
    level: str | None
    """The level whose share is compared; null where it is the mean of a number."""
    value: float
    baseline_value: float
    statistic: float | None
    """The difference in standard errors: of two shares with their pooled share, of two means with both variances (Welch
    1938). Clusters, where there are any, count as one observation each; null where the error is 0."""
    p_value: float | None


class DatasetSummary(DescribedRow):
    """What is known of a dataset's rows."""

    absent: ClassVar[tuple[str, ...]] = ("all_scores", "without_outcome", "unsettled")

    name: str
    role: str
    trained_on: bool = False
    """Whether the models were fitted to these rows, on which measures are then apparent."""
    where: str | None
    rows: int
    """Rows in the files."""
    excluded_where: int
    """Rows that did not meet `where`."""
    unknown_where: int = 0
    """Of these, the rows for which `where` is unknown because a value that it needs is missing (null or NaN)."""
    excluded_zero_weight: int
    n: int
    """Observations used: rows, or the sum of frequency weights. With `labels`, rows with an outcome."""
    without_outcome: int | None = None
    """Rows without an outcome, which `labels` allow; absent without that key."""
    unsettled: int | None = None
    """Rows among these that were not settled on the day of the card; absent without late outcomes, `labels.arrive`."""
    events: int | None
    """Events of a binary outcome."""
    total_weight: float
    prevalence: float | None
    """Share of the events of a binary outcome, weighted."""
    levels: list[LevelCount]
    """The levels of the outcome; none of a number."""
    cells: int | None = None
    """Of rows that were read part by part and never held, the cells that they were counted in, by the scores of the
    model that has the most; null of rows that were held."""
    all_scores: bool | None = None
    """True where every score of such rows was kept, so that the values of all measures are exact; else absent."""
    clusters: int | None = None
    """Clusters of rows, where they are resampled."""
    clusters_error: float | None = None
    """The standard error of `clusters`, in parts of it, where more than 1,024 were not counted but estimated."""
    n_effective: float | None = None
    """Under importance weights, Kish's effective sample size (1965): the rows of equal weight with as much
    information."""
    outcome: dict[str, float] = Field(default_factory=dict)
    """Of a number: its weighted mean and sd, min, quartiles and max."""
    total_exposure: float | None = None
    """Of counts with an exposure, its weighted total."""
    rate: float | None = None
    """The weighted total of the counts over that of the exposure."""
    matched: list[Matched] = Field(default_factory=list)
    """How predictions in files of their own were matched to the rows."""
    excluded_incomplete: int = 0
    """Rows left out for every model because one has no prediction for them (`complete_case`)."""
    lacking_predictions: dict[str, int] = Field(default_factory=dict)
    """By model, how many of these rows it has no prediction for."""
    compared: dict[str, list[str]] = Field(default_factory=dict)
    """Of an evaluated dataset: the datasets that something was fitted on and that share no row with it, each with the
    columns by which rows were compared. One that lacks such a column, so that no row could be compared, is not here."""


FindingKind = Literal["passes", "fails", "undecided", "equivalent", "note"]


class Finding(Record):
    """Something that the results say, and the numbers that it rests on."""

    code: str = "text"
    """The name of the check that found it, such as better-than-trivial; text: of results of `schema_version` 1."""
    kind: FindingKind
    """passes and fails: decided, for better or worse; undecided: these data do not decide; equivalent: models or
    numbers that differ by nothing that matters; note: what a reader must know, neither good nor bad."""
    weight: float
    """How much it matters, from 0 to 100; findings are sorted by it."""
    text: str = ""
    """The sentence, for people. `results.json` has that of a plugin alone: others are made of the results when they are
    read."""
    section: str
    """The anchor of the card's section that holds the evidence."""
    estimates: list[Measured] = Field(default_factory=list)
    """The numbers that it rests on: what was measured, of what, and where."""
    plugin: str | None = None
    """The plugin whose rule says it; null for evalpipe's own."""

    @model_serializer(mode="wrap")
    def _document(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return the fields for JSON, without a sentence that the finding's rule makes again from the results."""
        keeps_text = self.plugin is not None or self.code == "text"
        return {key: item for key, item in handler(self).items() if key != "text" or keeps_text}


class CoreFields(Record):
    """What the results hold that is of no chapter."""

    schema_version: Literal[2] = 2
    evalpipe_version: str
    name: str
    title: str
    as_of: str | None = None
    """The day that the card is about; null where the spec states none. It is never that of the run."""
    task: Literal["binary", "multiclass", "ordinal", "regression", "count", "score"]
    event: str | None
    """The event of a binary outcome."""
    other: str | None
    """The level of a binary outcome that is not the event."""
    levels: list[str]
    """The levels of the outcome in order, of a binary one the event first; none of a number."""
    unit: str | None = None
    """The unit of a number."""
    spec: dict[str, Any]
    """The resolved spec: `extends`, environment and `--set` applied, defaults filled in."""
    spec_sha256: str
    weight: dict[str, str] | None
    exposure: dict[str, str | None] | None = None
    """The column of the exposure of counts, and its unit."""
    inputs: list[InputFile]
    datasets: list[DatasetSummary]
    dataset_differences: list[DatasetDifference] = Field(default_factory=list)
    """How the outcome of each further dataset differs from that of the first."""
    models: list[ModelSummary]
    metrics: list[MetricSummary]
    intervals: Method
    rows: list[Estimate] = Field(alias="estimates")
    """The estimates, row by row; `estimates` holds them as a data frame."""
    diagnostics: list[Estimate] = Field(default_factory=list)
    """Estimates on all rows that the spec does not ask for and that findings rest on."""
    confusion: list[Confusion]
    curves: list[AnyCurve]
    finding_rows: list[Finding] = Field(alias="findings", default_factory=list)
    """What the results say, what matters most first; `findings` has them with their sentences."""
    warnings: list[Warned]


class Document(FieldsOfChapters, CoreFields):
    """What a run found: the fields of the core, then those of chapters in their order."""
