"""The row-level file, written table by table as these are made, so that one is in memory at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from evalpipe.base.cells import FORMULA, NUMBER
from evalpipe.base.digests import file_sha256

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

LINES = 2**17
"""The lines of a row group of Parquet: fixed, so that the bytes are the same however many threads write."""


def write_rows(
    frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path, form: Literal["parquet", "csv"]
) -> tuple[str, int]:
    """Write tables of one schema one after the other; return the sha256 of the file and its number of lines.

    Raises OSError where the file cannot be written.
    """
    lines = (_parquet if form == "parquet" else _csv)(frames, schema, path)
    return file_sha256(path), lines


def _parquet(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> int:
    from polars.io.plugins import register_io_source

    heights: list[int] = []

    def tables(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None  # noqa: ARG001
    ) -> Iterator[pl.DataFrame]:
        for frame in frames:
            heights.append(frame.height)
            yield frame

    register_io_source(tables, schema=schema).sink_parquet(
        path, compression="zstd", row_group_size=LINES, maintain_order=True)
    return sum(heights)


def _csv(frames: Iterator[pl.DataFrame], schema: pl.Schema, path: Path) -> int:
    """Write tables; a text that a spreadsheet would run as a formula begins with an apostrophe."""
    import polars as pl

    text, lines = pl.col(pl.String), 0
    is_formula = text.str.contains(f"^{FORMULA}") & ~text.str.contains(f"^(?:{NUMBER})$")
    harmless = pl.when(is_formula).then("'" + text).otherwise(text).name.keep()
    with path.open("wb") as file:
        schema.to_frame().write_csv(file)
        for frame in frames:
            frame.with_columns(harmless).write_csv(file, include_header=False)
            lines += frame.height
    return lines
