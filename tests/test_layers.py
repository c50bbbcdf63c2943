"""The import direction of docs/design.md: rooms import the rooms below them only; heavy libraries wait until needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

HEAVY = {"distributed", "matplotlib", "mlflow", "pandas", "polars", "rich", "scipy", "sklearn", "weasyprint"}
TYPES = {"arraytypes"}  # names of types alone; every room may import it, where types are checked
ROLES = {
    "spec": {
        "colours", "fields", "levels", "origin", "chapters.spec", "spec", "metrics", "calibration", "tasks", "errors",
    },
    "rules": {
        "colours", "levels", "origin", "prose", "chapters.spec", "spec", "spelling", "metrics", "calibration", "tasks",
        "plugins", "templating", "errors",
    },
    "plan": {
        "fields", "levels", "numbers", "origin", "prose", "chapters.spec", "plan", "spec", "spelling", "metrics",
        "calibration", "plugins", "tasks", "templating.files", "errors",
    },
    "compute": {
        "arithmetic", "chapters.plan", "chapters.records", "chapters.evidence", "plan", "engine", "statistics",
        "metrics", "intervals", "calibration", "data.sample", "card.names", "card.wording", "results", "records",
        "constants", "numbers", "spelling", "tasks", "templating.files", "digests", "errors",
    },
    "earlier": {
        "chapters.plan", "chapters.compute", "plan", "data.sample", "card.wording", "results", "spelling", "errors",
    },
    "records": {"colours", "fields", "records"},
    "evidence": {"card.stated", "fields", "results"},
    "words": {"chapters.records", "card.names", "card.wording", "results", "records", "numbers"},
    "findings": {
        "chapters.records", "chapters.words", "findings", "intervals", "card.names", "card.wording", "results",
        "records", "numbers",
    },
    "card": {
        "chapters.records", "chapters.words", "chapters.evidence", "calibration", "constants", "card", "fields",
        "results", "records", "numbers",
    },
}
"""What a file of a chapter may import, by its role; `compute_worst.py` has that of `compute.py`.

