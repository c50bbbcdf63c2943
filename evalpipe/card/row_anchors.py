"""Where the evidence of a finding stands: the row of a table that shows its number, else the section."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalpipe.base.digests import json_sha256
from evalpipe.base.records import Measured
from evalpipe.card.page import BlockGroup, Link, Row, RowAnchor, Table, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.card.page import Block, Section
    from evalpipe.results.document import Finding

OF_FINDINGS = "measures-of-findings"
"""The section of the measures that only findings use."""

DIGITS = 8
"""Digits of the sha256 in an anchor."""

MOST_LETTERS = 60
"""Letters of a finding in the name of its link."""


def row_anchor(section: str, rows: Iterable[Any], *more: str) -> RowAnchor:
    """Return the anchor of a row, in the section of this anchor, that shows the numbers of these rows of the results.

    It is the same in every run. ``more`` tells it from other rows that show the same numbers.
    """
    shown = tuple(Measured(**{name: getattr(row, name) for name in Measured.model_fields if hasattr(row, name)}).about
                  for row in rows)
    return RowAnchor(f"{section}-{json_sha256([shown, more])[:DIGITS]}", shown)


@dataclass(frozen=True, slots=True)
class EvidenceLinks:
    """The titles of sections, and by section and number the anchor of the row that shows it, with what heads it.

    A measure that no table of its section shows stands in that of the measures that only findings use.
    """

    titles: Mapping[str, str] = field(default_factory=dict)
    rows: Mapping[tuple[str, tuple[object, ...]], tuple[str, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, sections: Iterable[Section]) -> EvidenceLinks:
        """Return the links into some sections."""
        titles: dict[str, str] = {}
        rows: dict[tuple[str, tuple[object, ...]], tuple[str, str]] = {}
        for section in sections:
            titles[section.anchor] = plain(section.title)
            for table in _tables(section.blocks):
                for row in table.rows:
                    if isinstance(row, Row) and row.anchor is not None:
                        head = row.cells[table.heading]
                        name = plain(head[0] if isinstance(head, tuple) else head)
                        for about in row.anchor.numbers:
                            rows.setdefault((section.anchor, about), (row.anchor.id, name))
        return cls(titles, rows)

    def link(self, finding: Finding) -> Link:
        """Return the link to the evidence of a finding: the row of the first of its numbers that a table shows."""
        sections = finding.section, OF_FINDINGS
        section, (anchor, head) = next(
            ((section, self.rows[section, number.about]) for section in sections for number in finding.estimates
             if (section, number.about) in self.rows), (finding.section, (finding.section, "")))
        text = finding.text if len(finding.text) <= MOST_LETTERS else f"{finding.text[:MOST_LETTERS].rstrip()}…"
        where = ", ".join(filter(None, (self.titles.get(section, section), head)))
        return Link("Evidence", anchor, f"Evidence: {text} ({where})")


NO_LINKS = EvidenceLinks()
"""The links of a card without tables: to sections alone."""


def _tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """Yield the tables among blocks, and within these."""
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, BlockGroup):
            yield from _tables(block.blocks)
