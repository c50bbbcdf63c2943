"""A folder that was written before `schema_version` 2 is read, rendered, verified and compared."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import evalpipe
from evalpipe.card.wording import names_of
from evalpipe.chapters.gates.card_sentences import gate_sentence
from evalpipe.errors import DataError
from evalpipe.results import Results
from evalpipe.review.checking import verify
from evalpipe.review.differences.compare import compare
from evalpipe.review.differences.records import Run, Tolerance
from evalpipe.runs.record import replace_files

HERE = Path(__file__).parent / "schema_1"
ROUNDING = 1e-9
"""How far a number of another processor may be from one of the folder."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    return dict(json.loads((HERE / "run" / "results.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.read(HERE / "run")


def test_its_sentences_are_those_that_it_holds(document: dict[str, Any], results: Results) -> None:
    assert (document["schema_version"], results.schema_version) == (1, 2)
    names = names_of(results)
    assert [gate_sentence(names, gate) for gate in results.gates] == [gate["reason"] for gate in document["gates"]]
    assert [finding.text for finding in results.findings] == [finding["text"] for finding in document["findings"]]
    assert [str(warning.message) for warning in results.warnings] == [row["message"] for row in document["warnings"]]
    assert [row.reason for row in results.rows] == [row["reason"] for row in document["estimates"]]
    assert {metric: "; ".join(f"{one.method}: {one.reason}" for one in chosen)
            for metric, chosen in results.intervals.methods.items()} == document["intervals"]["methods"]


def test_its_words_are_those_of_now(document: dict[str, Any], results: Results) -> None:
    assert {gate["verdict"] for gate in document["gates"]} == {"pass", "fail", "indeterminate", "skipped"}
    assert {gate.verdict for gate in results.gates} == {"pass", "fail", "inconclusive", "skipped"}
    kinds = {"holds": "passes", "open": "undecided", "same": "equivalent"}
    assert [finding.kind for finding in results.findings] == [
        kinds.get(finding["kind"], finding["kind"]) for finding in document["findings"]]
    assert {finding["kind"] for finding in document["findings"]} >= {"holds", "open", "fails", "note"}
    assert (results.verdict, results.holds("warn")) == ("fail", False)


def test_its_evidence_is_its_bytes(results: Results) -> None:
    assert results.evidence_sha256 == hashlib.sha256((HERE / "run" / "results.json").read_bytes()).hexdigest()


def test_it_is_rendered_and_verified(tmp_path: Path, results: Results) -> None:
    run = Path(shutil.copytree(HERE, tmp_path / "loans")) / "run"
    card = evalpipe.render(run, ["markdown"])
    # Its own card has the sentences of then, and no annex; what it links to is still there.
    texts = (run / "card.md").read_bytes(), card["card.md"]
    old, new = (set(re.findall(rb'<a id="([^"]+)">', text)) for text in texts)
    rows = {anchor for anchor in new if re.search(rb"-[0-9a-f]{8}$", anchor)}  # of the rows that findings lead to
    assert rows
    assert new - old - rows == {b"annex", b"datasets", b"differences-1", b"measures-of-findings", b"slice-tests"}
    assert old <= new
    replace_files(run, card)
    checked = verify(run)
    status = {file.file: (file.status, file.reason) for file in checked.files if file.kind == "output"}
    assert status.pop("card.md")[0] == "same"  # tests/stability has the reason, which hangs on this version
    assert status == dict.fromkeys(("manifest.json", "estimates.csv", "results.json"), ("same", "")) | {
        "run.json": ("not checked", "it is not here"),
        "manifest.sig.json": ("not checked", "the manifest is not signed")}
    assert results.evidence_sha256 in evalpipe.render(run, ["html"])["card.html"].decode()


def test_a_run_of_now_is_the_same(tmp_path: Path, results: Results) -> None:
    shutil.copy(HERE / "loans.csv", tmp_path)
    spec = (HERE / "spec.yaml").read_text(encoding="utf-8")
    (tmp_path / "spec.yaml").write_text(spec.replace("indeterminate", "inconclusive"), encoding="utf-8")
    now = evalpipe.run(tmp_path / "spec.yaml", out=tmp_path / "run")
    assert json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))["schema_version"] == 2
    difference = compare(Run("then", results), Run("now", now), Tolerance(ROUNDING))
    assert [(change.key, change.a, change.b) for change in difference.spec] == [
        ("gates[3].undefined", "indeterminate", "inconclusive")]
    # Reasons of then are texts, those of now have the words of now.
    assert [change for change in difference.estimates if change.details != ["reason"]] == []
    assert difference.gates == []
    # A slope of 0.43 (0.03 to 0.82) may lie within the margin: a note, and the other model fails alone. Its share of
    # the error is then not free for others, and the order of old is no longer decided after correction. Three notes
    # have other words.
    assert sorted((change.change, "" if change.b is None else change.b.kind) for change in difference.findings) == [
        ("appeared", "fails"), *[("appeared", "note")] * 4, ("turned", "undecided"), *[("went", "")] * 4]
    # Findings and a warning speak in other words; limits of the slope are robust, and its curve has it without rows
    # at 0 and 1; what a thousand rows come to is new, and so is the count of checks.
    assert {part.part for part in difference.other} == {
        "checks", "curves", "diagnostics", "findings", "per_thousand", "warnings"}


@pytest.mark.parametrize("broken", [
    {"gates": 3}, {"gates": [{"verdict": "pass"}]}, {"intervals": {}}, {"warnings": [1]}, {"findings": [{"text": "x"}]},
])
def test_what_is_broken_is_told(tmp_path: Path, document: dict[str, Any], broken: dict[str, Any]) -> None:
    (tmp_path / "results.json").write_text(json.dumps(document | broken), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        Results.read(tmp_path)
    assert f"does not hold results of evalpipe: {next(iter(broken))}" in str(caught.value)


def test_a_fault_of_version_2_is_told_as_such(results: Results) -> None:
    with pytest.raises(DataError, match=r"does not hold results of evalpipe: name: input should be a valid string"):
        Results.from_json(json.dumps(json.loads(results.to_json()) | {"name": 1}))
