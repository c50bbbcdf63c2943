"""Columns that folders name, as `season=spring/part-0.parquet` does: Hive's layout of partitions."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evalpipe.data import formats

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from evalpipe.data.table import Format
    from evalpipe.plan.sources import CsvPlan

NULL = "__HIVE_DEFAULT_PARTITION__"
"""What a folder is called whose rows have no value; one with nothing after its `=` has none either."""


def is_folder(name: str) -> bool:
    """Tell whether the name of a folder is that of a column and a value, which may be none."""
    column, sign, _ = name.partition("=")
    return bool(column and sign)


def is_left_out(name: str) -> bool:
    """Tell whether a file or folder among those of columns is no data: hidden, or left by a program (`_SUCCESS`)."""
    return name.startswith(".") or (name.startswith("_") and not is_folder(name))


def named(path: str) -> dict[str, str | None]:
    """Return the columns that the folders of a path name, with their value; None where rows have none."""
    parts = (part.partition("=") for part in PurePosixPath(path).parts[:-1] if is_folder(part))
    return {unquote(column): None if value in ("", NULL) else unquote(value) for column, _, value in parts}


def schema(path: Path, shown: str, form: Format, csv: CsvPlan) -> dict[str, pl.DataType]:
    """Return the columns of a file and, as texts, those that its folders name; raises Unreadable."""
    import polars as pl

    stored = formats.schema(path, form, csv)
    return stored | {column: pl.String() for column in named(shown) if column not in stored}


def read(
    path: Path, shown: str, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str], *, first: int = 0,
    count: int | None = None,
) -> tuple[pl.DataFrame, frozenset[int]]:
    """Read columns as `formats.read` does, and those that are not in the file from the names of its folders."""
    stored = _stored(path, shown, form, csv, columns)
    frame, blank = formats.read(path, form, csv, stored, text, first=first, count=count)
    return _with_folders(frame, shown, columns), blank


def batches(
    path: Path, shown: str, form: Format, csv: CsvPlan, columns: Sequence[str], text: Sequence[str]
) -> Iterator[tuple[pl.DataFrame, frozenset[int]]]:
    """Yield columns of a file of text as `formats.batches` does, and as `read` those that are not in it."""
    for frame, blank in formats.batches(path, form, csv, _stored(path, shown, form, csv, columns), text):
        yield _with_folders(frame, shown, columns), blank


def _stored(path: Path, shown: str, form: Format, csv: CsvPlan, columns: Sequence[str]) -> Sequence[str]:
    """Return the columns that the file itself has."""
    if not named(shown):
        return columns
    stored = formats.schema(path, form, csv)
    return [column for column in columns if column in stored]


def _with_folders(frame: pl.DataFrame, shown: str, columns: Sequence[str]) -> pl.DataFrame:
    """Return a frame with the columns that it lacks, which the folders name."""
    import polars as pl

    folders = named(shown)
    lacking = [column for column in columns if column not in frame.columns]
    values = [pl.lit(folders[column], pl.String).alias(column) for column in lacking]
    return frame.with_columns(values).select(list(dict.fromkeys(columns))) if lacking else frame
