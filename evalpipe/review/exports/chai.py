"""CHAI: the Applied Model Card of the Coalition for Health AI, of one model."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.errors import Problem, SpecError
from evalpipe.review.exports.declare import Export, Files, judged, options, rows_name

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from evalpipe.results import Estimate, Gate
    from evalpipe.review.exports.declare import ExportedRun

NAMESPACE = "https://mc.chai.org/v0.2/schema.xsd"


class TextElement(NamedTuple):
    """An element of text: the fields of `card:` that fill it, each after the other, and whether one must be stated."""

    name: str
    fields: tuple[str, ...] = ()
    required: bool = True


SECTIONS: dict[str, tuple[TextElement, ...]] = {
    "BasicInfo": (TextElement("ModelDeveloper", ("developer",)), TextElement("DeveloperContact", ("contact",))),
    "ReleaseInfo": (
        TextElement("ReleaseStage"), TextElement("ReleaseDate", ("release_date",)),
        TextElement("ReleaseVersion", ("version",)), TextElement("GlobalAvailability"),
        TextElement("RegulatoryApproval", ("approvals",), required=False)),
    "ModelSummary": (TextElement("Summary", ("design",)), TextElement("Keywords")),
    "UsesAndDirections": (
        TextElement("IntendedUseAndWorkflow", ("intended_use", "role_in_decisions")),
        TextElement("PrimaryIntendedUsers", ("users",)), TextElement("HowToUse", ("instructions",)),
        TextElement("TargetedPatientPopulation", ("applicability",)),
        TextElement("CautionedOutOfScopeSettings", ("not_for", "misuse"))),
    "Warnings": (
        TextElement("KnownRisksAndLimitations", ("risks", "limits")),
        TextElement("KnownBiasesOrEthicalConsiderations", ("ethics",)),
        TextElement("ClinicalRiskLevel", ("materiality",))),
    "TrustIngredients/AISystemFacts": (
        TextElement("OutcomesAndOutputs", ("outcome_definition",)), TextElement("ModelType", ("model_type",)),
        TextElement("InputDataSource", ("instrumentation",)), TextElement("OutputAndInputDataTypes", ("predictors",)),
        TextElement("DevelopmentDataCharacterization", ("training_data",)),
        TextElement("BiasMitigationApproaches", ("mitigation",)), TextElement("OngoingMaintenance", ("monitoring",)),
        TextElement("Security", ("cybersecurity",), required=False),
        TextElement("Transparency", ("interpretability",), required=False)),
    "TrustIngredients/TransparencyInformation": (
        TextElement("FundingSource", ("funding",)),
        TextElement("ThirdPartyInformation", ("vendors",), required=False),
        TextElement("StakeholdersConsulted", ("involvement",))),
    "Resources": (
        TextElement("EvaluationReferences", ("availability",), required=False),
        TextElement("ClinicalTrial", ("registration",), required=False),
        TextElement("PeerReviewedPublications", ("citation",)),
        TextElement("PatientConsentOrDisclosure", ("privacy",))),
}
"""The elements of text by the path of their section, in the order of the schema."""

AFTER_RESULTS = (
    TextElement("Interpretation", ("interpretation",)), TextElement("TestType", ("validation_scope",)),
    TextElement("TestingDataDescription", ("source",)),
    TextElement("ValidationProcessAndJustification", ("prespecified",)))
"""What every group of key metrics says below its results."""

GROUPS = {"UsefulnessUsabilityEfficacy": "why_metrics", "FairnessEquity": "fairness", "SafetyReliability": "robustness"}
"""The groups of key metrics, and the field that states the goal of each."""

NEEDS = {
    "UsefulnessUsabilityEfficacy": ("an estimate on all rows", "ask for 'metrics' in the spec, and run again"),
    "FairnessEquity": ("an estimate in a slice", "declare 'slices' in the spec, and run again"),
    "SafetyReliability": ("a gate on the model", "declare 'gates' in the spec, and run again"),
}


def write(exported: ExportedRun) -> Files:
    """Return the card of one model, an XML file; raises SpecError with every required element that nothing fills."""
    from xml.etree import ElementTree as ET

    predictor = exported.only
    rows = exported.rows(predictor)
    numbers = {
        "UsefulnessUsabilityEfficacy": [_result(exported, row) for row in rows if row.slice is None],
        "FairnessEquity": [_result(exported, row) for row in rows if row.slice is not None],
        "SafetyReliability": [_gate_result(exported, test.gate, test.reason) for test in judged(exported, predictor)
                              if test.gate is not None],
    }
    problems = [*_unstated(exported), *(
        exported.problem(f"the format requires {number} in {group}, and there is none", hint)
        for group, (number, hint) in NEEDS.items() if not numbers[group])]
    if problems:
        raise SpecError(*problems)
    root = ET.Element("AppliedModelCard", {"xmlns": NAMESPACE})
    for path, parts in SECTIONS.items():
        if path == "Resources":  # which the schema has behind the key metrics
            _key_metrics(exported, root, numbers)
        section = _section(root, path)
        if path == "BasicInfo":
            _text(section, "ModelName", exported.names.model(*predictor))
        _fill(exported, section, parts)
    ET.SubElement(root, "Bibliography")
    ET.indent(root)
    return {EXPORT.file: f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'}


def _stated(exported: ExportedRun, part: TextElement) -> str:
    """Return the text of an element: what people state in its fields of `card:`, a paragraph for each text."""
    texts: list[str] = []
    for key in part.fields:
        texts += [f"- {limit}" for limit in exported.limits] if key == "limits" else [exported.stated(key) or ""]
    return "\n\n".join(filter(None, texts))


def _unstated(exported: ExportedRun) -> Iterator[Problem]:
    """Yield a problem for each required element that is empty, with the fields of `card:` that fill it."""
    goals = [TextElement(f"{group}/MetricGoal", (key,)) for group, key in GROUPS.items()]
    elements = [TextElement(f"{path}/{part.name}", part.fields, part.required) for path, parts in SECTIONS.items()
                for part in parts]
    for part in (*elements, *goals, *(part._replace(name=f"KeyMetrics/…/{part.name}") for part in AFTER_RESULTS)):
        if part.required and part.fields and not _stated(exported, part):
            fields = " or ".join(f"'card.{key}'" for key in part.fields)
            yield exported.problem(f"the format requires {part.name}, and nobody states it",
                                   f"state {fields} in the spec, and run again")


def _result(exported: ExportedRun, row: Estimate) -> tuple[str, str]:
    """Return an estimate as a pair of label and value in JSON."""
    measure = exported.names.measure(row.metric, row.params, row.average, row.class_)
    return ", ".join(filter(None, (measure, rows_name(exported, row)))), _value_json(
        row.value, row.lower, row.upper, row.level, row.reason or row.status)


def _gate_result(exported: ExportedRun, gate: Gate, reason: str) -> tuple[str, str]:
    """Return the observed value of a gate as a pair of label and value in JSON."""
    names = exported.names
    label = f"Gate {gate.gate}, {gate.kind}: {names.subject(gate)}, {options(dict(gate.limit))}"
    slice_text = "" if gate.slice is None else f", {names.slice(gate.slice)}"
    dataset_text = f", {gate.dataset}" if exported.several_datasets else ""
    return f"{label}{dataset_text}{slice_text}", _value_json(
        gate.observed, gate.lower, gate.upper, gate.level, reason)


def _value_json(value: float | None, lower: float | None, upper: float | None, level: float | None, reason: str) -> str:
    """Return a value with its interval as JSON, in the form of the schema's examples; the level is in per cent."""
    if value is None:
        return json.dumps({"kind": "undefined", "reason": reason}, ensure_ascii=False)
    if lower is None or upper is None or level is None:
        return json.dumps({"kind": "single", "value": value})
    percent = float(f"{100 * level:.10g}")
    return json.dumps({"kind": "estimate_ci", "estimate": value, "lower": lower, "upper": upper, "level": percent})


