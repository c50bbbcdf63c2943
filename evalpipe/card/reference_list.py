"""The card's appendix of references: in full what its methods and measures cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.method import references
from evalpipe.card.page import Section, Text
from evalpipe.card.references import anchor, resolved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results


def sections(results: Results) -> Iterator[Section]:
    """Write the section, in the order of the authors' names; none where nothing is cited."""
    cited = [*references(results), *(metric.reference for metric in results.metrics)]
    known = dict(resolved(text) for reference in cited for text in reference.split("; "))
    full_texts = {anchor(short): full for short, full in known.items() if full}
    ordered = sorted(full_texts.items(), key=lambda entry: entry[1].lower())
    if ordered:
        yield Section("references", "References", tuple(
            Text(full, "reference", anchor=key) for key, full in ordered), part="appendix")
