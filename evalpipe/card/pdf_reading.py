"""The files attached to a PDF that evalpipe wrote, read back without a library for PDFs."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

STREAM = re.compile(rb"(\d+) 0 obj\s*<<((?:(?!endobj).)*?)>>\s*stream\r?\n", re.DOTALL)
"""Where a stream begins: the number of its object, and its dictionary."""

NAMED = re.compile(r"/Type /Filespec/F \(([\w.-]+)\).{0,200}?/EF <</F (\d+) 0 R>>", re.DOTALL)
"""The name of an attached file, and the number of the object that holds it."""


def files_in(pdf: bytes) -> dict[str, bytes]:
    """Return the files attached to a card, by name; none where the PDF is not as evalpipe writes it."""
    streams = dict(_streams(pdf))
    objects = [content for dictionary, content in streams.values() if b"/ObjStm" in dictionary]
    named = [match for text in (pdf, *objects) for match in NAMED.findall(text.decode("latin-1"))]
    return {name: streams[number][1] for name, number in named if number in streams}


def _streams(pdf: bytes) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Yield each attached file and each stream of objects by its number, with its dictionary."""
    for match in STREAM.finditer(pdf):
        length = re.search(rb"/Length (\d+)", match[2])
        if length is None or not re.search(rb"/EmbeddedFile|/ObjStm", match[2]):
            continue
        content = pdf[match.end():match.end() + int(length[1])]
        try:
            yield match[1].decode(), (match[2], zlib.decompress(content) if b"/FlateDecode" in match[2] else content)
        except zlib.error:
            continue
