"""What a ledger keeps of results."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import json_sha256, text_sha256

if TYPE_CHECKING:
    from evalpipe.results import Estimate, Gate, GateEvidence, Results

OF_ESTIMATE = (
    "dataset", "model", "variant", "metric", "params", "average", "value", "lower", "upper", "level", "method", "n",
    "events", "status",
)
SUBJECT = ("metric", "desirability", "params", "average", "class", "dataset", "model", "variant", "slice")
OF_GATE = ("gate", "name", "limit", "verdict", "severity", "observed", "lower", "upper", "reason")

OF_EVIDENCE = ("sequence", "family", "basis", "data_sha256", "against", "kept", "value", "error", "rows", "support",
               "former")

DIGITS = 8
"""Digits of the sha256 of a value of the spec: enough to tell it from what it was."""

OF_THE_DAY = "as_of"
"""The key of the spec that is different every night."""

WITH_PATHS = ("datasets", "models", "candidates", "gates")
"""The keys of the spec whose paths may have the day in them; elsewhere a day is a text of its own."""

EMPTY: tuple[object, ...] = (None, [], {})
"""Values of the spec that are as good as none."""

Row = dict[str, Any]
Digests = str | list[str] | dict[str, str]
"""The digest of a value of the spec, of each entry of a list, or of each key of a mapping."""


def run_row(results: Results) -> Row:
    """Return the row of a run in the table of runs, without its folder and times."""
    return {
        "name": results.name, "as_of": results.as_of,
        "results_sha256": results.evidence_sha256, "spec_sha256": results.spec_sha256,
        "evalpipe_version": results.evalpipe_version, "verdict": results.verdict,
        "renamed": results.renamed or None, "inputs_sha256": inputs_sha256(results),
        "facts": facts(results),
    }


def facts(results: Results) -> Row:
    """Return what the next run is compared with: rows and events by dataset, and digests of each key of the spec."""
    return {
        "datasets": [{"dataset": dataset.name, "rows": dataset.n, "events": dataset.events}
                     for dataset in results.datasets],
        "spec": {key: _digests(value, results.as_of if key in WITH_PATHS else None)
                 for key, value in results.spec.items() if key != OF_THE_DAY and value not in EMPTY}}


def _digests(value: object, day: str | None) -> Digests:
    """Return the digests of a value of the spec."""
    if isinstance(value, dict):
        return {str(key): _digest(item, day) for key, item in value.items() if item not in EMPTY}
    return [_digest(item, day) for item in value] if isinstance(value, list) else _digest(value, day)


def _digest(value: object, day: str | None) -> str:
    """Return the digest of a value; a ``day`` in it counts as ``${date}``, so that another day is no difference."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text_sha256(text if day is None else text.replace(day, "${date}"))[:DIGITS]


def inputs_sha256(results: Results) -> str | None:
    """Return a sha256 over the data files of a run; None where some data were in memory and have no sha256."""
    files = sorted((file.dataset, file.sha256 or "") for file in results.inputs)
    return json_sha256(files) if all(sha256 for _, sha256 in files) else None


def headline(results: Results) -> list[Estimate]:
    """Return the headline estimates: of all rows of a dataset, not of a slice or a single class."""
    return [estimate for estimate in results.rows if estimate.slice is None and estimate.class_ is None]


def estimate_rows(results: Results) -> list[Row]:
    """Return the headline estimates as rows of the table of estimates."""
    return [{"place": place, **_fields(estimate, OF_ESTIMATE)} for place, estimate in enumerate(headline(results))]


def verdict_rows(results: Results) -> list[Row]:
    """Return the verdicts of all gates, on slices and classes too, as rows of the table of verdicts."""
    return [
        {"place": place, **_fields(gate, OF_GATE), "reason": gate.reason.code,
         "subject": _fields(gate, SUBJECT if gate.check is None else (*SUBJECT, "check"))}
        for place, gate in enumerate(results.gates)]


def evidence_rows(results: Results) -> list[Row]:
    """Return the evidence on limits of gates `on: sequence` as rows of its table; none for a run without a day."""
    evidence = results.evidence if results.as_of is not None else ()
    return [{"place": place, **_fields(row, OF_EVIDENCE)} for place, row in enumerate(evidence)]


def _fields(record: Estimate | Gate | GateEvidence, names: tuple[str, ...]) -> Row:
    """Return the fields of a record with these names, as JSON values."""
    document = record.model_dump(mode="json", by_alias=True)
    return {name: document.get(name) for name in names}
