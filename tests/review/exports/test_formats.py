"""Each format's own validator accepts each export, and each number in it is one of the results."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import ROOT
from evalpipe.card.addresses import Addresses
from evalpipe.results import Results
from evalpipe.review.exports import EXPORTS
from evalpipe.review.exports.chai import AFTER_RESULTS, NAMESPACE, SECTIONS
from evalpipe.review.exports.declare import ExportedRun
from review.exports import validators
from review.exports.numbers import of_cyclonedx, of_results


def written(name: str, folder: Path, model: str = "a") -> dict[str, str]:
    export = EXPORTS[name]
    evaluator = "first_party" if export.asks_evaluator else None
    return dict(export.write(ExportedRun.read(folder, None if export.models != "one" else model, evaluator)))


def document(name: str, folder: Path) -> Any:
    return json.loads(validators.only(written(name, folder)))


def test_every_format_has_a_validator_and_what_it_refuses() -> None:
    assert list(validators.VALIDATORS) == list(EXPORTS), "of each format one, in this order"


@pytest.mark.parametrize("name", EXPORTS)
def test_the_declared_validator_runs_and_accepts_the_small_run(name: str, small: Path, tmp_path: Path) -> None:
    files, found = written(name, small), []
    declared = validators.packages_named(EXPORTS[name].validator)
    run = validators.packages_run(declared, lambda: found.extend(validators.VALIDATORS[name].finds(files, tmp_path)))
    assert declared, f"{EXPORTS[name].validator!r} names no package that is installed"
    assert (run, found) == (declared, [])


@pytest.mark.parametrize("name", EXPORTS)
def test_the_validator_refuses_what_is_broken(name: str, small: Path, tmp_path: Path) -> None:
    files, (finds, broken) = written(name, small), validators.VALIDATORS[name]
    changed = {file: text.replace(*broken) for file, text in files.items()}
    assert changed != files
    try:
        refused = bool(finds(changed, tmp_path))
    except Exception:  # noqa: BLE001 - each library refuses in a way of its own
        refused = True
    assert refused


@pytest.mark.parametrize("name", EXPORTS)
def test_the_same_results_give_the_same_bytes(name: str, small: Path) -> None:
    assert written(name, small) == written(name, small)


def test_cyclonedx_has_every_estimate_with_its_level_and_method(small: Path) -> None:
    text, expected = validators.only(written("cyclonedx", small)), of_results(Results.read(small))
    assert of_cyclonedx(text) == expected
    assert None in {value for value, *_ in expected.values()}
    assert {component["name"] for component in json.loads(text)["components"]} == {
        "a", "a+logistic", "b", "b+logistic"}


def test_in_toto_binds_the_verdict_to_the_bytes(small: Path) -> None:
    statement, results = document("in-toto", small), Results.read(small)
    assert {entry["name"]: entry["digest"]["sha256"] for entry in statement["subject"]}.items() >= {
        "results.json": results.evidence_sha256, "test.csv": results.inputs[0].sha256}.items()
    predicate = statement["predicate"]
    names = [gate.verdict for gate in results.gates]
    assert names == ["pass", "fail", "fail", "inconclusive"]
    assert predicate["result"] == "FAILED"
    assert predicate["passedTests"] == ["test.a: Accuracy at least 0.01"]
    assert predicate["warnedTests"] == ["test.a: Accuracy at most 0.01", "test.a: ROC AUC at least 0.85"]
    assert predicate["failedTests"] == ["test.a: near to right"]


def test_an_undecided_gate_is_skipped_in_openlineage(small: Path) -> None:
    event, gates = document("openlineage", small), Results.read(small).gates
    tests = event["run"]["facets"]["test"]["tests"]
    assert [(test["status"], test["severity"], test["params"]["verdict"]) for test in tests] == [
        ("pass", "error", "pass"), ("fail", "warn", "fail"), ("fail", "error", "fail"),
        ("skip", "error", "inconclusive")]
    assert [(json.loads(test["actual"]), json.loads(test["expected"]), test["params"]["lower"]) for test in tests] == [
        (gate.observed, gate.limit, gate.lower) for gate in gates]
    assert event["eventTime"] == "2026-11-22T00:00:00+00:00"


def test_every_eval_ever_has_or_names_every_estimate(small: Path) -> None:
    results, record = Results.read(small), document("every-eval-ever", small)
    addresses = Addresses(results)
    rows = {addresses.of(row): row for row in results.rows if (row.model, row.variant) == ("a", "original")}
    left_out = json.loads(record["source_metadata"]["additional_details"]["estimates_left_out"])
    held = {entry["evaluation_result_id"]: entry for entry in record["evaluation_results"]}
    assert {*held, *left_out} == set(rows)
    assert {rows[address].metric for address in left_out} == {"calibration_slope"}
    for address, entry in held.items():
        row, details = rows[address], entry["score_details"]
        interval = details["uncertainty"]["confidence_interval"]
        assert (details["score"], interval["lower"], interval["upper"], interval["confidence_level"],
                interval["method"]) == (row.value, row.lower, row.upper, row.level, row.method)
    assert {entry["metric_config"]["lower_is_better"] for entry in record["evaluation_results"]} == {True, False}


def test_the_index_has_the_headline_values_of_the_model(small: Path) -> None:
    from huggingface_hub import ModelCard

    (entry,) = ModelCard(validators.only(written("model-index", small, "a+logistic"))).data.to_dict()["model-index"]
    rows = [row for row in Results.read(small).rows
            if (row.model, row.variant, row.slice) == ("a", "logistic", None) and row.value is not None]
    (result,) = entry["results"]
    assert entry["name"] == 'First "model" & more (logistic)'
    assert [(metric["value"], metric["args"]["lower"], metric["args"]["interval"]) for metric in result["metrics"]] == [
        (row.value, row.lower, row.method) for row in rows]


def test_openmetrics_has_headline_values_and_verdicts(small: Path) -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    results = Results.read(small)
    families = {family.name: family.samples
                for family in text_string_to_metric_families(validators.only(written("openmetrics", small)))}
    rows = [row for row in results.rows if row.slice is None]
    held = [(*(sample.labels[key] for key in ("model", "variant", "metric")), repr(sample.value))
            for sample in families["evalpipe_estimate"]]
    assert held == [(row.model, row.variant, row.metric, "nan" if row.value is None else repr(row.value))
                    for row in rows]
    assert "nan" in {value for *_, value in held}
    assert [repr(sample.value) for sample in families["evalpipe_estimate_lower"]] == [
        "nan" if row.lower is None else repr(row.lower) for row in rows]
    verdicts = {sample.labels["verdict"] for sample in families["evalpipe_verdict"] if sample.value == 1}
    assert verdicts == {"fail"}
    assert [sample.labels["verdict"] for sample in families["evalpipe_gate"] if sample.value == 1] == [
        "pass", "warn", "fail", "inconclusive"]


@cache
def gates_alone() -> Results:
    example = Results.read(ROOT / "reports" / "example")
    return example.model_copy(update={"rows": [], "curves": [], "what_if": [], "findings": []})


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_name_of_a_gate_is_read_back_by_prometheus(name: str) -> None:
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    gate = gates_alone().gates[0]
    named = gates_alone().model_copy(update={"gates": [gate.model_copy(update={"name": name})]})
    text = validators.only(EXPORTS["openmetrics"].write(ExportedRun(named, None, "results.json")))
    families = {family.name: family.samples for family in text_string_to_metric_families(text)}
    assert {sample.labels["name"] for sample in families["evalpipe_gate"]} == {
        f"evaluation.logistic_regression: {name}"}


def test_text_that_xml_cannot_hold_is_marked(small: Path) -> None:
    run = ExportedRun.read(small, "a")
    stated = run.results.statement.model_copy(update={"developer": "A\x0b & <B>"})
    changed = replace(run, results=run.results.model_copy(update={"statement": stated}))
    root = ET.fromstring(validators.only(EXPORTS["chai"].write(changed)))  # noqa: S314 - ours
    assert root.findtext(f".//{{{NAMESPACE}}}ModelDeveloper") == "A\N{REPLACEMENT CHARACTER} & <B>"


def test_dvc_has_headline_values_and_the_points_of_curves(small: Path) -> None:
    files, results = written("dvc", small), Results.read(small)
    metrics = json.loads(files["evalpipe-metrics.json"])
    row = next(row for row in results.rows if row.metric == "brier" and row.slice is None)
    assert metrics["test"]["a"]["brier(scale=half)"] == {"value": row.value, "lower": row.lower, "upper": row.upper}
    assert metrics["test"]["b"]["precision"] == {"value": "undefined"}
    assert metrics["gates"]["test.a: near to right"] == metrics["verdict"] == "fail"
    points = json.loads(files["evalpipe-roc.json"])
    curves = [curve for curve in results.curves if curve.curve == "roc" and curve.slice is None]
    assert [point["sensitivity"] for point in points] == [
        value for curve in curves for value in curve.points.columns["sensitivity"]]
    assert len(json.loads(files["evalpipe-estimates.json"])) == len(results.rows)


def test_chai_has_its_elements_in_their_order_and_every_number(small: Path) -> None:
    root, results = ET.fromstring(validators.only(written("chai", small))), Results.read(small)  # noqa: S314 - ours
    space = f"{{{NAMESPACE}}}"
    assert [child.tag.removeprefix(space) for child in root] == [
        "BasicInfo", "ReleaseInfo", "ModelSummary", "UsesAndDirections", "Warnings", "TrustIngredients", "KeyMetrics",
        "Resources", "Bibliography"]
    for path, parts in SECTIONS.items():
        section = root.find("/".join(f"{space}{name}" for name in path.split("/")))
        assert section is not None
        names = [child.tag.removeprefix(space) for child in section]
        assert names == (["ModelName"] if path == "BasicInfo" else []) + [part.name for part in parts]
    values = [json.loads(element.text or "") for element in root.iter(f"{space}ValueJson")]
    rows = [row for row in results.rows if (row.model, row.variant) == ("a", "original")]
    ordered = [row for sliced in (False, True) for row in rows if (row.slice is not None) is sliced]
    assert [value.get("estimate", value.get("value")) for value in values] == [
        *(row.value for row in ordered), *(gate.observed for gate in results.gates)]
    assert {value["level"] for value in values if value["kind"] == "estimate_ci"} == {95.0}
    assert root.findtext(f"{space}ModelSummary/{space}Summary", "").startswith("It ranks with 0.")
    assert len(AFTER_RESULTS) == 4
