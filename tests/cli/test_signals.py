"""SIGTERM and Ctrl-C sent to every command: answered in time, nothing is left behind, and what was there stays."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO

import pytest

import evalpipe
from cli.conftest import SPEC, Command, write_small
from conftest import Shared
from few_by_day import by_night

BOUND = 10
"""Seconds in which a command has to answer to a signal; measured: 0.1, and 5.1 where native code does not return."""

SIGNED = ("--role", "owner", "--name", "A", "--decision", "approved", "--date", "2026-01-01")
TERMINATED = "terminated; the earlier output is unchanged"


@pytest.fixture
def out(shared: Shared, folder: Path) -> Path:
    """Return the output folder of a run with gates, one of which adds up nights, beside an empty `tmp`."""

    def run(top: Path) -> None:
        top.mkdir()
        write_small(top)
        gates = "as_of: 2026-01-01\ngates: [{metric: brier, max: 0.9}, {metric: brier, max: 0.9, on: sequence}]\n"
        (top / "small.yaml").write_text(SPEC + gates)
        evalpipe.run(top / "small.yaml", out=top / "out")

    shutil.copytree(shared("cli-signalled", run), folder, dirs_exist_ok=True)
    (folder / "tmp").mkdir()
    return folder / "out"


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and "ledger" not in path.name}


def signalled(
    line: list[str], number: signal.Signals, wait: Callable[[subprocess.Popen[str]], object]
) -> subprocess.CompletedProcess[str]:
    """Send a command a signal once ``wait`` returns; it has to end within `BOUND`."""
    with subprocess.Popen([sys.executable, *line], env=os.environ | {"TMPDIR": str(Path("tmp").absolute())},
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait(process)
        assert process.poll() is None
        process.send_signal(number)
        began = time.monotonic()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=6 * BOUND)
        took = time.monotonic() - began
        process.kill()  # which does nothing to one that has ended
        output, errors = process.communicate()
    assert took < BOUND
    return subprocess.CompletedProcess(line, process.returncode, output, errors)


def soon(condition: Callable[[], object]) -> None:
    """Return once something is so."""
    until = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


@contextmanager
def unanswered(path: Path) -> Iterator[Callable[[object], None]]:
    """Put a pipe without a writer in the place of a file; what is yielded returns once somebody reads it."""
    kept, pipes = path.read_bytes(), list[IO[bytes]]()
    path.unlink()
    os.mkfifo(path)

    def read(_: object) -> None:
        def opened() -> bool:
            with suppress(OSError):
                pipes.append(os.fdopen(os.open(path, os.O_WRONLY | os.O_NONBLOCK), "wb"))
            return bool(pipes)

        soon(opened)

    yield read
    for pipe in pipes:
        pipe.close()
    path.unlink()
    path.write_bytes(kept)


# By day a command that reads a spec, one that reads results and one that would write what it reads; all by night.
@pytest.mark.parametrize(("file", "line"), [
    ("small.yaml", "run small.yaml"), ("out/results.json", "verify out"),
    ("out/results.json", f"sign out {' '.join(SIGNED)}"), by_night("small.yaml", "validate small.yaml"),
    by_night("small.yaml", "plan small.yaml"), by_night("out/results.json", "diff out out"),
    by_night("out/results.json", "show out"), by_night("out/results.json", "render out"),
    by_night("out/results.json", "accept out"), by_night("out/results.json", "export out --to model-index"),
    by_night("out/results.json", "recalibrate out a test.csv -o new.csv"),
])
def test_a_command_that_waits_for_a_file(out: Path, file: str, line: str) -> None:
    before = contents(out.parent)
    with unanswered(out.parent / file) as wait:
        done = signalled(["-m", "evalpipe", *line.split()], signal.SIGTERM, wait)
    assert (done.returncode, done.stderr.strip()) == (143, TERMINATED)
    assert (done.stdout, contents(out.parent)) == ("", before)


@pytest.mark.parametrize(("line", "number"), [
    ("verify out", signal.SIGTERM),
    by_night("gc out --keep-runs 1", signal.SIGINT), by_night("gc out --keep-runs 1", signal.SIGTERM),
    by_night("accept out", signal.SIGTERM), by_night("history out", signal.SIGTERM)])
def test_a_command_that_waits_for_the_ledger(out: Path, line: str, number: signal.Signals) -> None:
    before = contents(out.parent)
    with closing(sqlite3.connect(out.parent / "ledger.sqlite", isolation_level=None)) as ledger:
        ledger.execute("PRAGMA journal_mode = DELETE")  # so that readers wait too
        ledger.execute("BEGIN EXCLUSIVE")
        done = signalled(["-m", "evalpipe", *line.split()], number, lambda _: time.sleep(2))  # when it waits
    told = TERMINATED if number == signal.SIGTERM else "interrupted; the earlier output is unchanged"
    assert (done.returncode, done.stderr.strip()) == (128 + number, told)
    assert (done.stdout, contents(out.parent)) == ("", before)


@pytest.mark.parametrize("line", [
    "run small.yaml", by_night("render out --format pdf"), by_night(f"sign out {' '.join(SIGNED)}")])
def test_a_command_that_draws_a_pdf_leaves_no_temporary_file(command: Command, out: Path, line: str) -> None:
    if line.startswith("sign"):  # which draws the PDF again that is there
        assert command("run", "small.yaml", "--out", "out", "--set", "report.formats=[html, pdf]").returncode == 0
    before, tmp = contents(out.parent), out.parent / "tmp"
    more = ["--out", "out", "--set", "report.formats=[pdf]", "--no-progress"] if line.startswith("run") else []
    done = signalled(["-m", "evalpipe", *line.split(), *more], signal.SIGTERM, lambda _: soon(
        lambda: list(tmp.rglob("weasyprint-*"))))
    assert (done.returncode, done.stderr.strip()) == (143, TERMINATED)
    assert (list(tmp.iterdir()), contents(out.parent)) == ([], before)


def test_a_run_again_leaves_no_temporary_file(out: Path) -> None:
    spec = Path("small.yaml").read_text().replace("replicates: 100", "replicates: 1000000")
    Path("small.yaml").write_text(spec)
    before = contents(out.parent)

    def evaluates(process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        while "4/7" not in process.stderr.readline():
            pass

    done = signalled(["-m", "evalpipe", "verify", "out", "--recompute"], signal.SIGTERM, evaluates)
    assert done.returncode == 143
    assert done.stderr.strip().endswith(TERMINATED)
    assert (list(Path("tmp").iterdir()), contents(out.parent)) == ([], before)


IN_THE_MIDDLE = """
import os, signal, sys
from pathlib import Path
from evalpipe.cli import main
replace = Path.replace

