"""`evalpipe sign` as its users run it: what it prints, where, and its exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from cli.conftest import Command
from evalpipe.runs.folder import RunFolder

SIGN = ("sign", "out", "--role", "validator", "--name", "A. Reader", "--decision", "approved", "--date", "2026-11-21")


@pytest.fixture
def evidence(out: Path) -> str:
    """Return the sha256 of the results of the small spec, which has run."""
    return hashlib.sha256((out / "results.json").read_bytes()).hexdigest()


def test_sign_prints_the_status_the_evidence_and_the_files(command: Command, folder: Path, evidence: str) -> None:
    done = command(*SIGN)

    assert (done.returncode, done.stderr, done.stdout) == (0, "", (
        "IN REVIEW: approver missing\n"
        f"evidence, unchanged: results.json, sha256 {evidence}\n\nout/card.html\nout/signatures.json\n"))
    assert hashlib.sha256((folder / "out" / "results.json").read_bytes()).hexdigest() == evidence
    assert list(folder.glob(".*")) == []


def test_a_second_reader_adds_conditions_and_reads_json(command: Command, folder: Path, evidence: str) -> None:
    command(*SIGN)
    done = command(
        "sign", "out", "--role", "owner", "--name", "李", "--organisation", "Bank", "--date", "2026-11-22",
        "--decision", "approved_with_conditions", "--condition", "Not for children.", "--condition", "Monthly.",
        "--expires", "2027-11-22", "--format", "json")

    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {
        "status": "IN REVIEW: approver missing",
        "signature": {
            "role": "owner", "name": "李", "organisation": "Bank", "date": "2026-11-22",
            "decision": "approved_with_conditions", "conditions": ["Not for children.", "Monthly."],
            "expires": "2027-11-22", "evidence_sha256": evidence},
        "files": ["out/card.html", "out/signatures.json"], "unchecked": []}
    assert [signature.name for signature in RunFolder(folder / "out").all_signatures] == ["A. Reader", "李"]


@pytest.mark.usefixtures("evidence")
def test_every_option_that_is_missing_or_wrong_is_told_at_once(command: Command, folder: Path) -> None:
    missing, wrong = command("sign", "out"), command(
        "sign", "out", "--role", "auditor", "--name", "A\nB", "--decision", "approved", "--condition", "x", "--date",
        "2026-13-01", "--format", "json")

    assert (missing.returncode, missing.stdout, missing.stderr) == (2, "", (
        "error[missing-option]: no role is given\n  = help: give the role: developer, validator, owner or approver\n\n"
        "error[missing-option]: no name is given\n  = help: give the name of the person who signs\n\n"
        "error[missing-option]: no decision is given\n"
        "  = help: give the decision: approved, approved_with_conditions, rejected or reviewed\n\n"
        "error[missing-option]: no date is given\n  = help: give the day of the decision, as in 2026-11-21\n\n"
        "4 errors\n"))
    assert (wrong.returncode, wrong.stderr) == (2, "")
    assert [problem["message"] for problem in json.loads(wrong.stdout)["problems"]] == [
        "unknown role 'auditor'", r"the name contains a control character, U+000A: 'A\nB'",
        "'2026-13-01' is not a day of the calendar", "a card that is approved has no conditions"]
    assert not (folder / "out" / "signatures.json").exists()


@pytest.mark.usefixtures("evidence")
def test_a_changed_number_ends_with_3_and_writes_nothing(command: Command, folder: Path) -> None:
    table = folder / "out" / "estimates.csv"
    table.write_text(table.read_text().replace(",80,", ",81,", 1))
    done, as_json = command(*SIGN), command(*SIGN, "--format", "json")

    assert (done.returncode, done.stdout, done.stderr) == (3, "", (
        "error[changed-file]: out/estimates.csv does not agree with results.json\n"
        "  = accuracy of a on test, n: 81 in estimates.csv, 80 in results.json\n"
        "  = help: restore it; or run again, and look at the new results\n"))
    assert (as_json.returncode, json.loads(as_json.stdout)["problems"][0]["code"]) == (3, "changed-file")
    assert not (folder / "out" / "signatures.json").exists()


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_run_with_other_results_says_where_the_signatures_are(
    command: Command, folder: Path, evidence: str, form: str
) -> None:
    command(*SIGN)
    command(*[{"validator": "approver"}.get(word, word) for word in SIGN])
    command("run", "small.yaml", "--out", "out", "--no-progress")
    assert (folder / "out" / "signatures.json").exists()
    status = "FINAL: approved by validator and approver; A. Reader signed as validator and approver"
    assert f"\nsign-off: {status}\n" in command("verify", "out").stdout
    done = command("run", "small.yaml", "--out", "out", "--no-progress", "--set", "seed=1", "--format", form)
    moved = f"out/signatures-{evidence[:8]}.json"

    assert (folder / moved).exists()
    assert "\nsign-off: DRAFT, not signed\n" in command("verify", "out").stdout
    if form == "json":
        assert json.loads(done.stdout)["signatures_moved"] == moved
    else:
        said = "this card is not signed: the signatures here were of other results, and are in"
        assert f"\n{said} {moved}\n" in done.stdout
    assert "not signed" not in command("run", "small.yaml", "--out", "out", "--no-progress", "--set", "seed=1").stdout


def test_render_keeps_the_signatures(command: Command, folder: Path, evidence: str) -> None:
    assert evidence
    command(*SIGN)
    signed = (folder / "out" / "card.html").read_bytes()
    (folder / "out" / "card.html").unlink()

    assert command("render", "out").returncode == 0
    assert (folder / "out" / "card.html").read_bytes() == signed
