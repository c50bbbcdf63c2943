"""The most memory that a process of its own held; the system's count for a child includes that of its parent."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from typing import NamedTuple

PROGRAM = """
import atexit, pathlib, runpy, sys
_, status, target, *arguments = sys.argv
atexit.register(lambda: pathlib.Path(status).write_bytes(pathlib.Path("/proc/self/status").read_bytes()))
sys.argv = [target, *arguments]
if target.endswith(".py"):
    runpy.run_path(target, run_name="__main__")
else:
    runpy.run_module(target, run_name="__main__", alter_sys=True)
"""


class Process(NamedTuple):
    """A process that ended: its exit code, what it printed, and the most bytes of memory that it held."""

    code: int
    out: str
    err: str
    memory: int


def run_measured(target: str, *arguments: str, timeout: float = 600) -> Process:
    """Run a Python file or module in a process of its own (Linux)."""
    with tempfile.NamedTemporaryFile("r", encoding="ascii") as status:
        done = subprocess.run([sys.executable, "-c", PROGRAM, status.name, target, *arguments],
                              capture_output=True, text=True, check=False, timeout=timeout)
        peak = re.search(r"VmHWM:\s+(\d+) kB", status.read())
    assert peak is not None, done.stderr
    return Process(done.returncode, done.stdout, done.stderr, int(peak[1]) * 1024)
