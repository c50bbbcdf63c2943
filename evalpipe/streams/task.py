"""Parts summed up by the workers of a Dask cluster: tasks are sent as text, and only counts and sums come back.

A task is JSON: what to do with a file, the spec with where its keys were written, the part, and the versions that must
be here. Its answer is the tables of the part as bytes, or JSON: a sha256, or the problems of the data. A process plans
a spec once and keeps the plan for the tasks that follow. Nothing of evalpipe is pickled.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import signal
from collections import deque
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict, astuple
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import text_sha256
from evalpipe.base.folders import TemporaryFolder, signals_postponed
from evalpipe.data.catalog import look
from evalpipe.errors import DataError, EvalpipeError, Place, Problem, SpecError, UsageError
from evalpipe.plan.resolve import plan as make_plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import from_text
from evalpipe.streams.cache import DamagedError, decode, encode, versions
from evalpipe.streams.tables import File, Part, Stamp, Summed, check_unchanged, digest, table_layout
from evalpipe.streams.tally import part_tables

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from evalpipe.plan.plan import Plan


AHEAD = 2
"""Tasks for each worker that are begun before the first answer is waited for, so that no worker waits for its next."""

_ERRORS = {error.__name__: error for error in (DataError, SpecError, UsageError)}


def digest_task(file: File) -> str:
    """Return the task of computing the sha256 of a file, as JSON text."""
    return json.dumps({"do": "sha256", **_common_keys(file)})


def tables_task(plan: Plan, spec: str, part: Part, file: File) -> str:
    """Return the task of making the tables of a part, as JSON text; ``spec`` is the text that the plan was made of."""
    return json.dumps({"do": "tables", **_common_keys(file), "part": astuple(part), "spec": spec,
                       "spec_sha256": plan.spec_sha256, "files": _files_sha256(plan, part.dataset)})


def run_task(task: str) -> bytes:
    """Do a task and return its answer; problems of the data, the spec and the versions are answers as well."""
    request = json.loads(task)
    try:
        own_versions = versions()
        for name, version in request["versions"].items():
            if own_versions[name] != version:
                others = ", ".join(f"{library} {number}" for library, number in request["versions"].items())
                raise UsageError.of(
                    "worker-version", f"a worker has {name} {own_versions[name]}, but this run has {version}",
                    f"install on every worker: {others}", (f"the worker is on the host {platform.node()}",))
        path, shown, size, changed = request["file"]
        file = File(Path(path), shown, Stamp(size, changed), None)
        if request["do"] == "sha256":
            return json.dumps({"sha256": digest(file.path, file.stamp, file.shown)}).encode()
        check_unchanged(file.path, file.stamp, file.shown)  # before it is planned with: half a file is a broken one
        part = Part(*request["part"])
        plan = _plan_from_text(request["spec"], request["files"])
        files = _files_sha256(plan, part.dataset)
        if (plan.spec_sha256, files) != (request["spec_sha256"], request["files"]):
            difference = "other files" if plan.spec_sha256 == request["spec_sha256"] else "another spec"
            raise UsageError.of(
                "worker-plan", f"a worker sees {difference} than this run does",
                "let every worker see the same folders at the same paths",
                (f"the worker is on the host {platform.node()}",))
        return encode(part_tables(plan, part, file, table_layout(plan)))
    except EvalpipeError as error:
        return json.dumps({"error": type(error).__name__, "problems": list(map(asdict, error.problems))}).encode()


def answered(answer: bytes, place: Place | None) -> bytes:
    """Return the content of an answer: encoded tables, or the digits of a sha256; raises the error that it reports.

    Problems without a place get ``place``, where the spec names the dataset.
    """
    if not answer.startswith(b"{"):
        return answer
    content = json.loads(answer)
    if "error" not in content:
        return str(content["sha256"]).encode()
    problems: list[Problem] = []
    for fields in content["problems"]:
        own_place = None if fields["place"] is None else Place(**fields["place"])
        rows = tuple((row, value) for row, value in fields["rows"])
        fields |= {"place": own_place or place, "rows": rows, "notes": tuple(fields["notes"])}
        problems.append(Problem(**fields))
    raise _ERRORS.get(content["error"], UsageError)(*problems)


def _common_keys(file: File) -> dict[str, Any]:
    """Return the keys that every task has: versions, and the file with its stamp."""
    return {"versions": versions(), "file": [str(file.path.absolute()), file.shown, *file.stamp]}


@lru_cache(maxsize=4)
def _plan_from_text(text: str, files: str) -> Plan:  # noqa: ARG001 - a folder that has changed is planned again
    """Return the plan of a spec, cached while the spec and the sha256 of the ``files`` are the same."""
    spec = from_text(text)
    return make_plan(spec, look(sources(spec)))


def _files_sha256(plan: Plan, dataset: str) -> str:
    """Return the sha256 of the names of a dataset's files, in their order."""
    table = next(entry.table for entry in plan.datasets if entry.name == dataset)
    return text_sha256("\n".join(shown for _, shown in table.files))


