"""The card as Markdown with tables and the front matter that Hugging Face reads; figures are put in words.

The front matter is YAML with the `model-index` of results.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Bullets,
    Code,
    DotPlot,
    Emphasis,
    ExternalLink,
    Facts,
    Figures,
    Formula,
    Heading,
    Line,
    Link,
    Preformatted,
    Section,
    Sparklines,
    StackedBars,
    Strong,
    Styled,
    Table,
    Text,
    Verdict,
    plain,
)
from evalpipe.card.wording import names_of
from evalpipe.words.spelling import legible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from evalpipe.card.edition import Edition
    from evalpipe.card.page import Block, Cell, Dot, Sparkline
    from evalpipe.results import Estimate, Results


TASKS = {"binary": "tabular-classification", "multiclass": "tabular-classification",
         "ordinal": "tabular-classification", "regression": "tabular-regression", "count": "tabular-regression",
         "score": "other"}
"""What the Hub calls the tasks."""

NOT_IN_IDS = re.compile(r"[^\w.-]+", re.ASCII)
"""What the Hub refuses in the id of a dataset."""


def front_matter(results: Results, only: tuple[str, str] | None = None) -> str:
    """Return the YAML front matter with its fences, in the fields of the Hub's card specification.

    ``only`` is the (model, variant) whose results it lists; None for the original predictions of all models.
    """
    import yaml

    document: dict[str, Any] = {"library_name": "evalpipe", "tags": ["evalpipe", TASKS[results.task]],
                                "pipeline_tag": TASKS[results.task]}
    if results.statement.licence:
        document |= {"license": "other", "license_name": results.statement.licence}
    document["model-index"] = [_index_entry(results, only)]
    return f"---\n{yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=1000)}---"


def _index_entry(results: Results, only: tuple[str, str] | None) -> dict[str, Any]:
    """Return the entry of the model index: the measures on all rows of each evaluated dataset.

    ``only`` is the (model, variant) whose results it has; None for the original predictions of all models. There is
    one entry for all models, as readers of the index take the results of all entries for one model's.
    """
    rows = [row for row in results.rows if row.slice is None and row.class_ is None and row.value is not None and (
        row.variant == "original" if only is None else (row.model, row.variant) == only)]
    several = only is None and len(results.models) != 1
    name = results.title if several else names_of(results).model(*(only or (results.models[0].name,)))
    entries = []
    for dataset in dict.fromkeys(row.dataset for row in rows):
        hashes = [file.sha256 for file in results.inputs if file.dataset == dataset and file.sha256]
        identity = {"type": NOT_IN_IDS.sub("-", dataset), "name": dataset}
        if hashes:  # of data held in memory there are none
            identity["revision"] = hashes[0]
        entries.append({
            "task": {"type": TASKS[results.task], "name": results.title}, "dataset": identity,
            "metrics": [_index_metric(results, row, several=several) for row in rows if row.dataset == dataset],
        })
    return {"name": name, "results": entries}


def _index_metric(results: Results, row: Estimate, *, several: bool) -> dict[str, Any]:
    """Return an estimate as JSON values for the model index; ``several`` says whether to name its model."""
    names = names_of(results)
    measure = names.measure(row.metric, row.params, row.average)
    args: dict[str, Any] = {"model": row.model} if several else {}
    args |= row.params
    if row.average:
        args["average"] = row.average
    if row.lower is not None and row.upper is not None:
        args |= {"lower": row.lower, "upper": row.upper, "level": row.level, "interval": row.method}
    args["n"] = row.n
    return {"type": row.metric, "name": f"{measure}, {names.model(row.model)}" if several else measure,
            "value": row.value, "args": args}


MARKUP = re.compile(r"([\\`*_\[\]<>|~$&#])")
"""Characters that begin markup wherever they stand."""

LEADING = re.compile(r"^(\d*)([-+=.)])(?=\s|$|=|-)")
"""What makes a list or a heading at the start of a line."""

ROW_LIMIT = 200
"""The most rows of a table, as in the PDF; the others are in the files that are written beside it."""


def document(edition: Edition) -> bytes:
    """Return card.md in UTF-8: front matter, then the sections of the card in their order."""
    card = edition.card.on_screen
    lines = [front_matter(edition.results), f"# {escaped(card.title)}", inline(card.identity)]
    for block in card.masthead:
        lines += _section_paragraphs(edition, block) if isinstance(block, Section) else block_paragraphs(edition, block)
    for title, sections in card.parts:
        lines += [f"## {escaped(title)}"] if len(sections) > 1 and sections[0].title != title else []
        for section in sections:
            lines += _section_paragraphs(edition, section)
    lines.append(inline(card.foot))
    return ("\n\n".join(line for line in lines if line.strip()) + "\n").encode("utf-8")


def escaped(text: str) -> str:
    """Return a text on one line with backslashes before characters that Markdown would read as markup."""
    return LEADING.sub(r"\1\\\2", MARKUP.sub(r"\\\1", " ".join(legible(text).split())))


def inline(cell: Cell) -> str:
    """Return a cell or the text of a paragraph as Markdown, on one line."""
    if isinstance(cell, tuple):
        return "".join(map(inline, cell))
    write = PIECES.get(type(cell))
    if write is not None:
        return write(cell)
    text = plain(cell)
    spaces = len(text) - len(text.lstrip()), len(text.rstrip())
    return text[: spaces[0]] + escaped(text) + text[spaces[1]:] if text.strip() else text


def _code_span(piece: Code) -> str:
    ticks = _backticks(piece.text, 1)
    return f"{ticks} {piece.text} {ticks}" if "`" in piece.text else f"{ticks}{piece.text}{ticks}"


def _backticks(text: str, least: int) -> str:
    """Return more backticks than the text has in a row, to stand about it."""
    return "`" * max(least, 1 + max(map(len, re.findall("`+", text)), default=0))


PIECES: dict[type, Callable[[Any], str]] = {
    Code: _code_span, Strong: lambda piece: f"**{inline(piece.text)}**",
    Emphasis: lambda piece: f"*{inline(piece.text)}*",
    ExternalLink: lambda piece: f"[{inline(piece.text)}](<{piece.address}>)", Styled: lambda piece: inline(piece.text),
    Link: lambda piece: f"[{escaped(piece.text)}](#{piece.anchor})", Aside: lambda piece: f" {inline(piece.text)}",
    Line: lambda piece: f" {inline(piece.text)}",
    Verdict: lambda piece: f"{escaped(piece.sign)} {inline(piece.text)}",
}
"""How each kind of piece is written that is more than words."""


def _section_paragraphs(edition: Edition, section: Section) -> Iterator[str]:
    """Yield the heading of a section, which has its anchor, and its paragraphs."""
    level = "##" if section.style == "opening" else "###"
    yield f'<a id="{section.anchor}"></a>\n\n{level} {inline(section.title)}'
    for block in section.blocks:
        yield from block_paragraphs(edition, block)


def block_paragraphs(edition: Edition, block: Block) -> Iterator[str]:
    """Yield the paragraphs of a block in Markdown; nothing for one that only an HTML page has, such as sliders."""
    write = BLOCKS.get(type(block))
    if write is not None:
        yield from write(block, edition)


def _bullets(block: Bullets, edition: Edition) -> Iterator[str]:
    """Yield a list as one paragraph, numbered where the block has a start."""
    marks = ["-"] * len(block.items) if block.start is None else [
        f"{number}." for number in range(block.start, block.start + len(block.items))]
    yield "\n".join(f"{mark} {_list_item(item, edition).strip()}" for mark,
                    item in zip(marks, block.items, strict=True))


def _list_item(content: Any, edition: Edition) -> str:
    """Return the content of a list item: a text, or blocks, which are indented below the first."""
    if isinstance(content, tuple) and any(type(part) in BLOCKS for part in content):
        paragraphs = [paragraph for part in content for paragraph in block_paragraphs(edition, part)]
        return "\n\n".join(paragraphs).replace("\n", "\n   ")
    return inline(content)


def _fenced(block: Preformatted, _: Edition) -> Iterator[str]:
    fence = _backticks(block.text, 3)
    yield f"{fence}\n{block.text.rstrip()}\n{fence}"


def _lines_with_texts(title: str, rows: Iterable[Dot | Sparkline], caption: str) -> Iterator[str]:
    """Yield a table of the labels and texts of a plot, and its caption."""
    lines = [f"| {escaped(row.label)} | {inline(row.text)} |" for row in rows]
    yield "\n".join((f"| {escaped(title)} | |", "|---|---:|", *lines))
    yield escaped(caption)


def _stacked_bars(block: StackedBars, _: Edition) -> Iterator[str]:
    """Yield the title of stacked bars, a Markdown table with a count for each part, and further text."""
    heads = [part.words for part in block.bars[0].parts]
    lines = [f"| {' | '.join([escaped(bar.label), *(str(part.count) for part in bar.parts)])} |" for bar in block.bars]
    yield f"**{escaped(block.title)}** ({escaped(block.caption)})"
    yield "\n".join((f"| | {' | '.join(map(escaped, heads))} |", "|---" + "|---:" * len(heads) + "|", *lines))
    if block.more:
        yield escaped(block.more)


def _figures(block: Figures, edition: Edition) -> Iterator[str]:
    """Yield the number, title, finding and caption of each figure of a block, with the blocks above them."""
    drawings = edition.drawn(block)
    for part in block.above if drawings else block.instead:
        yield from block_paragraphs(edition, part)
    for number, drawing in drawings:
        yield (f"**Figure {number}. {escaped(drawing.title)}.** {escaped(drawing.said)} {escaped(drawing.reading)} "
               "Drawn in card.html.")


def _table(table: Table, _: Edition) -> Iterator[str]:
    """Yield the caption, the table with pipes between cells, its remarks, and how many rows are left out."""
    columns = [table.columns[place] for place in table.shown]
    lines = [
        [escaped(f"{column.over} {column.head}" if column.over else column.head) for column in columns],
        ["---:" if column.align == "num" else "---" for column in columns]]
    for group, rows in table.bodies(ROW_LIMIT):
        lines += [[f"**{inline(group.heading)}**"]] if group else []
        for row in rows:
            cells = [inline(cell.content).strip() for cell in table.line(row)]
            lines.append(cells if row.anchor is None else [f'<a id="{row.anchor.id}"></a>{cells[0]}', *cells[1:]])
    lines += [[inline(cell.content).strip() for cell in table.line(row)] for row in table.foot]
    yield f"**{inline(table.caption)}**"
    yield "\n".join(f"| {' | '.join(cells + [''] * (len(columns) - len(cells)))} |" for cells in lines)
    if table.remarks:
        yield " ".join(f"{letter}: {escaped(remark)}." for letter, remark in table.remarks)
    if table.kept(ROW_LIMIT) < table.whole:
        yield f"The table shows {table.kept(ROW_LIMIT)} of {table.whole:,} rows; the rest is in {table.rest}."


BLOCKS: dict[type, Callable[[Any, Edition], Iterator[str]]] = {
    Text: lambda block, _: iter((inline(block.text),)),
    Heading: lambda block, _: iter((f"{'#' * (block.level + 1)} {inline(block.text)}",)),
    Facts: lambda block, edition: iter((
        "\n".join(f"- **{escaped(term)}**: {_list_item(text, edition)}" for term, text in block.entries),)),
    Formula: lambda block, _: iter((f"$$ {block.latex} $$",)),
    BlockGroup: lambda block, edition: chain.from_iterable(block_paragraphs(edition, part) for part in block.blocks),
    DotPlot: lambda block, _: _lines_with_texts(block.title, block.dots, block.caption),
    Sparklines: lambda block, _: _lines_with_texts(block.title, block.lines, block.caption),
    Bullets: _bullets, Preformatted: _fenced, StackedBars: _stacked_bars, Figures: _figures, Table: _table,
}
"""How each kind of block is written."""
