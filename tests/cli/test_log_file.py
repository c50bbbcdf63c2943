"""The log of a run: one JSON document a line, safe to share, without a secret, and refused before anything runs."""

from __future__ import annotations

import json
import os
import threading
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cli.conftest import SPEC, Command
from evalpipe.cli.run import SHORT, Log, Secrets
from evalpipe.run import STEPS

QUICK = ("--no-progress", "--set", "report.formats=[]")
TOKEN = "pa55-Wort/geheim"  # noqa: S105 - that of nobody
HOST = "db.internal.example:5432"
ADDRESS = f"postgresql://nightly:{TOKEN.replace('/', '-')}@db.example/claims"


def lines(path: str = "log.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


def test_a_run_is_told_from_its_begin_to_its_end(command: Command, folder: Path) -> None:
    with (folder / "small.yaml").open("a") as spec:
        spec.write("gates:\n  - {metric: brier, max: 0.000001, on: value}\nslice_rules: {min_rows: 9}\n")
    assert command("run", "small.yaml", *QUICK, "--log-file", "log.jsonl").returncode == 1
    told = lines()
    results = json.loads((folder / "reports" / "small" / "results.json").read_text())
    run = json.loads((folder / "reports" / "small" / "run.json").read_text())
    steps = [event for _ in STEPS for event in ("step", "step-done")]
    assert [line["event"] for line in told] == [
        "begin", "spec", *steps, "warning", "gate", "end"]
    assert [line["step"] for line in told if line["event"] == "step-done"] == list(STEPS)
    assert {line["run"] for line in told} == {told[0]["run"]}
    times = [datetime.fromisoformat(line["time"]) for line in told]
    assert times == sorted(times)
    assert [line["spec_sha256"] for line in told if "spec_sha256" in line] == [results["spec_sha256"]] * 2
    assert {line["output"] for line in told[1:]} == {"reports/small"}
    warning, gate, end = told[-3:]
    assert (warning["level"], warning["code"]) == ("warning", "unused-rules")
    assert (gate["level"], gate["verdict"], gate["gate"]) == ("error", "failed", 1)
    assert gate["message"].startswith("a on test: Brier score: ")
    assert (end["level"], end["exit_code"], end["verdict"]) == ("error", 1, "fail")
    assert (end["message"], end["evidence_sha256"]) == ("the run ended with 1", run["evidence_sha256"])
    assert list(end["seconds_by_step"]) == list(STEPS)
    assert end["seconds"] >= sum(end["seconds_by_step"].values()) - 0.01


def test_runs_are_added_one_after_the_other(command: Command) -> None:
    for _ in range(2):
        assert command("run", "small.yaml", *QUICK, "--log-file", "log.jsonl").returncode == 0
    told = lines()
    assert [line["exit_code"] for line in told if line["event"] == "end"] == [0, 0]
    assert len({line["run"] for line in told}) == 2


def test_errors_are_told_with_their_place_and_way_out_but_without_cells(command: Command, folder: Path) -> None:
    (folder / "test.csv").write_text("y,pa\nyes,0.5\nno,7\n")
    assert command("run", "small.yaml", *QUICK, "--log-file", "log.jsonl").returncode == 3
    *_, problem, end = lines()
    assert (problem["event"], problem["level"], problem["file"]) == ("problem", "error", "test.csv")
    assert "rows" not in problem
    assert (end["exit_code"], end["level"]) == (3, "error")
    (folder / "small.yaml").write_text("name: a\n")
    assert command("run", "small.yaml", *QUICK, "--log-file", "log.jsonl").returncode == 2
    assert {line["code"] for line in lines() if line["event"] == "problem" and line["run"] == lines()[-1]["run"]} == {
        "missing-key"}


def test_no_value_of_the_environment_is_in_it(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLACE", TOKEN)
    monkeypatch.setenv("ADDRESS", ADDRESS)
    monkeypatch.setenv("HOST", HOST)
    monkeypatch.setenv("SHARE", "0.7")
    monkeypatch.setenv("PIN", "71")
    secret = SPEC.replace("name: small", 'name: small\ntitle: "${env:HOST} ${env:PIN}"')
    cases = {
        "kept": (secret, 0),
        "refused": (secret.replace("HOST", "ADDRESS"), 2),
        "path": (secret.replace("test.csv", '"${env:PLACE}.csv"'), 3),
        "column": (secret.replace("probability: pa", 'probability: "${env:PLACE}"'), 3),
        "gate": (secret + 'gates: [{metric: brier, max: 0.0001, on: value, name: "pin ${env:PIN} ${env:PLACE}"}]\n', 1),
        "key": (secret.replace("seed", "sed") + 'seed: "${env:PLACE}"\n', 2),
        "measure": (secret.replace("[accuracy,", '["${env:PLACE}",'), 2),
    }
    for name, (text, code) in cases.items():
        (folder / f"{name}.yaml").write_text(text)
        done = command("run", f"{name}.yaml", *QUICK, "--log-file", "log.jsonl")
        assert (name, done.returncode) == (name, code), done.stderr
    told = Path("log.jsonl").read_text("utf-8")
    assert "begin" in told
    for secret_value in (TOKEN, ADDRESS, HOST, TOKEN.replace("/", "-")):
        assert secret_value not in told


@given(st.text(min_size=SHORT, max_size=20), st.text(max_size=30), st.text(max_size=30))
def test_a_secret_is_hidden_wherever_it_stands(secret: str, before: str, after: str) -> None:
    assume("${env:KEY}".find(secret) < 0)
    secrets = Secrets({"KEY": secret})
    assert secrets["KEY"] == secret
    document = {"message": before + secret + after, "notes": [secret, {"hint": repr(secret)}], "level": "info"}
    hidden = json.dumps(secrets.hidden(document), ensure_ascii=False)
    assert secret not in hidden.replace("${env:KEY}", "\0") or secret in json.dumps({"message": before + "\0" + after})


def test_a_short_secret_is_hidden_where_it_is_a_word() -> None:
    secrets = Secrets({"PIN": "7", "EMPTY": ""})
    assert (secrets["PIN"], secrets["EMPTY"]) == ("7", "")
    assert secrets.hidden({"message": "7 rows, not 17: '7'", "seconds": 7, "step": "7"}) == {
        "message": "${env:PIN} rows, not 17: '${env:PIN}'", "seconds": 7, "step": "7"}


def test_many_runs_share_a_log(folder: Path) -> None:
    def run(number: int) -> None:
        with Log("log.jsonl", f"{number}.yaml") as log:
            for step in range(50):
                log.step(1, f"{step} " + "x" * 5000)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    told = lines(str(folder / "log.jsonl"))
    assert len(told) == 6 * (1 + 50 + 50 + 1)
    for number in range(6):
        run = next(line["run"] for line in told if line.get("spec") == f"{number}.yaml")
        own = [line for line in told if line["run"] == run]
        assert [line["event"] for line in own] == ["begin", *["step", "step-done"] * 50, "end"]


@pytest.mark.parametrize(("path", "reason"), [
    ("nowhere/log.jsonl", "No such file or directory"), (".", "Is a directory"),
    ("/dev/full", "No space left on device"), ("small.yaml/log", "Not a directory"),
])
def test_a_log_that_cannot_be_written_is_refused_before_anything_runs(
    command: Command, folder: Path, path: str, reason: str
) -> None:
    done = command("run", "small.yaml", *QUICK, "--log-file", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error[log-file]: cannot write to the log file '{path}': {reason}\n"
        "  = help: choose a file that can be written; its folder must exist\n")
    assert not (folder / "reports").exists()


@pytest.mark.parametrize("path", ["small.yaml", "test.csv"])
def test_a_file_that_is_no_log_is_not_written_to(command: Command, folder: Path, path: str) -> None:
    before = (folder / path).read_bytes()
    done = command("run", "small.yaml", *QUICK, "--log-file", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error[log-file]: the log file '{path}' holds something else than lines of a log\n"
        "  = help: name another file: lines would be added to this one\n")
    assert (folder / path).read_bytes() == before


def test_a_log_in_the_output_folder_is_refused(command: Command, folder: Path) -> None:
    command("run", "small.yaml", *QUICK)
    before = (folder / "reports" / "small" / "run.json").read_bytes()
    for path in ("reports/small/log.jsonl", "reports/../reports/small/log.jsonl"):
        done = command("run", "small.yaml", *QUICK, "--log-file", path)
        assert done.returncode == 2
        assert done.stderr == (
            f"error[log-file]: the log file '{path}' is in the output folder 'reports/small', which a run replaces\n"
            "  = help: put it beside the folder\n")
    assert (folder / "reports" / "small" / "run.json").read_bytes() == before


def test_a_log_that_fails_later_is_told_once_and_the_run_goes_on(
    command: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, count = os.write, [0]

    def full(file: int, content: bytes) -> int:
        count[0] += content.startswith(b'{"time"')
        if count[0] > 3 and content.startswith(b'{"time"'):
            raise OSError(28, "No space left on device")
        return write(file, content)

    monkeypatch.setattr("os.write", full)
    done = command("run", "small.yaml", *QUICK, "--log-file", "log.jsonl")
    assert (done.returncode, done.stderr) == (0, (
        "warning: cannot write to the log file 'log.jsonl': No space left on device; the run goes on without it\n"))
    assert len(lines()) == 3
    assert (folder / "reports" / "small" / "results.json").exists()
