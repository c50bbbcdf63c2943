"""The import direction of docs/design.md: rooms import the rooms below them only; heavy libraries wait until needed."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING, NamedTuple

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

HEAVY = {"distributed", "matplotlib", "mlflow", "pandas", "polars", "rich", "scipy", "sklearn", "weasyprint"}
TYPES = {"base.arraytypes"}  # names of types alone; every room may import it, where types are checked
HANDED_OVER = {"chapters.compute": {"chapters.spec"}}
"""What rooms of steps after the plan may import where types are checked, and nowhere else.

A plan holds what it only copies of a chapter's keys as the spec has it, frozen: a computation names the type of that.
"""
ROLES = {
    "spec": {"base", "calibration", "chapters.spec", "errors", "metrics", "spec", "tasks", "words"},
    "plan": {
        "base", "calibration", "chapters.spec", "errors", "metrics", "plan", "spec", "tasks", "templating", "words",
    },
    "compute": {
        "arithmetic", "base", "calibration", "card.wording", "chapters.evidence", "chapters.plan", "chapters.records",
        "data.sample", "engine", "errors", "intervals", "metrics", "plan", "results", "statistics", "tasks",
        "templating.files", "words",
    },
    "earlier": {
        "base", "card.wording", "chapters.compute", "chapters.plan", "data.sample", "errors", "plan", "results",
        "runs.folder", "runs.references", "words",
    },
    "records": {"base", "words"},
    "evidence": {"card.statements", "results", "words"},
    "card": {
        "base", "calibration", "card", "chapters.evidence", "chapters.records", "findings", "intervals", "results",
        "words",
    },
}
"""What a file of a chapter may import, by its role; `compute_scale.py` has that of `compute.py`.

`earlier_runs.py` of gates has a role of its own, for it reads files: the results of earlier runs, which no file of
numbers may. So has `evidence.py` of standards, which the computation asks and the card names. The reasons that results
give for a verdict name measures and models as the card does, hence `card.wording`.
"""

BELOW = {f"chapters.{role}": below for role, below in ROLES.items()} | {
    "chapters.all": set(),
    "base": {"errors", "words"},
    "errors": {"words"},
    "runs": {"base", "card", "data", "errors", "plan", "results", "spec", "templating", "version", "words"},
    "runs.folder": {"base", "errors", "results", "runs.manifest", "words"},
    "runs.manifest": {"base", "errors", "version"},
    "results.signatures": {"base", "errors", "words"},
    "words": set(),
    "templating": {"errors", "words"},
    "version": set(),
    "tasks": {"errors", "words"},
    "results": {"base", "chapters.all", "chapters.records", "errors", "words"},
    "metrics": {"arithmetic", "base", "errors", "tasks", "words"},
    "arithmetic": {"base"},
    "calibration": {"arithmetic", "base", "errors", "tasks", "words"},
    "statistics.ranked_lists": {"arithmetic", "metrics.values", "statistics.rows"},
    "statistics": {"arithmetic", "base.constants", "errors", "metrics.declare", "metrics.values"},
    "intervals": {"arithmetic", "base", "errors", "words"},
    "spec": {
        "base", "calibration", "chapters.all", "chapters.spec", "errors", "intervals.declare", "metrics", "tasks",
        "templating.files", "words",
    },
    "plan": {
        "base", "chapters.all", "chapters.plan", "chapters.spec", "errors", "intervals.declare", "metrics",
        "spec", "statistics.ranked_lists", "tasks", "words",
    },
    "data": {
        "arithmetic", "base", "calibration", "chapters.compute", "chapters.plan", "errors", "plan", "results",
        "statistics.ranked_lists", "tasks", "words",
    },
    "streams": {"arithmetic", "base", "chapters.plan", "data", "errors", "plan", "results", "statistics", "version"},
    "streams.task": {"base", "data", "errors", "plan", "spec", "streams"},
    "engine": {
        "arithmetic", "base", "calibration", "chapters.all", "chapters.compute", "chapters.plan", "chapters.records",
        "data.sample", "errors", "intervals", "metrics", "plan", "results", "statistics", "tasks", "version", "words",
    },
    "card": {
        "base", "calibration", "chapters.all", "chapters.records", "errors", "intervals.declare", "results",
        "templating", "version", "words",
    },
    "findings": {"base", "card.wording", "chapters.all", "errors", "intervals", "results", "words"},
    "ledger.history": {
        "base", "chapters.all", "chapters.compute", "chapters.plan", "chapters.records", "errors", "ledger", "plan",
        "results", "runs.folder", "spec", "words",
    },
    "cli.doctor": {"base", "card.assets", "card.pdf", "errors", "plan.memory", "version", "words"},
    "__main__": {"cli"},
    "ledger": {"base", "errors", "results", "runs.folder", "words"},
    "ledger.since_last_run": {
        "base", "data", "errors", "ledger", "plan", "results", "runs", "spec",
        "templating.files", "version", "words",
    },
    "run": {
        "base", "card", "chapters.compute", "chapters.earlier", "chapters.plan", "data", "engine", "errors", "findings",
        "ledger", "plan", "results", "runs", "spec", "streams", "templating.files",
    },
    "arrays": {"base", "errors", "results", "run"},
    "mlflow": {"base", "errors", "ledger.entries", "results", "review.exports", "runs", "words"},
    "sklearn": {"arrays", "base", "errors", "results", "run", "words"},
    "card.addresses": {"card.wording", "errors", "metrics", "results", "words"},
    "review": {
        "base", "card", "chapters.card", "chapters.compute", "chapters.records", "errors", "ledger",
        "plan.resolve", "results", "run", "runs", "spec", "tasks", "templating", "version", "words",
    },
    "ledger.forecasts": {"chapters.compute", "chapters.plan", "errors", "ledger", "plan"},
    "recalibration": {"base", "calibration", "data", "errors", "plan", "results", "run", "runs", "spec", "tasks"},
    "labelling": {"chapters.all", "chapters.compute", "chapters.plan", "data.sample", "errors", "plan", "run"},
    "proposal": {"base", "data", "errors", "plan", "run", "runs", "spec", "tasks", "words"},
    "cli": {
        "base", "card.addresses", "card.figures.in_matplotlib", "card.junit", "card.method", "card.page",
        "card.summary", "card.tables", "card.wording", "chapters.all", "chapters.plan", "cli.doctor", "errors",
        "intervals.declare", "labelling", "ledger", "metrics", "plan", "proposal", "recalibration", "results", "review",
        "run", "runs", "spec", "streams", "tasks", "version", "words",
    },
}


IMPORTED = {
    "chapters.trend": 4, "chapters.standards": 3, "chapters.recalibrate": 4, "chapters.equivocal": 4,
    "chapters.slices": 3, "chapters.thresholds": 4, "chapters.desirability": 4, "chapters.gates": 5, "ledger": 4,
    "review.checking": 2, "streams": 3,
}
"""How many files outside a room import from it, at most: its numbers may only fall.

