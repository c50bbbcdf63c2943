"""The two runs of a comparison, by how much their numbers may differ, and the records of what they differ in.

In the records, `a` is always of the first run and `b` of the second.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Self, TypeGuard

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from evalpipe.base.formats import RESULTS
from evalpipe.base.records import Record, Scalar, Slice, Subject
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.results.document import Finding, Gate, InputFile, Kind
from evalpipe.runs.folder import RunFolder
from evalpipe.words.spelling import joined

NUMBER = re.compile(r"[+\-−]?\d(?:[\d,.]*\d)?(?:e[+\-−]?\d+)?")
"""A number within a text."""


@dataclass(frozen=True, slots=True)
class Tolerance:
    """An ``absolute`` and a ``relative`` tolerance, of which the wider counts, and absolute ones of single metrics."""

    absolute: float = 0.0
    relative: float = 0.0
    by_metric: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_exact(self) -> bool:
        """Whether every difference counts."""
        return not (self.absolute or self.relative or any(self.by_metric.values()))

    def covers(self, a: float, b: float, metric: str | None = None) -> bool:
        """Tell whether two numbers differ by no more than the tolerance, of ``metric`` where it has its own.

        A difference of just the tolerance is covered, whatever the rounding of the subtraction makes of it.
        """
        by_this_metric = self.by_metric.get(metric) if metric is not None else None
        allowed = max(self.absolute, self.relative * max(abs(a), abs(b))) if by_this_metric is None else by_this_metric
        return a == b or abs(a - b) <= allowed * (1 + 1e-9)

    def covers_both(self, a: float | None, b: float | None, metric: str | None = None) -> bool:
        """Tell whether two numbers, or two None, differ by no more than the tolerance, as `covers` does."""
        return a is b if a is None or b is None else self.covers(a, b, metric)

    def alike(self, a: object, b: object) -> bool:
        """Tell whether two JSON values are equal, apart from differences of numbers within the tolerance.

        With a tolerance, the numbers within texts do not count, for they are those of other values.
        """
        if _is_number(a) and _is_number(b):
            return self.covers(a, b)
        if isinstance(a, dict) and isinstance(b, dict):
            return a.keys() == b.keys() and all(self.alike(value, b[key]) for key, value in a.items())
        if isinstance(a, list | tuple) and isinstance(b, list | tuple):
            return len(a) == len(b) and all(map(self.alike, a, b))
        if isinstance(a, str) and isinstance(b, str) and not self.is_exact:
            return a == b or NUMBER.sub("#", a) == NUMBER.sub("#", b)
        return type(a) is type(b) and a == b


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


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

    @classmethod
    def of(cls, gate: Gate, reason: str) -> Self:
        """Return a gate as one run has it, with the ``reason`` of its verdict in a sentence."""
        return cls(
            gate=gate.gate, kind=gate.kind, limit=gate.limit, on=gate.on, severity=gate.severity,
            observed=gate.observed, lower=gate.lower, upper=gate.upper, reason=reason)


class GateChange(Subject):
    """A gate with another verdict or another limit, or that one run alone has."""

    name: str | None = None
    against: str | None = None
    differs_in: list[Literal["presence", "verdict", "limit", "judged"]]
    """judged: by another number (`on`), or with another severity."""
    a: GateSide | None
    b: GateSide | None


class StatedFinding(Finding):
    """A finding with its sentence."""

    @model_serializer(mode="wrap")
    def _document(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Return all fields for JSON; a finding of results leaves out its sentence, which is made again when read."""
        return dict(handler(self))


class FindingChange(Record):
    """A finding that appeared, went, or turned from one kind into another."""

    change: Literal["appeared", "went", "turned"]
    a: StatedFinding | None
    b: StatedFinding | None


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


OF_MODELS = ("model", "models", "baseline", "against")
"""The keys of results under which names of models stand."""

VERSIONS = (1, 2)
"""The versions of the format of `results.json` that are read here."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run: its results, the folder that they lie in, and the versions of what computed them by name.

    ``source`` is how the command line names it. ``folder`` is where files beside the results are looked for.
    ``former_names`` are the names that models have in these files, by those in the results, where they differ.
    """

    source: str
    results: Results
    folder: Path | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    former_names: Mapping[str, str] = field(default_factory=dict)

    def under_new_names(self, renamed: Mapping[str, str]) -> Run:
        """Return the run with its models under the names that they have in another run, so that the two can be matched.

        ``renamed`` maps new names to former ones; those that the run does not have are left out.
        """
        own_names = {model.name for model in self.results.models}
        new_name_of = {former: new for new, former in renamed.items() if former in own_names and new not in own_names}
        if not new_name_of:
            return self
        document = _renamed(json.loads(self.results.to_json()), new_name_of)
        results = Results.from_json(json.dumps(document), self.source)
        results.__dict__["evidence_sha256"] = self.results.evidence_sha256  # it is the same run
        return replace(self, results=results, former_names={name: former for former, name in new_name_of.items()})


def _renamed(part: Any, new_name_of: Mapping[str, str], key: str = "") -> Any:
    """Return a copy of a part of results as JSON values, found under ``key``, with models under their new names."""
    if isinstance(part, list):
        return [_renamed(item, new_name_of, key) for item in part]
    if isinstance(part, dict):
        is_model = key == "models" and "name" in part and isinstance(part["name"], str)
        return {(new_name_of.get(name, name) if key == "models" else name):
                _renamed(item, new_name_of, "model" if is_model and name in ("name", "label") else name)
                for name, item in part.items()}
    return new_name_of.get(part, part) if key in OF_MODELS and isinstance(part, str) else part


def read_run(source: str) -> Run:
    """Read an output folder or a `results.json`; raises DataError where it cannot, or is of another format version."""
    folder = RunFolder.named(source)
    try:
        results = folder.results
    except DataError:
        _refuse_other_version(folder)
        raise
    # Versions of Python and libraries are known where `run.json` is of these results.
    facts = folder.run_facts_of(results.evidence_sha256)
    libraries = facts.get("libraries")
    version_of = {"python": facts.get("python"), **(libraries if isinstance(libraries, dict) else {})}
    versions = {name: version for name, version in version_of.items() if isinstance(version, str)}
    shown = source.encode("utf-8", "replace").decode()  # a path may have bytes that are no text
    return Run(shown, results, folder.path, {"evalpipe": results.evalpipe_version, **versions})


def _refuse_other_version(folder: RunFolder) -> None:
    """Raise DataError where the results of a folder are of another version of the format."""
    try:
        document = json.loads(folder.content(RESULTS))
    except (DataError, ValueError, RecursionError):
        return
    version = document.get("schema_version") if isinstance(document, dict) else None
    if isinstance(version, int) and version not in VERSIONS:
        message = (f"{folder.results_file} holds results of format version {version}, and this evalpipe reads versions "
                   f"{joined(list(map(str, VERSIONS)), 'and')}")
        raise DataError.of("results-version", message, hint="run both specs with one evalpipe, and compare these runs")
