"""How separated text (csv, tsv) is written: what the files cannot say of themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, StrictStr, Tag

from evalpipe.base.cells import CellType
from evalpipe.spec.kinds import AnyOf, ColumnName, SpecPart

NullTexts = Annotated[
    Annotated[tuple[StrictStr, ...], Tag("texts")]
    | Annotated[dict[ColumnName, tuple[StrictStr, ...]], Tag("texts by column")],
    Discriminator(lambda value: "texts by column" if isinstance(value, Mapping) else "texts"),
    AnyOf(),
]
"""Texts that mean a missing value: those of all columns, or a mapping of column to its own."""


class Csv(SpecPart):
    """How csv and tsv files are written."""

    null: NullTexts = ()
    """The texts that mean a missing value: a list for all columns, as `[NA]`, or a mapping of column to list, as
    `{age: [NA, "-99"]}`. An empty cell is missing in any case; with `""` a quoted empty one is too. Every other text is
    a value: the code `NA` of a country stays a level unless it is declared for its column."""
    types: dict[ColumnName, CellType] = Field(default_factory=dict)
    """The type of each column that its values do not determine: `text`, `number`, `integer`, `boolean` (true and
    false, in capitals or not), `date` (2024-12-31) or `datetime` (2024-12-31 23:59:00, without a zone). A value that
    is not of its type is an error."""
    separator: Literal[",", ";", "\t", "|"] | None = None
    """What separates the cells: a comma in csv files, a tab in tsv files, where not given."""
    decimal: Literal[".", ","] = "."
    """What separates the decimals of numbers. Where commas separate the cells too, numbers with a decimal comma stand
    in quotes: `"0,42"`."""