def _section(root: Element, path: str) -> Element:
    """Return the element at a path below the root; missing elements are created."""
    from xml.etree import ElementTree as ET

    element = root
    for name in path.split("/"):
        inner = element.find(name)
        element = ET.SubElement(element, name) if inner is None else inner
    return element


def _fill(exported: ExportedRun, section: Element, parts: tuple[TextElement, ...]) -> None:
    """Add text elements to a section; optional ones without text are left out."""
    for part in parts:
        text = _stated(exported, part)
        if part.required or text:
            _text(section, part.name, text)


def _text(parent: Element, name: str, text: str) -> None:
    """Add an element with a text, without characters that XML forbids."""
    from xml.etree import ElementTree as ET

    from evalpipe.card.junit import xml_safe

    ET.SubElement(parent, name).text = xml_safe(text) or None


def _key_metrics(exported: ExportedRun, root: Element, numbers: dict[str, list[tuple[str, str]]]) -> None:
    """Add the groups of key metrics; ``numbers`` are their pairs of label and value, by group."""
    from xml.etree import ElementTree as ET

    for group, goal in GROUPS.items():
        section = _section(root, f"KeyMetrics/{group}")
        _text(section, "MetricGoal", _stated(exported, TextElement("MetricGoal", (goal,))))
        results = _section(section, "Results")
        for label, value in numbers[group]:
            result = ET.SubElement(results, "MetricResult")
            _text(result, "Label", label)
            _text(result, "ValueJson", value)
        _fill(exported, section, AFTER_RESULTS)


