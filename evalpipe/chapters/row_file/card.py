"""What the card says of the row-level file beside it: that it holds the rows, its columns and its fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.card.page import Code, Column, Row, Section, Table, Text
from evalpipe.words import numbers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.results import Results

PRIVACY = ("It holds the rows themselves, not sums of them: personal data where rows are of persons. It is no part of "
           "this card, which can be passed on without it; give it to those alone who may see the rows.")


def sections(results: Results) -> Iterator[Section]:
    """Yield the section on the row-level file; none where the run wrote none."""
    row_file = results.row_file
    if row_file is None:
        return
    lines = f" has {numbers.count(row_file.rows)} lines, one for each evaluated row, model and variant. {PRIVACY}"
    columns = (Column("Column"), Column("Type"), Column("Meaning"))
    yield Section("row-file", "Row-level file", (
        Text((Code(row_file.file), lines)),
        Table(f"Columns of {row_file.file}", columns, tuple(
            Row((Code(column.name), column.type, column.meaning)) for column in row_file.columns)),
        Text(("sha256 of the file: ", Code(row_file.sha256)), "small"),
    ), part="appendix")
