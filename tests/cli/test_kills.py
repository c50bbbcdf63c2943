"""Runs that are killed at random instants, and full disks: the earlier report is whole, and the next run goes on."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl
import pytest

import evalpipe
from cli.conftest import SPEC, Command
from evalpipe.base.folders import file_lock
from evalpipe.errors import UsageError
from evalpipe.runs.folder import RunFolder
from evalpipe.runs.verification import verified_results

GATES = "gates: [{metric: brier, max: 0.9}, {metric: roc_auc, max_decrease: 0.9, against: last}]\n"


@pytest.fixture
def small(folder: Path) -> Path:
    """Return the output folder of a small spec with gates, which has run once."""
    (folder / "small.yaml").write_text(SPEC.replace("[html]", "[junit]") + GATES)
    evalpipe.run("small.yaml", out="out")
    return folder / "out"


def new_night(seed: int) -> None:
    """Give the data other scores, so that each run has other results."""
    frame = pl.read_csv("test.csv")
    scores = random.Random(seed)  # noqa: S311 - no secret
    frame.with_columns(pa=pl.Series([scores.random() for _ in range(frame.height)])).write_csv("test.csv")


def litter(out: Path) -> list[str]:
    """Return what lies beside the data, the spec and the output folder, and what is hidden in the latter."""
    beside = {path.name for path in out.parent.iterdir() if not path.name.startswith("ledger.sqlite")}
    beside -= {"test.csv", "small.yaml", "out"}
    return sorted(beside | {path.name for path in out.iterdir() if path.name.startswith(".")})


def killed(number: int, chance: random.Random) -> tuple[int, int, str]:
    """Send a run a signal at some instant of some step; return the step, its exit code and what it told."""
    line = [sys.executable, "-m", "evalpipe", "run", "small.yaml", "--out", "out"]
    step = chance.randint(1, 7)
    with subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for told in process.stderr:
            if told.startswith(f"{step}/7"):
                break
        # Steps take from half a millisecond (the last) to half a second (those that import libraries).
        time.sleep(chance.random() ** 3 * (0.02 if step > 4 else 0.3))
        process.send_signal(number)
        return step, process.wait(timeout=60), process.stderr.read()


def strike(out: Path, times: int, seed: int) -> dict[str, int]:
    """Kill runs and look, after each, at the earlier report and at the next run; return how the runs ended."""
    chance, ends = random.Random(seed), dict[str, int]()  # noqa: S311 - no secret
    for number in range(times):
        new_night(number)
        before = (out / "results.json").read_bytes()
        kind = signal.SIGKILL if number % 2 else signal.SIGTERM
        step, code, told = killed(kind, chance)
        where = f"strike {number} with {kind.name} in step {step}: {code}"
        verified_results(RunFolder(out))
        same = (out / "results.json").read_bytes() == before
        assert code in (-signal.SIGKILL, 143, 0), where + told
        if code == 143:
            assert told.strip().endswith("unchanged" if same else "the new output is complete"), where
            assert litter(out) == [], where
        assert same or code != 143 or "complete" in told, where
        evalpipe.run("small.yaml", out=out)
        assert (out / "results.json").read_bytes() != before, where
        verified_results(RunFolder(out))
        assert litter(out) == [], where
        ends[str(code)] = ends.get(str(code), 0) + 1
    return ends


def test_a_killed_run_leaves_the_earlier_report_whole_and_nothing_behind(small: Path) -> None:
    ends = strike(small, 4, seed=364)  # a hundred by night
    assert ends.get("-9", 0) >= 1
    assert ends.get("143", 0) >= 1


@pytest.mark.nightly
def test_a_hundred_killed_runs(small: Path) -> None:
    (small.parent / "small.yaml").write_text(SPEC.replace("[html]", "[html, junit]") + GATES)
    ends = strike(small, 100, seed=1)
    print(ends)
    assert min(ends.get("-9", 0), ends.get("143", 0)) >= 30


Shrink = Callable[[int], None]


@pytest.fixture
def disk(small: Path) -> Iterator[tuple[Path, Shrink]]:
    """Return an output folder on a small disk of its own, and a function that sets the size of the disk in bytes."""
    place = small.parent / "disk"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", place], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no disk can be mounted here")

    def shrink(size: int) -> None:
        subprocess.run(["mount", "-o", f"remount,size={size}", place], check=True)

    yield place / "out", shrink
    subprocess.run(["umount", place], check=True)


def fails_for_lack_of_space(out: Path, seed: int) -> bool:
    """Run on a disk that may be full; return whether it was. What was there before is whole then."""
    new_night(seed)
    before, refused, notes = {path.name: path.read_bytes() for path in out.iterdir()}, "", ""
    try:
        evalpipe.run("small.yaml", out=out)
    except UsageError as error:
        refused, notes = error.problems[0].message, " ".join(error.problems[0].notes)
    verified_results(RunFolder(out))
    if "is complete" in notes:
        assert refused.startswith("cannot use the ledger")
        assert (out / "results.json").read_bytes() != before["results.json"]
    elif refused:
        assert re.match(r"cannot (write to the (output folder|cache)|use the ledger)", refused)
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
        assert [path.name for path in out.parent.iterdir() if not path.name.startswith("ledger")] == [out.name]
    return bool(refused)


@pytest.mark.nightly
def test_a_full_disk_leaves_the_earlier_report_whole_and_nothing_behind(disk: tuple[Path, Shrink]) -> None:
    out, shrink = disk
    evalpipe.run("small.yaml", out=out)
    ends = []
    for number, spare in enumerate(range(0, 800_000, 16_384)):
        shrink(shutil.disk_usage(out).used + spare)
        ends.append(fails_for_lack_of_space(out, number))
        shrink(8 * 2**20)
        evalpipe.run("small.yaml", out=out)
        verified_results(RunFolder(out))
    print(ends)
    assert (ends[0], ends[-1]) == (True, False)
    assert ends.count(True) > 5


@pytest.mark.parametrize("most", [400, 20_000])
def test_files_that_cannot_be_written_to_their_end_leave_the_earlier_report_whole(small: Path, most: int) -> None:
    before = {path.name: path.read_bytes() for path in small.iterdir()}
    new_night(most)
    Path("small.yaml").write_text(Path("small.yaml").read_text() + "ledger: false\n")  # whose file is larger
    line = [sys.executable, "-m", "evalpipe", "run", "small.yaml", "--out", "out", "--no-progress"]
    # Python would keep compiled modules that were cut off at the limit.
    full = subprocess.run(
        line, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    assert full.returncode == 2, full.stderr
    assert full.stderr.startswith("error[output-folder]: cannot write to the output folder 'out': File too large\n")
    assert {path.name: path.read_bytes() for path in small.iterdir()} == before
    assert litter(small) == []


def test_gc_removes_what_killed_runs_left_and_passes_over_live_ones(command: Command, folder: Path) -> None:
    (folder / "small.yaml").write_text(SPEC.replace("[html]", "[]"))
    for day in ("2026-11-01", "2026-11-02"):
        evalpipe.run("small.yaml", out=f"nights/{day}", as_of=day)
    nights = folder / "nights"
    for day in ("2026-11-03", "2026-11-04"):
        (nights / f".{day}.lock").touch()
        (nights / f".{day}.new-abcd1234").mkdir()
    with file_lock(nights / ".2026-11-04.lock"):
        done = command("gc", "nights", "--keep-runs", "9")
        assert done.returncode == 0
        assert done.stdout.splitlines()[1] == "nights: removed what killed runs left of 1 output folder"
        assert sorted(path.name for path in nights.glob(".*")) == [".2026-11-04.lock", ".2026-11-04.new-abcd1234"]
