"""Night after night: the example of docs/gates.md, the reference of `against: last`, and `evalpipe accept`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from cli.conftest import SPEC, Command

GATES = Path(__file__).parents[2] / "docs" / "gates.md"
DATA = Path(__file__).parents[2] / "configs" / "data" / "titanic_evaluation.parquet"
QUICK = ("--no-progress", "--set", "report.formats=[junit]", "--set", "intervals.replicates=100")
FALL = "  - {metric: roc_auc, max_decrease: 0.02, against: last, on: value}\n"


def section() -> dict[str, str]:
    """Return the page on gates: its spec, and its commands by their second word."""
    text = GATES.read_text(encoding="utf-8")
    spec, run, accept = re.findall(r"^```\w*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {"spec": spec, "run": run, "accept": accept}


def gates(stdout: str) -> list[str]:
    """Return the lines on gates, which end with an empty one."""
    lines = stdout.splitlines()
    first = next(place for place, line in enumerate(lines) if line.startswith("gates: "))
    return lines[first:lines.index("", first)]


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["sh", "-c", line], cwd=folder, capture_output=True, text=True, check=False, env=os.environ | {"PATH": path})


def write_night(folder: Path, *, good: bool) -> None:
    """Write a night's data: the Titanic's, or with the scores of many who died as high as those who lived."""
    frame = pl.read_parquet(DATA)
    wrong = pl.int_range(pl.len()) % 3 == 0
    high = pl.when(wrong & (pl.col("survived") == "no")).then(0.95).otherwise(pl.col("logistic_regression"))
    data = folder / "configs" / "data"
    data.mkdir(parents=True, exist_ok=True)
    (frame if good else frame.with_columns(logistic_regression=high)).write_parquet(data / DATA.name)


@pytest.mark.nightly  # by day its spec runs five nights within this process
def test_the_page_on_gates_runs_as_written(tmp_path: Path) -> None:
    shown = section()
    (tmp_path / "nightly.yaml").write_text(shown["spec"])
    write_night(tmp_path, good=True)
    first = shell(shown["run"], tmp_path)
    assert (first.returncode, first.stderr, "look at" in first.stdout) == (0, "", False)
    assert {path.name for path in (tmp_path / "reports" / "nightly").iterdir()} == {
        "card.html", "card.pdf", "junit.xml", "results.json", "estimates.csv", "run.json", "manifest.json",
        "reference.json"}
    accepted = shell(shown["accept"], tmp_path)
    assert (accepted.returncode, accepted.stderr) == (0, "")


def test_five_nights_from_another_working_directory(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    codes, told = [], []
    for night, good in enumerate([True, False, False, False, True], 1):
        write_night(project, good=good)
        (project / "nightly.yaml").write_text(section()["spec"])
        if night == 4:
            accepted = command("accept", "reports/nightly")
        done = command("run", "../project/nightly.yaml", *QUICK)
        codes.append(done.returncode)
        told.append([line for line in done.stdout.splitlines() if line.startswith("gate")])
    assert codes == [0, 1, 1, 0, 0]
    skipped = ("gate 3 skipped: Logistic regression on tonight: ROC AUC was not compared: no earlier run that held "
               "is kept. Looked for reports/nightly/reference.json.")
    fell = ("gate 3 failed: Logistic regression on tonight: ROC AUC minus that of the reference (two independent "
            "samples): −0.26 (−0.31 to −0.21). The whole interval is below −0.05.")
    assert told[0] == ["gates: 3 of 4 held", skipped]
    assert told[1] == told[2]
    assert fell in told[1]
    assert accepted.returncode == 0
    assert accepted.stdout.splitlines()[0] == (
        "reports/nightly: this run is now the reference of gates 'against: last'")
    assert accepted.stdout.splitlines()[-1].startswith(
        "Logistic regression on tonight: ROC AUC, reference before 0.801, from now on 0.536")
    assert not [line for line in told[4] if " failed" in line or "skipped" in line]


@pytest.fixture
def small(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a small spec that has a gate against the last run, and work in it."""
    monkeypatch.chdir(folder)
    declare(FALL)
    return folder


def declare(*gates: str) -> None:
    Path("small.yaml").write_text(SPEC.replace("[html]", "[junit]") + "gates:\n" + "".join(gates))


def spoil(share: int) -> None:
    """Give every ``share``-th row of the data the score 0.5; none where it is 0."""
    whole = Path("whole.csv")
    if not whole.exists():
        whole.write_bytes(Path("test.csv").read_bytes())
    frame = pl.read_csv(whole)
    spoilt = pl.int_range(pl.len()) % share == 0 if share else pl.lit(value=False)
    frame.with_columns(pa=pl.when(spoilt).then(0.5).otherwise(pl.col("pa"))).write_csv("test.csv")


LINE = ("run", "small.yaml", "--out", "out", "--no-progress")


