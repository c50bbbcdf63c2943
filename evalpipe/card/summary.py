"""The card's first section: warnings, and the key measures of each dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.measures import key_tables
from evalpipe.card.page import BlockGroup, Bullets, Code, Heading, Section, Text
from evalpipe.card.tables import evaluated
from evalpipe.chapters import functions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Table
    from evalpipe.results import Results


def sections(results: Results) -> Iterator[Section]:
    """Write the section."""
    of_chapters = (block for summary in functions("card", "summary") for block in summary(results))
    yield Section("summary", "Summary", (_warnings(results), *of_chapters, *_key_measures(results)))


def _warnings(results: Results) -> Block:
    if not results.warnings:
        return Text("The run gave no warnings.")
    title = f"{len(results.warnings)} {'warning' if len(results.warnings) == 1 else 'warnings'}"
    items = tuple((Code(warning.code), f" {warning.message}") for warning in results.warnings)
    return BlockGroup((Heading(title), Bullets(items)), "warnings", label=title)


def _key_measures(results: Results) -> Iterator[Table]:
    for _, dataset in evaluated(results):
        yield from key_tables(results, dataset.name)
