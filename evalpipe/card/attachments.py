"""Files that the PDF carries, which hold its numbers and its spec: what is attached, and how it is read back."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, NamedTuple

from evalpipe.base.formats import ESTIMATES, RESULTS, SIGNATURES
from evalpipe.card.provenance import spec_text
from evalpipe.results.estimates_csv import estimates_csv
from evalpipe.results.signatures import signatures_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.edition import Edition


JSON = "application/json"


class AttachedFile(NamedTuple):
    """A file with its kind, which machines take from its name differently, and its relationship to the card."""

    name: str
    content: bytes
    kind: str
    relationship: str
    description: str


def attached_files(edition: Edition) -> Iterator[AttachedFile]:
    """Yield the files attached to a PDF, sorted by name, with the same bytes as in the output folder.

    ``spec.yaml`` is the resolved spec; it reads back as the same spec where its paths lead to the same files.
    """
    results = edition.results
    yield AttachedFile(ESTIMATES, estimates_csv(results).encode(), "text/csv", "Data",
                       "Every estimate of this card")
    yield AttachedFile(RESULTS, results.to_json().encode(), JSON, "Data", "Every number of this card")
    if edition.signatures:
        yield AttachedFile(SIGNATURES, signatures_json(edition.signatures), JSON, "Data", "Who signed this card")
    yield AttachedFile("spec.yaml", spec_text(results.spec).encode(), "application/yaml", "Source",
                       "The spec that this card was made from")


STREAM = re.compile(rb"(\d+) 0 obj\s*<<((?:(?!endobj).)*?)>>\s*stream\r?\n", re.DOTALL)
"""Where a stream begins: the number of its object, and its dictionary."""

NAMED = re.compile(r"/Type /Filespec/F \(([\w.-]+)\).{0,200}?/EF <</F (\d+) 0 R>>", re.DOTALL)
"""The name of an attached file, and the number of the object that holds it."""


CREATOR = re.compile(rb"<xmp:CreatorTool>([^<]*)</xmp:CreatorTool>")
"""Where the metadata of a PDF say what drew it."""


def files_in(pdf: bytes) -> dict[str, bytes]:
    """Return the files attached to a card in PDF, by name; empty where it has not the form that evalpipe writes."""
    streams = dict(_decoded_streams(pdf))
    objects = [content for dictionary, content in streams.values() if b"/ObjStm" in dictionary]
    names_and_numbers = [match for text in (pdf, *objects) for match in NAMED.findall(text.decode("latin-1"))]
    return {name: streams[number][1] for name, number in names_and_numbers if number in streams}


def drawn_by(pdf: bytes) -> dict[str, str]:
    """Return the versions of the programs that a card in PDF was drawn with, by program; empty where it names none."""
    metadata = b"".join(content for _, (dictionary, content) in _decoded_streams(pdf) if b"/Metadata" in dictionary)
    creator = CREATOR.search(metadata)
    if creator is None:
        return {}
    parts = [part.partition(" ") for part in creator[1].decode("utf-8", "replace").split(", ")]
    return {name: version for name, _, version in parts}


def _decoded_streams(pdf: bytes) -> Iterator[tuple[str, tuple[bytes, bytes]]]:
    """Yield (number, (dictionary, content)) of each stream with an attached file, with objects or with metadata."""
    for match in STREAM.finditer(pdf):
        length = re.search(rb"/Length (\d+)", match[2])
        if length is None or not re.search(rb"/EmbeddedFile|/ObjStm|/Metadata", match[2]):
            continue
        content = pdf[match.end():match.end() + int(length[1])]
        try:
            yield match[1].decode(), (match[2], zlib.decompress(content) if b"/FlateDecode" in match[2] else content)
        except zlib.error:
            continue
