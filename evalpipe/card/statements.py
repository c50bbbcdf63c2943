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
from evalpipe.words.card_fields import FIELDS
from evalpipe.words.number_references import NumberReference, references, without_escapes
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

PLACE = re.compile("\ue000(\\d+)\ue001")

ROOM = 400
"""Characters of a text on the first screen; the whole stands in its section."""

UNKNOWN = "number unknown"
"""What stands in place of a number that the results do not hold."""


def blocks(results: Results, text: str) -> tuple[Block, ...]:
    """Write a text as blocks, numbers in place of its references."""
    return tuple(_MarkdownBlocks(results, text).blocks())


def line(results: Results, text: str) -> Cell:
    """Write a text as words of one line, its blocks one after the other."""
    pieces = [piece for block in blocks(results, text) for piece in (" ", *_words_of_block(block))]
    return tuple(pieces[1:])


def filled(results: Results, text: str) -> str:
    """Return a text in Markdown as it was written, with numbers in place of its references."""
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
    """Write the beginning of a text as words of one line, with a link to the section that holds the rest."""
    first, *rest = blocks(results, text)
    pieces = tuple(_words_of_block(first))
    left = ROOM
    for place, piece in enumerate(pieces):
        words = plain(piece)
        if len(words) > left:
            cut = words[:left].rpartition(" ")[0] or words[:left]
            ending = f"{cut.rstrip()}…" if isinstance(piece, str) else "…"
            return (*pieces[:place], ending, " ", Link("More", anchor))
        left -= len(words)
    return (*pieces, " ", Link("More", anchor)) if rest else pieces


def _words_of_block(block: Block) -> Iterator[Piece]:
    """Yield the words of a block that stands in a line."""
    if isinstance(block, Text | Heading):
        yield from (block.text if isinstance(block.text, tuple) else (block.text,))
    elif isinstance(block, Preformatted):
        yield Code(block.text)
    elif isinstance(block, Bullets):
        for place, item in enumerate(block.items):
            yield "; " if place else ""
            yield from _words_of_item(item)
    elif isinstance(block, BlockGroup):
        yield from _words_of_item(block.blocks)


def _words_of_item(item: Cell | tuple[Block, ...]) -> Iterator[Piece]:
    for place, part in enumerate(item if isinstance(item, tuple) else (item,)):
        if isinstance(part, Text | Heading | Preformatted | Bullets | BlockGroup):
            yield " " if place else ""
            yield from _words_of_block(part)
        else:
            yield part  # type: ignore[misc]  # a piece: blocks of other kinds are never made of a text


@cache
def _parser() -> MarkdownIt:
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
        self.results = results
        self.numbers: list[str] = []
        clean, end = "", 0
        for reference in references(text):
            if isinstance(reference, NumberReference):
                clean += f"{_legible_text(text[end:reference.start])}\ue000{len(self.numbers)}\ue001"
                end = reference.start + len(reference.written)
                self.numbers.append(reference.written)
        self.text = clean + _legible_text(text[end:])

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks of the text."""
        from markdown_it.tree import SyntaxTreeNode

        yield from self.blocks_of(SyntaxTreeNode(_parser().parse(self.text)).children)

    def blocks_of(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[Block]:
        """Yield a block for each node."""
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
        """Write an item of a list: words where it is a single paragraph, else blocks."""
        parts = node.children
        return self.cell(parts[0]) if [part.type for part in parts] == ["paragraph"] else tuple(self.blocks_of(parts))

    def cell(self, node: SyntaxTreeNode) -> Cell:
        """Write the words within a node."""
        return tuple(piece for inline in node.children for piece in self.pieces(inline.children))

    def pieces(self, nodes: Sequence[SyntaxTreeNode]) -> Iterator[Piece]:
        """Yield the pieces of words, each with its style."""
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
        """Write a link; a number cannot be part of its address, which is then no link."""
        if "%EE%80%80" in address:
            yield from inner
        else:
            yield ExternalLink(inner or address, address)

    def words_and_numbers(self, content: str) -> Iterator[Piece]:
        """Yield the words of a text, and the numbers that it refers to."""
        for place, part in enumerate(PLACE.split(content)):
            if place % 2:
                yield from self.number(int(part))
            elif part:
                yield part

    def number(self, place: int) -> Iterator[Piece]:
        """Write the number of a reference; what there is to know about it stands behind it."""
        number = _referenced_number(self.results, self.numbers[place])
        yield Number(number.value, number.interval, None, number.exact)
        if number.note is not None:
            yield Aside(f"[{number.note}]", "options")

    def filled(self, content: str) -> str:
        """Return a text that has no pieces, with numbers in place of its references."""
        return "".join(plain(piece) if isinstance(piece, Number | Aside) else str(piece)
                       for piece in self.words_and_numbers(content))


def _referenced_number(results: Results, reference: str) -> Number:
    """Write the number that a reference is to; words in its place where the results hold none."""
    key = next((number for number in results.statement.numbers if number.reference == reference), None)
    row = None if key is None else next((row for row in results.rows if row.about == key.about), None)
    if row is None:
        return Number(UNKNOWN)
    return shown(row, whole=any(metric.is_whole for metric in results.metrics if metric.name == row.metric))


if TYPE_CHECKING:
    Entries = tuple[tuple[str, Cell | tuple[Block, ...]], ...]


class SectionPlace(NamedTuple):
    """Where fields stand: the anchor, the title and the part of their section."""

    anchor: str
    title: str
    part: Part


PLACES: dict[SectionName, SectionPlace] = {
    "use": SectionPlace("use", "Use and limits", "use"),
    "factors": SectionPlace("factors", "Factors", "groups"),
    "choices": SectionPlace("choices", "Choices behind the numbers", "decisions"),
    "data": SectionPlace("data", "Data", "data"),
    "details": SectionPlace("model-details", "Model details", "model"),
    "design": SectionPlace("design", "Design and training", "model"),
    "risks": SectionPlace("risks", "Risks and oversight", "risks"),
    "monitoring": SectionPlace("monitoring", "Monitoring", "monitoring"),
    "validation": SectionPlace("validation", "Validation", "sign_off"),
    "conformity": SectionPlace("conformity", "Standards, registration, funding", "sign_off"),
}
"""Every section of fields."""


def missing(results: Results, key: str) -> Cell:
    """Write that a field is not stated, and which items of standards ask for it: "MISSING (A4-4)"."""
    asking = ", ".join(asked_by(results, key))
    return Strong(f"{MISSING} ({asking})" if asking else MISSING, "missing")


def asked_by(results: Results, key: str) -> list[str]:
    """Return the items of the chosen standards that ask for a field which is not stated."""
    return [item.label for standard in results.standards for item in standard.items
            if any(f"card.{key}" in need.split(" | ") for need in item.missing)]


def entries(results: Results, section: SectionName) -> Entries:
    """Write the fields of a section, in their order: those that are stated, and those that are missed."""
    facts: list[tuple[str, Cell | tuple[Block, ...]]] = []
    for key, field in FIELDS.items():
        text: str | None = getattr(results.statement, key)
        if field.section == section and (text is not None or field.always or asked_by(results, key)):
            facts.append((field.title, blocks(results, text) if text else missing(results, key)))
    return tuple(facts)


def section(results: Results, name: SectionName) -> Iterator[Section]:
    """Write a section of fields; nothing where there is nothing to show."""
    place, facts = PLACES[name], entries(results, name)
    if facts:
        yield Section(place.anchor, place.title, (Facts(facts, "rules"),), part=place.part)
