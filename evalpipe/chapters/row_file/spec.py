"""The formats of the row-level file."""

from __future__ import annotations

from typing import Annotated, Literal

from evalpipe.base.records import After
from evalpipe.spec.field_types import Excludes, IdleWithout, SpecPart

RowFormat = Literal["parquet", "csv"]


class RowFileReportKeys(SpecPart):
    """Keys of `report`."""

    rows: Annotated[
        RowFormat | None, After("confusion"), IdleWithout(),
        Excludes(("alone",), "unused-rows", "'rows' has no effect: candidates alone have no predictions",
                 of_spec=True, idle=True),
    ] = None
    """Also write a row-level file, `rows.parquet` or `rows.csv`: for each evaluated row, model and variant its id,
    truth, probability or prediction, class, residual, confidence and gain group ([rows.md](rows.md)). It holds the rows
    themselves, which may be of persons: nothing is written without this key, and the card carries no row."""
