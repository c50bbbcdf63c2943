"""OpenLineage: a run event, with what was read and written, and the gates as tests of the run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from evalpipe.review.exports.declare import Export, Files, json_text, judged
from evalpipe.version import VERSION

if TYPE_CHECKING:
    from evalpipe.card.junit import Case
    from evalpipe.results import InputFile
    from evalpipe.review.exports.declare import ExportedRun

PRODUCER = f"pkg:generic/evalpipe@{VERSION}"
"""What wrote the event, as a package URL."""

EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
FACETS = "https://openlineage.io/spec/facets"
NAMESPACE = "evalpipe"
STATUSES = {"pass": "pass", "warn": "fail", "fail": "fail", "inconclusive": "skip", "skipped": "skip"}
"""The status of a test by what became of a gate: an inconclusive one decided nothing."""

SEVERITIES = {"fail": "error", "warn": "warn"}


def write(exported: ExportedRun) -> Files:
    """Return the event of the end of the run; raises SpecError where the results state no day."""
    results = exported.results
    engine = _facet("1-1-1/ProcessingEngineRunFacet", name="evalpipe", version=results.evalpipe_version)
    tests = [_test(test) for test in judged(exported)]
    outputs = [{"namespace": "file", "name": f"{results.name}/{name}", "facets": {
        "version": _facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion=f"sha256:{sha256}")}}
        for name, sha256 in exported.files.items()]
    facets = {"processing_engine": engine} | (
        {"test": _facet("1-0-1/TestRunFacet", tests=tests)} if results.judged else {})
    return {EXPORT.file: json_text({
        "eventType": "COMPLETE", "eventTime": exported.day.isoformat(), "producer": PRODUCER, "schemaURL": EVENT,
        "run": {"runId": exported.uuid("openlineage"), "facets": facets},
        "job": {"namespace": NAMESPACE, "name": results.name, "facets": {}},
        "inputs": [_input(file) for file in results.inputs], "outputs": outputs,
    })}


def _facet(path: str, **fields: Any) -> dict[str, Any]:
    """Return an OpenLineage facet; ``path`` is its version and name, such as ``1-0-1/TestRunFacet``."""
    name = path.rpartition("/")[2]
    return {"_producer": PRODUCER, "_schemaURL": f"{FACETS}/{path}.json#/$defs/{name}", **fields}


def _test(test: Case) -> dict[str, Any]:
    """Return the entry of a verdict as a test: status and severity and, of a gate, the expected and observed value."""
    entry = {"name": test.title, "status": STATUSES[test.kind], "severity": SEVERITIES[test.severity]}
    if test.gate is None:
        return {**entry, "type": "standard", "description": test.reason, "params": {"verdict": test.kind}}
    observed = {} if test.gate.observed is None else {"actual": json.dumps(test.gate.observed)}
    # What tells the gate from others, and its interval, without what it does not have.
    fields = test.gate.model_dump(
        mode="json", by_alias=True, exclude={"name", "limit", "observed", "reason", "severity"})
    params = {name: value for name, value in fields.items() if value not in (None, {})}
    kind = test.gate.metric or ("check" if test.gate.check else "desirability")
    return {**entry, "type": kind, "description": test.reason, "expected": json.dumps(test.gate.limit), **observed,
            "params": params}


def _input(file: InputFile) -> dict[str, Any]:
    facets = {"schema": _facet("1-2-0/SchemaDatasetFacet", fields=[{"name": name} for name in file.columns])}
    if file.sha256 is not None:
        facets["version"] = _facet("1-0-1/DatasetVersionDatasetFacet", datasetVersion=f"sha256:{file.sha256}")
    statistics = _facet("1-0-0/InputStatisticsInputDatasetFacet", rowCount=file.used_rows)
    kind, _, database = (file.path or "").partition(":")
    name = ({"namespace": "memory", "name": file.dataset} if file.path is None else
            {"namespace": "file", "name": file.path} if file.query_sha256 is None else
            {"namespace": kind, "name": database or file.dataset})
    return {**name, "facets": facets, "inputFacets": {"inputStatistics": statistics}}


EXPORT = Export(
    name="openlineage", title="OpenLineage run event", version="2-0-2 with TestRunFacet 1-0-1",
    file="openlineage.json", media_type="application/json",
    holds="What a run read, what it wrote, and its gates as tests, for catalogues of data lineage.",
    reference="https://openlineage.io/spec/facets/1-0-1/TestRunFacet.json",
    validator="openlineage-python, whose classes are generated from the specification, and the JSON Schemas of the "
              "specification, by jsonschema",
    places={
        "`eventTime`": "`as_of`, at midnight UTC; required",
        "`run.runId`": "a UUID that follows from the sha256 of `results.json`",
        "`job.name`": "`name`, in the namespace evalpipe",
        "`run.facets.test.tests`": "`gates` and `standards`; there is no such facet where nothing was judged",
        "`status`": "pass is pass; fail and warn are fail; inconclusive and skipped are skip",
        "`severity`": "`severity` of the gate: fail is error, warn is warn",
        "`expected`, `actual`": "`limit` and `observed` of the gate, as JSON",
        "`params`": "the dataset, model, variant, slice, options, interval, level, method and verdict of the gate",
        "`inputs`": "`inputs`: the path, the sha256 as version, the columns that were read, the rows that were used; "
                    "of a query the database: its kind is the namespace",
        "`outputs`": "the files of `manifest.json`, their sha256 as version",
    },
    lacks=(
        "estimates, comparisons and curves that no gate is on",
        "an undecided gate: `skip` means not executed, `params.verdict` tells the two apart",
        "the time of the run: the day of the card stands for it",
        "the START event that the specification asks of a scheduler: it is known at the end of a run alone",
        "the host of a database and the tables that a query reads: databases of one name are one dataset",
        "what people state on the card",
    ),
    write=write, models="all",
)
