"""The results and cards of configs/ are those that were looked at when they last changed.

`example_cards.json` has for each table of the results, and for each section of the card, a digest of its words and a
sum over its numbers. Where a change is meant, run this file with EVALPIPE_REWRITE_EXPECTED=1, then look at the cards
that it names: a change that was to leave all as it was has changed them.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXPECTED = Path(__file__).with_name("example_cards.json")
REWRITE = os.environ.get("EVALPIPE_REWRITE_EXPECTED") == "1"
CONFIGS = sorted(path.stem for path in (Path(__file__).resolve().parents[2] / "configs").glob("*.yaml"))

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e-?\d+)?")
EMBEDDED = re.compile(r"base64,[\w+/=]+|<style.*?</style>|<script.*?</script>", re.DOTALL)
SECTION = re.compile(r'(?=<section [^>]*aria-labelledby="([\w-]+)-title")')
CLOSE = 1e-7, 1e-5
"""What libraries of other versions may change in the sum over a table: by its size, and at all."""
ROUNDED = 1e-5, 0.02
"""What a section may differ by: a few of its numbers, rounded to three digits, may be rounded the other way."""


def summary(text: str) -> list[str | float]:
    """Return a digest of a text without its numbers, the weighted sum of these by magnitude, and their sum."""
    numbers = [math.asinh(value) if math.isfinite(value := float(number)) else 0.0 for number in NUMBER.findall(text)]
    weighted = math.fsum(value * (1 + place % 97 / 97) for place, value in enumerate(numbers))
    words = hashlib.sha256(NUMBER.sub("#", text).encode()).hexdigest()[:12]
    return [words, round(weighted, 6), round(math.fsum(map(abs, numbers)), 6)]


def tables(folder: Path) -> Iterator[tuple[str, list[str | float]]]:
    """Yield each table of the results that has rows, by its name, and its summary."""
    results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    for name, table in results.items():
        if table and name not in ("evalpipe_version", "schema_version"):
            yield name, summary(json.dumps(table))


def sections(folder: Path) -> Iterator[tuple[str, list[str | float]]]:
    """Yield each section of the card but those that name versions of libraries, by its title's id, and its summary."""
    page = EMBEDDED.sub("", (folder / "card.html").read_text(encoding="utf-8"))
    parts = SECTION.split(page)
    for name, section in zip(parts[1::2], parts[2::2], strict=True):
        if name not in ("spec", "provenance"):
            yield name, summary(section)


def test_configs_are_those_that_are_expected() -> None:
    if not REWRITE:
        assert sorted(json.loads(EXPECTED.read_text(encoding="utf-8"))) == CONFIGS


@pytest.mark.parametrize("name", CONFIGS)
def test_results_and_cards_are_as_they_were(name: str, example: Callable[[str], Path]) -> None:
    folder = example(name)
    now = {"results": dict(tables(folder)), "card": dict(sections(folder))}
    kept = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    if REWRITE:
        lines = json.dumps(dict(sorted((kept | {name: now}).items())), indent=1)
        row = re.compile(r"\[\s+(.*?),\s+(.*?),\s+(.*?)\s+\]")
        EXPECTED.write_text(row.sub(r"[\1, \2, \3]", lines) + "\n", encoding="utf-8")
        return
    for part, (by_size, at_all) in (("results", CLOSE), ("card", ROUNDED)):
        before = kept[name][part]
        assert list(now[part]) == list(before), f"tables of the results, or sections of the card, of {name}"
        for title, (words, weighted, size) in now[part].items():
            assert words == before[title][0], f"other words in {title} of the {part} of {name}"
            far = abs(weighted - before[title][1]) > by_size * size + at_all
            assert not far, f"other numbers in {title} of the {part} of {name}"
