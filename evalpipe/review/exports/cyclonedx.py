"""CycloneDX: the models as components of a bill of materials, each with its model card."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from evalpipe.base.formats import FORMATS
from evalpipe.review.exports.declare import Export, Files, interval_text, json_text, rows_name

if TYPE_CHECKING:
    from evalpipe.results import Estimate, InputFile
    from evalpipe.review.exports.declare import ExportedRun, Predictor

SCHEMA = "http://cyclonedx.org/schema/bom-1.7.schema.json"
CARDS = [FORMATS[name].file for name in ("html", "pdf", "markdown")]
Document = dict[str, Any]


def write(exported: ExportedRun) -> Files:
    """Return the bill of materials; raises SpecError where no model has estimates."""
    results = exported.results
    tool = {"type": "application", "name": "evalpipe", "version": results.evalpipe_version}
    day = {} if results.as_of is None else {"timestamp": exported.day.isoformat()}
    facts = {"name": results.name, "results_sha256": results.evidence_sha256, "spec_sha256": results.spec_sha256,
             "verdict": results.verdict}
    properties = [_property(name, fact) for name, fact in facts.items()]
    properties += [_property("gate", gate.model_dump(mode="json", by_alias=True)) for gate in results.gates]
    return {EXPORT.file: json_text({
        "$schema": SCHEMA, "bomFormat": "CycloneDX", "specVersion": "1.7",
        "serialNumber": f"urn:uuid:{exported.uuid('cyclonedx')}", "version": 1,
        "metadata": {**day, "tools": {"components": [tool]}, "properties": properties},
        "components": [_component(exported, predictor) for predictor in exported.at_least_one],
    })}


def _property(name: str, value: object) -> Document:
    """Return a property of CycloneDX with the prefix of evalpipe; values other than texts are JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return {"name": f"evalpipe:{name}", "value": text}


def _component(exported: ExportedRun, predictor: Predictor) -> Document:
    stated = {"version": exported.stated("version"), "description": exported.names.model(*predictor)}
    developer, licence = exported.stated("developer"), exported.stated("licence")
    family, architecture = exported.stated("model_type"), exported.stated("architecture")
    rows = exported.rows(predictor)
    return {
        "type": "machine-learning-model", "bom-ref": f"model:{predictor.name}", "name": predictor.name,
        **{key: text for key, text in stated.items() if text},
        **({"manufacturer": {"name": developer}} if developer else {}),
        **({"licenses": [{"license": {"name": licence}}]} if licence else {}),
        "externalReferences": [
            {"type": "model-card" if name in CARDS else "evidence", "url": quote(name),
             "hashes": [{"alg": "SHA-256", "content": sha256}]} for name, sha256 in exported.files.items()],
        "modelCard": {
            "bom-ref": f"card:{predictor.name}",
            "modelParameters": {
                "task": exported.results.task,
                **({"architectureFamily": family} if family else {}),
                **({"modelArchitecture": architecture} if architecture else {}),
                "datasets": [_dataset(predictor, index, file) for index, file in enumerate(exported.results.inputs)]},
            "quantitativeAnalysis": {"performanceMetrics": [_metric(exported, row) for row in rows]},
            "considerations": _considerations(exported), "properties": list(_properties(exported, predictor)),
        },
    }


def _dataset(predictor: Predictor, index: int, file: InputFile) -> Document:
    """Return the dataset of an input file, or of the rows of a query, which has no URL."""
    is_query = file.query_sha256 is not None
    facts = {"role": file.role, "database": file.path if is_query else None, "query_sha256": file.query_sha256,
             "sha256": file.sha256, "rows": file.rows, "used_rows": file.used_rows, "columns": file.columns}
    url = {} if file.path is None or is_query else {"url": quote(file.path)}
    return {"bom-ref": f"data:{predictor.name}:{index}", "type": "dataset", "name": file.dataset, "contents": {
        **url, "properties": [_property(name, fact) for name, fact in facts.items() if fact is not None]}}


def _metric(exported: ExportedRun, row: Estimate) -> Document:
    """Return the performance metric of an estimate; without a value where that is undefined."""
    limits = {} if row.lower is None or row.upper is None else {"confidenceInterval": {
        "lowerBound": json.dumps(row.lower), "upperBound": json.dumps(row.upper)}}
    subset = rows_name(exported, row)
    return {
        "type": exported.names.measure(row.metric, row.params, row.average, row.class_),
        **({} if row.value is None else {"value": json.dumps(row.value)}), **({"slice": subset} if subset else {}),
        **limits}


