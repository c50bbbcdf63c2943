"""What people state: texts in Markdown as blocks of the card, and facts field by field, with what is missing.

A text is parsed into tokens, and only the kinds of token that this file names become blocks and pieces; no markup is
passed through. Raw HTML, images and links to other addresses than http, https and mailto stay the text that they are.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.page import (
    Aside,
    BlockGroup,
    Bullets,
    Code,
    Emphasis,
    ExternalLink,
    Facts,
    Heading,
    Line,
    Link,
    Number,
    Preformatted,
    Section,
    Strong,
    Text,
    plain,
)
from evalpipe.card.tables import shown
from evalpipe.card.wording import MISSING
from evalpipe.words.card_fields import FIELDS, NumberReference, references, without_escapes
from evalpipe.words.spelling import legible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.tree import SyntaxTreeNode

    from evalpipe.card.page import Block, Cell, Part, Piece
    from evalpipe.results import Results
    from evalpipe.words.card_fields import SectionName


ADDRESS = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
"""How the address of a link begins."""

NUMBER_MARK = re.compile("\ue000(\\d+)\ue001")
"""What stands in place of a reference while a text is parsed: its index between two characters of private use."""

ROOM = 400
"""Characters of a text on the first screen; the whole stands in its section."""

UNKNOWN = "number unknown"
"""What stands in place of a number that the results do not hold."""


def blocks(results: Results, text: str) -> tuple[Block, ...]:
    """Return the blocks of a text in Markdown, with numbers in place of its references."""
    return tuple(_MarkdownBlocks(results, text).blocks())


def one_line(results: Results, text: str) -> Cell:
    """Return a Markdown text as pieces of a single line, its blocks after each other."""
    pieces = [piece for block in blocks(results, text) for piece in (" ", *_inline_pieces(block))]
    return tuple(pieces[1:])


def with_numbers(results: Results, text: str) -> str:
    """Return a Markdown text, its markup unchanged, with numbers in place of its references to results."""
    parts, end = [], 0
    for reference in references(text):
        if isinstance(reference, NumberReference):
            parts += [_legible_text(text[end : reference.start]),
                      legible(plain(_referenced_number(results, reference.written)))]
            end = reference.start + len(reference.written)
    return "".join((*parts, _legible_text(text[end:])))


def _legible_text(text: str) -> str:
    """Return a text without escapes of references, and without characters that are not legible."""
    return legible(without_escapes(text))


def opening(results: Results, text: str, anchor: str) -> Cell:
    """Return the first block of a text, cut to `ROOM` characters for the top of the card, and a link to the rest."""
    first, *rest = blocks(results, text)
    pieces = tuple(_inline_pieces(first))
    room = ROOM
    for index, piece in enumerate(pieces):
        text_of_piece = plain(piece)
        if len(text_of_piece) > room:
            beginning = text_of_piece[:room].rpartition(" ")[0] or text_of_piece[:room]
            ending = f"{beginning.rstrip()}…" if isinstance(piece, str) else "…"
            return (*pieces[:index], ending, " ", Link("More", anchor))
        room -= len(text_of_piece)
    return (*pieces, " ", Link("More", anchor)) if rest else pieces


def _inline_pieces(block: Block) -> Iterator[Piece]:
    """Yield the pieces of a block set within a line, list items joined by "; "; nothing of other kinds of block."""
    if isinstance(block, Text | Heading):
        yield from (block.text if isinstance(block.text, tuple) else (block.text,))
    elif isinstance(block, Preformatted):
        yield Code(block.text)
    elif isinstance(block, Bullets):
        for index, item in enumerate(block.items):
            yield "; " if index else ""
            yield from _inline_item(item)
    elif isinstance(block, BlockGroup):
        yield from _inline_item(block.blocks)


def _inline_item(item: Cell | tuple[Block, ...]) -> Iterator[Piece]:
    """Yield the pieces of an item of a list, or of several blocks, set within a line."""
    for index, part in enumerate(item if isinstance(item, tuple) else (item,)):
        if isinstance(part, Text | Heading | Preformatted | Bullets | BlockGroup):
            yield " " if index else ""
            yield from _inline_pieces(part)
        else:
            yield part  # type: ignore[misc]  # a piece: blocks of other kinds are never made of a text


@cache
def _parser() -> MarkdownIt:
    """Return the parser of Markdown: CommonMark without raw HTML, with links to the web and to mail alone."""
    from markdown_it import MarkdownIt

    class Safe(MarkdownIt):
        """CommonMark whose raw HTML is text, and whose links lead to the web and to mail alone."""

        def validateLink(self, url: str) -> bool:  # noqa: N802 - the name that the parser calls
            """Tell whether an address may be linked."""
            return ADDRESS.match(url) is not None

    return Safe("commonmark", {"html": False})


class _MarkdownBlocks:
    """Turns the syntax tree of a text into blocks, by the kinds of its nodes."""

    def __init__(self, results: Results, text: str) -> None:
        """Replace each reference to a number by a mark with its index in ``references``."""
        self.results = results
        self.references: list[str] = []
        clean, end = "", 0
        for reference in references(text):
            if isinstance(reference, NumberReference):
                clean += f"{_legible_text(text[end:reference.start])}\ue000{len(self.references)}\ue001"
                end = reference.start + len(reference.written)
                self.references.append(reference.written)
        self.text = clean + _legible_text(text[end:])

    def blocks(self) -> Iterator[Block]:
        """Parse the text and yield its blocks."""
        from markdown_it.tree import SyntaxTreeNode

        yield from self.blocks_of(SyntaxTreeNode(_parser().parse(self.text)).children)

    def blocks_of(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[Block]:
        """Yield the block of each node of the syntax tree, by the type of the node."""
        for node in nodes:
            match node.type:
                case "paragraph":
                    yield Text(self.cell(node))
                case "heading":
                    yield Heading(self.cell(node))
                case "bullet_list":
                    yield Bullets(tuple(self.item(item) for item in node.children))
                case "ordered_list":
                    start = int(node.attrs.get("start", 1))
                    yield Bullets(tuple(self.item(item) for item in node.children), start=start)
                case "blockquote":
                    yield BlockGroup(tuple(self.blocks_of(node.children)), "quote")
                case "fence" | "code_block":
                    yield Preformatted(self.filled(node.content.rstrip("\n")), "spec")
                case "hr":
                    yield Text("* * *")
                case _:
                    yield Text(self.filled(node.content))

    def item(self, node: SyntaxTreeNode) -> Cell | tuple[Block, ...]:
        """Return an item of a list: pieces of text where it is a single paragraph, else blocks."""
        parts = node.children
        return self.cell(parts[0]) if [part.type for part in parts] == ["paragraph"] else tuple(self.blocks_of(parts))

    def cell(self, node: SyntaxTreeNode) -> Cell:
        """Return the pieces of text within a node."""
        return tuple(piece for inline in node.children for piece in self.pieces(inline.children))

    def pieces(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[Piece]:
        """Yield the pieces of text of inline nodes, each in its style."""
        for node in nodes:
            inner = tuple(self.pieces(node.children)) if node.is_nested else ()
            match node.type:
                case "strong":
                    yield Strong(inner)
                case "em":
                    yield Emphasis(inner)
                case "link":
                    yield from self.link(inner, str(node.attrs["href"]))
                case "code_inline":
                    yield Code(self.filled(node.content))
                case "image":
                    yield from self.words_and_numbers(f"![{node.content}]({node.attrs['src']})")
                case "softbreak":
                    yield " "
                case "hardbreak":
                    yield Line("")
                case _:
                    yield from self.words_and_numbers(node.content)

    def link(self, inner: tuple[Piece, ...], address: str) -> Iterator[Piece]:
        """Yield a link, or its text alone where its address refers to a number, which cannot be filled in there."""
        if "%EE%80%80" in address:
            yield from inner
        else:
            yield ExternalLink(inner or address, address)

    def words_and_numbers(self, content: str) -> Iterator[Piece]:
        """Yield the words of a text, and a number in place of each mark."""
        for index, part in enumerate(NUMBER_MARK.split(content)):
            if index % 2:
                yield from self.number(int(part))
            elif part:
                yield part

    def number(self, index: int) -> Iterator[Piece]:
        """Yield the number that a reference, by its index, is to, and its note in brackets, if any."""
        number = _referenced_number(self.results, self.references[index])
        yield Number(number.value, number.interval, None, number.exact)
        if number.note is not None:
            yield Aside(f"[{number.note}]", "options")

    def filled(self, content: str) -> str:
        """Return the text of code or a block without markup, with numbers in place of its marks."""
        return "".join(plain(piece) if isinstance(piece, Number | Aside) else str(piece)
                       for piece in self.words_and_numbers(content))


def _referenced_number(results: Results, reference: str) -> Number:
    """Return the number that a reference names; `UNKNOWN` where the results do not hold it."""
    stated = next((number for number in results.statement.numbers if number.reference == reference), None)
    row = None if stated is None else results.estimate_about.get(stated.about)
    if row is None:
        return Number(UNKNOWN)
    return shown(row, whole=any(metric.is_whole for metric in results.metrics if metric.name == row.metric))


if TYPE_CHECKING:
    Entries = tuple[tuple[str, Cell | tuple[Block, ...]], ...]


class SectionPlace(NamedTuple):
    """The anchor and the title of a section of fields, and the part of the card that it is in."""

    anchor: str
    title: str
    part: Part


PLACES: dict[SectionName, SectionPlace] = {
    "use": SectionPlace("use", "Use and limits", "use"),
    "data": SectionPlace("data", "Data", "data"),
    "risks": SectionPlace("risks", "Risks and oversight", "risks"),
    "monitoring": SectionPlace("monitoring", "Monitoring", "monitoring"),
    "factors": SectionPlace("factors", "Factors", "appendix"),
    "choices": SectionPlace("choices", "Choices behind the numbers", "appendix"),
    "details": SectionPlace("model-details", "Model details", "appendix"),
    "design": SectionPlace("design", "Design and training", "appendix"),
    "validation": SectionPlace("validation", "Validation", "appendix"),
    "conformity": SectionPlace("conformity", "Standards, registration, funding", "appendix"),
}
"""Every section of fields."""


def missing(results: Results, key: str) -> Cell:
    """Return words for a field that is not stated, with the items of standards that ask for it: "MISSING (A4-4)"."""
    asking = ", ".join(items_asking_for(results, key))
    return Strong(f"{MISSING} ({asking})" if asking else MISSING, "missing")


def items_asking_for(results: Results, key: str) -> list[str]:
    """Return the labels of the items in the chosen standards that ask for a field which is not stated."""
    return [item.label for standard in results.standards for item in standard.items
            if any(f"card.{key}" in need.split(" | ") for need in item.missing)]


def field_entries(results: Results, section: SectionName) -> Entries:
    """Return (title, content) of the fields of a section; a required field without a text is marked as missing."""
    facts: list[tuple[str, Cell | tuple[Block, ...]]] = []
    for key, field in FIELDS.items():
        text: str | None = getattr(results.statement, key)
        if field.section == section and (text is not None or field.always or items_asking_for(results, key)):
            facts.append((field.title, blocks(results, text) if text else missing(results, key)))
    return tuple(facts)


def section(results: Results, name: SectionName) -> Iterator[Section]:
    """Yield the section with the fields of that name; nothing where no field is stated or required."""
    place, facts = PLACES[name], field_entries(results, name)
    if facts:
        yield Section(place.anchor, place.title, (Facts(facts, "rules"),), part=place.part)
