"""Runs evalpipe on a case within this process and says what is wrong with how it ended."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from evalpipe.cli import main
from evalpipe.errors import EvalpipeError

SECONDS = 10
"""How much time of the processor a case may take, so that other work on the machine changes nothing."""

MOST_BYTES = 2**30
"""How much memory the process may hold at once while a case runs."""

EARLIER = {"results.json": b'{"evalpipe_version": "0.0.1", of an earlier run', "card.html": b"<p>of an earlier run",
           "notes.txt": b"of the user"}
"""What the output folder holds before a run."""


class HangError(BaseException):
    """A case took longer than `SECONDS`; no handler of errors catches it."""


@dataclass(frozen=True)
class Ended:
    """How a call ended: its exit code (None after an exception), what it printed, what escaped, what was warned."""

    code: int | None
    out: str
    err: str
    escaped: BaseException | None
    warned: tuple[str, ...]

    @property
    def fault(self) -> str | None:
        """What no call may do, by exception and place."""
        if self.escaped is not None:
            return describe(self.escaped)
        if self.code not in {0, 1, 2, 3}:
            return f"exit {self.code}: {self.err.strip().splitlines()[:1]}"
        if self.warned:
            return f"warning: {self.warned[0]}"
        if "Traceback" in self.err or "panicked" in self.err:
            return f"stderr: {self.err.strip().splitlines()[-1][:200]}"
        if self.code >= 2 and "error[" not in self.err + self.out and '"problems"' not in self.out:
            return f"exit {self.code} without a message"
        return None


def describe(error: BaseException) -> str:
    """Name an exception by its type and the innermost line of evalpipe it passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "/evalpipe/" in frame.filename]
    where = f"{frames[-1].filename.rpartition('/evalpipe/')[2]}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {where}: {str(error).splitlines()[0][:150] if str(error) else ''}"


def _hang(_: int, __: FrameType | None) -> NoReturn:
    raise HangError(f"longer than {SECONDS} s")


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    before = signal.signal(signal.SIGPROF, _hang)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def _native() -> Iterator[list[str]]:
    """Gather what libraries write to the process's own stderr."""
    told: list[str] = []
    with tempfile.TemporaryFile() as held:
        kept = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield told
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            held.seek(0)
            told.append(held.read().decode(errors="replace"))


def called(function: Callable[[], Any]) -> Ended:
    """Call a function and note how it ended; its value is not kept."""
    out, err, code, escaped = io.StringIO(), io.StringIO(), 0, None
    with warnings.catch_warnings(record=True) as warned, _native() as native:
        warnings.simplefilter("always")
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                with _limited():
                    function()
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
            except EvalpipeError as error:
                code = error.exit_code
                err.write(str(error))
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the finding
                code, escaped = None, error
    lines = [
        f"{w.category.__name__}: {str(w.message)[:120]} at {'/'.join(Path(w.filename).parts[-3:])}:{w.lineno}"
        for w in warned
        if not issubclass(w.category, ResourceWarning)
    ]
    return Ended(code, out.getvalue(), err.getvalue() + "".join(native), escaped, tuple(dict.fromkeys(lines)))


def command(arguments: Sequence[str]) -> Ended:
    """Run the command line; faults are raised, not told."""
    os.environ["EVALPIPE_DEBUG"] = "1"
    try:
        return called(lambda: main(arguments))
    finally:
        del os.environ["EVALPIPE_DEBUG"]


def run_spec(folder: Path, spec: str) -> tuple[Ended, str | None]:
    """Run a spec that lies in a folder, with earlier output in the way; say what is wrong, if anything is."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(folder):
        out = Path(place) / "out"
        out.mkdir()
        for name, content in EARLIER.items():
            (out / name).write_bytes(content)
        if Path("ledger.sqlite").exists():  # of nights before
            shutil.copy("ledger.sqlite", place)
        ended = command(["run", spec, "--out", str(out), "--no-progress"])
        told = replace(ended, out=ended.out.replace(place, "…"), err=ended.err.replace(place, "…"))
        return told, ended.fault or _output(ended, out)


def _output(ended: Ended, out: Path) -> str | None:
    held = {path.name: path.read_bytes() for path in out.iterdir()}
    if ended.code in {2, 3}:
        if ended.out:
            return f"exit {ended.code} with output: {ended.out[:80]!r}"
        return None if held == EARLIER else f"exit {ended.code} touched the earlier output"
    if held.get("notes.txt") != EARLIER["notes.txt"]:
        return "a file of the user is gone"
    return sound(held["results.json"].decode(), held["estimates.csv"].decode()) or _card(held.get("card.html", b""))


def sound(results: str, estimates: str | None = None) -> str | None:
    """Say what is wrong with results: a number that is none, or one that is absent without a reason."""
    document = json.loads(results, parse_constant=_refuse)
    for row in document["estimates"]:
        if row["value"] is None and (row["status"] == "ok" or not row["reason"]):
            return f"{row['metric']} is null with status {row['status']} and reason {row['reason']}"
    for row in csv.DictReader(io.StringIO(estimates or "")):
        for key in ("value", "lower", "upper", "no_information", "skill", "monte_carlo_error", "error_bound"):
            if row[key] and row[key].lstrip("-") in {"inf", "nan"}:
                return f"{row['metric']}: {key} is {row[key]}"
    return None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"results.json has {name}")


def _card(card: bytes) -> str | None:
    # "x = -inf" names the slice of a value that the data hold
    found = re.search(rb">[^<>]*(?<![\w-])(?<!= )-?(?:inf|nan|NaN|Infinity)(?![\w-])[^<>]*<", card.split(b"<script")[0])
    return None if found is None else f"the card says {found[0][:60]!r}"


def valid_json(folder: Path, arguments: Sequence[str]) -> tuple[Ended, str | None]:
    """Run a command with ``--format json``; say what is wrong with it."""
    with contextlib.chdir(folder):
        ended = command([*arguments, "--format", "json"])
    if ended.fault is not None:
        return ended, ended.fault
    try:
        json.loads(ended.out)
    except ValueError as error:
        return ended, f"{arguments[0]} --format json: {error}"
    return ended, None


def timed(function: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a function returns, and its seconds."""
    began = time.perf_counter()
    return function(), time.perf_counter() - began


def measured(function: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a function returns, and the most memory that the process held meanwhile, in bytes (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # lets the peak begin at what is held now
    returned = function()
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"))
    assert peak is not None
    return returned, int(peak[1]) * 1024
