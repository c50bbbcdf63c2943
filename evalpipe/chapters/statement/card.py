"""The sections of the card that people write: use and limits, monitoring, changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Bullets, Cell, Facts, Heading, Section, Strong, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results

MISSING = "MISSING"

STATUS = {"draft": "DRAFT, not signed", "in_review": "IN REVIEW, not signed", "final": "FINAL, not signed"}
"""What is said of the status of a document that nobody has signed."""


def or_missing(text: str | None) -> Cell:
    """Write a text that people state, or that it is missing."""
    return text or Strong(MISSING)


def sections(results: Results) -> Iterator[Section]:
    """Write the sections that hold what is stated."""
    stated = results.statement
    limits = (Heading("Limits"), Bullets(tuple(stated.limits))) if stated.limits else ()
    yield Section("use", "Use and limits", (Facts((
        ("Intended use", or_missing(stated.intended_use)), ("Not for", or_missing(stated.not_for)),
        ("Owner", or_missing(stated.owner)), ("Source of the data", or_missing(stated.source)),
    ), "rules"), *limits))
    if stated.monitoring:
        yield Section("monitoring", "Monitoring", (Text(stated.monitoring),))
    if stated.changes:
        yield Section("changes", "Change log", (
            Facts(tuple((change.date, change.text) for change in stated.changes), "rules"),))
