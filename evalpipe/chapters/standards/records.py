"""The records of standards: what of each item is answered, and where."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evalpipe.base.records import Record

ItemStatus = Literal["present", "missing", "not_applicable"]


class StandardItem(Record):
    """An item of a standard."""

    id: str
    """Its number in the standard."""
    label: str
    """Its number with the letters of the standard before it, such as A4-2g."""
    asks: str
    """What it asks for, in our words."""
    status: ItemStatus
    """present where every need is answered; missing where one is not."""
    needs: list[str]
    """What answers it: `card.<field>` is stated, `evidence.<name>` is computed; `a | b` is either."""
    where: list[str] = Field(default_factory=list)
    """The anchors of the sections of the card that answer it, or a part of it."""
    missing: list[str] = Field(default_factory=list)
    """The needs that nothing answers."""
    reason: str | None = None
    """Why it does not apply."""


class StandardCompleteness(Record):
    """What the card answers of a standard: evidence, and no statement of conformity."""

    profile: str
    title: str
    edition: str
    remark: str = ""
    """What a reader must know about the list of items."""
    completeness: float
    """The share of the items that are answered, of those that apply."""
    present: int
    missing: int
    not_applicable: int
    require: float | None = None
    """The least share that the spec asks for."""
    verdict: Literal["pass", "fail"] | None = None
    """Whether that is reached; null where nothing is asked for."""
    items: list[StandardItem]

    @property
    def applicable(self) -> int:
        """The number of items that apply."""
        return self.present + self.missing

    def with_status(self, status: ItemStatus) -> list[StandardItem]:
        """Return the items of a status."""
        return [item for item in self.items if item.status == status]


class StandardsFields(Record):
    """What the results hold of it."""

    standards: list[StandardCompleteness] = Field(default_factory=list)
    """What the card answers of each standard that the spec names."""
