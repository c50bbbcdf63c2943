"""Runs that do not come to their end: SIGTERM, Ctrl-C, and no more time; nothing is lost or left behind."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.conftest import Command
from evalpipe.cli.exit import LONGEST, duration_text, seconds_of

SLOW = ("--set", "intervals.replicates=1000000", "--set", "report.formats=[]")
QUICK = ("--no-progress", "--set", "report.formats=[]")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def hidden(folder: Path) -> list[str]:
    """Return what a run leaves beside its output folder while it runs."""
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def test_a_terminated_run_exits_143_and_leaves_the_earlier_output(command: Command, folder: Path) -> None:
    command("run", "small.yaml", *QUICK)
    before = contents(folder / "reports" / "small")
    line = [sys.executable, "-m", "evalpipe", "run", "small.yaml", *SLOW]
    process = subprocess.Popen(line, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    while "4/7" not in process.stderr.readline():
        time.sleep(0.01)
    assert ".small.lock" in hidden(folder / "reports")
    process.send_signal(signal.SIGTERM)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (143, "")
    assert errors.strip() == "terminated; the earlier output is unchanged"
    assert contents(folder / "reports" / "small") == before
    assert hidden(folder / "reports") == []


def test_a_run_that_takes_too_long_is_ended_with_an_error(process: Command, command: Command, folder: Path) -> None:
    command("run", "small.yaml", *QUICK)
    before = contents(folder / "reports" / "small")
    done = process("run", "small.yaml", "--no-progress", *SLOW, "--timeout", "1.5s", "--log-file", "log")
    assert (done.returncode, done.stdout) == (3, "")
    assert re.sub(r"step \d \([a-z ]+\)|its beginning", "STEP", done.stderr) == (
        "error[timeout]: the run was ended after 1.5s, in STEP\n"
        "  = the earlier output is unchanged\n"
        "  = help: allow more with --timeout; `evalpipe plan` states what a run costs\n")
    assert contents(folder / "reports" / "small") == before
    assert hidden(folder / "reports") == []
    problem, end = map(json.loads, Path("log").read_text().splitlines()[-2:])
    assert (problem["code"], problem["level"], end["event"], end["exit_code"]) == ("timeout", "error", "end", 3)


STUCK = """
import signal, sys, time
import evalpipe.runs.record, evalpipe.run, evalpipe.spec.load
from evalpipe.cli import exit, main

def waits(*_):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    time.sleep(600)

exit.GRACE = 0.1
sys.modules["evalpipe.run"]._planned = waits
main(["run", "small.yaml", "--no-progress", "--timeout", "3s", "--format", "json", "--log-file", "log"])
"""


def test_a_run_that_no_signal_reaches_is_ended_all_the_same(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", STUCK], cwd=folder, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stderr) == (3, "")
    problem = json.loads(done.stdout)["problems"][0]
    assert (problem["code"], problem["message"]) == ("timeout", "the run was ended after 3s, in step 2 (plan)")
    assert hidden(folder / "reports") == []
    assert json.loads((folder / "log").read_text().splitlines()[-1])["exit_code"] == 3


SLOW_PART = """
import time
import evalpipe.streams.tally as local
from evalpipe.cli import exit, main
exit.GRACE = 1.0
tally_part = local.tally_part

def takes_long(*arguments):
    print("begun", flush=True)
    time.sleep(90)
    return tally_part(*arguments)

local.tally_part = takes_long
main(["run", "small.yaml", "--set", "engine.mode=grid", "--no-progress"])
"""
WAITING_READ = """
import signal, threading, time
from pathlib import Path
import evalpipe.data.read as read
from evalpipe.cli import exit, main
from evalpipe.data.formats import captured_stderr
exit.GRACE = 1.0

def waits(*_):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGINT])
    Path("reports/.evalpipe-cache/small/.new-12345678").mkdir(parents=True)  # as rows of a query are stored in
    with captured_stderr():
        threading.Timer(1.0, print, ["begun"], {"flush": True}).start()  # when the main thread is in the sleep
        time.sleep(90)

read.rows.load = waits
main(["run", "small.yaml", "--no-progress"])
"""


@pytest.mark.parametrize(("program", "signal_sent", "code", "word"), [
    pytest.param(SLOW_PART, signal.SIGTERM, 143, "terminated", id="a thread reads a csv-SIGTERM"),
    pytest.param(WAITING_READ, signal.SIGINT, 130, "interrupted", id="native code reads-SIGINT"),
    pytest.param(SLOW_PART, signal.SIGINT, 130, "interrupted", id="a thread reads a csv-SIGINT",
                 marks=pytest.mark.nightly),
    pytest.param(WAITING_READ, signal.SIGTERM, 143, "terminated", id="native code reads-SIGTERM",
                 marks=pytest.mark.nightly),
])
def test_a_signal_ends_a_run_whose_reading_does_not_end(
    command: Command, folder: Path, program: str, signal_sent: signal.Signals, code: int, word: str
) -> None:
    command("run", "small.yaml", *QUICK)
    before = contents(folder / "reports" / "small")
    with subprocess.Popen([sys.executable, "-c", program], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal_sent)
        began = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=60)
        process.kill()  # which does nothing to one that has ended
        _, errors = process.communicate()
    assert (process.returncode, errors.strip()) == (code, f"{word}; the earlier output is unchanged")
    assert time.monotonic() - began < 10  # as promised; measured: 5.1 where `exit.GRACE` is as it was
    assert contents(folder / "reports" / "small") == before
    assert hidden(folder / "reports") in ([], [".evalpipe-cache"])
    assert list(folder.rglob(".new-*")) == []


def test_time_that_is_enough_changes_nothing(command: Command, folder: Path) -> None:
    done = command("run", "small.yaml", *QUICK, "--timeout", "1h")
    assert (done.returncode, done.stderr) == (0, "")
    assert (folder / "reports" / "small" / "results.json").exists()


def test_an_interrupt_after_the_end_says_that_the_output_is_complete(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupts(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("evalpipe.cli.run._print", interrupts)
    done = command("run", "small.yaml", *QUICK)
    assert (done.returncode, done.stderr.strip()) == (130, "interrupted; the new output is complete in 'reports/small'")


@pytest.mark.parametrize(("written", "seconds"), [
    ("90s", 90), ("15m", 900), ("2h", 7200), ("0.5s", 0.5), ("1.5h", 5400), ("720h", LONGEST),
])
def test_a_duration_is_a_number_and_a_unit(written: str, seconds: float) -> None:
    assert seconds_of(written) == seconds


@pytest.mark.parametrize(
    "wrong", ["", "15", "m", "15 m", "-5s", "1e3s", "2d", "1h30m", "\u0661s", "nan", "5S", "0s", "721h"])
def test_what_is_no_duration_is_refused_with_an_example(command: Command, wrong: str) -> None:
    done = command("run", "small.yaml", f"--timeout={wrong}")
    reason = "is not between 1 ms and 30 days" if wrong in ("0s", "721h") else (
        "is no duration; write a number and s, m or h, such as 90s, 15m or 2h")
    assert done.returncode == 2
    assert done.stderr == (
        f"error[usage]: Invalid value for '--timeout': {wrong!r} {reason}\n  = help: see: evalpipe run --help\n")


@given(st.integers(1, LONGEST * 1000).map(lambda milliseconds: milliseconds / 1000))
def test_what_is_written_is_read_again(seconds: float) -> None:
    assert seconds_of(duration_text(seconds)) == seconds


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_is_refused(text: str) -> None:
    with suppress(click.BadParameter):
        assert 0 < seconds_of(text) <= LONGEST
