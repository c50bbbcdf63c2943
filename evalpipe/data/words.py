"""The words of problems with data: what is counted with its noun and its verb, and names as SQL writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
