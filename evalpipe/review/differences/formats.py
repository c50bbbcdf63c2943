"""The comparison as it is written: plain text for a terminal, JSON, Markdown, and a page.

Plain text has no colours, no boxes, and nothing that moves the cursor.
"""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Literal

from evalpipe.card.page import Aside, Bullets, Group, Number, Section, Table, Text, Verdict, plain
from evalpipe.review.differences.changes import worsening
from evalpipe.review.differences.page import facts, names_of_both, sections
from evalpipe.version import VERSION
from evalpipe.words.spelling import legible, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalpipe.card.contents import Card
    from evalpipe.card.page import Block, Cell, Facts
    from evalpipe.review.differences.records import Difference, Run


WIDEST = 44
"""The widest cell of words; longer ones go on in the next line."""


def text(verdict: str, facts: Facts, sections: Iterable[Section]) -> str:
    """Return the comparison as plain text; its first line is the verdict."""
    compared = [[term, shown(plain(cell))] for term, cell in facts.entries]  # type: ignore[arg-type]  # words, no blocks
    lines = [shown(verdict), "", *_columns(compared, set(), None)]
    for section in sections:
        lines += ["", shown(plain(section.title)).upper()]
        for index, block in enumerate(section.blocks):
            lines += [""] if index and isinstance(block, Table) else []
            lines += _block(block)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def shown(text: str) -> str:
    """Return a text on one line, with control characters, which would steer a terminal, replaced by visible marks."""
    return printable(legible(" ".join(text.split())))


def _block(block: Block) -> Iterator[str]:
    """Yield the lines of a block: text and bullets wrapped, a table in columns; nothing of other kinds."""
    if isinstance(block, Text):
        yield from wrapped(shown(plain(block.text)), 100)
    elif isinstance(block, Bullets):
        for item in block.items:
            first, *more = wrapped(shown(plain(item)).strip(), 98)  # type: ignore[arg-type]  # words, no blocks
            yield f"- {first}"
            yield from (f"  {line}" for line in more)
    elif isinstance(block, Table):
        yield from _table(block)


def _table(table: Table) -> Iterator[str]:
    """Yield the lines of a table: caption, column heads, rows under headings of groups, and how many are left out."""
    yield shown(plain(table.caption))
    columns = [table.columns[index] for index in table.shown]
    right_aligned = {index for index, column in enumerate(columns) if column.align == "num"}
    rows: list[list[str] | str] = [[column.head for column in columns]]
    for group, kept in table.bodies(None):
        rows += [shown(plain(group.heading))] if isinstance(group, Group) else []
        rows += [[shown(_words(cell.content)) for cell in table.line(row)] for row in kept]
    yield from _columns(rows, right_aligned)
    if table.kept(None) < table.whole:
        yield f"  The table shows {table.kept(None):,} of {table.whole:,} rows; the rest is in {table.rest}."


def _words(cell: Cell) -> str:
    """Return the content of a cell as text: a number with its note, a verdict behind its sign, asides after commas."""
    if isinstance(cell, tuple):
        return "".join(f", {plain(part).strip()}" if isinstance(part, Aside) else plain(part) for part in cell)
    if isinstance(cell, Number):
        return f"{cell.text} {cell.note}" if cell.note else cell.text
    return f"{cell.sign} {cell.text}" if isinstance(cell, Verdict) else plain(cell)


def _columns(rows: Sequence[list[str] | str], right_aligned: set[int], max_width: int | None = WIDEST) -> Iterator[str]:
    """Yield the lines of rows set in columns; a row that is a single text is a heading over the rows below.

    Columns whose index is in ``right_aligned`` hold numbers; other cells are wrapped at ``max_width``, None for never.
    """
    split_rows = [row if isinstance(row, str) else [
        [cell] if index in right_aligned or max_width is None else wrapped(cell, max_width)
        for index, cell in enumerate(row)] for row in rows]
    cell_rows = [row for row in split_rows if not isinstance(row, str)]
    widths = [max(max(map(width, row[index])) for row in cell_rows) for index in range(max(map(len, cell_rows)))]
    for row in split_rows:
        if isinstance(row, str):
            yield f"  {row}"
            continue
        for line_index in range(max(map(len, row))):
            parts = (cell[line_index] if line_index < len(cell) else "" for cell in row)
            cells = (padded(part, widths[index], right=index in right_aligned) for index, part in enumerate(parts))
            yield f"  {'  '.join(cells)}"


def padded(text: str, columns: int, *, right: bool) -> str:
    """Return a text filled with spaces to a width of ``columns``, on its left where it is ``right`` aligned."""
    space = " " * (columns - width(text))
    return space + text if right else text + space


def width(text: str) -> int:
    """Return how many terminal columns a text takes: two for wide characters, none for combining ones."""
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.combining(character) > 0 for character in text)


def wrapped(text: str, most: int) -> list[str]:
    """Return a text in lines of at ``most`` so many columns, broken at spaces; a longer word is not broken."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and width(longer) > most:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


Format = Literal["text", "json", "markdown", "html"]

MOST_ROWS = 50
"""The rows of a table in a terminal or in a comment, which holds some 65,000 characters."""

MOST_ON_PAGE = 500
"""The rows of a table on the page."""


def write(difference: Difference, a: Run, b: Run, form: Format) -> str:
    """Return the comparison in a format; it ends with a new line."""
    if form == "json":
        return json.dumps(difference.model_dump(by_alias=True), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "html":
        from evalpipe.card.html import write_sections

        return write_sections(_card(difference, a, b), "difference.html").decode("utf-8")
    if form == "markdown":
        return _markdown(difference, a, b)
    if difference.identical:
        return f"{shown(difference.verdict)}\n"
    names = names_of_both(a.results, b.results)
    return text(difference.verdict, facts(difference), sections(difference, names, MOST_ROWS))


def _markdown(difference: Difference, a: Run, b: Run) -> str:
    """Return the comparison as Markdown: the verdict, what was compared, then the sections."""
    from evalpipe.card.edition import Edition
    from evalpipe.card.markdown import block_paragraphs, escaped, inline

    edition = Edition(b.results)
    lines = [f"**{escaped(difference.verdict)}**", *block_paragraphs(edition, facts(difference))]
    for section in sections(difference, names_of_both(a.results, b.results), MOST_ROWS):
        lines.append(f"### {inline(section.title)}")
        for block in section.blocks:
            lines += block_paragraphs(edition, block)
    return "\n\n".join(line for line in lines if line.strip()) + "\n"


def _card(difference: Difference, a: Run, b: Run) -> Card:
    """Return the contents of the HTML page of a comparison: verdict box, what was compared, then the sections."""
    from evalpipe.card.contents import Card

    # Failed where a gate got worse, open where else anything differs.
    worse = any(worsening(change)[0] > 0 for change in difference.gates)
    style, sign = ("pass", "✓") if difference.same else ("fail", "✗") if worse else ("inconclusive", "?")
    title = b.results.title if a.results.title == b.results.title else f"{a.results.title} and {b.results.title}"
    box = Section("verdict", Verdict(difference.verdict, sign), (), f"gates {style}")
    return Card(
        title=title, generator=f"evalpipe {VERSION}", description=difference.verdict,
        identity=("Two runs compared", Aside(f"A: {difference.a.source}"), Aside(f"B: {difference.b.source}")),
        masthead=(box, facts(difference)),
        sections=tuple(sections(difference, names_of_both(a.results, b.results), MOST_ON_PAGE)),
        foot=f"evalpipe {VERSION}. All differences, with all digits, are in the output of --format json.")
