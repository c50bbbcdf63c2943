"""Files and functions of the package are short enough to be read at once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LONGEST_FILE = 600
LONGEST_FUNCTION = 60
"""Lines from the signature to the end, docstring and all."""


def too_long(name: str, source: str) -> Iterator[str]:
    """Yield the file, and each of its functions, that is longer than it may be."""
    lines = len(source.splitlines())
    if lines > LONGEST_FILE:
        yield f"{name}: {lines} lines"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None:
            lines = node.end_lineno - node.lineno + 1
            if lines > LONGEST_FUNCTION:
                yield f"{name}:{node.lineno}: {node.name} has {lines} lines"


def test_no_file_and_no_function_is_too_long(root: Path) -> None:
    files = sorted((root / "evalpipe").rglob("*.py"))

    assert [fault for file in files for fault in too_long(str(file), file.read_text(encoding="utf-8"))] == []


def test_what_is_too_long_is_told() -> None:
    body = "\n".join("    pass" for _ in range(LONGEST_FUNCTION))
    source = f"def f():\n{body}\n" + "\n" * LONGEST_FILE

    assert list(too_long("a.py", source)) == ["a.py: 661 lines", "a.py:1: f has 61 lines"]