def reference() -> float:
    """Return the ROC AUC of the reference."""
    rows = json.loads(Path("out/reference.json").read_text())["estimates"]
    return float(next(row["value"] for row in rows if row["metric"] == "roc_auc"))


@pytest.mark.usefixtures("small")
def test_what_was_skipped_is_named_in_summary_card_and_junit(command: Command) -> None:
    done = command(*LINE, "--set", "report.formats=[html, junit]")
    why = "ROC AUC was not compared: no earlier run that held is kept."
    assert gates(done.stdout) == [
        "gates: 0 of 1 held", f"gate 1 skipped: a on test: {why} Looked for out/reference.json."]
    assert why in Path("out/card.html").read_text()
    assert f'<skipped message="skipped: {why}" />' in Path("out/junit.xml").read_text()
    assert "falls by at most 0.02 against the reference" in Path("out/card.html").read_text()
    again = command(*LINE, "--format", "github", "--out", "other")
    assert f"::notice file=small.yaml,line=13,col=5,title=gate skipped::a on test: {why}" in again.stdout


@pytest.mark.usefixtures("small")
def test_results_do_not_tell_where_the_output_folder_is(command: Command) -> None:
    for share in (80, 0):
        spoil(share)
        for folder in ("out", "deep/other"):
            command("run", "small.yaml", "--out", folder, "--no-progress", "--set", "report.formats=[html, junit]")
    for name in ("results.json", "reference.json", "reference-before.json", "card.html", "junit.xml"):
        assert (Path("out") / name).read_bytes() == (Path("deep/other") / name).read_bytes()
    gate = json.loads(Path("out/results.json").read_text())["gates"][0]
    assert (gate["against"], gate["verdict"], len(gate["against_sha256"])) == ("last", "pass", 64)


@pytest.mark.usefixtures("small")
def test_a_run_that_ends_early_leaves_the_reference(command: Command) -> None:
    command(*LINE)
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    Path("test.csv").write_text("y,pa\nyes,7\n")
    assert command(*LINE).returncode == 3
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("gates", "fail_on", "code", "moves"),
    [
        ([FALL], "fail", 1, False),
        ([FALL], "never", 0, False),
        ([FALL.replace("}", ", severity: warn}")], "fail", 0, False),
        (["  - {metric: roc_auc, max_decrease: 0.05, against: last}\n"], "fail", 0, False),
        (["  - {metric: roc_auc, max_decrease: 0.05, against: last}\n"], "inconclusive", 1, False),
        ([FALL.replace("0.02", "0.9"), "  - {metric: brier, min: 0.9, severity: warn}\n"], "fail", 0, True),
        ([FALL.replace("0.02", "0.9"), "  - {metric: brier, min: 0.9, severity: warn}\n"], "warn", 1, False),
        ([FALL.replace("0.02", "0.9"), "  - {metric: brier, min: 0.9}\n"], "fail", 1, False),
        ([FALL.replace("0.02", "0.9")], "fail", 0, True),
    ],
    ids=["failed", "never", "warned", "inconclusive fall", "counted", "other warning", "counted warning", "other gate",
         "held"],
)
def test_only_a_run_that_held_becomes_the_reference(
    command: Command, gates: list[str], fail_on: str, code: int, moves: bool
) -> None:
    command(*LINE)
    before = reference()
    declare(*gates)
    spoil(3)
    done = command(*LINE, "--fail-on", fail_on)
    assert (done.returncode, reference() < before) == (code, moves)
    kept = Path("out/reference.json").read_bytes()
    assert (kept == Path("out/results.json").read_bytes()) is moves


@pytest.mark.usefixtures("small")
def test_a_measure_that_the_reference_lacks_is_skipped_by_name_until_it_has_it(command: Command) -> None:
    command(*LINE)
    declare(FALL, "  - {metric: mcc, max_decrease: 0.1, against: last, on: value}\n")
    done = command(*LINE)
    assert (done.returncode, gates(done.stdout)) == (0, [
        "gates: 1 of 2 held",
        "gate 2 skipped: a on test: MCC was not compared: the earlier run has no MCC of a on test."])
    spoil(80)
    assert "gates: 2 of 2 held" in command(*LINE).stdout


