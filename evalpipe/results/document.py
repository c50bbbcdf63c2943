"""What the results of a run hold, field by field, in the order of `results.json`."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evalpipe.base.records import Record
from evalpipe.chapters.appearance.records import Appearance
from evalpipe.chapters.candidates.records import Candidates
from evalpipe.chapters.compare.records import Comparison
from evalpipe.chapters.costs.records import BestProfit, CostReference, NamedCost, Profit
from evalpipe.chapters.desirability.records import Desirability
from evalpipe.chapters.deviance.records import DevianceTest
from evalpipe.chapters.folds.records import FoldSpread
from evalpipe.chapters.gates.records import Gate, GateEvidence
from evalpipe.chapters.optimism.records import Optimism
from evalpipe.chapters.prevalence.records import ObservedShare, Prior
from evalpipe.chapters.recalibrate.records import Recalibration
from evalpipe.chapters.reference_rates.records import RateDifference
from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
from evalpipe.chapters.row_file.records import RowFile
from evalpipe.chapters.slices.records import Disparity, SliceDifference, SliceSummary, WorstSlice
from evalpipe.chapters.standards.records import StandardCompleteness
from evalpipe.chapters.statement.records import Stated
from evalpipe.chapters.steps.records import StepHistory
from evalpipe.chapters.thresholds.records import Threshold
from evalpipe.chapters.trend.records import Trend
from evalpipe.chapters.what_if.records import WhatIf
from evalpipe.results.curves import AnyCurve
from evalpipe.results.datasets import DatasetDifference, DatasetSummary, InputFile
from evalpipe.results.findings import Finding
from evalpipe.results.tables import Confusion, Estimate, Method, MetricSummary, ModelSummary, Warned


class Document(Record):
    """What a run found."""

    schema_version: Literal[1] = 1
    evalpipe_version: str
    name: str
    title: str
    as_of: str | None = None
    """The day that the card is about; null where the spec states none. It is never that of the run."""
    statement: Stated = Stated()
    """What people state of the model and its evaluation."""
    task: Literal["binary", "multiclass", "ordinal", "regression", "count"]
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
    prevalence: Prior | None
    observed: list[ObservedShare] = Field(default_factory=list)
    """The shares of the levels in each evaluated dataset."""
    weight: dict[str, str] | None
    exposure: dict[str, str | None] | None = None
    """The column of the exposure of counts, and its unit."""
    inputs: list[InputFile]
    row_file: RowFile | None = None
    """The row-level file that the run wrote beside the card; null where it wrote none."""
    datasets: list[DatasetSummary]
    dataset_differences: list[DatasetDifference] = Field(default_factory=list)
    """How the outcome of each further dataset differs from that of the first."""
    slices: list[SliceSummary] = Field(default_factory=list)
    models: list[ModelSummary]
    metrics: list[MetricSummary]
    intervals: Method
    rows: list[Estimate] = Field(alias="estimates")
    """The estimates, row by row; `estimates` holds them as a data frame."""
    diagnostics: list[Estimate] = Field(default_factory=list)
    """Estimates on all rows that the spec does not ask for and that findings rest on."""
    comparisons: list[Comparison] = Field(default_factory=list)
    repeated: list[RepeatedModel] = Field(default_factory=list)
    """The models of which there are several fits."""
    repeats: list[Repeat] = Field(default_factory=list)
    """Each measure over the fits of a model that has several."""
    folds: list[FoldSpread] = Field(default_factory=list)
    """Each measure over the folds of resampling; absent where no column numbers them."""
    optimism: list[Optimism] = Field(default_factory=list)
    """Each measure on rows that a model was fitted to, corrected for that."""
    reference_rates: list[RateDifference] = Field(default_factory=list)
    slice_differences: list[SliceDifference] = Field(default_factory=list)
    disparities: list[Disparity] = Field(default_factory=list)
    worst_slices: list[WorstSlice] = Field(default_factory=list)
    confusion: list[Confusion]
    curves: list[AnyCurve]
    steps: list[StepHistory] = Field(default_factory=list)
    """Measures at every step of models that have steps."""
    desirability: Desirability = Desirability()
    candidates: Candidates = Candidates()
    what_if: list[WhatIf] = Field(default_factory=list)
    """The counts at every threshold of the sliders of the page."""
    gates: list[Gate] = Field(default_factory=list)
    trend: Trend = Trend()
    """Measures over nights, this one the last."""
    evidence: list[GateEvidence] = Field(default_factory=list)
    """The evidence of this night on the limits of gates `on: sequence`."""
    standards: list[StandardCompleteness] = Field(default_factory=list)
    """What the card answers of each standard that the spec names."""
    thresholds: list[Threshold]
    recalibration: list[Recalibration] = Field(default_factory=list)
    costs: list[NamedCost] = Field(default_factory=list)
    cost_references: list[CostReference] = Field(default_factory=list)
    deviances: list[DevianceTest] = Field(default_factory=list)
    """The deviance of each model beside that of no model."""
    profit: list[Profit] = Field(default_factory=list)
    best_profit: list[BestProfit] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    """What the results say, in sentences, what matters most first."""
    appearance: Appearance = Appearance()
    """How the card looks."""
    warnings: list[Warned]
