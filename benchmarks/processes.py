"""What a process needs: seconds by the clock and of the processor, and the peak of its memory."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock and of the processor, and the peak of resident memory in MB."""

    wall: float
    processor: float
    memory: float


def spent(command: Sequence[str]) -> tuple[Spent, str]:
    """Run a command of ours; return what it needed from its start to its end, and what it printed. Stop if it fails.

    A process begins with the peak of the one that starts it, so a small one is put between.
    """
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "spent.json"
        line = [sys.executable, __file__, str(told), *command]
        ended = subprocess.run(line, check=False, stdout=subprocess.PIPE, text=True)  # noqa: S603 - of the benchmarks
        if ended.returncode:
            raise subprocess.CalledProcessError(ended.returncode, command)
        return Spent(**json.loads(told.read_text(encoding="utf-8"))), ended.stdout


def start(told: Path, command: Sequence[str]) -> int:
    """Run a command, write what it needed to a file, and return its exit code."""
    begun = time.perf_counter()
    process = subprocess.Popen(command)  # noqa: S603 - of the benchmarks
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    memory = usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    needed = Spent(wall, usage.ru_utime + usage.ru_stime, memory)
    told.write_text(json.dumps(asdict(needed)), encoding="utf-8")
    return process.returncode


def typical(runs: Sequence[Spent]) -> Spent:
    """Return the medians of several runs."""
    wall, processor, memory = zip(*((run.wall, run.processor, run.memory) for run in runs), strict=True)
    return Spent(statistics.median(wall), statistics.median(processor), statistics.median(memory))


def figures(needed: Spent) -> list[str]:
    """Return the cells of what a process needed."""
    return [f"{short(needed.wall)} s", f"{short(needed.processor)} s", f"{needed.memory:,.0f} MB"]


def short(number: float) -> str:
    """Return a number with three significant digits, or as a whole number."""
    return f"{number:,.0f}" if number >= 100 else f"{number:#.3g}"


if __name__ == "__main__":
    sys.exit(start(Path(sys.argv[1]), sys.argv[2:]))