@pytest.mark.usefixtures("small")
def test_a_broken_reference_is_an_error_with_a_way_out(command: Command) -> None:
    command(*LINE)
    Path("out/reference.json").write_text("{")
    before = {path.name: path.read_bytes() for path in Path("out").iterdir()}
    done = command(*LINE)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "error[not-results]: out/reference.json does not hold results of evalpipe: the document: invalid json: eof "
        "while parsing an object at line 1 column 1\n"
        "  --> small.yaml:13:52\n   |\n13 |   - {metric: roc_auc, max_decrease: 0.02, against: last, on: value}\n"
        "   |                                                    ^^^^ remove it to begin anew, or make the newest "
        "run the reference: evalpipe accept out\n")
    assert {path.name: path.read_bytes() for path in Path("out").iterdir()} == before
    declare(FALL, FALL.replace("roc_auc", "accuracy"))
    places = [line for line in command(*LINE).stderr.splitlines() if line.startswith("  --> ")]
    assert places == ["  --> small.yaml:13:52", "  --> small.yaml:14:53"]
    declare(FALL)
    mended = command("accept", "out")
    assert (mended.returncode, mended.stdout) == (0, (
        "out: this run is now the reference of gates 'against: last'\n"
        "a on test: ROC AUC, reference before none, from now on 0.906\n"))
    spoil(80)
    assert "gates: 1 of 1 held" in command(*LINE).stdout


@pytest.mark.usefixtures("small")
def test_without_a_reference_the_newest_run_stands_in_if_it_held(command: Command) -> None:
    declare("  - {metric: brier, max: 0.5}\n")
    command(*LINE)
    assert not Path("out/reference.json").exists()
    declare(FALL)
    assert "gates: 1 of 1 held" in command(*LINE).stdout
    spoil(3)
    assert command(*LINE).returncode == 1
    Path("out/reference.json").unlink()
    done = command(*LINE)
    why = "ROC AUC was not compared: no earlier run that held is kept."
    assert (done.returncode, why in done.stdout) == (0, True)
    Path("out/reference.json").unlink()
    Path("out/results.json").write_text("")
    assert why in command(*LINE).stdout


@pytest.mark.usefixtures("small")
def test_a_run_without_such_gates_leaves_the_reference(command: Command) -> None:
    command(*LINE)
    before = Path("out/reference.json").read_bytes()
    spoil(3)
    declare("  - {metric: brier, max: 0.9}\n")
    assert command(*LINE).returncode == 0
    assert Path("out/reference.json").read_bytes() == before


@pytest.mark.usefixtures("small")
def test_accept_tells_what_had_failed_and_both_values(command: Command) -> None:
    declare(FALL, "  - {metric: accuracy, min: 0.99}\n")
    command(*LINE)
    command("accept", "out")
    spoil(3)
    command(*LINE)
    done = command("accept", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "out: this run is now the reference of gates 'against: last'\n"
        "gate 1 had failed: a on test: ROC AUC minus that of the reference (two independent samples): −0.06 (−0.17 to "
        "+0.05). The value is below −0.02.\n"
        "gate 2 had failed: a on test: Accuracy: 0.70 (0.59–0.80). The whole interval is below 0.99.\n"
        "a on test: ROC AUC, reference before 0.906, from now on 0.848\n")
    assert Path("out/reference.json").read_bytes() == Path("out/results.json").read_bytes()
    assert list(Path().glob(".*")) == []


@pytest.mark.usefixtures("small")
def test_accept_where_nothing_is_compared_or_nothing_is(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = command("accept", "never")
    assert (nothing.returncode, nothing.stdout) == (3, "")
    assert nothing.stderr == (
        "error[unreadable-file]: cannot read never/results.json: No such file or directory\n"
        "  = help: give the output folder of `evalpipe run`\n")
    declare("  - {metric: brier, max: 0.9}\n")
    command(*LINE)
    monkeypatch.chdir("out")
    done = command("accept", ".")
    assert (done.returncode, done.stdout) == (0, (
        ".: this run is now the reference of gates 'against: last'\n"
        "no gate of this run is 'against: last', so nothing is compared with it\n"))


@pytest.mark.usefixtures("small")
def test_a_path_that_leads_nowhere_is_named_every_night(command: Command) -> None:
    Path("specs").mkdir()
    declare("  - {metric: brier, max_increase: 0.2, against: {results: reports/small}, optional: true}\n")
    text = Path("small.yaml").read_text().replace("path: test.csv", "path: ../test.csv")
    Path("specs/small.yaml").write_text(text)
    for _ in range(2):
        done = command("run", "specs/small.yaml", "--no-progress")
        assert done.returncode == 0
        assert (
            "gate 1 skipped: a on test: Brier score was not compared: there are no results of an earlier run at "
            "reports/small (relative to small.yaml). Looked for specs/reports/small.\n") in done.stdout


def test_a_first_run_is_never_refused(command: Command, small: Path) -> None:
    declare(FALL.replace("}", ", optional: true}"))
    assert command(*LINE).returncode == 0
    declare(FALL.replace("}", ", optional: false}"))
    done = command(*LINE)
    assert (done.returncode, done.stderr) == (2, (
        "error[unused-key]: a first run has nothing to be compared with, so a gate against 'last' is always optional\n"
        "  --> small.yaml:13:69\n   |\n"
        "13 |   - {metric: roc_auc, max_decrease: 0.02, against: last, on: value, optional: false}\n"
        "   |                                                                     ^^^^^^^^ remove it\n"))
    assert small.exists()
