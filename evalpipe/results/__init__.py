"""Step 5: the results of a run as frozen tables, read from and written to JSON.

Everything a card prints is here, with the titles, definitions, directions and references it needs, so a card can be
rendered again from `results.json` alone. Nothing in here depends on the clock, the machine or the folder.
"""

from __future__ import annotations

import json
import math
import re
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from evalpipe.base.digests import text_sha256
from evalpipe.base.formats import FORMATS, RESULTS
from evalpipe.base.records import UNWRITTEN, Record, Scalar, Slice, Status, default_of
from evalpipe.errors import DataError, Problem
from evalpipe.results.curves import Curve
from evalpipe.results.document import (
    GONE,
    Applied,
    BestProfit,
    CandidateGoal,
    Candidates,
    Check,
    ChosenMethod,
    Comparison,
    Confusion,
    Constraint,
    CostReference,
    DatasetDifference,
    DatasetSummary,
    Desirability,
    Disparity,
    Document,
    Draw,
    Estimate,
    FailOn,
    Finding,
    Gate,
    GateEvidence,
    GateSequence,
    Individual,
    InputFile,
    LevelCount,
    Matched,
    Method,
    MetricSummary,
    ModelSummary,
    NamedCost,
    ObservedShare,
    Optimism,
    Overall,
    PredictiveLine,
    Prior,
    Profit,
    RankedCandidate,
    RateDifference,
    Recalibration,
    Repeat,
    RepeatedModel,
    RowColumn,
    RowFile,
    RunVerdict,
    SliceDifference,
    SliceSummary,
    StepHistory,
    Threshold,
    Verdict,
    Warned,
    WorstSlice,
    Zone,
    current_word,
    holds,
    worst,
)
from evalpipe.results.frames import frame_of, summary_text
from evalpipe.words.sentences import FORMER_VERDICTS

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl


__all__ = [
    "Applied", "BestProfit", "CandidateGoal", "Candidates", "Check", "ChosenMethod", "Comparison", "Confusion",
    "Constraint", "CostReference", "Curve", "DatasetDifference", "DatasetSummary", "Desirability", "Disparity", "Draw",
    "Estimate", "FailOn", "Finding", "Gate", "GateEvidence", "GateSequence", "Individual", "InputFile", "LevelCount",
    "Matched", "Method", "MetricSummary", "ModelSummary", "NamedCost", "ObservedShare", "Optimism", "Overall",
    "PredictiveLine", "Prior", "Profit", "RankedCandidate", "RateDifference", "Recalibration", "Record", "Repeat",
    "RepeatedModel", "Results", "RowColumn", "RowFile", "Scalar", "Slice", "SliceDifference", "SliceSummary", "Status",
    "StepHistory", "Threshold", "Verdict", "Warned", "WorstSlice", "Zone", "holds", "worst",
]


UNREADABLE_RESULTS = "give the output folder of `evalpipe run`"
"""What is to be done about results that cannot be read."""


