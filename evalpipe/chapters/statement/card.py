"""The sections of the card that people write."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Bullets, Facts, Heading, Section
from evalpipe.card.statements import PLACES, blocks, field_entries, items_asking_for, missing, one_line, section

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results
    from evalpipe.words.card_fields import SectionName

BEFORE_CHANGES: tuple[SectionName, ...] = ("factors", "choices", "details", "design", "risks", "monitoring")
BEFORE_SIGNATURES: tuple[SectionName, ...] = ("validation", "conformity")
"""The sections of fields that stand alone, in two parts: what readers of results need, and what signers do."""


def sections(results: Results) -> Iterator[Section]:
    """Yield the sections with texts that people stated; those on data are in the section on the data."""
    stated = results.statement
    facts = field_entries(results, "use") + (() if stated.limits else (("Limits", missing(results, "limits")),))
    limits = (Heading("Limits"), Bullets(tuple(one_line(results, limit) for limit in stated.limits)))
    yield Section("use", PLACES["use"].title, (Facts(facts, "rules"), *(limits if stated.limits else ())), part="use")
    for name in BEFORE_CHANGES:
        yield from section(results, name)
    if stated.changes or items_asking_for(results, "changes"):
        changes = tuple((change.date, blocks(results, change.text)) for change in stated.changes)
        yield Section("changes", "Change log", (
            Facts(changes or (("Changes", missing(results, "changes")),), "rules"),), part="changes")
    for name in BEFORE_SIGNATURES:
        yield from section(results, name)