`earlier.py` of gates has a role of its own, for it reads files: the results of earlier runs, which no file of numbers
may. So has `evidence.py` of standards, which the computation asks and the card names, and `words.py` of candidates,
of steps and of the trend, whose names and sentences the findings, the card and the terminal share. The reasons that
results give for a verdict name measures and models as the card does, hence `card.names`.
"""

BELOW = {f"chapters.{role}": below for role, below in ROLES.items()} | {
    "chapters.all": set(),
    "documented": set(),
    "records": {"documented"},
    "arraytypes": set(),
    "errors": {"spelling"},
    "ed25519": {"errors"},
    "manifest": {"ed25519", "records", "version", "digests", "errors"},
    "inputs": {"data", "manifest", "plan", "results", "spec", "digests", "errors"},
    "signatures": {"records", "spelling", "errors"},
    "constants": set(),
    "formats": set(),
    "colours": set(),
    "uris": set(),
    "digests": set(),
    "run_facts": set(),
    "queries": {"digests"},
    "fields": set(),
    "prose": set(),
    "plugins": {"spelling", "errors"},
    "templating": {"spelling", "errors"},
    "version": set(),
    "spelling": set(),
    "origin": {"spelling", "errors"},
    "levels": {"spelling"},
    "tasks": {"spelling", "errors"},
    "cells": set(),
    "numbers": set(),
    "results": {"cells", "chapters.records", "records", "numbers", "digests", "errors"},
    "metrics": {"arithmetic", "constants", "spelling", "tasks", "errors"},
    "later": set(),
    "arithmetic": {"later"},
    "calibration": {"arithmetic", "later", "spelling", "tasks", "errors"},
    "statistics": {"arithmetic", "metrics.declare", "metrics.shared_fits", "metrics.values", "errors"},
    "intervals": {"arithmetic", "later", "errors"},
    "spec": {
        "cells", "colours", "constants", "documented", "formats", "intervals.declare", "levels", "origin",
        "chapters.all", "chapters.spec", "chapters.rules", "ed25519", "spelling", "metrics", "calibration", "plugins",
        "tasks", "templating.files", "queries", "uris", "digests", "errors",
    },
    "plan": {
        "cells", "formats", "intervals.declare", "levels", "origin", "chapters.spec", "chapters.plan", "queries",
        "spelling", "spec", "data.table", "metrics", "tasks", "uris", "errors",
    },
    "data": {
        "arithmetic", "chapters.plan", "chapters.compute", "cells", "constants", "folders", "levels", "origin",
        "spelling", "plan", "queries", "tasks", "results", "uris", "digests", "errors",
    },
    "streams": {
        "folders", "signals",
        "arithmetic", "chapters.plan", "data", "levels", "plan", "statistics", "results", "version", "digests",
        "errors",
    },
    # A task begins at step 1 again, in a process of its own.
    "streams.task": {"data", "plan", "spec", "streams", "digests", "errors"},
    "reading": {"chapters.compute", "data", "streams", "plan", "errors"},
    "engine": {
        "arithmetic", "chapters.all", "chapters.plan", "chapters.compute", "chapters.records", "constants", "numbers",
        "plan", "tasks", "statistics", "metrics", "intervals", "calibration", "data.sample", "results",
        "version", "errors",
    },
    "card": {
        "folders",
        "colours", "formats", "calibration", "chapters.all", "chapters.records", "fields", "prose", "version",
        "intervals.declare", "constants", "numbers", "plugins", "results", "signatures", "spelling", "templating",
        "digests", "errors",
    },
    "findings": {"chapters.all", "intervals", "card.names", "card.wording", "plugins", "results", "records", "numbers"},
    "lock": {"folders"},
    "signals": set(),
    "folders": set(),
    "history": {
        "chapters.plan", "chapters.compute", "chapters.earlier", "ledger", "plan", "results", "signatures", "spec",
        "uris", "digests", "errors",
    },
    "ledger_changes": {
        "chapters.spec", "chapters.compute", "chapters.earlier", "history", "ledger", "results", "signatures", "spec",
    },
    "changes": {
        "chapters.earlier", "data", "ed25519", "inputs", "ledger_changes", "manifest", "origin", "plan", "results",
        "spec", "spelling", "templating.files", "version", "digests", "errors",
    },
    "machine": set(),
    "doctor": {"card.locate", "card.pdf", "lock", "machine", "plan.memory", "version", "errors"},
    "__main__": {"cli"},
    "ownership": {"formats", "manifest", "signatures", "spelling", "errors"},
    "record": {"signals", "ed25519", "folders", "lock", "manifest", "ownership", "results", "digests", "errors"},
    "row_writing": {"cells", "digests"},
    "ledger": {"results", "spelling", "uris", "digests", "errors"},
    "run": {
        "changes", "chapters.compute", "chapters.earlier", "commit", "ed25519", "formats", "inputs", "spec", "plan",
        "data", "history", "reading", "engine", "findings", "results", "card", "record", "row_writing", "ledger",
        "signatures", "streams", "templating.files", "errors",
    },
    "arguments": {"origin", "errors"},
    "arrays": {"levels", "arguments", "run", "results", "errors"},
    "mlflow": {"exports", "ledger.entries", "manifest", "results", "spelling", "uris", "digests", "errors"},
    "sklearn": {"arrays", "levels", "results", "run", "spelling", "errors"},
    "file_differences": {"card.page_text", "numbers", "spelling"},
    "addresses": {"card.names", "card.wording", "metrics", "results", "spelling", "errors"},
    "commit": set(),
    "verification": {
        "card", "file_differences", "formats", "manifest", "numbers", "results", "signatures", "templating", "version",
        "digests", "run_facts", "errors",
    },
    "differences": {
        "card", "chapters.records", "chapters.card", "numbers", "origin", "records", "results", "signatures",
        "spelling", "version", "digests", "run_facts", "errors",
    },
    # It evaluates the rows of two runs again, by the whole pipeline.
    "differences.paired": {"differences", "records", "results", "run", "tasks", "errors"},
    "checking": {
        "folders",
        "card", "ed25519", "file_differences", "history", "ledger_changes", "manifest", "ownership", "queries",
        "ledger", "plan.resolve", "record", "results", "run", "signatures", "spec", "templating", "verification",
        "version", "digests", "run_facts", "errors",
    },
    "forecasts": {"chapters.compute", "chapters.plan", "ledger", "plan", "errors"},
    "acceptance": {
        "checking", "run", "signals", "verification", "chapters.earlier",
        "chapters.compute", "ed25519", "ledger", "record", "results", "errors",
    },
    "signing": {
        "card", "checking", "ed25519", "manifest", "record", "run", "signatures", "templating", "verification",
        "errors",
    },
    "recalibration": {
        "folders",
        "origin", "ownership", "run", "data", "plan", "spec", "calibration", "tasks", "results", "errors",
    },
    "proposal": {
        "data", "levels", "origin", "ownership", "plan", "reading", "run", "spec", "spelling", "tasks", "errors",
    },
    "exports": {
        "addresses", "card.front_matter", "card.junit", "card.names", "card.prose", "chapters.card", "ledger.entries",
        "manifest", "results", "spelling", "version", "errors",
    },
    "cli": {
        "folders",
        "acceptance", "addresses", "chapters.plan", "chapters.card", "chapters.words", "chapters.earlier", "checking",
        "constants", "differences", "doctor", "ed25519", "exports", "forecasts", "formats", "intervals.declare",
        "ledger", "manifest", "numbers", "ownership", "proposal", "run", "record", "recalibration", "signing", "spec",
        "spelling", "plan", "results", "metrics", "tasks",
        "card.drawing", "card.first", "card.names", "card.page", "card.tables", "card.wording", "streams", "version",
        "run_facts", "errors",
    },
}


class Import(NamedTuple):
    """One import: the module, where it stands, and whether it happens on import, later, or only for types."""

    module: str
    line: int
    when: str


def imports(node: ast.AST, when: str = "on import") -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        inner = "later" if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else when
        if isinstance(child, ast.If) and ast.unparse(child.test).endswith("TYPE_CHECKING"):
            inner = "for types"
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, when) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            module = "." * child.level + (child.module or "")
            whole = module == "evalpipe" or re.fullmatch(r"evalpipe\.chapters\.\w+", module)  # a package: what it holds
            names = [f"{module}.{alias.name}" for alias in child.names] if whole else [module]
            yield from (Import(name, child.lineno, when) for name in names)
        else:
            yield from imports(child, inner)


def within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def layer(module: str) -> str:
    """Return a module of the package by its layer: a chapter's file by its role, such as "chapters.card"."""
    inner = module.removeprefix("evalpipe.")
    parts = inner.split(".")
    if parts[0] != "chapters":
        return inner
    if len(parts) < 3:
        return "chapters.all"
    role = parts[2].partition("_")[0]
    return f"chapters.{'card' if role == 'figures' else role}"