class Results(Document):
    """The results of a run."""

    def to_json(self) -> str:
        """Return the canonical JSON text: fixed key order, shortest exact floats, null for what does not exist.

        Each row of a table is one line, so that two files can be compared line by line.
        """
        return self._json_text

    @cached_property
    def _json_text(self) -> str:
        """The canonical JSON text, computed once: a run hashes it, writes it and attaches it to its PDF."""
        document = self.model_dump(by_alias=True)
        for name, field in type(self).model_fields.items():
            # Left out at its default, so that a run without what it is for has the bytes of earlier versions.
            if UNWRITTEN in field.metadata and getattr(self, name) == default_of(type(self), name):
                del document[field.alias or name]
        lines: list[str] = []
        for key, entry in document.items():
            if isinstance(entry, list) and entry and isinstance(entry[0], dict):
                text = "[\n  " + ",\n  ".join(map(_json_line, entry)) + "\n]"
            else:
                text = _json_line(entry)
            lines.append(f"{_json_line(key)}: {text}")
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def plot(
        self, name: str, models: Sequence[str] | None = None, dataset: str | None = None, ax: Any = None
    ) -> Any:
        """Draw a figure of the card with matplotlib and return its `Axes`, to go on with; an array of several panels.

        ``name`` is that of `evalpipe figures`, such as "roc" or "calibration"; ``models`` are those to draw, all by
        default; ``dataset`` is the evaluated one, by default the first. ``ax`` are the `Axes` to draw into, a list
        of as many as the figure has panels; new ones by default, in a figure as wide as a column of a journal. Raises
        UsageError for a name, a model or a dataset that these results do not have, and for too few `Axes`.
        """
        # The card stands above the results; only a notebook or a script asks for it from here.
        return import_module("evalpipe.card.figures.in_matplotlib").plot(self, name, models, dataset, ax)

    def _repr_html_(self) -> str:
        """Return the card for a notebook: its page in an ``<iframe>`` that can reach nothing outside."""
        from html import escape

        # The card stands above the results; only a notebook asks for it from here.
        page = import_module("evalpipe.run").render(self, ["html"])[FORMATS["html"].file].decode()
        return (f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" width="100%" height="640" '
                f'srcdoc="{escape(page)}"></iframe>')

    @property
    def headline(self) -> list[Estimate]:
        """The headline estimates: of all rows of a dataset, not of a slice or a single class."""
        return [estimate for estimate in self.rows if estimate.slice is None and estimate.class_ is None]

    @cached_property
    def estimate_about(self) -> dict[tuple[object, ...], Estimate]:
        """The first estimate of each `Measured.about`: what was measured and where."""
        return {estimate.about: estimate for estimate in reversed(self.rows)}

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings with their sentences, what matters most first."""
        if all(finding.text for finding in self.finding_rows):
            return self.finding_rows
        # The rules stand above the results; their sentences are made when they are asked for.
        with_texts: Callable[[Results], list[Finding]] = import_module("evalpipe.findings").with_texts
        return with_texts(self)

    @cached_property
    def evidence_sha256(self) -> str:
        """The sha256 of `results.json`, as it was read or will be written: what the card says rests on these bytes."""
        return text_sha256(self.to_json())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Return a copy with ``update``, whose text, evidence hash and findings are computed anew."""
        copy = super().model_copy(update=update, deep=deep)
        for name in ("_json_text", "estimate_about", "evidence_sha256", "findings"):
            copy.__dict__.pop(name, None)
        return copy

    @classmethod
    def from_json(cls, text: str, source: str = RESULTS) -> Results:
        """Return the results in a JSON ``text`` from ``source``; raises DataError when it holds none."""
        try:
            results = cls._validated(text)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(part) for part in first["loc"]) or "the document"
            raise _not_results(source, path, first["msg"].lower()) from None
        # JSON has no infinity, but what reads it takes 1e999 for one.
        not_finite = _first_not_finite(results.model_dump(by_alias=True))
        if not_finite is not None:
            raise _not_results(source, not_finite, "the number is too large, or not a number")
        # Another version may write the same results as other bytes; the evidence is those that are there.
        results.__dict__["evidence_sha256"] = text_sha256(text)
        return results

    @classmethod
    def _validated(cls, text: str) -> Results:
        """Return the results of a JSON text, also of `schema_version` 1; raises ValidationError where it is invalid."""
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            if not any(fault["loc"] == ("schema_version",) and fault["input"] == 1 for fault in error.errors()):
                raise
        return cls.model_validate(upgraded(json.loads(text)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Results:
        """Read ``results.json``, or that of an output folder; raises DataError when it is absent or broken."""
        file = Path(path) / RESULTS if Path(path).is_dir() else Path(path)
        try:
            return cls.from_bytes(file.read_bytes(), str(file))
        except OSError as error:
            message = f"cannot read {file}: {error.strerror or error}"
            raise DataError.of("unreadable-file", message, UNREADABLE_RESULTS) from None

    @classmethod
    def from_bytes(cls, content: bytes, source: str) -> Results:
        """Read results back from the bytes of a file; raises DataError where they are not evalpipe's results."""
        try:
            return cls.from_json(content.decode("utf-8"), source)
        except UnicodeDecodeError as error:
            raise DataError.of("unreadable-file", f"cannot read {source}: {error}", UNREADABLE_RESULTS) from None

    def __repr__(self) -> str:
        """Return a few lines: what was evaluated, the verdict of the gates and the first estimates."""
        return summary_text(self)

    __str__ = __repr__

    def frame(self, table: str) -> pl.DataFrame:
        """Return a table of the results, such as "comparisons", as a polars DataFrame with a row for each record.

        The tables are the lists of `results.json`; of `desirability`, "desirability.individual" and
        "desirability.overall"; of `candidates`, "candidates.ranking". What is no plain value (``params``,
        ``slice``, points of curves) is JSON text, as in `estimates`.
        Raises KeyError, which names the tables, where there is none of that name.
        """
        return frame_of(self, table)

    @property
    def verdict(self) -> RunVerdict:
        """The worst verdict of all gates: fail, warn, inconclusive or, where each is held, pass; none without any.

        A standard of which a share is required counts as a gate, failed where less of it is answered.
        """
        if not self.judged:
            return "none"
        return "fail" if any(standard.verdict == "fail" for standard in self.standards) else worst(self.gates)

    @property
    def renamed(self) -> dict[str, str]:
        """The former names of renamed models, by their present names, from the spec."""
        models = self.spec.get("models") or {}
        return {name: model["was"] for name, model in models.items() if model.get("was") is not None}

    @property
    def judged(self) -> bool:
        """Whether there is a verdict: of a gate, or of a standard of which a share is required."""
        return bool(self.gates) or any(standard.verdict is not None for standard in self.standards)

    def holds(self, fail_on: FailOn = "fail") -> bool | None:
        """Tell whether gates and standards hold; None where there are none, for then nothing was shown to hold.

        ``fail_on`` is the least verdict that counts as missed, or never. ``"fail"``: failed gates. ``"warn"``: also
        failed gates whose severity is warn, and models, gates and datasets that the run before had and this one has
        not. ``"inconclusive"``: also inconclusive gates.
        """
        fail_on = current_word(fail_on)
        something_gone = fail_on in ("warn", "inconclusive") and any(warning.code in GONE for warning in self.warnings)
        if not self.judged:
            return False if something_gone else None
        standard_fails = any(standard.verdict == "fail" for standard in self.standards)
        return holds(self.gates, fail_on) and (fail_on == "never" or not standard_fails) and not something_gone

    @property
    def estimates(self) -> pl.DataFrame:
        """The estimates as a polars DataFrame; ``params`` and ``slice`` as JSON text."""
        return self.frame("estimates")


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def _json_line(value: object) -> str:
    """Return a value as JSON on one line, null for a NaN or an infinite number, which JSON does not have."""
    try:
        return _encode(value)
    except ValueError:
        return _encode(_null_for_nan(value))


def _not_results(source: str, path: str, reason: str) -> DataError:
    """Return the error that a source holds no results, with the path in its JSON and the reason."""
    hint = ("a newer evalpipe wrote it: install that, or a later one" if path == "schema_version" else
            "give the output folder of `evalpipe run`, written by this version or an earlier one")
    message = f"{source} does not hold results of evalpipe: {path}: {reason}"
    return DataError(Problem("not-results", message, hint=hint))


def _first_not_finite(value: object, path: str = "") -> str | None:
    """Return the path, such as "estimates.3.value", of the first infinite number or NaN; None without any."""
    if isinstance(value, float):
        return None if math.isfinite(value) else path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list | tuple) else ()
    inner = (_first_not_finite(item, f"{path}.{key}" if path else str(key)) for key, item in parts)
    return next((inner_path for inner_path in inner if inner_path is not None), None)


def _null_for_nan(value: object) -> object:
    """Return a value with None in place of every infinite number and NaN, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _null_for_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_null_for_nan(item) for item in value]
    return value


KINDS = {"holds": "passes", "open": "undecided", "same": "equivalent"}
MARGINS = {"open": "undecided"}
"""The words of before, with those of now."""
UNKNOWN_OF_NIGHTS = {"recent": None, "waiting": 0}
"""What the first gates `on: sequence` did not say: recent nights were not judged apart, and none had to wait."""


def upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 1 as one of version 2; its sentences stay, as texts.

    A part that is not as version 1 had it is left as it is, for the rules of this version to say what is wrong with it.
    """
    parts: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
        "gates": lambda row: row | {"verdict": FORMER_VERDICTS.get(row["verdict"], row["verdict"]),
                                    "reason": {"code": "text", "text": row["reason"]},
                                    "sequence": row.get("sequence") and UNKNOWN_OF_NIGHTS | row["sequence"]},
        "findings": lambda row: row | {"code": "text", "kind": KINDS.get(row["kind"], row["kind"])},
        "warnings": lambda row: {"code": row["code"], "text": row["message"]},
        "comparisons": lambda row: row | {
            "margin_verdict": MARGINS.get(row["margin_verdict"], row["margin_verdict"])},
    }
    changed: dict[str, Any] = {"schema_version": 2}
    for name, upgrade in parts.items():
        with suppress(AttributeError, KeyError, TypeError):
            changed[name] = [upgrade(row) for row in document.get(name, ())]
    with suppress(AttributeError, KeyError, TypeError):
        intervals = document["intervals"]
        changed["intervals"] = intervals | {
            "methods": {metric: _methods(text) for metric, text in intervals["methods"].items()}}
    return document | changed


def _methods(text: str) -> list[dict[str, str]]:
    """Return the methods of a metric, written as "exact: a proportion; percentile: an average"."""
    parts = (part.partition(": ") for part in re.split(r"; (?=[a-z_]+: )", text))
    return [{"method": method, "reason": reason} for method, _, reason in parts]
