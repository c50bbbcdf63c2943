"""What two runs differ in, row by row; `a` is always of the first run and `b` of the second."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evalpipe.base.records import Record, Scalar, Slice
from evalpipe.chapters.gates.records import Kind, Subject
from evalpipe.results.document import Finding, InputFile

Ignorable = Literal["spec", "data", "intervals", "findings", "other"]
"""What may differ without being counted, if it is asked for."""

Aspect = Literal["presence", "value", "status", "interval", "details"]
"""In what a number differs. presence: one run alone has it; details: its support, its method or what else is told."""


class ComparedRun(Record):
    """One of the two runs."""

    source: str
    """The folder or the file, as the command line names it."""
    name: str
    as_of: str | None
    """The day that its card is about."""
    evalpipe_version: str
    spec_sha256: str
    evidence_sha256: str


class GivenTolerance(Record):
    """By how much numbers may differ: `absolute`, or `relative` times the larger of the two, whichever is more."""

    absolute: float = 0.0
    relative: float = 0.0
    by_metric: dict[str, float] = Field(default_factory=dict)
    """The absolute tolerance of single metrics, in place of the other two."""


class SpecChange(Record):
    """A key of the resolved spec; a key that is null counts as not there."""

    change: Literal["added", "removed", "changed"]
    key: str
    """Where it stands, as `--set` takes it; of an item of a list that moved, its place in the second spec."""
    a: Any = None
    b: Any = None


class InputChange(Record):
    """A file of data that is another one, or that one run alone read."""

    dataset: str
    differs_in: list[Literal["presence", "content", "rows", "used_rows", "columns"]]
    a: InputFile | None
    b: InputFile | None


class VersionChange(Record):
    """A library of another version; null where a run does not say."""

    library: str
    a: str | None
    b: str | None


class SubjectChange(Record):
    """A dataset, a model or a metric that one run alone has."""

    kind: Literal["dataset", "model", "metric"]
    name: str
    only_in: Literal["a", "b"]


class NumberSide(Record):
    """A number as one run has it."""

    value: float | None
    lower: float | None = None
    upper: float | None = None
    level: float | None = None
    method: str | None = None
    n: int | None = None
    events: int | None = None
    status: str = "ok"
    reason: str | None = None


class PairedDifference(Record):
    """The difference of the second run from the first on the same rows, from their row-level files."""

    difference: float | None
    lower: float | None
    upper: float | None
    level: float | None
    method: str
    p_value: float | None
    n: int
    status: str
    reason: str | None = None


class NumberChange(Record):
    """An estimate, a threshold or a desirability that differs."""

    kind: Literal["estimate", "threshold", "desirability"]
    dataset: str | None
    model: str
    variant: str = "original"
    slice: Slice | None = None
    metric: str | None = None
    params: dict[str, Scalar] = Field(default_factory=dict)
    average: str | None = None
    class_: str | None = Field(default=None, alias="class")
    goal: str | None = None
    """Of a desirability: its goal, or overall."""
    differs_in: list[Aspect]
    details: list[str] = Field(default_factory=list)
    """The fields of `results.json` that `differs_in` calls details."""
    a: NumberSide | None
    b: NumberSide | None
    difference: float | None = None
    """The value of the second run minus that of the first."""
    intervals_overlap: bool | None = None
    """Whether the two intervals have a number in common, which does not prove that the values are the same."""
    paired: PairedDifference | None = None

    @property
    def counted_alone(self) -> bool:
        """Whether the value is the same within the tolerance, and only its interval or its details differ."""
        return not {"presence", "value", "status"} & set(self.differs_in)


class GateSide(Record):
    """A gate as one run has it."""

    gate: int
    kind: Kind
    limit: dict[str, float]
    on: str
    severity: str
    observed: float | None
    lower: float | None
    upper: float | None
    reason: str


class GateChange(Subject):
    """A gate with another verdict or another limit, or that one run alone has."""

    name: str | None = None
    against: str | None = None
    differs_in: list[Literal["presence", "verdict", "limit", "judged"]]
    """judged: by another number (`on`), or with another severity."""
    a: GateSide | None
    b: GateSide | None


class FindingChange(Record):
    """A finding that appeared, went, or turned from one kind into another."""

    change: Literal["appeared", "went", "turned"]
    a: Finding | None
    b: Finding | None


class PartChange(Record):
    """A further part of the results, such as its curves, that differs in some rows."""

    part: str
    rows_a: int
    rows_b: int
    differ: int
    """Rows that both runs have, and that differ."""
    only_a: int
    only_b: int


class Unpaired(Record):
    """Why estimates have no paired differences: all of them, or those of a model on a dataset."""

    dataset: str | None = None
    model: str | None = None
    variant: str | None = None
    metrics: list[str] = Field(default_factory=list)
    """The metrics that it is about; none where it is about all."""
    slices: bool = False
    """Whether it is about estimates in slices alone."""
    reason: str


class Counts(Record):
    """How many numbers were compared, and how many differ."""

    estimates: int = 0
    """Estimates that both runs have."""
    differ: int = 0
    """Of these, the ones whose value or status differs by more than the tolerance."""
    intervals_alone: int = 0
    """Of these, the ones in which only the interval or a detail does."""
    within_tolerance: int = 0
    """Of these, the ones whose values are not equal, and differ by less than the tolerance."""
    only_a: int = 0
    only_b: int = 0
    gates: int = 0
    """Gates that both runs have."""
    restated: int = 0
    """Findings that say the same of the same numbers in other words or digits."""


class Difference(Record):
    """What two runs differ in."""

    schema_version: Literal[1] = 1
    verdict: str
    """The comparison in one sentence."""
    same: bool
    """Whether nothing that counts differs by more than the tolerance."""
    identical: bool
    """Whether the two files of results have the same bytes."""
    a: ComparedRun
    b: ComparedRun
    tolerance: GivenTolerance
    ignored: list[Ignorable] = Field(default_factory=list)
    counts: Counts = Counts()
    gates: list[GateChange] = Field(default_factory=list)
    subjects: list[SubjectChange] = Field(default_factory=list)
    estimates: list[NumberChange] = Field(default_factory=list)
    unpaired: list[Unpaired] = Field(default_factory=list)
    """Why there are no paired differences of estimates that differ."""
    thresholds: list[NumberChange] = Field(default_factory=list)
    desirability: list[NumberChange] = Field(default_factory=list)
    findings: list[FindingChange] = Field(default_factory=list)
    spec: list[SpecChange] = Field(default_factory=list)
    data: list[InputChange] = Field(default_factory=list)
    versions: list[VersionChange] = Field(default_factory=list)
    """Versions are told and never counted."""
    other: list[PartChange] = Field(default_factory=list)
