"""What people state, as facts of the card: field by field, with what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalpipe.card.page import Facts, Section, Strong
from evalpipe.card.prose import blocks
from evalpipe.card.wording import MISSING
from evalpipe.words.fields import FIELDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.card.page import Block, Cell, Part
    from evalpipe.results import Results
    from evalpipe.words.fields import SectionName

    Entries = tuple[tuple[str, Cell | tuple[Block, ...]], ...]


class SectionPlace(NamedTuple):
    """Where fields stand: the anchor, the title and the part of their section."""

    anchor: str
    title: str
    part: Part


PLACES: dict[SectionName, SectionPlace] = {
    "use": SectionPlace("use", "Use and limits", "use"),
    "factors": SectionPlace("factors", "Factors", "groups"),
    "choices": SectionPlace("choices", "Choices behind the numbers", "decisions"),
    "data": SectionPlace("data", "Data", "data"),
    "details": SectionPlace("model-details", "Model details", "model"),
    "design": SectionPlace("design", "Design and training", "model"),
    "risks": SectionPlace("risks", "Risks and oversight", "risks"),
    "monitoring": SectionPlace("monitoring", "Monitoring", "monitoring"),
    "validation": SectionPlace("validation", "Validation", "sign_off"),
    "conformity": SectionPlace("conformity", "Standards, registration, funding", "sign_off"),
}
"""Every section of fields."""


def missing(results: Results, key: str) -> Cell:
    """Write that a field is not stated, and which items of standards ask for it: "MISSING (A4-4)"."""
    asking = ", ".join(asked_by(results, key))
    return Strong(f"{MISSING} ({asking})" if asking else MISSING, "missing")


def asked_by(results: Results, key: str) -> list[str]:
    """Return the items of the chosen standards that a field is missing from."""
    return [item.label for standard in results.standards for item in standard.items
            if any(f"card.{key}" in need.split(" | ") for need in item.missing)]


def entries(results: Results, section: SectionName) -> Entries:
    """Write the fields of a section, in their order: those that are stated, and those that are missed."""
    return tuple(_entries(results, section))


def _entries(results: Results, section: SectionName) -> Iterator[tuple[str, Cell | tuple[Block, ...]]]:
    for key, field in FIELDS.items():
        text: str | None = getattr(results.statement, key)
        if field.section == section and (text is not None or field.always or asked_by(results, key)):
            yield field.title, blocks(results, text) if text else missing(results, key)


def section(results: Results, name: SectionName) -> Iterator[Section]:
    """Write a section of fields; nothing where there is nothing to show."""
    place, facts = PLACES[name], entries(results, name)
    if facts:
        yield Section(place.anchor, place.title, (Facts(facts, "rules"),), part=place.part)
