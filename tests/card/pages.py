"""What is on the pages of a PDF, read off WeasyPrint's layout: how full they are, and what is cut or parted."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results
    from evalpipe.results.signatures import Signature

HEADS = {"h1", "h2", "h3", "h4", "caption"}
SPARE = 1.5
"""Pixels by which a box may reach over the edge: rounding, and the line under a row."""


def pages_of(results: Results, *signatures: Signature) -> list[Any]:
    """Lay out the PDF of a card and return the boxes of its pages."""
    from evalpipe.card.edition import Edition
    from evalpipe.card.pdf import layout

    return [page._page_box for page in layout(Edition(results, signatures)).pages]


def leaves(box: Any) -> Iterator[Any]:
    """Yield the lines and pictures in a box, and the lines in its cells; a line with a picture is that picture."""
    from weasyprint.formatting_structure import boxes

    if isinstance(box, boxes.ReplacedBox):
        yield box
    elif isinstance(box, boxes.LineBox) and not any(
            isinstance(inside, boxes.ReplacedBox | boxes.InlineBlockBox) for inside in box.descendants()):
        if any(isinstance(inside, boxes.TextBox) and inside.text.strip() for inside in box.descendants()):
            yield box
    elif isinstance(box, boxes.ParentBox):
        for child in box.children:
            yield from leaves(child)


def content(page: Any) -> list[Any]:
    """Return the lines and pictures of a page, its header and footer left out."""
    return list(leaves(page.children[0]))


def fill(page: Any) -> float:
    """Return the share of a page's height, from the top, that is used."""
    lowest = max(leaf.position_y + leaf.height for leaf in content(page))
    return float((lowest - page.content_box_y()) / page.height)


def ends(pages: list[Any]) -> set[int]:
    """Return the numbers of the last pages of the card and of what is before its appendix, which begins a page."""
    appendix = next((number for number, page in enumerate(pages, 1) if any(
        "annex" in (box.element.get("class") or "") for box in page.descendants() if box.element_tag == "section")), 0)
    return {appendix - 1, len(pages)}


def before_annex(pages: list[Any]) -> int:
    """Return the number of pages before the annex."""
    return min(ends(pages))


def small_texts(pages: list[Any], least: float) -> list[str]:
    """Name the words of pages, with their headers and footers, and of their figures smaller than ``least`` points."""
    from weasyprint.formatting_structure import boxes

    named = []
    for number, page in enumerate(pages, 1):
        for box in page.descendants():
            if isinstance(box, boxes.TextBox) and box.text.strip() and box.style["font_size"] * 0.75 < least:
                named.append(f"page {number}: {box.text!r} has {box.style['font_size'] * 0.75:.1f} points")
            elif isinstance(box, boxes.ReplacedBox) and (size := _size_in_figure(box)) is not None and size < least:
                named.append(f"page {number}: a figure has text of {size:.1f} points")
    return named


def _size_in_figure(box: Any) -> float | None:
    """Return the size in points of the smallest text of a figure as it is laid out; None of one without texts."""
    tree = getattr(getattr(box.replacement, "_svg", None), "tree", None)
    if tree is None:
        return None
    sizes = [float(node.get("font-size")) for node in tree._etree_node.iter() if node.get("font-size")]
    if not sizes:
        return None
    return min(sizes) * 0.75 * (1.0 if "%" in tree.get("width") else box.width / float(tree.get("width")))


def sparse(pages: list[Any], least: float) -> list[str]:
    """Name the pages that are less full than ``least``; the last page of a part may be."""
    last = ends(pages)
    return [f"page {number} is {fill(page):.2f} full" for number, page in enumerate(pages, 1)
            if fill(page) < least and number not in last]


def cut(pages: list[Any]) -> list[str]:
    """Name the pages on which a line or a picture reaches over the right or the lower edge of the page's content."""
    named = []
    for number, page in enumerate(pages, 1):
        right, bottom = page.content_box_x() + page.width, page.content_box_y() + page.height
        for leaf in content(page):
            over = leaf.position_x + leaf.width - right, leaf.position_y + leaf.height - bottom
            if max(over) > SPARE:
                tag = leaf.element_tag.rpartition("}")[2]
                named.append(f"page {number}: <{tag}> is {max(over):.0f} px over the edge")
        named += [f"page {number}: {box.text!r} runs out of its cell" for box in outside(page)]
    return named


def outside(page: Any) -> Iterator[Any]:
    """Yield the words that are wider than their cell has room for, so that they meet those beside it."""
    from weasyprint.formatting_structure import boxes

    for cell in page.children[0].descendants():
        if isinstance(cell, boxes.TableCellBox):
            left, right = cell.content_box_x(), cell.content_box_x() + cell.width
            for box in cell.descendants():
                if isinstance(box, boxes.TextBox) and box.element_tag != "sup" and box.text.strip() and (
                        box.position_x < left - SPARE or box.position_x + box.width > right + SPARE):
                    yield box


def parted(pages: list[Any]) -> list[str]:
    """Name the pages that end with a heading or a caption, apart from what it heads."""
    named = []
    for number, page in enumerate(pages, 1):
        last = max(content(page), key=lambda leaf: (leaf.position_y + leaf.height, leaf.position_y))
        if last.element_tag in HEADS:
            named.append(f"page {number} ends with a <{last.element_tag}>")
    return named


def printed_twice(pages: list[Any]) -> list[str]:
    """Name the paragraphs and headings that stand on two pages with the same words, as a box that floats may."""
    seen: dict[Any, tuple[int, str]] = {}
    named = []
    for number, page in enumerate(pages, 1):
        for box in page.children[0].descendants():
            if box.element_tag in HEADS - {"caption"} | {"p"} and type(box).__name__ == "BlockBox":
                text = "".join(part.text for part in box.descendants() if hasattr(part, "text"))
                before, words = seen.setdefault(box.element, (number, text))
                if before != number and words == text:
                    named.append(f"page {number}: {text[:40]!r} stands on page {before} too")
    return named


def lone_rows(pages: list[Any], least: int = 2) -> list[str]:
    """Name the pages that hold fewer than ``least`` rows of a table which others hold too, or end one in a heading."""
    from weasyprint.formatting_structure import boxes

    pieces: dict[Any, list[tuple[int, list[Any]]]] = defaultdict(list)
    for number, page in enumerate(pages, 1):
        for table in page.descendants():
            if isinstance(table, boxes.TableBox):
                rows = [row for group in table.children if isinstance(group, boxes.TableRowGroupBox)
                        and not group.is_header for row in group.children]
                pieces[table.element].append((number, rows))
    named = []
    for parts in pieces.values():
        for number, rows in parts if len(parts) > 1 else ():
            if len(rows) < least:
                named.append(f"page {number} holds {len(rows)} row of a table")
            elif number != parts[-1][0] and rows[-1].element.get("class") == "group":
                named.append(f"page {number} ends with the heading of a group")
    return named
