"""What a PDF is made of, read with pikepdf: elements, cells, fonts, bookmarks, and the words of its pages."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pikepdf

from installed import poppler

PAINTS = {"Tj", "TJ", "'", '"', "f", "F", "f*", "S", "s", "B", "B*", "b", "b*", "Do", "sh", "EI"}
"""The operators that put something on a page."""

CELLS = ("/TH", "/TD")


def elements(pdf: pikepdf.Pdf, kind: str = "") -> list[Any]:
    """Return the elements of the structure in the order in which they are read; those of one ``kind`` alone."""
    return [element for element in within(pdf.Root.StructTreeRoot) if kind in {"", str(element.S)}]


def within(parent: Any) -> Iterator[Any]:
    """Yield all elements below an element."""
    children = parent.get("/K", [])
    for child in children if isinstance(children, pikepdf.Array) else [children]:
        if isinstance(child, pikepdf.Dictionary) and "/S" in child:
            yield child
            yield from within(child)


def cells(table: Any) -> list[Any]:
    """Return the cells of a table in the order in which they are read."""
    return [element for element in within(table) if element.S in CELLS]


def fonts(pdf: pikepdf.Pdf) -> list[tuple[str, bool]]:
    """Return every font of the file, wherever it is used, with whether its program is in the file."""
    named = []
    for part in pdf.objects:
        if isinstance(part, pikepdf.Dictionary) and part.get("/Type") == "/Font" and "/DescendantFonts" not in part:
            descriptor = part.get("/FontDescriptor", {})
            named.append((str(part.BaseFont), any(f"/FontFile{kind}" in descriptor for kind in ("", 2, 3))))
    return named


def untagged(pdf: pikepdf.Pdf) -> list[str]:
    """Name the pages on which something is neither part of the structure nor marked as an artifact."""
    named = []
    for number, page in enumerate(pdf.pages, 1):
        depth = 0
        for instruction in pikepdf.parse_content_stream(page):
            operator = str(instruction.operator)
            depth += (operator in {"BDC", "BMC"}) - (operator == "EMC")
            if operator in PAINTS and not depth:
                named.append(f"page {number}: {operator}")
    return named


def bookmarks(pdf: pikepdf.Pdf) -> list[tuple[int, str, int]]:
    """Return the bookmarks: their depth, their titles and the numbers of their pages, from 1."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages, 1)}

    def below(items: list[Any], depth: int) -> Iterator[tuple[int, str, int]]:
        for item in items:
            yield depth, item.title, numbers[item.destination[0].objgen]
            yield from below(item.children, depth + 1)

    with pdf.open_outline() as outline:
        return list(below(outline.root, 0))


def page_texts(file: Path) -> list[str]:
    """Return the words of each page, spaces made one."""
    command = [poppler("pdftotext"), "-layout", "-enc", "UTF-8", str(file), "-"]
    whole = subprocess.run(command, check=True, capture_output=True).stdout.decode("utf-8")
    return [" ".join(text.split()) for text in whole.split("\f")[:-1]]
