"""The sections of the card that people write: use and limits, monitoring, changes, sign-off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Bullets, Cell, Column, Facts, Heading, Row, Section, Strong, Table, Text
from evalpipe.card.wording import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results

ROLES = ("Developer", "Validator", "Owner", "Approver")
"""Who is to sign a card."""

UNSIGNED = "not signed"


def or_missing(text: str | None) -> Cell:
    """Write a text that people state, or that it is missing."""
    return text or Strong(MISSING)


def sections(results: Results) -> Iterator[Section]:
    """Write the sections that hold what is stated, and the lines for signatures."""
    stated = results.statement
    limits = (Heading("Limits"), Bullets(tuple(stated.limits))) if stated.limits else ()
    yield Section("use", "Use and limits", (Facts((
        ("Intended use", or_missing(stated.intended_use)), ("Not for", or_missing(stated.not_for)),
        *(() if stated.limits else (("Limits", or_missing(None)),)),
    ), "rules"), *limits), part="use")
    yield Section("monitoring", "Monitoring", (Text(or_missing(stated.monitoring)),), part="monitoring")
    if stated.changes:
        yield Section("changes", "Change log", (
            Facts(tuple((change.date, change.text) for change in stated.changes), "rules"),), part="changes")
    yield Section("sign-off", "Sign-off", (_signatures(stated.owner),), part="sign_off")


def _signatures(owner: str | None) -> Table:
    """Write a line for each role, with room for a name, a day and a signature."""
    columns = (Column("Role"), Column("Name"), Column("Date"), Column("Signature"))
    return Table("Signatures", columns, tuple(
        Row((role, owner or "" if role == "Owner" else "", "", UNSIGNED)) for role in ROLES), "signatures")
