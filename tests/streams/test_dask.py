"""Parts read by the workers of a Dask cluster, over TCP: the same bytes as here, whoever dies meanwhile."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from distributed import KilledWorker

import evalpipe
from evalpipe.errors import DataError, EvalpipeError, UsageError
from evalpipe.run import Progress
from evalpipe.streams import task
from evalpipe.streams.cache import versions
from evalpipe.streams.tables import File, Part, stamp
from streams.clusters import Cluster, cluster
from streams.streaming import rows, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PARTS = 12


class Then(Progress):
    """Does something when so many parts have been read."""

    def __init__(self, parts: int, action: Callable[[], object]) -> None:
        self._left, self._action = parts, action

    def part_read(self) -> None:
        self._left -= 1
        if not self._left:
            self._action()


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    """Return a spec of twelve files of log odds, with a condition and weights."""
    write(rows(600), tmp_path / "d", [40] * (PARTS - 1))
    path = tmp_path / "spec.yaml"
    path.write_text(textwrap.dedent("""\
        evalpipe: 1
        name: x
        task: binary
        datasets: {d: {path: d, where: age > 30}}
        outcome: {column: y, event: 1}
        models: {p: {score: odds, scale: logit}, q: {probability: q}}
        weight: {column: times, kind: frequency}
        metrics: [accuracy, log_loss, roc_auc]
        threshold: 0.5
        engine: {mode: grid}
        intervals: {method: none}
        report: {formats: []}
        """))
    return path


def run(spec: Path, *overrides: str, progress: Progress | None = None) -> tuple[str, dict[str, Any]]:
    """Run a spec; return its results and what `run.json` says of parts."""
    out = spec.parent / "out"
    evalpipe.run(spec, out=out, overrides=overrides, progress=progress)
    return (out / "results.json").read_text(), json.loads((out / "run.json").read_text())["parts"]


def emptied(spec: Path) -> None:
    """Forget what parts came to."""
    for entry in (spec.parent / ".evalpipe-cache" / "out").glob("*.tables"):
        entry.unlink()


def error_of(spec: Path, *overrides: str) -> EvalpipeError:
    with pytest.raises(EvalpipeError) as error:
        evalpipe.run(spec, overrides=overrides)
    return error.value


def of(address: str) -> list[str]:
    return ["engine.backend=dask", f"engine.address={address}"]


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster with one worker."""
    with cluster(tmp_path_factory.mktemp("cluster"), 1) as of_module:
        yield of_module


def test_one_and_two_workers_give_the_bytes_of_a_local_run_and_its_errors(spec: Path, started: Cluster) -> None:
    expected, parts = run(spec)
    assert parts == {"read": PARTS, "cached": 0}
    for workers in (1, 2):
        started.add(workers - len(started.workers))
        emptied(spec)
        results, parts = run(spec, *of(started.address))
        assert results == expected
        assert parts == {"read": PARTS, "cached": 0, "dask": started.address, "bytes_sent": parts["bytes_sent"]}
        assert 0 < parts["bytes_sent"] < PARTS * 8_000
    # What the workers sent is what a local run keeps.
    assert run(spec)[1] == {"read": 0, "cached": PARTS}
    rows(5).with_columns(q=rows(5)["q"] + 2).write_parquet(spec.parent / "d" / "part-00003.parquet")
    here, there = error_of(spec), error_of(spec, *of(started.address))
    assert isinstance(there, DataError)
    assert there.problems == here.problems
    assert here.problems[0].code == "probability-range"


def test_workers_count_clusters_alike(spec: Path, started: Cluster) -> None:
    drawn = ("cluster=who", "intervals.method=percentile", "intervals.replicates=100",
             "slices=[{column: day, by: quarter}]")
    expected, _ = run(spec, *drawn)
    emptied(spec)
    assert run(spec, *drawn, *of(started.address))[0] == expected