def _places() -> dict[str, str]:
    """Return the source of each element's content by the path of the element, for the documentation."""
    section_elements = {f"`{path}/{part.name}`": part for path, parts in SECTIONS.items() for part in parts}
    group_elements = {f"`KeyMetrics/…/{part.name}`": part for part in AFTER_RESULTS}
    goals = {f"`KeyMetrics/{group}/MetricGoal`": TextElement("MetricGoal", (key,)) for group, key in GROUPS.items()}
    return {
        "`BasicInfo/ModelName`": "the label of the model",
        **{place: " and ".join(f"`card.{key}`" for key in part.fields) + ("" if part.required else ", where stated")
           for place, part in (section_elements | goals | group_elements).items() if part.fields},
        "`KeyMetrics/UsefulnessUsabilityEfficacy/Results`": "`estimates` of the model on all rows",
        "`KeyMetrics/FairnessEquity/Results`": "`estimates` of the model in slices; at least one",
        "`KeyMetrics/SafetyReliability/Results`": "what `gates` on the model observed, with limit and verdict; at "
                                                  "least one",
        "`ValueJson`": "`value`, `lower`, `upper` and `level` in per cent",
    }


EXPORT = Export(
    name="chai", title="CHAI Applied Model Card", version="0.2", file="applied-model-card.xml",
    media_type="application/xml",
    holds="The card of one model for health care; most of it is what people state, and nothing is made up: every "
          "required element that nobody states is told with the field of `card:` that fills it.",
    reference="https://mc.chai.org/v0.2/schema.xsd", validator="the XSD of CHAI, by xmlschema",
    places=_places(),
    lacks=(
        "the method of an interval",
        "an estimate that is not defined: its `ValueJson` is of a kind of our own, `undefined`, with the reason",
        "comparisons, curves, tables of confusion, desirability and findings",
        "hashes, versions and signatures",
        "ReleaseStage, GlobalAvailability, Keywords and Bibliography, which no field states: they are written empty",
        "EHRCompatibility, FoundationModels and ReimbursementStatus, which no field states: they are left out",
    ),
    write=write, models="one",
)