TIMEOUT = 10
"""Seconds in which a scheduler must answer."""

SILENT = logging.CRITICAL + 1
"""The level at which nothing is logged."""

WORKERS = 60
"""Seconds in which a cluster without workers must have one."""


class DaskWorkers:
    """The workers of the cluster of a Dask ``client``, which plan from the same ``spec`` as this process."""

    def __init__(self, client: Any, plan: Plan, spec: str) -> None:
        """Keep the client and the plan; ``spec`` is the text of `evalpipe.spec.load`, sent with each task."""
        self._client, self._plan, self._spec = client, plan, spec
        self._waited = 0

    def digests(self, files: Sequence[File]) -> Iterator[str]:
        """Yield the sha256 of each file, in their order; raises DataError and UsageError."""
        tasks = ((digest_task(file), file) for file in files)
        return (answer.decode() for answer in self._answers(tasks))

    def tables(self, parts: Sequence[tuple[Part, File]], *, encoded: bool) -> Generator[Summed]:
        """Yield the tables of each part, in order, with ``encoded`` as bytes too; raises DataError and UsageError."""
        tasks = ((tables_task(self._plan, self._spec, part, file), file) for part, file in parts)
        with closing(self._answers(tasks)) as answers:
            for answer in answers:
                yield self._summed(answer, encoded=encoded)

    def _summed(self, answer: bytes, *, encoded: bool) -> Summed:
        """Decode the tables of an answer; raises UsageError where it is damaged."""
        try:
            return Summed(decode(answer), answer if encoded else b"", len(answer))
        except DamagedError:
            raise self._cluster_failed("the answer of a worker is damaged") from None

    def _answers(self, tasks: Iterator[tuple[str, File]]) -> Generator[bytes]:
        """Yield the answers to tasks in their order; when the caller stops early, begun tasks are cancelled."""
        begun: deque[tuple[Any, File]] = deque()
        ahead = AHEAD * max(1, sum(self._client.ncores().values()))
        try:
            for task, file in tasks:
                # Not pure: a task that is sent again is to look at its file again.
                begun.append((self._client.submit(run_task, task, pure=False), file))
                if len(begun) > ahead:
                    yield self._answer(*begun.popleft())
            while begun:
                yield self._answer(*begun.popleft())
        finally:
            if begun and self._client.status == "running":
                self._client.cancel([future for future, _ in begun], force=True)

    def _answer(self, future: Any, file: File) -> bytes:
        """Wait for an answer while the cluster is alive; raises UsageError where it failed, and the answer's error."""
        from distributed import CancelledError, KilledWorker
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError

        while True:
            try:
                return answered(future.result(timeout=1), file.place)
            except (TimeoutError, CommClosedError):
                # An answer that a worker took with it when it died is worked out by another.
                self._check_cluster()
            except KilledWorker as error:
                raise self._cluster_failed(
                    f"{file.shown} ended {error.allowed_failures + 1} of its workers, one after the other") from None
            except (CancelledError, FutureCancelledError):
                raise cluster_lost(self._client.scheduler.address) from None
            except (ImportError, AttributeError) as error:
                raise self._cluster_failed(f"a worker cannot run evalpipe: {error}") from None

    def _check_cluster(self) -> None:
        """Raise UsageError where the scheduler has gone, or has had no worker for `WORKERS` calls, one a second."""
        try:
            workers = self._client.ncores() if self._client.status == "running" else None
        except (OSError, TimeoutError):
            workers = None
        if workers is None:
            raise cluster_lost(self._client.scheduler.address)
        self._waited = 0 if workers else self._waited + 1
        if self._waited >= WORKERS:
            raise cluster_without_workers(self._client.scheduler.address)

    def _cluster_failed(self, what: str) -> UsageError:
        """Return the error of a cluster that failed; ``what`` says how."""
        from evalpipe.streams.cache import versions

        installed = ", ".join(f"{library} {number}" for library, number in versions().items())
        return UsageError.of("cluster-failed", f"the Dask cluster at {self._client.scheduler.address} failed: {what}",
                             f"see the logs of its workers; each needs {installed}")