def test_an_interrupt_cancels_and_the_dead_are_done_without(spec: Path, started: Cluster) -> None:
    expected, _ = run(spec)
    started.add(2 - len(started.workers))
    emptied(spec)
    with pytest.raises(KeyboardInterrupt):
        run(spec, *of(started.address), progress=Then(3, interrupt))
    assert started.tasks() == 0
    parts = run(spec, *of(started.address), progress=Then(2, started.workers[0].kill))
    assert parts == (expected, {"read": PARTS - 3, "cached": 3, **parts[1]})

    emptied(spec)
    with pytest.raises(UsageError) as error:
        run(spec, *of(started.address), progress=Then(3, started.scheduler.kill))
    (problem,) = error.value.problems
    assert (problem.code, problem.message) == (
        "cluster-lost", f"the Dask scheduler at {started.address} has gone while it worked for this run")
    assert problem.hint == (
        "start it and run again: parts that were summed up are in the cache; the earlier output is unchanged")
    assert (spec.parent / "out" / "results.json").read_text() == expected
    again, left = run(spec)
    assert again == expected
    assert left["cached"] >= 3
    assert left["read"] == PARTS - left["cached"]


def interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.nightly
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_cluster_that_the_run_starts_gives_the_same_bytes(spec: Path, workers: int) -> None:
    expected = run(spec)[0]
    emptied(spec)
    assert run(spec, "engine.backend=dask", f"engine.workers={workers}")[0] == expected


