"""What tests look for in the sections of a card: its tables by their caption, and its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.card.page import BlockGroup, Facts, Figures, Group, Heading, Row, Section, Table, Text, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def blocks(parts: Iterable[Any]) -> Iterator[Any]:
    """Yield every block of sections, boxes and other blocks, in order."""
    for part in parts:
        if isinstance(part, BlockGroup | Section):
            yield from blocks(part.blocks)
        else:
            yield part


def tables(parts: Iterable[Any], start: str = "") -> list[Table]:
    """Return the tables whose caption begins so."""
    found = (block for block in blocks(parts) if isinstance(block, Table))
    return [table for table in found if plain(table.caption).startswith(start)]


def table(parts: Iterable[Any], start: str = "") -> Table:
    """Return the only table whose caption begins so."""
    (found,) = tables(parts, start)
    return found


def heads(table: Table) -> list[str]:
    """Return the heads of the columns that are shown."""
    return [table.columns[place].head for place in table.shown]


def rows(table: Table) -> list[Row]:
    """Return the rows of a table, headings of groups apart."""
    return [row for row in table.rows if isinstance(row, Row)]


def column(table: Table, head: str) -> list[Any]:
    """Return the cells under a head that is shown."""
    (place,) = (place for place in table.shown if table.columns[place].head == head)
    return [row.cells[place] for row in rows(table)]


def lines(table: Table) -> list[list[str]]:
    """Return the words of each row that is no heading, cell by cell, as far as they are shown."""
    return [[plain(row.cells[place]) for place in table.shown if place < len(row.cells)] for row in rows(table)]


def groups(table: Table) -> list[str]:
    """Return the headings of groups of rows."""
    return [plain(row.heading) for row in table.rows if isinstance(row, Group)]


def facts(parts: Iterable[Any]) -> dict[str, str]:
    """Return all terms with what they are."""
    found = (block for block in blocks(parts) if isinstance(block, Facts))
    return {term: plain(text) for block in found for term, text in block.entries}


def paragraphs(parts: Iterable[Any]) -> list[str]:
    """Return the words of headings and paragraphs, with those that stand over figures or instead of them."""
    found = []
    for block in blocks(parts):
        if isinstance(block, Text | Heading):
            found.append(plain(block.text))
        if isinstance(block, Figures):
            found += paragraphs((*block.above, *block.instead))
    return found


def content(part: Any) -> list[Any]:
    """Return all words of a section, to compare two."""
    return [paragraphs([part]), *([plain(each.caption), heads(each), lines(each)] for each in tables([part]))]
