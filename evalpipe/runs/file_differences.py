"""In what two files of an output folder differ: the places, and what stands there in each."""

from __future__ import annotations

import csv
import io
import json
from itertools import islice, takewhile, zip_longest
from typing import TYPE_CHECKING

from evalpipe.card.page_text import Said
from evalpipe.words import numbers
from evalpipe.words.spelling import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.card.page_text import PageText

    Difference = tuple[str, object, object]

MOST_DIFFERENCES = 3
"""The differences that an error names; it counts the others."""

LONGEST = 60
"""The characters of a text that an error shows."""


def of_lines(there: str, here: str) -> Iterator[Difference]:
    """Yield the first line in which two texts differ."""
    lines = zip_longest(there.splitlines(), here.splitlines(), fillvalue="")
    yield from islice(((f"line {number}", *pair) for number, pair in enumerate(lines, 1) if pair[0] != pair[1]), 1)


def of_words(there: PageText, here: PageText) -> Iterator[Difference]:
    """Yield the words that differ; where some are missing, the first place alone, as those that follow have moved."""
    pairs = zip_longest(there.said, here.said, fillvalue=Said("", "", "", ""))
    differing = ((shown.place, shown.text, expected.text) for shown, expected in pairs if shown != expected)
    yield from differing if len(there.said) == len(here.said) else islice(differing, 1)


def of_json(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two documents differ, each place by what is measured there."""
    if there != here:
        try:
            document = json.loads(there)
        except (ValueError, RecursionError):
            yield "the document", "no JSON", "JSON"
            return
        yield from _differences(document, json.loads(here))


def of_csv(there: bytes, here: bytes) -> Iterator[Difference]:
    """Yield in what two tables of estimates differ."""
    try:
        left = _rows(there)
    except csv.Error as error:
        yield "the table", f"no CSV: {error}", "CSV"
        return
    yield from _differences(left, _rows(here))


def _rows(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8", "replace"), newline="")))


def _differences(there: object, here: object, where: str = "") -> Iterator[Difference]:
    if isinstance(there, dict) and isinstance(here, dict):
        for key in dict.fromkeys([*there, *here]):
            yield from _differences(there.get(key), here.get(key), f"{where}, {key}" if where else str(key))
    elif isinstance(there, list) and isinstance(here, list):
        for place, (left, right) in enumerate(zip_longest(there, here), 1):
            yield from _differences(left, right, _called(right or left, where, place))
    elif there != here:
        yield where, there, here


def _called(row: object, table: str, place: int) -> str:
    """Name a row of a table by what was measured, of which model; by its place where it is no measure."""
    if not isinstance(row, dict) or not row.get("metric"):
        return f"{table or 'row'} {place}"
    model = f" of {row['model']}" if row.get("model") else ""
    variant = f"+{row['variant']}" if row.get("variant") not in (None, "", "original") else ""
    places = [row["dataset"]] if row.get("dataset") else []
    places += [f"{name} = {label}" for name, label in _labels(row.get("slice")).items()]
    on = f" on {', '.join(places)}" if places else ""
    return f"{table}, {row['metric']}{model}{variant}{on}".removeprefix(", ")


def _labels(value: object) -> dict[str, object]:
    """Return the labels of a slice, which a table holds as JSON; none where they are something else."""
    try:
        labels = json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return {}
    return labels if isinstance(labels, dict) else {}


def notes_on(
    differences: Iterable[Difference], file: str, word: str = "in", other: str = "results.json"
) -> list[str]:
    """Write the first differences of a file from what stands in, or follows by, another; and how many more."""
    known = list(differences)
    notes = [f"{where}: {_shown(there, here)} in {file}, {_shown(here, there)} {word} {other}"
             for where, there, here in known[:MOST_DIFFERENCES]]
    more = len(known) - len(notes)
    return notes + ([f"{more:,} more {'place differs' if more == 1 else 'places differ'}"] if more else [])


def _shown(value: object, other: object) -> str:
    """Write a value of a file within a sentence; of a long text what stands about its first difference to another."""
    if value in (None, ""):
        return "nothing"
    if isinstance(value, float):
        return numbers.exact(value)
    text = printable(" ".join(str(value).split()))
    if len(text) <= LONGEST:
        return text
    same = takewhile(lambda pair: pair[0] == pair[1], zip(text, printable(" ".join(str(other).split())), strict=False))
    first = max(0, sum(1 for _ in same) - LONGEST // 3)
    return f"{'…' if first else ''}{text[first:first + LONGEST]}{'…' if first + LONGEST < len(text) else ''}"