def signals_first(self, target):
    os.kill(os.getpid(), signal.SIGTERM)
    return replace(self, target)

Path.replace = signals_first
main(sys.argv[1:])
"""


@pytest.mark.parametrize("line", [
    by_night("render out --format html --format markdown"), f"sign out {' '.join(SIGNED)}", "accept out"])
@pytest.mark.usefixtures("out")
def test_files_that_belong_together_are_all_replaced(command: Command, line: str) -> None:
    done = subprocess.run([sys.executable, "-c", IN_THE_MIDDLE, *line.split()], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stderr.strip()) == (143, "terminated; the new output is complete")
    assert command("verify", "out").returncode == 0
    with closing(sqlite3.connect("ledger.sqlite")) as ledger:
        restarts = ledger.execute("SELECT name, as_of FROM evalpipe_restarts").fetchall()
    assert restarts == ([("small", "2026-01-01")] if line == "accept out" else [])


WHILE_IMPORTED = """
import os, signal, sys

class Signals:
    def find_spec(self, name, *_):
        if name == "evalpipe.cli.ledger":
            os.kill(os.getpid(), getattr(signal, sys.argv[1]))

sys.meta_path.insert(0, Signals())
from evalpipe.cli import main
main(["metrics"])
"""


@pytest.mark.parametrize(("number", "code", "word"), [
    (signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")])
def test_a_signal_while_the_commands_are_imported(number: signal.Signals, code: int, word: str) -> None:
    line = [sys.executable, "-c", WHILE_IMPORTED, number.name]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout) == (code, f"{word}; the earlier output is unchanged\n", "")


TWICE = """
import os, signal, time
from evalpipe.cli import main
import evalpipe.run

def clears_up(*_, **__):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(9)
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        print("cleared up")

evalpipe.run.__globals__["load_with_files"] = clears_up
main(["run", "small.yaml", "--no-progress"])
"""


def test_a_second_signal_does_not_break_what_is_cleared_up(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TWICE], cwd=folder, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (130, "cleared up\n")
    assert done.stderr.strip() == "interrupted; the earlier output is unchanged"
