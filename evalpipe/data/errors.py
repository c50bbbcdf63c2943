"""What the readers of single files raise; `evalpipe.data.catalog` and `.read` turn it into problems with a place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Place, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN = 5
"""The offending rows that a problem shows."""


class Unreadable(Exception):  # noqa: N818 - a state of a file, caught in this room
    """A file cannot be read: a stable code, the reason, the way out, the line or the rows, as far as known."""

    def __init__(
        self, code: str, reason: str, hint: str | None = None, line: int | None = None,
        rows: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Keep the parts; the file's name is added where the dataset is known."""
        super().__init__(reason)
        self.code, self.reason, self.hint, self.line, self.rows = code, reason, hint, line, tuple(rows)

    def problem(self, shown: str, named_at: Place | None) -> Problem:
        """Return the problem of the file ``shown``; ``named_at`` is the place in the spec that names it."""
        notes = more(len(self.rows)) + ((f"named at {named_at}",) if named_at is not None else ())
        place = Place(shown, self.line)
        return Problem(self.code, f"cannot read {shown}: {self.reason}", place, self.hint, self.rows[:SHOWN], notes)


def more(count: int) -> tuple[str, ...]:
    """Say how many of ``count`` rows are not shown."""
    return (f"and {count - SHOWN:,} more",) if count > SHOWN else ()
