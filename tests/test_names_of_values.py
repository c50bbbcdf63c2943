"""The name of a value says what it is, not a word that would do for any; the name of a class stands for one class."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

PUBLIC = {  # an option of the spec, and columns of results: "events found" is a term of the field
    "calibration/levels.py: each", "results/curves/calibration.py: found", "results/curves/events.py: found",
    "chapters/costs/records.py: found",
}
VAGUE = {"found", "one", "each", "made", "held", "told", "said", "unsaid", "taken", "own", "beside"}
PACKAGE = Path(__file__).parents[1] / "evalpipe"


@cache
def trees() -> dict[str, ast.Module]:
    """Return the syntax tree of each module; not on import, which every worker does."""
    return {
        file.relative_to(PACKAGE).as_posix(): ast.parse(file.read_text(encoding="utf-8"))
        for file in sorted(PACKAGE.rglob("*.py"))
    }


def names(tree: ast.AST) -> list[tuple[str, int]]:
    """Return the names that values are bound to, and their lines: assignments, loops, parameters, patterns."""
    bound: list[tuple[str | None, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.append((node.id, node.lineno))
        elif isinstance(node, ast.arg):
            bound.append((node.arg, node.lineno))
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            bound.append((node.name, node.lineno))
    return [(name, line) for name, line in bound if name is not None]


def test_no_value_has_a_name_that_says_nothing() -> None:
    vague = [
        f"{where}:{line}: {name}"
        for where, tree in trees().items()
        for name, line in names(tree)
        if name in VAGUE and f"{where}: {name}" not in PUBLIC
    ]
    assert vague == []


def test_each_public_name_is_still_there() -> None:
    assert {f"{where}: {name}" for where, tree in trees().items() for name, _ in names(tree)} >= PUBLIC


def test_no_two_classes_have_one_name() -> None:
    modules: dict[str, list[str]] = {}
    for where, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                modules.setdefault(node.name, []).append(where)
    assert {name: places for name, places in modules.items() if len(places) > 1} == {}


def test_no_module_gives_a_name_twice() -> None:
    twice: list[str] = []
    for where, tree in trees().items():
        targets = [target for statement in tree.body if isinstance(statement, ast.Assign | ast.AnnAssign)
                   for target in getattr(statement, "targets", None) or [statement.target]]
        given = Counter(name for target in targets for name, _ in names(target))
        given.update(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef))
        twice += [f"{where}: {name}" for name, count in given.items() if count > 1]
    assert twice == []


@pytest.mark.parametrize("source", [
    "found = 1", "for one in (): pass", "[each for each in ()]", "def f(made): pass", "lambda *, held=1: 0",
    "with open('') as told: pass", "try: pass\nexcept OSError as found: pass", "if (one := 1): pass",
    "match 1:\n  case [each, *_]: pass", "match 1:\n  case [*made]: pass", "found: int = 1", "a, (b, held) = 1, (2, 3)",
])
def test_such_a_name_is_seen_wherever_it_is_bound(source: str) -> None:
    assert {name for name, _ in names(ast.parse(source))} & VAGUE
