"""How readers say that data are wrong: what they raise, and the words of counts, nouns and names in it.

`Unreadable` is what readers of single files raise; the catalog and the readers of datasets give it a place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.errors import Place, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl


def counted(number: int, word: str) -> str:
    """Write a number with its noun: "1 row", "2,000 rows"."""
    return f"{number:,} {word if number == 1 else _plural(word)}"


def cells(mask: pl.Series) -> str:
    """Count the cells where ``mask`` is true: "1 value", "2 values"."""
    return counted(int(mask.sum()), "value")


def rows_have(mask: pl.Series) -> str:
    """Count the rows where ``mask`` is true, with their verb: "1 row has", "2 rows have"."""
    count = int(mask.sum())
    return f"{counted(count, 'row')} {'has' if count == 1 else 'have'}"


def are(number: int | pl.Series) -> str:
    """Choose the verb for a number, or for the cells where a mask is true."""
    return "is" if (number if isinstance(number, int) else int(number.sum())) == 1 else "are"


def noun(mask: pl.Series, word: str) -> str:
    """Write a noun for one cell or several: "a number", "numbers"."""
    return f"a {word}" if int(mask.sum()) == 1 else _plural(word)


def with_article(word: str) -> str:
    """Write a noun with its article: "a weight", "an outcome"."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def sql_name(column: str) -> str:
    """Write a column as SQL does."""
    return column if column.isidentifier() else f'"{column}"'


def _plural(word: str) -> str:
    return f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"


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