def room_of(name: str) -> str:
    """Return the key of `BELOW` that a module of the package is held to."""
    inner = layer(name)
    return inner if inner in BELOW else inner.partition(".")[0]


def faults(name: str, source: str) -> list[str]:
    """Return what is wrong with the imports of the module ``name``, such as "evalpipe.card.view"."""
    room, problems = "" if name == "evalpipe" else room_of(name), []
    for module, line, when in imports(ast.parse(source)):
        where = f"{name}:{line}: imports {module}"
        inner = layer(module) if within(module, "evalpipe") else module
        if module.startswith("."):
            problems.append(f"{where} relatively")
        elif module.split(".")[0] in HEAVY and when == "on import":
            problems.append(f"{where} on import")
        elif module == "numpy" and room.startswith("chapters.") and room != "chapters.compute":
            problems.append(f"{where}, which is for compute.py alone")
        elif inner != module and room and not any(within(inner, below) for below in BELOW[room] | TYPES | {room}):
            problems.append(f"{where}, which is not below {room}")
        elif inner in TYPES and when != "for types":
            problems.append(f"{where} other than for types")
    return problems


def modules(root: Path) -> dict[str, str]:
    files = sorted((root / "evalpipe").rglob("*.py"))
    names = [".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__") for file in files]
    return dict(zip(names, (file.read_text(encoding="utf-8") for file in files), strict=True))


