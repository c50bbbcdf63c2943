"""The records of the row-level file."""

from __future__ import annotations

from typing import Literal

from evalpipe.base.records import Record


class RowColumn(Record):
    """A column of the row-level file."""

    name: str
    type: Literal["text", "number", "whole number", "true or false"]
    """In Parquet: String, Float64, Int64, Boolean."""
    meaning: str


class RowFile(Record):
    """The row-level file beside the card, which holds the evaluated rows themselves."""

    file: str
    sha256: str
    rows: int
    """Its lines: one for each row, model and variant."""
    id: str | None
    """The column that names a row; null where rows have their number in the file that they were read from."""
    columns: list[RowColumn]


class RowFileFields(Record):
    """What the results hold of it."""

    row_file: RowFile | None = None
    """The row-level file that the run wrote beside the card; null where it wrote none."""
