"""Gates on the command line: exit codes, lines, annotations, junit.xml."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import junitparser
import pytest

from cli.conftest import SPEC, Command
from evalpipe.results import Results

PASSING = "  - {metric: roc_auc, min: 0.55}\n"
OPEN = '  - {name: "right & <often>", metric: accuracy, min: 0.9}\n'
FAILING = "  - {metric: accuracy, max: 0.5}\n"
WARNING = "  - {metric: brier, min: 0.5, severity: warn}\n"
REASONS = {
    "open": "Accuracy: 0.825 (0.724–0.901). The interval includes 0.9, so these data do not decide.",
    "failing": "Accuracy: 0.82 (0.72–0.90). The whole interval is above 0.5.",
    "passing": "ROC AUC: 0.91 (0.81–0.95). The whole interval is above 0.55.",
    "warning": "Brier score: 0.13 (0.11–0.16). The whole interval is below 0.5.",
}


def declare(folder: Path, *gates: str) -> None:
    text = SPEC.replace("[html]", "[junit]") + "gates:\n" + "".join(gates)
    (folder / "small.yaml").write_text(text)


@pytest.mark.parametrize(
    ("gates", "codes"),
    [
        ([PASSING], {"fail": 0, "warn": 0, "inconclusive": 0, "never": 0}),
        ([PASSING, OPEN], {"fail": 0, "inconclusive": 1}),
        ([PASSING, OPEN, WARNING], {"fail": 0, "warn": 1, "inconclusive": 1, "never": 0}),
        ([PASSING, OPEN, FAILING], {"fail": 1, "warn": 1, "inconclusive": 1, "never": 0}),
    ],
    ids=["passing", "open", "warning", "failing"],
)
def test_the_exit_code_says_whether_gates_hold(
    command: Command, folder: Path, gates: list[str], codes: dict[str, int]
) -> None:
    declare(folder, *gates)
    assert {on: command("run", "small.yaml", "--no-progress", "--fail-on", on).returncode for on in codes} == codes


def test_the_word_of_before_for_a_gate_that_is_left_open_is_taken_with_a_warning(
    command: Command, folder: Path
) -> None:
    declare(folder, PASSING, OPEN)
    line = ("run", "small.yaml", "--no-progress", "--fail-on")
    now, before = command(*line, "inconclusive"), command(*line, "indeterminate")
    assert (before.returncode, before.stdout) == (now.returncode, now.stdout)
    assert before.stderr == (
        "warning: --fail-on: 'indeterminate' is called 'inconclusive' now; evalpipe 2.0 no longer reads it\n"
        + now.stderr)


def test_a_failed_gate_is_said_and_everything_is_written(command: Command, folder: Path) -> None:
    command("run", "small.yaml", "--out", "out")
    assert not (folder / "out" / "junit.xml").exists()
    declare(folder, PASSING, OPEN, FAILING, WARNING)
    done = command("run", "small.yaml", "--out", "out", "--no-progress")
    assert (done.returncode, done.stderr) == (1, "")
    assert re.search(r"\n✗ Not good enough: .*, required .*\. 2 of 4 requirements failed, 1 undecided\n\n", done.stdout)
    assert (
        "\ngates: 1 of 4 held\n"
        f"gate 2 inconclusive: right & <often>, a on test: {REASONS['open']}\n"
        f"gate 3 failed: a on test: {REASONS['failing']}\n"
        f"gate 4 failed (severity warn): a on test: {REASONS['warning']}\n"
        "\nfindings, 5 of "
    ) in done.stdout
    assert done.stdout.endswith("\n\nout/junit.xml\nout/results.json\n")
    written = {path.name for path in (folder / "out").iterdir()}
    assert written == {"junit.xml", "results.json", "estimates.csv", "run.json", "manifest.json"}
    results = json.loads((folder / "out" / "results.json").read_text())
    assert [gate["verdict"] for gate in results["gates"]] == ["pass", "inconclusive", "fail", "fail"]


def test_gates_are_annotations_at_their_places(command: Command, folder: Path) -> None:
    declare(folder, PASSING, OPEN, FAILING, WARNING)
    done = command("run", "small.yaml", "--no-progress", "--format", "github")
    at = "file=small.yaml"
    first = len((folder / "small.yaml").read_text().splitlines()) - 3
    assert [line for line in done.stdout.splitlines() if line.startswith("::")] == [
        f"::notice {at},line={first + 1},col=5,title=gate inconclusive::right & <often>, a on test: {REASONS['open']}",
        f"::error {at},line={first + 2},col=5,title=gate failed::a on test: {REASONS['failing']}",
        f"::warning {at},line={first + 3},col=5,title=gate failed (severity warn)::a on test: {REASONS['warning']}",
    ]
    assert done.returncode == 1
    (folder / "small.yaml").write_text("evalpipe: 2\n")
    broken = command("run", "small.yaml", "--format", "github")
    assert broken.returncode == 2
    assert broken.stdout.startswith("::error file=small.yaml,line=1,")


def test_junit_agrees_with_the_exit_code(command: Command, folder: Path) -> None:
    declare(folder, PASSING, OPEN, FAILING, WARNING)
    command("run", "small.yaml", "--out", "out", "--no-progress")
    suites = junitparser.JUnitXml.fromfile(str(folder / "out" / "junit.xml"))
    (suite,) = suites
    assert (suite.name, suite.tests, suite.failures, suite.errors, suite.skipped) == ("small", 4, 1, 0, 2)
    cases = [(case.classname, case.name, [type(one).__name__ for one in case.result]) for case in suite]
    assert cases == [
        ("test.a", "ROC AUC at least 0.55", []),
        ("test.a", "right & <often>", ["Skipped"]),
        ("test.a", "Accuracy at most 0.5", ["Failure"]),
        ("test.a", "Brier score at least 0.5", ["Skipped"]),
    ]
    assert [[one.message for one in case.result] for case in suite] == [
        [], [f"inconclusive: {REASONS['open']}"], [REASONS["failing"]], [f"warning: {REASONS['warning']}"]]
    assert [case.system_out for case in suite] == [REASONS["passing"], None, None, None]
    assert "time" not in (folder / "out" / "junit.xml").read_text()


def test_junit_can_be_rendered_again(command: Command, folder: Path) -> None:
    declare(folder, PASSING, OPEN)
    command("run", "small.yaml", "--out", "out", "--no-progress")
    before = (folder / "out" / "junit.xml").read_bytes()
    (folder / "out" / "junit.xml").unlink()
    done = command("render", "out", "--format", "junit")
    assert (done.returncode, done.stdout) == (0, "out/junit.xml\n")
    assert (folder / "out" / "junit.xml").read_bytes() == before


def test_without_gates_there_is_no_junit(command: Command, folder: Path) -> None:
    (folder / "small.yaml").write_text(SPEC.replace("[html]", "[junit]"))
    done = command("run", "small.yaml", "--out", "out", "--no-progress")
    assert (done.returncode, "junit" in done.stdout, "gates" in done.stdout) == (0, False, False)
    assert not (folder / "out" / "junit.xml").exists()
    again = command("render", "out", "--format", "junit")
    assert again.returncode == 2
    assert again.stderr == (
        "error[no-gates]: there is no junit.xml without gates\n"
        "  = help: add 'gates: […]' to the spec, or 'require' to a standard\n")


def test_a_night_is_compared_with_the_night_before(command: Command, folder: Path) -> None:
    declare(folder, "  - {metric: brier, max_increase: 0.2, against: {results: reports/small}, optional: true}\n")
    line = ("run", "small.yaml", "--no-progress", "--fail-on", "inconclusive")
    first, second = command(*line), command(*line)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "gates: 0 of 1 held\ngate 1 skipped: a on test: Brier score was not compared: " in first.stdout
    assert "gates: 1 of 1 held\n" in second.stdout
    third = command(*line)
    assert third.stdout == second.stdout


def test_the_help_says_when_the_exit_code_is_1(command: Command) -> None:
    assert "1 done, but a gate did not hold" in command("--help").stdout
    assert "The exit code is 1 where one does not" in " ".join(command("run", "--help").stdout.split())


def test_the_run_as_one_json_document(command: Command, folder: Path) -> None:
    declare(folder, PASSING, FAILING)
    done = command("run", "small.yaml", "--out", "out", "--no-progress", "--format", "json")
    assert (done.returncode, done.stderr) == (1, "")
    document = json.loads(done.stdout)
    results = json.loads((folder / "out" / "results.json").read_text())
    assert (document["name"], document["verdict"]) == ("small", "fail")
    assert [gate.pop("text") for gate in document["gates"]] == [REASONS["passing"], REASONS["failing"]]
    assert document["gates"] == results["gates"]
    texts = [finding.pop("text") for finding in document["findings"]]
    assert texts == [finding.text for finding in Results.read(folder / "out").findings]
    assert texts[0] == "Accuracy: 0.82 (0.72–0.90) for a; required at most 0.5."
    assert document["findings"] == results["findings"]
    assert document["files"] == ["out/junit.xml", "out/results.json"]
    evidence = hashlib.sha256((folder / "out" / "results.json").read_bytes()).hexdigest()
    assert document["evidence_sha256"] == evidence
    declare(folder)
    assert json.loads(command("run", "small.yaml", "--format", "json", "--no-progress").stdout)["verdict"] == "none"