def cluster_lost(address: str) -> UsageError:
    """Return the error that the scheduler at an address has gone."""
    return UsageError.of(
        "cluster-lost", f"the Dask scheduler at {address} has gone while it worked for this run",
        "start it and run again: parts that were summed up are in the cache; the earlier output is unchanged")


def cluster_without_workers(address: str) -> UsageError:
    """Return the error that the cluster at an address has no workers."""
    return UsageError.of("cluster-empty", f"the Dask cluster at {address} has had no worker for {WORKERS} s",
                         f"start workers: dask worker {address}")


@contextmanager
def dask_workers(plan: Plan, spec: str, processes: int) -> Iterator[DaskWorkers]:
    """Yield the workers of the plan's cluster, or of a new local one of ``processes``; raises UsageError without."""
    address = plan.dask or "local"
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise UsageError.of("missing-library", "engine.backend is dask, but Dask is not installed",
                            "pip install 'evalpipe[dask]'") from None
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        cluster: Any = address
        try:
            if address == "local":
                scratch = stack.enter_context(TemporaryFolder("evalpipe-dask-"))
                stack.enter_context(dask.config.set({"temporary-directory": scratch}))
                # Until it is there, a signal would leave workers behind that nobody knows yet.
                with signals_postponed(), _deaf_to_ctrl_c():
                    cluster = stack.enter_context(LocalCluster(  # type: ignore[no-untyped-call]
                        n_workers=processes, threads_per_worker=1, protocol="tcp://", silence_logs=SILENT,
                        # Without an address it takes the port of other clusters, and warns where they have it.
                        dashboard_address="127.0.0.1:0", scheduler_kwargs={"dashboard": False}))
            client = stack.enter_context(
                Client(cluster, timeout=TIMEOUT, set_as_default=False))  # type: ignore[no-untyped-call]
        except RuntimeError as error:
            raise UsageError.of(
                "cluster-start", f"the worker processes of engine.backend: dask did not start: {error}",
                'in a script, call evalpipe.run under: if __name__ == "__main__":') from None
        except (OSError, TimeoutError, MemoryError):  # the answer of another server may be read as a huge length
            raise UsageError.of("cluster-unreachable", f"no Dask scheduler answers at {address} within {TIMEOUT} s",
                                "start it with: dask scheduler, or correct engine.address") from None
        try:
            client.wait_for_workers(1, timeout=WORKERS)
        except TimeoutError:
            raise cluster_without_workers(address) from None
        yield DaskWorkers(client, plan, spec)


@contextmanager
def _deaf_to_ctrl_c() -> Iterator[None]:
    """Start processes in the block that ignore Ctrl-C, which a terminal sends to all: this process ends them."""
    if os.name != "posix":
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # the thread that starts it hears Ctrl-C from then on, whatever it had blocked
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's logs during the block: what matters of them is raised as an error."""
    loggers = [logging.getLogger(name) for name in ("distributed", "tornado", "asyncio")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(SILENT)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
