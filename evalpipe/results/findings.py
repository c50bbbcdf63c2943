"""The record of a finding."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.base.records import Measured, Record

FindingKind = Literal["holds", "fails", "open", "same", "note"]


class Finding(Record):
    """A sentence that the results support, and the numbers that it rests on."""

    kind: FindingKind
    """holds and fails: decided, for better or worse; open: these data do not decide; same: models or numbers that
    cannot be told apart; note: what a reader must know, neither good nor bad."""
    weight: float
    """How much it matters, from 0 to 100; findings are sorted by it."""
    text: str
    """The sentence, for people."""
    section: str
    """The anchor of the card's section that holds the evidence."""
    estimates: list[Measured] = Field(default_factory=list)
    """The numbers that it rests on: what was measured, of what, and where."""
    plugin: str | None = None
    """The plugin whose rule says it; null for evalpipe's own."""
