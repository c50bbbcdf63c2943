"""Every line of the threat model in docs/security.md names tests, and each of them is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path


def rows(root: Path) -> list[list[str]]:
    """Return the cells of the lines of the threat model."""
    table = [line for line in (root / "docs" / "security.md").read_text(encoding="utf-8").splitlines()
             if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[1:]]


def test_every_line_of_the_threat_model_names_a_test_that_exists(root: Path) -> None:
    absent = []
    for threat, _, tests in rows(root):
        named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", tests)
        if not named:
            absent.append(f"{threat}: no test")
        for file, test in named:
            source = (root / file).read_text(encoding="utf-8") if (root / file).is_file() else ""
            tree = ast.parse(source)
            if test not in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}:
                absent.append(f"{file}::{test}")
    assert absent == []


def test_the_threats_of_the_model_are_many_and_none_is_listed_twice(root: Path) -> None:
    threats = [row[0] for row in rows(root)]
    assert len(threats) > 25
    assert len(set(threats)) == len(threats)


def test_every_file_of_these_tests_is_named(root: Path) -> None:
    text = (root / "docs" / "security.md").read_text(encoding="utf-8")
    files = {path.name for path in (root / "tests" / "security").glob("test_*.py")} - {Path(__file__).name}
    assert {name for name in files if f"tests/security/{name}::" not in text} == set()
