"""What a ledger keeps of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import json_sha256

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

Row = dict[str, Any]


def run_row(results: Results) -> Row:
    """Return the row of a run in the table of runs, without its folder and times."""
    return {
        "name": results.name, "as_of": results.as_of,
        "results_sha256": results.evidence_sha256, "spec_sha256": results.spec_sha256,
        "evalpipe_version": results.evalpipe_version, "verdict": results.verdict,
        "renamed": results.renamed or None, "inputs_sha256": inputs_sha256(results),
    }


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
