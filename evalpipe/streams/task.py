"""The function that workers of a cluster call, which turns a task (text) into an answer (bytes).

A task is JSON: what to do with a file, the spec with where its keys were written, the part, and the versions that must
be here. Its answer is the tables of the part (`codec.py`), or JSON: a sha256, or the problems of the data. A process
plans a spec once and keeps the plan for the tasks that follow. Nothing of evalpipe is pickled.
"""

from __future__ import annotations

import json
import platform
from dataclasses import asdict, astuple
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import text_sha256
from evalpipe.data.catalog import look
from evalpipe.errors import DataError, EvalpipeError, Place, Problem, SpecError, UsageError
from evalpipe.plan.resolve import plan as make_plan
from evalpipe.plan.sources import sources
from evalpipe.spec.load import from_text
from evalpipe.streams.cache import encode, versions
from evalpipe.streams.parts import File, Part, Stamp, check_unchanged, digest
from evalpipe.streams.tables import table_layout
from evalpipe.streams.tally import summed_up

if TYPE_CHECKING:

    from evalpipe.plan.plan import Plan

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
        plan = _planned(request["spec"], request["files"])
        files = _files_sha256(plan, part.dataset)
        if (plan.spec_sha256, files) != (request["spec_sha256"], request["files"]):
            difference = "other files" if plan.spec_sha256 == request["spec_sha256"] else "another spec"
            raise UsageError.of(
                "worker-plan", f"a worker sees {difference} than this run does",
                "let every worker see the same folders at the same paths",
                (f"the worker is on the host {platform.node()}",))
        return encode(summed_up(plan, part, file, table_layout(plan)))
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
def _planned(text: str, files: str) -> Plan:  # noqa: ARG001 - a folder that has changed is planned again
    """Return the plan of a spec, cached while the spec and the sha256 of the ``files`` are the same."""
    spec = from_text(text)
    return make_plan(spec, look(sources(spec)))


def _files_sha256(plan: Plan, dataset: str) -> str:
    """Return the sha256 of the names of a dataset's files, in their order."""
    table = next(entry.table for entry in plan.datasets if entry.name == dataset)
    return text_sha256("\n".join(shown for _, shown in table.files))
