"""How separated text (csv, tsv) is written: what the files cannot say of themselves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, StrictStr

from evalpipe.cells import CellType
from evalpipe.spec.kinds import ColumnName, SpecPart


class Csv(SpecPart):
    """How csv and tsv files are written."""

    null: tuple[StrictStr, ...] = ()
    """The texts that mean a missing value, such as `NA`. An empty cell is missing in any case; with `""` a quoted empty
    one is too."""
    types: dict[ColumnName, CellType] = Field(default_factory=dict)
    """The type of each column that its values do not determine: `text`, `number`, `integer`, `boolean` (true and
    false, in capitals or not), `date` (2024-12-31) or `datetime` (2024-12-31 23:59:00, without a zone). A value that
    is not of its type is an error."""
    separator: Literal[",", ";", "\t", "|"] | None = None
    """What separates the cells: a comma in csv files, a tab in tsv files, where not given."""
    decimal: Literal[".", ","] = "."
    """What separates the decimals of numbers."""
