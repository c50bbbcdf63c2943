"""The files that the PDF carries: those of the output folder that hold its numbers, and its spec."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.spec_text import spec_text
from evalpipe.results.estimates_csv import estimates_csv
from evalpipe.results.signatures import SIGNATURES, signatures_json

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
    """Yield the files, sorted by name as a PDF lists them; byte for byte those of the output folder.

    ``spec.yaml`` is the resolved spec; it reads back as the same spec where its paths lead to the same files.
    """
    results = edition.results
    yield AttachedFile("estimates.csv", estimates_csv(results).encode(), "text/csv", "Data",
                       "Every estimate of this card")
    yield AttachedFile("results.json", results.to_json().encode(), JSON, "Data", "Every number of this card")
    if edition.signatures:
        yield AttachedFile(SIGNATURES, signatures_json(edition.signatures), JSON, "Data", "Who signed this card")
    yield AttachedFile("spec.yaml", spec_text(results.spec).encode(), "application/yaml", "Source",
                       "The spec that this card was made from")
