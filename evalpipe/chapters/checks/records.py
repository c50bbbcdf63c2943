"""The records of checks: what became of each, and why one does not apply."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from evalpipe.base.records import UNWRITTEN, DescribedRow, Record
from evalpipe.words.sentences import Sentence

Outcome = Literal["fails", "undecided", "note", "passes", "clear", "not-applicable"]
CheckKind = Literal["silenced", "fails", "undecided", "note", "passes", "clear", "not-applicable"]

OUTCOMES: tuple[Outcome, ...] = ("fails", "undecided", "note", "passes", "clear", "not-applicable")
"""What may become of a check, the worst first."""


class Check(DescribedRow):
    """What became of one of the things that are looked for in every run."""

    absent: ClassVar[tuple[str, ...]] = ("reason", "silenced")

    code: str
    """Its name, which the findings that it makes have as their `code`."""
    outcome: Outcome
    """The kind of the worst of its findings, where equivalent counts as passes. clear: it looked, and there is nothing
    to tell. not-applicable: there was nothing to look at."""
    findings: int = 0
    """How many findings it made; those of a silenced check are in no list."""
    reason: Sentence | None = None
    """Why it does not apply; absent where it does."""
    silenced: str | None = None
    """Why the spec silences it, in the words of the spec; absent where it does not."""

    @property
    def kind(self) -> CheckKind:
        """The outcome, or "silenced" where the spec silences the check."""
        return self.outcome if self.silenced is None else "silenced"


class ChecksFields(Record):
    """What the results hold of it."""

    checks: Annotated[list[Check], UNWRITTEN] = Field(default_factory=list)
    """Every check with its outcome, in the order of docs/findings.md; none in results of versions that counted none."""