Two of those of a chapter name its classes for types. Others stand where chapters meet: where rows, weights or entries
are changed in an order, where a chapter is of what another makes, or where a ledger is read for gates and the trend.
"""


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


@cache
def imports_of(source: str) -> tuple[Import, ...]:
    """Return the imports of a file."""
    return tuple(imports(ast.parse(source)))


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
    return f"chapters.{role}"


def room_of(name: str) -> str:
    """Return the key of `BELOW` that a module of the package is held to."""
    inner = layer(name)
    return inner if inner in BELOW else inner.partition(".")[0]


def faults(name: str, source: str) -> list[str]:
    """Return what is wrong with the imports of the module ``name``, such as "evalpipe.card.view"."""
    room, problems = "" if name == "evalpipe" else room_of(name), []
    for_types = TYPES | HANDED_OVER.get(room, set())
    for module, line, when in imports_of(source):
        where = f"{name}:{line}: imports {module}"
        inner = layer(module) if within(module, "evalpipe") else module
        if module.startswith("."):
            problems.append(f"{where} relatively")
        elif module.split(".")[0] in HEAVY and when == "on import":
            problems.append(f"{where} on import")
        elif module == "numpy" and room.startswith("chapters.") and room != "chapters.compute":
            problems.append(f"{where}, which is for compute.py alone")
        elif inner != module and room and not any(within(inner, below) for below in BELOW[room] | for_types | {room}):
            problems.append(f"{where}, which is not below {room}")
        elif inner in for_types and when != "for types":
            problems.append(f"{where} other than for types")
    return problems


@cache
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


@pytest.mark.parametrize("name_of_room", IMPORTED)
def test_few_files_outside_it_import_from_a_room(root: Path, name_of_room: str) -> None:
    room = f"evalpipe.{name_of_room}"
    outside = {name: source for name, source in modules(root).items() if not within(name, room)}
    importing = [name for name, source in outside.items()
                 if any(within(line.module, room) for line in imports_of(source))]

    assert len(importing) <= IMPORTED[name_of_room], importing


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
        ("evalpipe.spec.load", "def f():\n  import evalpipe.base.arraytypes",
         "evalpipe.base.arraytypes other than for types"),
        ("evalpipe.chapters.costs.compute", "from evalpipe.chapters.costs.spec import ProfitRule",
         "evalpipe.chapters.costs.spec other than for types"),
        ("evalpipe.chapters.costs.compute", "if TYPE_CHECKING:\n  from evalpipe.spec.spec import Spec",
         "evalpipe.spec.spec, which is not below chapters.compute"),
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