def test_rooms_import_only_the_rooms_below_them(root: Path) -> None:
    assert [fault for name, source in modules(root).items() for fault in faults(name, source)] == []


def test_a_card_takes_the_words_of_interval_methods_without_numpy() -> None:
    code = "import sys, evalpipe.card, evalpipe.intervals as i; print(len(i.registry) > 9, 'numpy' in sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout

    assert printed == "True False\n"


def test_no_room_of_a_step_after_the_plan_may_import_the_spec() -> None:
    reading = {room for room, below in BELOW.items() if any(within(lower, "spec") for lower in below)}

    assert not reading & {
        "data", "engine", "results", "card", "record", "chapters.compute", "chapters.earlier", "chapters.card"}


def test_every_room_has_a_place(root: Path) -> None:
    rooms = {room_of(name) for name in modules(root) if "." in name}

    assert rooms <= set(BELOW), "add the new room to BELOW, where the design says it belongs"


def needed(source: str, files: Mapping[str, str]) -> Iterator[str]:
    """Yield the files of the package that a file imports, whenever and be it for types alone."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from (name if name in files else node.module for name in names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_files_do_not_need_each_other_in_a_circle_not_even_for_types(root: Path) -> None:
    files = modules(root)
    graph = {name: {module for module in needed(source, files) if module in files} - {name}
             for name, source in files.items()}

    assert list(TopologicalSorter(graph).static_order())


@pytest.mark.parametrize(
    ("name", "source", "fault"),
    [
        ("evalpipe.card.view", "from evalpipe.engine import bins", "evalpipe.engine, which is not below card"),
        ("evalpipe.metrics.labels", "import evalpipe.results", "evalpipe.results, which is not below metrics"),
        ("evalpipe.calibration.beta", "import evalpipe.metrics", "evalpipe.metrics, which is not below calibration"),
        ("evalpipe.engine.rows", "from evalpipe.data.read import f", "evalpipe.data.read, which is not below engine"),
        ("evalpipe.spec.load", "def f():\n  from evalpipe import plan", "evalpipe.plan, which is not below spec"),
        ("evalpipe.chapters.slices.card_worst", "import numpy as np", "numpy, which is for compute.py alone"),
        ("evalpipe.chapters.costs.card", "from evalpipe.chapters.costs.compute import f",
         "evalpipe.chapters.costs.compute, which is not below chapters.card"),
        ("evalpipe.data.read", "import polars as pl", "polars on import"),
        ("evalpipe.data.read", "try:\n  from scipy.stats import beta\nfinally: pass", "scipy.stats on import"),
        ("evalpipe.cli.main", "class A:\n  import rich.table", "rich.table on import"),
        ("evalpipe.spec.load", "from .models import Spec", ".models relatively"),
        ("evalpipe.spec.load", "def f():\n  import evalpipe.arraytypes", "evalpipe.arraytypes other than for types"),
    ],
)
def test_a_wrong_import_is_found(name: str, source: str, fault: str) -> None:
    assert faults(name, source) == [f"{name}:{source.count(chr(10), 0, source.index('import')) + 1}: imports {fault}"]


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n  import polars",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  import polars",
        "import evalpipe.data.sample\nfrom evalpipe import errors\nimport numpy",
    ],
)
def test_a_right_import_is_left_alone(source: str) -> None:
    assert faults("evalpipe.engine.run", source) == []
