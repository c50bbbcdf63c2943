"""The exception that readers of files raise, `Unreadable`, and words of counts of cells for messages.

The catalog and the readers of datasets turn it into a `Problem` with a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Place, Problem
from evalpipe.words.spelling import counted, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


def cells(mask: pl.Series) -> str:
    """Write the number of cells where ``mask`` is true: "1 value", "2 values"."""
    return counted(int(mask.sum()), "value")


def rows_have(mask: pl.Series) -> str:
    """Write the number of rows where ``mask`` is true, with a verb: "1 row has", "2 rows have"."""
    count = int(mask.sum())
    return f"{counted(count, 'row')} {'has' if count == 1 else 'have'}"


def are(number: int | pl.Series) -> str:
    """Return "is" or "are" for a number, or for the number of cells where a mask is true."""
    return "is" if (number if isinstance(number, int) else int(number.sum())) == 1 else "are"


def noun(mask: pl.Series, word: str) -> str:
    """Write a noun for the cells where ``mask`` is true: "a number" for a single cell, else "numbers"."""
    return f"a {word}" if int(mask.sum()) == 1 else plural(word)


def with_article(word: str) -> str:
    """Write a noun with its article: "a weight", "an outcome"."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def sql_name(column: str) -> str:
    """Write the name of a column as SQL does, in double quotes where they are needed."""
    return column if column.isidentifier() else f'"{column}"'


SHOWN = 5
"""The most offending rows that a problem shows."""


class Unreadable(Exception):  # noqa: N818 - a state of a file, caught in this room
    """Raised where a file cannot be read: a stable code, reason, hint, and the line or the rows where known."""

    def __init__(
        self, code: str, reason: str, hint: str | None = None, line: int | None = None,
        rows: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Keep the parts of the problem; `problem` adds the file's name."""
        super().__init__(reason)
        self.code, self.reason, self.hint, self.line, self.rows = code, reason, hint, line, tuple(rows)

    def problem(self, shown: str, named_at: Place | None) -> Problem:
        """Return the problem of the file ``shown``; ``named_at`` is the place in the spec that names it."""
        notes = more(len(self.rows)) + ((f"named at {named_at}",) if named_at is not None else ())
        place = Place(shown, self.line)
        return Problem(self.code, f"cannot read {shown}: {self.reason}", place, self.hint, self.rows[:SHOWN], notes)


def more(count: int) -> tuple[str, ...]:
    """Return a note on how many of ``count`` rows are not shown; none where all are."""
    return (f"and {count - SHOWN:,} more",) if count > SHOWN else ()