@pytest.mark.nightly
def test_a_script_that_cannot_start_processes_is_told_how_to(spec: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(f"import evalpipe\nevalpipe.run({str(spec)!r}, overrides=['engine.backend=dask'])\n")
    ended = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.rstrip().endswith(
        "error[cluster-start]: the worker processes of engine.backend: dask did not start: Nanny failed to start.\n"
        '  = help: in a script, call evalpipe.run under: if __name__ == "__main__":')


def test_a_scheduler_that_does_not_answer(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "TIMEOUT", 0.3)
    assert str(error_of(spec, *of("tcp://127.0.0.1:9"))) == (
        "error[cluster-unreachable]: no Dask scheduler answers at tcp://127.0.0.1:9 within 0.3 s\n"
        "  = help: start it with: dask scheduler, or correct engine.address")


@pytest.mark.nightly
def test_a_cluster_without_workers(spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(task, "WORKERS", 2)
    (tmp_path / "cluster").mkdir()
    with cluster(tmp_path / "cluster", 0) as empty:
        told = (f"error[cluster-empty]: the Dask cluster at {empty.address} has had no worker for 2 s\n"
                f"  = help: start workers: dask worker {empty.address}")
        assert str(error_of(spec, *of(empty.address))) == told
        before = run(spec)[0]
        emptied(spec)
        empty.add(1)
        with pytest.raises(UsageError) as error:  # the only worker dies, and nobody comes in its place
            run(spec, *of(empty.address), progress=Then(3, empty.workers[0].kill))
        assert str(error.value) == told
        assert (spec.parent / "out" / "results.json").read_text() == before
        kept = len(list((spec.parent / ".evalpipe-cache" / "out").glob("*.tables")))
        assert kept >= 3
        assert run(spec) == (before, {"read": PARTS - kept, "cached": kept})


@pytest.mark.parametrize(("error", "what"), [
    (KilledWorker("task", None, 3), "d/part-00000.parquet ended 4 of its workers, one after the other"),
    (ModuleNotFoundError("No module named 'evalpipe'"), "a worker cannot run evalpipe: No module named 'evalpipe'"),
    (None, "the answer of a worker is damaged"),
])
def test_a_cluster_that_fails(spec: Path, monkeypatch: pytest.MonkeyPatch, error: Exception | None, what: str) -> None:
    class Future:
        """The future of a task whose workers fail."""

        def result(self, timeout: float) -> bytes:
            assert timeout
            if error is not None:
                raise error
            return b"not whole"

    monkeypatch.chdir(spec.parent)
    planned = evalpipe.plan(spec)
    client = SimpleNamespace(ncores=lambda: {"w": 1}, submit=lambda *_, pure: Future(), cancel=lambda *_, force: None,
                             status="running", scheduler=SimpleNamespace(address="tcp://10.0.0.5:8786"))
    path, shown = planned.datasets[0].table.files[0]
    file = File(path, shown, stamp(path, shown), None)
    workers = task.DaskWorkers(client, planned, "")
    with pytest.raises(UsageError) as raised:
        list(workers.tables([(Part("d", 0, 0, None), file)], encoded=False))
    (problem,) = raised.value.problems
    assert (problem.code, problem.message) == (
        "cluster-failed", f"the Dask cluster at tcp://10.0.0.5:8786 failed: {what}")
    assert problem.hint == "see the logs of its workers; each needs " + ", ".join(
        f"{library} {version}" for library, version in versions().items())


def test_a_missing_library(spec: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert str(error_of(spec, *of("local"))) == (
        "error[missing-library]: engine.backend is dask, but Dask is not installed\n"
        "  = help: pip install 'evalpipe[dask]'")


@pytest.mark.parametrize(("mode", "reason"), [
    ("exact", "engine.mode is exact"), ("auto", "no dataset has more than 300,000 rows")])
def test_a_cluster_that_would_have_nothing_to_read_is_refused(spec: Path, mode: str, reason: str) -> None:
    (problem,) = error_of(spec, "engine.backend=dask", f"engine.mode={mode}").problems
    assert (problem.code, problem.message, problem.hint) == (
        "nothing-for-dask", f"'backend: dask' has no files to read part by part: {reason}",
        "set engine.mode to grid, or remove it")


def test_a_cluster_is_refused_for_data_in_memory() -> None:
    frame = rows(50)
    with pytest.raises(EvalpipeError) as error:
        evalpipe.evaluate(frame["y"], probability=frame["p"], event=1, engine={"mode": "grid", "backend": "dask"})
    (problem,) = error.value.problems
    assert problem.message.endswith("'backend: dask' has no files to read part by part: the data are in memory already")
    assert problem.hint == "remove it"


@pytest.mark.parametrize(("begun", "number"), [
    pytest.param(True, signal.SIGTERM, id="SIGTERM-workers read"),
    pytest.param(False, signal.SIGINT, id="SIGINT-workers start", marks=pytest.mark.nightly),
    pytest.param(True, signal.SIGINT, id="SIGINT-workers read", marks=pytest.mark.nightly),
    pytest.param(False, signal.SIGTERM, id="SIGTERM-workers start", marks=pytest.mark.nightly),
])
def test_a_signal_ends_the_workers_of_this_machine_too(spec: Path, begun: bool, number: signal.Signals) -> None:
    temporary = spec.parent / "tmp"
    temporary.mkdir()
    line = [sys.executable, "-m", "evalpipe", "run", str(spec), "--out", str(spec.parent / "out"), "--set",
            "engine.backend=dask", "--set", "engine.workers=2", "--no-progress"]
    with subprocess.Popen(line, env=os.environ | {"TMPDIR": str(temporary)}, stderr=subprocess.PIPE, text=True,
                          start_new_session=True) as process:
        assert process.stderr is not None
        while not workers_of(process.pid, ready=begun and temporary):
            time.sleep(0.02)
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)  # as a terminal does
        began = time.monotonic()
        assert process.wait(timeout=60) == 128 + number
        assert time.monotonic() - began < 10  # measured: 4.2 while they read, 5.1 where they take as long to start
        told = process.stderr.read()
    while workers_of(process.pid) and time.monotonic() - began < 20:
        time.sleep(0.1)
    assert workers_of(process.pid) == []
    word = "interrupted" if number == signal.SIGINT else "terminated"
    # Where they take longer to start than a command has to end, Python tells of semaphores that it has cleaned up.
    first, *more = told.strip().splitlines()
    assert (first, list(temporary.iterdir())) == (f"{word}; the earlier output is unchanged", [])
    assert more == [] or (not begun and "resource_tracker" in more[0])


def workers_of(session: int, *, ready: Path | bool = False) -> list[int]:
    """Return the processes of a session beside its first, once one has its folder where they are to be ``ready``."""
    if ready and not list(Path(ready).rglob("worker-*")):
        return []
    processes = [path for path in Path("/proc").iterdir() if path.name.isdigit() and int(path.name) != session]
    found = []
    for path in processes:
        with suppress(OSError):
            state, _, _, of = (path / "stat").read_text().rpartition(")")[2].split()[:4]
            if int(of) == session and state != "Z":
                found.append(int(path.name))
    return found
