"""A Dask scheduler and its workers as processes of their own, for the tests of the cluster."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Cluster:
    """A scheduler that listens at an ``address``, and its ``workers``, whose working folder is another one."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self.scheduler = self._started("scheduler", "--port", "0", "--scheduler-file", str(self._file))
        self.workers: list[subprocess.Popen[bytes]] = []
        until = time.monotonic() + 30
        while not self._file.exists() or not self._file.read_text():
            assert time.monotonic() < until, "the scheduler did not start"
            time.sleep(0.05)
        self.address: str = json.loads(self._file.read_text())["address"]

    def add(self, workers: int) -> None:
        """Start workers, and wait until the scheduler knows them."""
        from distributed import Client

        self.workers += [self._started("worker", self.address, "--nthreads", "1", "--no-nanny") for _ in range(workers)]
        with Client(self.address) as client:
            client.wait_for_workers(len(self.workers), timeout=60)

    def tasks(self) -> int:
        """Return how many tasks the scheduler still has, after it had a little time to forget them."""
        from distributed import Client

        with Client(self.address) as client:
            until = time.monotonic() + 10
            while count := client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
                if time.monotonic() > until:
                    break
                time.sleep(0.05)
            return count

    @staticmethod
    def _started(kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments, "--no-dashboard"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def end(self) -> None:
        """End all processes that are left."""
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[Cluster]:
    """Start a scheduler and workers, which end with the block."""
    started = Cluster(folder)
    try:
        if workers:
            started.add(workers)
        yield started
    finally:
        started.end()
