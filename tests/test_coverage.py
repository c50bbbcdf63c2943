"""docs/coverage.md names metrics, curves and tests that exist, and misses no metric and no curve; each has a source."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from evalpipe.calibration import registry as recalibrators
from evalpipe.metrics import Metric, registry
from evalpipe.results.curves import CURVES

ROOT = Path(__file__).parent.parent
ROWS = [
    [cell.strip() for cell in line.strip("|\n").split("|")]
    for line in (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| known as", "|---"))
]
OTHERS = {
    "no_information", "confusion", "scores", "score", "nothing-to-average", "base", "sum", "classes", "macro",
    "recalibrate", "fit_on", "parameters", "estimates", "comparisons", "recalibration", "profit", "equivocal",
    "prevalence", "observed", "thresholds", "cost_references", "desirability", "candidates", "steps", "gates",
    *recalibrators,
}


@cache
def functions(path: str) -> set[str]:
    """Return the names of the functions of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_a_row_names_what_exists_or_says_why_not(row: list[str]) -> None:
    _, here, checked = row
    if checked == "–":
        assert here.startswith(("not here: ", "not yet: ", "not drawn: "))
        return
    for name in re.findall(r"`([^`]+)`", here):
        assert name in registry or name in CURVES.keys() | OTHERS or ": " in name, name
    tests = re.findall(r"`(tests/\S+)::(\w+)`", checked)
    assert tests
    for path, name in tests:
        assert name in functions(path), f"{path}::{name}"


def test_every_curve_has_a_row() -> None:
    named = {name for _, here, _ in ROWS for name in re.findall(r"`([^`]+)`", here)}
    assert set(CURVES) - named == set(), "write a row for each in docs/coverage.md, with the test that compares it"


@cache
def writer() -> ModuleType:
    """Return docs/coverage_page.py as a module."""
    spec = importlib.util.spec_from_file_location("coverage_page", ROOT / "docs" / "coverage_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def checked_by() -> dict[str, list[str]]:
    return writer().checked_by()


@pytest.mark.parametrize("entry", list(registry), ids=lambda entry: entry.name)
def test_a_metric_is_compared_with_an_independent_source(entry: Metric) -> None:
    tests = checked_by()[entry.name]
    if "binary" in entry.tasks and entry.sees == "event":
        tests = [test for test in tests if "test_sklearn_classes" not in test]  # whose rows have several levels
    table = {"event": "PLAIN in test_plain.py", "classes": "WHOLE in test_sklearn_classes.py",
             "numbers": "SOURCES in test_numbers.py", "items": "SOURCES in test_items.py"}[entry.sees]
    assert tests, f"compute {entry.name} in another way, from rows, and add that to {table} of tests/reference"


def test_the_list_of_every_metric_is_fresh() -> None:
    text = writer().PAGE.read_text(encoding="utf-8")
    assert text == writer().page(text), "run `make docs`"
