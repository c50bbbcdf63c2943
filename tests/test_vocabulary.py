"""One word for one idea: what the table of words in docs/design.md sets aside is in no name, docstring or sentence."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "evalpipe"
BEFORE = {"words/sentences.py", "results/__init__.py", "chapters/gates/spec.py", "cli/app.py"}
"""The files that read the words of before."""

SET_ASIDE = {
    "inconclusive": r"indeterminate",
    "undecided": r"cannot be told apart from|are not told apart from|undecidable",
    "resampling unit": r"resampled unit|sampling unit|drawing unit",
}
"""Words that would do for one of the table, by that one."""

FILE_NAMES = frozenset({
    "all_at_once", "alike", "asked", "coarse", "diagnosed", "drawn", "first", "fresh", "further", "given", "helpers",
    "later", "loose", "misc", "own", "pieces", "quiet", "sent", "single", "stamps", "stated", "sweep", "utils",
})
"""Names of files that say nothing to a stranger."""


@cache
def texts() -> dict[str, list[tuple[int, str]]]:
    """Return the names, the docstrings and all other texts of each module, with their lines."""
    found: dict[str, list[tuple[int, str]]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        parts = found.setdefault(file.relative_to(PACKAGE).as_posix(), [])
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            line = getattr(node, "lineno", 0)
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                parts.append((line, node.value))
            for field in ("name", "id", "attr", "arg"):
                if isinstance(getattr(node, field, None), str):
                    parts.append((line, getattr(node, field).replace("_", " ")))
    return found


def said(pattern: str) -> list[str]:
    matched = re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)
    return [f"{file}:{line}: {text[:80]}" for file, parts in texts().items() if file not in BEFORE
            for line, text in parts if matched.search(" ".join(text.split()))]


@pytest.mark.parametrize("word", SET_ASIDE)
def test_an_idea_has_one_word(word: str) -> None:
    assert said(SET_ASIDE[word]) == []


@pytest.mark.parametrize("word", SET_ASIDE)
def test_the_word_is_in_the_table(word: str) -> None:
    words = (ROOT / "docs" / "design.md").read_text(encoding="utf-8").partition("## Words")[2].partition("\n## ")[0]
    assert word in words


def test_the_words_that_are_set_aside_would_be_seen() -> None:
    assert said("inconclusive")
    assert said("undecided")


def test_no_file_has_a_name_that_says_nothing() -> None:
    assert [file for file in texts() if Path(file).stem in FILE_NAMES] == []
