"""The documents and the tree agree: every room stands in the tree of docs/design.md, and every path named exists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from evalpipe.chapters import CHAPTERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OTHER = {"earlier_runs.py", "evidence.py"}  # of gates: what reads earlier runs; of standards: what results answer
ROLES = ("spec.py", "plan.py", "compute.py", "records.py", "card.py")


def drawn(document: str) -> list[tuple[int, str]]:
    """Return the names of the tree in a document, each with how deep it stands."""
    block = re.search(r"## The tree\n\n```\nevalpipe/\n(.*?)```", document, re.DOTALL)
    assert block is not None
    lines = re.findall(r"^( +)(\S+)", block[1], re.MULTILINE)
    return [(len(spaces) // 2, name) for spaces, name in lines]


def rooms(package: Path) -> set[str]:
    """Return what stands in the package: files but for `__init__.py`, and folders that hold code."""
    files = {file.name for file in package.glob("*.py")} - {"__init__.py"}
    return files | {f"{file.parent.name}/" for file in package.glob("*/__init__.py")}


def paths(text: str) -> Iterator[str]:
    """Yield the files and folders that a document names in code, as they are written."""
    rooted = r"(?:evalpipe|tests|docs|templates|configs|benchmarks)/[\w./]+"
    yield from re.findall(rf"`({rooted}|\w+/(?:\w+/)*\w+\.py)`", text)


def test_the_tree_of_the_design_is_the_tree(root: Path) -> None:
    tree = drawn((root / "docs" / "design.md").read_text(encoding="utf-8"))

    inside: dict[str, list[str]] = {}
    for depth, name in tree:
        if depth == 1:
            inside[name] = []
        elif depth == 2:
            inside[next(reversed(inside))].append(name)

    assert set(inside) == rooms(root / "evalpipe")
    assert inside.pop("chapters/") == [f"{chapter}/" for chapter in CHAPTERS], "draw them in the tree of docs/design.md"
    for room, names in inside.items():
        assert not names or set(names) == rooms(root / "evalpipe" / room)
    assert [name for depth, name in tree if depth == 3] == list(ROLES)


def test_every_chapter_has_files_of_these_roles_alone(root: Path) -> None:
    allowed = re.compile(r"(__init__|spec|plan|compute|records|card)(_\w+)?\.py")
    files = [file for chapter in CHAPTERS for file in (root / "evalpipe" / "chapters" / chapter).glob("*.py")]

    assert {f"{chapter}/" for chapter in CHAPTERS} == rooms(root / "evalpipe" / "chapters")
    assert [str(file) for file in files if not allowed.fullmatch(file.name) and file.name not in OTHER] == []


@pytest.mark.parametrize("document", ["docs/design.md", "CONTRIBUTING.md"])
def test_every_path_that_a_document_names_exists(root: Path, document: str) -> None:
    named = set(paths((root / document).read_text(encoding="utf-8")))
    places = (root, root / "evalpipe", root / "evalpipe" / "chapters")

    assert named
    assert [path for path in named if not any((place / path).exists() for place in places)] == []
