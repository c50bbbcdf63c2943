"""PDFs of a card that say on page 1 what the card does not, and carry the files that it carries."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING
from unittest.mock import patch

from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, NameObject

import evalpipe
from evalpipe.card import pdf

if TYPE_CHECKING:
    from pathlib import Path

WORDS = "ROC AUC 0.99 APPROVED"
PAINTED = f"q 1 1 0.8 rg 40 560 520 200 re f BT 0 g /Forged 40 Tf 50 640 Td ({WORDS}) Tj ET Q".encode()


def painted_over(path: Path) -> None:
    """Append an incremental update that paints over page 1: every byte that was there stays."""
    before, out = path.read_bytes(), BytesIO()
    writer = PdfWriter(path, incremental=True)
    page, paint = writer.pages[0], DecodedStreamObject()
    paint.set_data(PAINTED)
    contents = page["/Contents"].get_object()
    earlier = list(contents) if isinstance(contents, ArrayObject) else [page.raw_get("/Contents")]
    page[NameObject("/Contents")] = ArrayObject([*earlier, writer._add_object(paint)])
    fonts = page["/Resources"].get_object()["/Font"].get_object()
    fonts[NameObject("/Forged")] = DictionaryObject({
        NameObject("/Type"): NameObject("/Font"), NameObject("/Subtype"): NameObject("/Type1"),
        NameObject("/BaseFont"): NameObject("/Helvetica-Bold")})
    writer.write(out)
    assert out.getvalue().startswith(before)
    path.write_bytes(out.getvalue())


def drawn_anew(path: Path) -> None:
    """Draw the whole PDF again with other words, as somebody does who has evalpipe."""
    words, write_page = f"<p>{WORDS}</p>".encode(), pdf.write_page
    with patch.object(pdf, "write_page", lambda *given, **named: write_page(*given, **named).replace(
            b"<h1>", words + b"<h1>", 1)):
        path.write_bytes(evalpipe.render(path.parent, ["pdf"])[path.name])
