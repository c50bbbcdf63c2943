"""docs/coverage.md names metrics, curves and tests that exist, and misses no metric and no curve."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from evalpipe.calibration import registry as recalibrators
from evalpipe.metrics import registry
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
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}, f"{path}::{name}"


def test_every_metric_and_every_curve_has_a_row() -> None:
    named = {name for _, here, _ in ROWS for name in re.findall(r"`([^`]+)`", here)}
    assert {*(entry.name for entry in registry), *CURVES} - named == set()
