"""What the findings and the card say of repeated fits, and which of their rows they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.chapters.repeats.records import Repeat, RepeatedModel
    from evalpipe.results import Results


def rows_of_fits(results: Results, repeated: RepeatedModel) -> list[Repeat]:
    """Return the rows of a model's fits on a dataset."""
    return [row for row in results.repeats if (row.dataset, row.model) == (repeated.dataset, repeated.model)]


def single_values(results: Results) -> Iterator[Repeat]:
    """Yield the rows of measures that are one number, whose fits all have a value."""
    yield from (row for row in results.repeats if row.mean is not None and row.class_ is None)


def file_name(path: str) -> str:
    """Return the name of a file without its folder."""
    return path.rpartition("/")[2]


def fit_name(path: str) -> str:
    """Return what a fit is called where there is little room: the name of its file up to the first point."""
    return file_name(path).partition(".")[0] or file_name(path)


def spread_text(deviation: float) -> str:
    """Write a standard deviation with two significant digits."""
    if not deviation:
        return "0"
    return numbers.fixed(deviation, min(numbers.significant(deviation, 2), numbers.MOST_DECIMALS))


def digits_of_values(row: Repeat) -> int:
    """Return the decimals in which the values of fits are told apart: the second digit of their standard deviation."""
    return min(numbers.significant(row.sd, 2), numbers.MOST_DECIMALS) if row.sd else numbers.USUAL_DIGITS
