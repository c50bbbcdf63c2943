"""Signatures: what a right one is, how they are kept, and what becomes of them when results change."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import evalpipe
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.results.signatures import (
    SIGNATURE_LIST,
    Signature,
    faults,
    newest,
    records_json,
)
from evalpipe.run import Progress
from evalpipe.runs.folder import RunFolder

EVIDENCE = "0123456789abcdef" * 4
RIGHT: dict[str, Any] = {
    "role": "validator", "name": "A. Reader", "organisation": None, "date": "2026-11-21", "decision": "approved",
    "conditions": [], "expires": None,
}
SPEC: dict[str, Any] = {
    "evalpipe": 1, "name": "x", "task": "binary", "outcome": {"column": "y", "event": 1}, "metrics": ["brier"],
    "datasets": {"d": {"path": "memory"}}, "models": {"p": {"probability": "p"}}, "intervals": {"method": "none"},
    "report": {"formats": ["html"]},
}


def signature(**other: Any) -> Signature:
    return Signature(**{**RIGHT, "evidence_sha256": EVIDENCE, **other})


def told(**other: Any) -> list[tuple[str, str, str | None]]:
    return [(problem.code, problem.message, problem.hint) for problem in faults({**RIGHT, **other})]


def ran(out: Path) -> Results:
    return evalpipe.run(SPEC, frames={"d": pl.DataFrame({"y": [1, 0, 1], "p": [0.7, 0.2, 0.6]})}, out=out)


@pytest.mark.parametrize("name", [
    "Ada", "Łukasz Żółć", "يوسف إدريس", "李", "<script>alert(1)</script>", "{{7*7}}", "x" * 100, "a\u200cb", "=1+1"])
def test_a_name_in_any_script_is_right(name: str) -> None:
    assert told(name=name, organisation=name) == []


@pytest.mark.parametrize(("fields", "code", "message", "hint"), [
    ({"role": None}, "missing-option", "no role is given", "give the role: developer, validator, owner or approver"),
    ({"role": "aprover"}, "unknown-role", "unknown role 'aprover'", "did you mean 'approver'?"),
    ({"role": "boss"}, "unknown-role", "unknown role 'boss'", "choose developer, validator, owner or approver"),
    ({"name": None}, "missing-option", "no name is given", "give the name of the person who signs"),
    ({"name": " "}, "bad-name", "the name ' ' has no letter", "give it in any script"),
    ({"name": "\u200b"}, "bad-name", r"the name '\u200b' has no letter", "give it in any script"),
    ({"name": 7}, "bad-name", "the name 7 has no letter", "give it in any script"),
    ({"name": "x" * 10_000}, "bad-name", f"the name has 10,000 characters: '{'x' * 57}...'",
     "shorten it to 100 or fewer"),
    ({"name": "A\u202eB"}, "bad-name", r"the name contains a control character, U+202E: 'A\u202eB'", "leave it out"),
    ({"name": "A\nB"}, "bad-name", r"the name contains a control character, U+000A: 'A\nB'", "leave it out"),
    ({"name": "A\udcff"}, "bad-name", r"the name contains a control character, U+DCFF: 'A\udcff'", "leave it out"),
    ({"organisation": ""}, "bad-organisation", "the organisation '' has no letter", "give it in any script"),
    ({"date": None}, "missing-option", "no date is given", "give the day of the decision, as in 2026-11-21"),
    ({"date": "21.11.2026"}, "bad-date", "'21.11.2026' is not a day of the calendar", "write it as in 2026-11-21"),
    ({"date": "2026-02-30"}, "bad-date", "'2026-02-30' is not a day of the calendar", "write it as in 2026-11-21"),
    ({"decision": None}, "missing-option", "no decision is given",
     "give the decision: approved, approved_with_conditions, rejected or reviewed"),
    ({"decision": "approve"}, "unknown-decision", "unknown decision 'approve'", "did you mean 'approved'?"),
    ({"conditions": ["x"]}, "bad-conditions", "a card that is approved has no conditions",
     "decide 'approved_with_conditions', or leave the conditions out"),
    ({"decision": "approved_with_conditions"}, "bad-conditions",
     "a card that is approved with conditions needs a condition", "give at least one, or decide 'approved'"),
    ({"decision": "rejected", "conditions": "x"}, "bad-conditions", "the conditions are no list: 'x'",
     "give a list of texts"),
    ({"decision": "rejected", "conditions": ["x", " "]}, "bad-conditions", "condition 2 is empty",
     "say what has to be met, or leave it out"),
    ({"decision": "rejected", "conditions": ["x"] * 51}, "bad-conditions", "there are 51 conditions",
     "give 50 at most"),
    ({"decision": "rejected", "conditions": ["x" * 1_001]}, "bad-conditions",
     f"condition 1 has 1,001 characters: '{'x' * 57}...'", "shorten it to 1,000 or fewer"),
    ({"expires": "2026-11-21"}, "bad-expires",
     "it would be valid until 2026-11-21, which is not after the date, 2026-11-21",
     "give a later day, or leave it out"),
    ({"expires": "soon"}, "bad-expires", "'soon' is not a day of the calendar", "write it as in 2026-11-21"),
    ({"expires": "2027-11-21", "decision": "rejected"}, "bad-expires",
     "a card that is rejected has no day until which it is valid", "leave it out"),
])
def test_each_wrong_field_is_told_with_the_way_out(fields: dict[str, Any], code: str, message: str, hint: str) -> None:
    assert told(**fields) == [(code, message, hint)]


def test_every_wrong_field_is_told_at_once() -> None:
    wrong = {"role": "x", "name": "", "organisation": " ", "date": "?", "decision": "x", "conditions": [""],
             "expires": "?"}

    assert [code for code, _, _ in told(**wrong)] == [
        "unknown-role", "bad-name", "bad-organisation", "unknown-decision", "bad-date", "bad-conditions", "bad-expires"]


def test_the_file_is_a_list_with_a_line_for_each_and_reads_back(tmp_path: Path) -> None:
    signed = (signature(name="李"), signature(role="owner", decision="rejected", conditions=["More rows."]))
    (tmp_path / "signatures.json").write_bytes(records_json(signed))

    assert RunFolder(tmp_path).all_signatures == signed
    assert len((tmp_path / "signatures.json").read_text().splitlines()) == 4
    assert json.loads(records_json(signed))[0] == {**RIGHT, "name": "李", "evidence_sha256": EVIDENCE}


def test_a_folder_that_nobody_signed_has_no_signatures(tmp_path: Path) -> None:
    assert RunFolder(tmp_path).all_signatures == ()


@pytest.mark.parametrize(("content", "reason"), [
    (b"{}", "the document: input should be a valid array"),
    (b'[{"role": "boss"}]',
     "0.role: input should be 'developer', 'validator', 'owner' or 'approver'"),
    (records_json([signature(name="A\nB")]), r"0: the name contains a control character, U+000A: 'A\nB'"),
    (records_json([signature().model_copy(update={"evidence_sha256": "../x"})]),
     "0.evidence_sha256: string should match pattern '^[0-9a-f]{64}$'"),
])
def test_a_file_that_holds_no_signatures_is_told(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "signatures.json"
    path.write_bytes(content)
    with pytest.raises(DataError) as error:
        _ = RunFolder(tmp_path).all_signatures

    assert str(error.value) == (
        f"error[not-signatures]: {path} does not hold signatures: {reason}\n"
        f"  = help: restore the file; or remove it, render the card again (evalpipe render {tmp_path}) and sign again")


def test_the_last_signature_of_a_role_counts() -> None:
    first, second = signature(decision="rejected"), signature(date="2026-11-22")
    developer = signature(role="developer", decision="reviewed")

    assert newest([first, second, developer]) == {"developer": developer, "validator": second}


def test_a_run_with_the_same_results_keeps_the_signatures_and_signs_its_card(tmp_path: Path) -> None:
    evidence = ran(tmp_path).evidence_sha256
    content = records_json([signature(evidence_sha256=evidence)])
    (tmp_path / "signatures.json").write_bytes(content)
    ran(tmp_path)

    assert (tmp_path / "signatures.json").read_bytes() == content
    assert "IN REVIEW: approver missing" in (tmp_path / "card.html").read_text()
    assert (tmp_path / "card.html").read_bytes() == evalpipe.render(tmp_path)["card.html"]


class Watching(Progress):
    """Progress that keeps what it is told of signatures."""

    moved: str | None = None

    def signatures_moved(self, file: str) -> None:
        self.moved = file


@pytest.mark.parametrize(("content", "name"), [
    (records_json([signature()]), "signatures-01234567.json"), (b"{", "signatures-unreadable.json")])
def test_a_run_with_other_results_moves_the_signatures_and_says_so(tmp_path: Path, content: bytes, name: str) -> None:
    ran(tmp_path)
    (tmp_path / "signatures.json").write_bytes(content)
    watching = Watching()
    evalpipe.run(SPEC, frames={"d": pl.DataFrame({"y": [1, 0], "p": [0.9, 0.2]})}, out=tmp_path, progress=watching)

    assert watching.moved == name
    assert {file.name for file in tmp_path.iterdir()} == {
        name, "card.html", "results.json", "estimates.csv", "run.json", "manifest.json"}
    assert (tmp_path / name).read_bytes() == content
    assert "DRAFT, not signed" in (tmp_path / "card.html").read_text()
    ran(tmp_path)
    assert (tmp_path / name).read_bytes() == content


def test_signatures_of_several_results_are_kept_of_none(tmp_path: Path) -> None:
    (tmp_path / "signatures.json").write_bytes(records_json([signature(), signature(evidence_sha256="f" * 64)]))

    assert RunFolder(tmp_path).records_after_run(SIGNATURE_LIST, EVIDENCE)[2] == "signatures-01234567.json"


def test_a_card_is_not_rendered_with_signatures_of_other_results(tmp_path: Path) -> None:
    evidence = ran(tmp_path).evidence_sha256
    (tmp_path / "signatures.json").write_bytes(records_json([signature()]))
    with pytest.raises(DataError) as error:
        evalpipe.render(tmp_path)

    assert str(error.value) == (
        f"error[other-evidence]: {tmp_path}/signatures.json is of other results: 'A. Reader' (validator) signed "
        f"evidence 01234567, and results.json is {evidence[:8]}\n"
        "  = help: restore the results that were signed; or move signatures.json away and sign these")


def test_evidence_is_the_sha256_of_the_file_as_it_was_read(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    ran(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n "))
    results = Results.read(path)

    assert results.evidence_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    renamed = results.model_copy(update={"name": "y"})
    assert renamed.evidence_sha256 == hashlib.sha256(renamed.to_json().encode()).hexdigest()


def test_run_json_has_the_evidence_of_the_run(tmp_path: Path) -> None:
    assert ran(tmp_path).evidence_sha256 == json.loads((tmp_path / "run.json").read_text())["evidence_sha256"]
