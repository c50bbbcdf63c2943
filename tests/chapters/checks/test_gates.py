"""Gates that require a check: their verdicts by its outcome, and where these show."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import evalpipe
from evalpipe.errors import SpecError
from evalpipe.results import Results
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.records import Run, Tolerance
from findings.faults import FAULTS


def run(fault: str, *gates: Mapping[str, Any], **keywords: Any) -> Results:
    planted = FAULTS[fault]()
    # A margin so narrow that what is certain of this fault fails.
    spec = planted.spec | {"gates": list(gates), "margins": {"calibration": 0.001}}
    return evalpipe.run(spec, frames=planted.frames, **keywords)


@pytest.fixture(scope="module")
def judged() -> Results:
    codes = ("ranking", "groups-against-others", "bounds-kept", "perfection", "unchecked")
    return run("a_bad_group", *({"check": code} for code in codes), {
        "check": "groups-against-others", "severity": "warn", "name": "Groups alike"})


def test_the_verdict_is_that_of_the_outcome(judged: Results) -> None:
    assert [(gate.check, gate.kind, gate.reason.code, gate.limit, gate.observed) for gate in judged.gates] == [
        ("ranking", "pass", "check-passes", {}, None),
        ("groups-against-others", "fail", "check-fails", {}, None),
        ("bounds-kept", "inconclusive", "check-not-applicable", {}, None),
        ("perfection", "pass", "check-clear", {}, None),
        ("unchecked", "fail", "check-note", {}, None),
        ("groups-against-others", "warn", "check-fails", {}, None),
    ]
    assert judged.verdict == "fail"


def test_what_is_undecided_leaves_the_gate_inconclusive() -> None:
    gate, = run("a_useless_model", {"check": "ranking"}).gates
    assert (gate.verdict, gate.reason.code) == ("inconclusive", "check-undecided")


def test_the_findings_and_the_checks_speak_of_such_gates(judged: Results) -> None:
    because = judged.gates[2].reason.because
    open_ = f"The check bounds-kept does not apply: {because}. This leaves the gate inconclusive."
    said = [(finding.kind, finding.text) for finding in judged.findings if finding.code == "gates"]
    assert sorted(said) == sorted([
        ("fails", "The check groups-against-others fails."),
        ("fails", "Groups alike: The check groups-against-others fails."),
        ("undecided", open_),
        ("fails", "The check unchecked has a note, and should have none."),
        ("passes", "The check ranking passes."),
        ("passes", "The check perfection is clear."),
    ])
    checks = {check.code: check.outcome for check in judged.checks}
    assert (checks["gates"], checks["requirements"]) == ("fails", "clear")
    alone = run("a_bad_group")
    assert {code: outcome for code, outcome in checks.items() if code not in ("gates", "requirements")} == {
        check.code: check.outcome for check in alone.checks if check.code not in ("gates", "requirements")}
    assert Results.from_json(judged.to_json()).findings == judged.findings


def test_card_and_junit_have_such_gates(judged: Results) -> None:
    files = {name: content.decode() for name, content in evalpipe.render(judged, ["junit", "markdown"]).items()}
    assert '<testcase classname="checks" name="Check ranking is required">' in files["junit.xml"]
    assert '<failure type="fail" message="The check groups-against-others fails.">' in files["junit.xml"]
    assert "✗ Not good enough: Brier score of p is worse for g = c than for all rows" in files["card.md"]
    assert "3 of 6 requirements failed, 1 undecided" in files["card.md"]


def test_a_diff_tells_that_a_check_fails_now() -> None:
    gate = {"check": "better-than-trivial"}
    then, now = run("a_bad_group_found_by_a_search", gate), run("a_bad_group", gate)
    assert [results.gates[0].verdict for results in (then, now)] == ["inconclusive", "fail"]
    change, = compare(Run("then", then), Run("now", now), Tolerance(0.0)).gates
    assert (change.check, change.differs_in) == ("better-than-trivial", ["verdict"])


def test_a_night_without_such_a_gate_is_told_and_no_model_or_dataset_is_missed(tmp_path: Path) -> None:
    run("a_bad_group", {"check": "ranking"}, out=tmp_path / "1", as_of="2026-11-01")
    same = run("a_bad_group", {"check": "ranking"}, out=tmp_path / "2", as_of="2026-11-02")
    other = run("a_bad_group", {"check": "perfection"}, out=tmp_path / "3", as_of="2026-11-03")
    assert [warning.code for warning in same.warnings] == []
    assert [str(warning.message) for warning in other.warnings] == [
        "the run as of 2026-11-02 had the gate 'check ranking', which is gone"]


def test_a_check_that_does_not_apply_by_the_spec_alone_is_refused_before_data_are_read() -> None:
    planted = FAULTS["a_bad_group"]()
    with pytest.raises(SpecError) as caught:
        evalpipe.plan(planted.spec | {"gates": [{"check": "ranking"}, {"check": "zeros"}]}, frames=planted.frames)
    message = "gate 2 requires the check 'zeros', which does not apply: the outcome is no count"
    assert str(caught.value) == (
        f"error[check-not-applicable]: {message}\n  = help: declare what it needs, or remove the gate")


def test_a_gate_on_a_number_has_the_bytes_that_it_had(judged: Results) -> None:
    results = run("a_bad_group", {"metric": "brier", "max": 0.5})
    assert "check" not in results.gates[0].model_dump()
    assert "check" not in results.spec["gates"][0]
    assert judged.spec["gates"][0] == {"name": None, "check": "ranking", "severity": "fail"}