def _properties(exported: ExportedRun, predictor: Predictor) -> Iterator[Document]:
    """Yield properties with further facts on each performance metric, by its index, then comparisons of the model."""
    for index, row in enumerate(exported.rows(predictor)):
        yield _property(f"performanceMetrics[{index}]:address", exported.addresses.of(row))
        for name, text in interval_text(row).items():
            yield _property(f"performanceMetrics[{index}]:{name}", text)
    for comparison in exported.results.comparisons:
        if (comparison.model, comparison.variant) == predictor:
            yield _property("comparison", comparison.model_dump(mode="json", by_alias=True))


def _considerations(exported: ExportedRun) -> Document:
    """Return the considerations stated in `card:`: users, use cases, limits, risks, fairness."""
    lists = {"users": "users", "useCases": "intended_use", "performanceTradeoffs": "trade_offs"}
    stated = {field: exported.stated(key) for field, key in lists.items()}
    risk = _with_mitigation(exported, "name", "risks")
    fairness = _with_mitigation(exported, "groupAtRisk", "affected_groups")
    return {
        **{field: [text] for field, text in stated.items() if text},
        **({"technicalLimitations": exported.limits} if exported.limits else {}),
        **({"ethicalConsiderations": [risk]} if risk else {}),
        **({"fairnessAssessments": [fairness]} if fairness else {}),
    }


def _with_mitigation(exported: ExportedRun, field: str, key: str) -> Document:
    """Return a ``field`` with the text of ``key`` in `card:`, beside it the mitigation; empty without that text."""
    text, mitigation = exported.stated(key), exported.stated("mitigation")
    return {} if not text else {field: text, **({"mitigationStrategy": mitigation} if mitigation else {})}


EXPORT = Export(
    name="cyclonedx", title="CycloneDX bill of materials with model cards", version="1.7",
    file="bom.cdx.json", media_type="application/vnd.cyclonedx+json",
    holds="Each model as a component of the type machine-learning-model, with a model card that has every estimate.",
    reference="https://cyclonedx.org/docs/1.7/json/",
    validator="cyclonedx-python-lib: its strict JSON validator for schema 1.7",
    places={
        "`components[]`": "each model, and each recalibrated variant of one, as `forest+isotonic`",
        "`components[].version`, `manufacturer`, `licenses`": "`card.version`, `card.developer`, `card.licence`",
        "`components[].externalReferences[]`": "the files of `manifest.json` with their sha256",
        "`modelParameters.task`, `architectureFamily`, `modelArchitecture`": "`task`, `card.model_type`, "
                                                                             "`card.architecture`",
        "`modelParameters.datasets[]`": "`inputs`: path, role, sha256, rows and columns; of a query the database, and "
                                        "the sha256 of its text too",
        "`performanceMetrics[].type`": "the measure with its options, average and class",
        "`performanceMetrics[].value`": "`value`; left out where the estimate is not defined",
        "`performanceMetrics[].slice`": "the slice, behind the dataset where several were evaluated",
        "`performanceMetrics[].confidenceInterval`": "`lower` and `upper`",
        "`modelCard.properties[]`, `evalpipe:performanceMetrics[i]:…`": "of metric i: its address, level, method, n, "
                                                                        "events, status and reason",
        "`modelCard.properties[]`, `evalpipe:comparison`": "each of `comparisons` of the model, as JSON",
        "`considerations`": "`card.users`, `intended_use`, `trade_offs`, `limits`, `risks`, `affected_groups` and "
                            "`mitigation`",
        "`metadata.timestamp`": "`as_of`, at midnight UTC; left out where no day is stated",
        "`metadata.properties[]`": "the name, the sha256 of the results and of the spec, the verdict, and each of "
                                   "`gates` as JSON",
        "`serialNumber`": "a UUID that follows from the sha256 of `results.json`",
    },
    lacks=(
        "the level and the method of an interval: they are properties beside the metrics",
        "why an estimate is not defined: it is a property",
        "curves, tables of confusion, thresholds, desirability and findings",
        "folds, repeats, optimism and differences between slices",
        "the other fields of `card:`",
        "signatures of people and of keys",
    ),
    write=write,
)
