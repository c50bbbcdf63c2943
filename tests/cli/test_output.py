"""A standard output that is full, closed or gone: what was written stays whole, and the exit code keeps its meaning."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from evalpipe.errors import UsageError
from evalpipe.runs.folder import refuse_to_replace
from few_by_day import by_night

Command = Callable[..., subprocess.CompletedProcess[str]]
FULL = "error[standard-output]: cannot write to the standard output: No space left on device\n"
HELP = "  = help: free space, or send the output elsewhere\n"
NO_CARD = ["run", "small.yaml", "--no-progress", "--set", "report.formats=[]", "--set", "ledger=false", "--set",
           "intervals.method=none"]


def shell(folder: Path, line: str) -> subprocess.CompletedProcess[str]:
    command = line.replace("evalpipe", f"{sys.executable} -m evalpipe")
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, check=False)


def missed(folder: Path) -> None:
    """Add a gate that no model keeps."""
    with (folder / "small.yaml").open("a") as spec:
        spec.write("gates: [{metric: brier, max: 0.000001, on: value}]\n")


def test_a_full_output_after_everything_was_written(folder: Path) -> None:
    done = shell(folder, f"evalpipe {' '.join(NO_CARD)} > /dev/full")
    assert (done.returncode, done.stderr) == (2, f"{FULL}  = everything was written to 'reports/small'\n{HELP}")
    assert json.loads((folder / "reports" / "small" / "results.json").read_text())["name"] == "small"


@pytest.mark.parametrize("line", [
    "metrics brier --format json", "--help", by_night("metrics"), by_night("schema"), by_night("plan small.yaml")])
def test_a_full_output_of_other_commands(folder: Path, line: str) -> None:
    done = shell(folder, f"evalpipe {line} > /dev/full")
    assert (done.returncode, done.stderr) == (2, FULL + HELP)


@pytest.mark.parametrize("line", ["metrics", by_night("schema"), by_night(" ".join(NO_CARD))])
def test_a_reader_who_has_gone_is_no_fault(folder: Path, line: str) -> None:
    done = shell(folder, f"evalpipe {line} | true; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("end", [
    "| true; exit ${PIPESTATUS[0]}", by_night(">&-"), by_night(">&- 2>&-")])
def test_a_missed_gate_is_told_by_the_exit_code_all_the_same(folder: Path, end: str) -> None:
    missed(folder)
    done = shell(folder, f"evalpipe {' '.join(NO_CARD)} {end}")
    assert (done.returncode, done.stderr) == (1, "")


def test_a_full_stderr_is_an_exit_code(folder: Path) -> None:
    assert shell(folder, "evalpipe run small.yaml 2> /dev/full").returncode == 2


def test_a_run_outlives_the_reader_of_its_progress(folder: Path) -> None:
    done = shell(folder, "evalpipe run small.yaml --set report.formats=[] 2>&1 | true; exit ${PIPESTATUS[0]}")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads((folder / "reports" / "small" / "results.json").read_text())["name"] == "small"


@pytest.mark.parametrize(("end", "help_ends", "unbuffered"), [
    ("> /dev/full 2> /dev/full", 2, ""), by_night(">&- 2> /dev/full", 0, "1"), by_night("2>&1 | true", 0, ""),
    by_night("> /dev/full 2> /dev/full", 2, "1"), by_night(">&- 2> /dev/full", 0, ""), by_night("2>&1 | true", 0, "1"),
])
def test_no_stream_changes_the_exit_code_of_a_fault(folder: Path, end: str, help_ends: int, unbuffered: str) -> None:
    codes = {"--help": help_ends, "run": 2, "verify nowhere": 3, "plan nowhere.yaml --format json": 2}
    ran = "; ".join(f"(evalpipe {command} {end}; echo ${{PIPESTATUS[0]}} >&7)" for command in codes)
    told = shell(folder, f"exec 7>&1; export PYTHONUNBUFFERED={unbuffered}; {ran}").stdout.split()
    assert dict(zip(codes, map(int, told), strict=True)) == codes


@pytest.mark.parametrize("line", [
    "export out --to openmetrics --out pipe", "diff out out --out pipe", "init test.csv --event yes --force -o pipe"])
@pytest.mark.usefixtures("out")
def test_a_pipe_is_not_replaced_by_a_file(command: Command, folder: Path, line: str) -> None:
    os.mkfifo(folder / "pipe")
    done = command(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error[not-a-file]: 'pipe' is a pipe or a device, and nothing was written\n"
        "  = help: name a file, or redirect the standard output\n")
    assert (folder / "pipe").is_fifo()


@pytest.mark.parametrize("device", ["/dev/full", "/dev/stdout", "/dev/fd/1"])
def test_a_device_is_not_replaced_by_a_file(device: str) -> None:
    with pytest.raises(UsageError, match=rf"'{device}' is a pipe or a device, and nothing was written"):
        refuse_to_replace(device)
