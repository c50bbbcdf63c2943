"""What commands do not import: a library is waited for by those alone who use it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

HEAVY = {"jsonschema", "matplotlib", "pandas", "pyarrow", "pypdf", "weasyprint"}
"""Libraries of the PDF, of adapters and of tests, which no command needs that makes no PDF."""

Loaded = Callable[..., set[str]]

GATES = "gates: [{metric: accuracy, min: 0.2}]\n"


@pytest.fixture
def loaded(folder: Path) -> Loaded:
    """Return a function that runs a command in a process of its own, and returns the modules that it has at its end."""
    code = ("import atexit, sys\n"
            "atexit.register(lambda: print('\\n', *sys.modules, file=sys.stderr))\n"
            "from evalpipe.cli import main\n"
            "main(sys.argv[1:])\n")

    def modules(*arguments: str) -> set[str]:
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments], cwd=folder, capture_output=True, text=True, check=True)
        return set(done.stderr.splitlines()[-1].split())

    return modules


@pytest.mark.parametrize("arguments", [
    ("--version",), ("--help",), ("run", "--help"), ("gc", "--help"), ("metrics", "--help")])
def test_a_version_or_help_imports_click_alone(loaded: Loaded, arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)

    assert "click" in modules
    assert not modules & {
        "numpy", "polars", "scipy", "sqlalchemy", "pydantic", "yaml", "rich", "jinja2", "markdown_it",
        "evalpipe.spec", "evalpipe.plan.resolve", "evalpipe.intervals", "evalpipe.metrics", "evalpipe.results", *HEAVY}


def test_validate_imports_no_step_after_the_plan(loaded: Loaded) -> None:
    modules = loaded("validate", "small.yaml")

    assert "polars" in modules
    assert not modules & {
        "scipy", "sqlalchemy", "rich", "jinja2", "markdown_it",
        "evalpipe.statistics", "evalpipe.engine", "evalpipe.results", "evalpipe.streams", *HEAVY}


def test_a_plan_imports_no_library_of_ledgers_where_there_is_none(loaded: Loaded, folder: Path) -> None:
    with (folder / "small.yaml").open("a", encoding="utf-8") as spec:
        spec.write(GATES)
    modules = loaded("plan", "small.yaml")

    assert "evalpipe.ledger.forecasts" in modules
    assert not modules & {
        "scipy", "sqlalchemy", "rich", "jinja2", "markdown_it", "evalpipe.results", "evalpipe.streams", *HEAVY}


def test_a_run_imports_what_its_steps_use_and_no_more(loaded: Loaded) -> None:
    bare = loaded("run", "small.yaml", "--format", "json", "--no-progress", "--set", "report.formats=[]",
                  "--set", "ledger=false")
    whole = loaded("run", "small.yaml", "--no-progress")

    assert {"numpy", "polars", "evalpipe.engine.evaluate"} <= bare
    assert not bare & {"sqlalchemy", "rich", "jinja2", "markdown_it", *HEAVY}
    assert not whole & {"scipy.optimize", "scipy.sparse", "scipy.stats"}
    assert {"sqlalchemy", "rich", "jinja2"} <= whole
    assert not whole & HEAVY


def test_arrays_are_evaluated_without_what_reads_files_or_writes_cards() -> None:
    code = ("import sys, evalpipe\n"
            "evalpipe.evaluate([0, 1, 0, 1] * 20, [0.1, 0.4, 0.6, 0.9] * 20, event=1)\n"
            "print(*sys.modules)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())

    assert {"numpy", "polars", "evalpipe.engine.evaluate"} <= modules
    assert not modules & {
        "yaml", "sqlalchemy", "rich", "jinja2", "markdown_it", "scipy.optimize", "evalpipe.card.junit",
        "evalpipe.card.html", "evalpipe.runs.record", "evalpipe.spec.yaml", "evalpipe.streams.tables", *HEAVY}


@pytest.mark.usefixtures("out")
def test_reading_what_a_run_has_written_imports_nothing_that_computes(loaded: Loaded) -> None:
    listed, told = loaded("show", "out"), loaded("history", "out")
    verified = loaded("verify", "out")

    computing = {"numpy", "polars", "scipy", "evalpipe.engine", "evalpipe.statistics", "evalpipe.streams"}
    assert "evalpipe.results" in listed
    assert not listed & {"sqlalchemy", "rich", "jinja2", "evalpipe.metrics", *computing, *HEAVY}
    assert "sqlalchemy" in told
    assert not told & {"pydantic", "rich", "jinja2", "evalpipe.results", *computing, *HEAVY}
    assert "evalpipe.review.checking" in verified
    assert "sqlalchemy" in verified
    assert not verified & {"rich", "scipy", "evalpipe.streams", *HEAVY}


def test_a_command_seldom_looks_for_unused_objects_and_not_at_its_end(folder: Path) -> None:
    code = ("import atexit, gc\n"
            "atexit.register(lambda: print(gc.get_threshold()[0], gc.get_freeze_count() > 10_000))\n"
            "from evalpipe.cli import main\n"
            "main(['--version'])\n")
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)

    assert done.stdout.splitlines()[-1] == "100000 True"
