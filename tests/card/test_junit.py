"""junit.xml of results made by hand."""

from __future__ import annotations

from io import BytesIO

import junitparser

from evalpipe.card import render
from evalpipe.card.edition import Edition
from evalpipe.card.junit import document
from evalpipe.results import Gate, Results


def gate(**keys: object) -> Gate:
    base: dict[str, object] = {
        "metric": "brier", "dataset": "validation", "model": "model_0", "gate": 1, "on": "interval",
        "limit": {"max": 0.2}, "observed": 0.1, "lower": 0.05, "upper": 0.15, "level": 0.95, "method": "percentile",
        "verdict": "pass", "severity": "fail", "reason": {"code": "text", "text": "Brier score 0.10 is below 0.2"},
    }
    return Gate(**base | keys)  # type: ignore[arg-type]


def cases(results: Results, *gates: Gate) -> list[tuple[str, str]]:
    held = results.model_copy(update={"gates": list(gates)})
    written = BytesIO(document(Edition(held)))
    read = junitparser.JUnitXml.fromroot(junitparser.junitparser.etree.parse(written).getroot())
    return [(case.classname, case.name) for suite in read for case in suite]


def test_a_case_names_dataset_model_variant_slice_and_class(results: Results) -> None:
    other = "Gradient boosting with a rather long name <script>alert('1')</script> & more"
    found = cases(
        results,
        gate(variant="isotonic", slice={"season": "a", "cap": "< 5"}),
        gate(metric="sensitivity", average="none", class_="edible", limit={"min": 0.5, "max": 0.9}),
        gate(name="small", average="none", class_="edible"),
        gate(limit={"max_increase": 0.01, "max_decrease": 0.02}, against="model_1"),
        gate(metric=None, desirability="overall", limit={"min": 0.5}),
    )
    assert found == [
        ("validation.model_0+isotonic", "Brier score at most 0.2, season = a, cap < 5"),
        ("validation.model_0", "Sensitivity, edible at least 0.5 and at most 0.9"),
        ("validation.model_0", "small, edible"),
        ("validation.model_0", f"Brier score rises by at most 0.01 and falls by at most 0.02 against {other}"),
        ("validation.model_0", "Overall desirability at least 0.5"),
    ]


def test_cases_of_one_name_are_told_apart(results: Results) -> None:
    found = cases(results, gate(), gate(gate=2, on="value"), gate(gate=3, model="model_1"))
    assert found == [
        ("validation.model_0", "Brier score at most 0.2"), ("validation.model_0", "Brier score at most 0.2 (gate 2)"),
        ("validation.model_1", "Brier score at most 0.2"),
    ]


def test_what_xml_cannot_hold_is_replaced(results: Results) -> None:
    assert cases(results, gate(name="a\x00b\x1b]]>\ud800")) == [("validation.model_0", "a\ufffdb\ufffd]]>\ufffd")]


def test_junit_is_written_with_gates_alone(results: Results) -> None:
    assert render(results, ["junit"]) == {}
    held = results.model_copy(update={"gates": [gate()]})
    assert render(held, ["junit"]) == {"junit.xml": document(Edition(held))}
    assert document(Edition(held)) == document(Edition(held))


def test_each_verdict_is_counted_and_written_as_its_outcome(results: Results) -> None:
    verdicts = [("pass", "fail"), ("fail", "fail"), ("fail", "warn"), ("inconclusive", "fail"), ("skipped", "fail")]
    reason = {"code": "text", "text": "R"}
    gates = [gate(gate=number, name=f"g{number}", verdict=verdict, severity=severity, reason=reason)
             for number, (verdict, severity) in enumerate(verdicts, 1)]
    held = results.model_copy(update={"gates": gates, "name": "x\x00"})
    text = document(Edition(held)).decode()
    counts = 'tests="5" failures="1" errors="0" skipped="3"'
    assert text == f"""<?xml version='1.0' encoding='utf-8'?>
<testsuites name="evalpipe" {counts}>
  <testsuite name="x\ufffd" {counts}>
    <testcase classname="validation.model_0" name="g1">
      <system-out>R</system-out>
    </testcase>
    <testcase classname="validation.model_0" name="g2">
      <failure type="fail" message="R">R</failure>
    </testcase>
    <testcase classname="validation.model_0" name="g3">
      <skipped message="warning: R" />
    </testcase>
    <testcase classname="validation.model_0" name="g4">
      <skipped message="inconclusive: R" />
    </testcase>
    <testcase classname="validation.model_0" name="g5">
      <skipped message="skipped: R" />
    </testcase>
  </testsuite>
</testsuites>
"""
