"""What is wrong with one part of many is told with its file and its row, and nothing is lost of earlier output."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from evalpipe.errors import DataError
from streams.streaming import rows, run, write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(rows(900), tmp_path / "d", [300, 300], row_group=50)


def refused(path: Path, **keys: object) -> str:
    with pytest.raises(DataError) as error:
        run(path, **keys)
    assert error.value.exit_code == 3
    return str(error.value)


def change(path: Path, **columns: pl.Expr) -> Path:
    """Change columns of the second file."""
    file = path / "part-00001.parquet"
    pl.read_parquet(file).with_columns(**columns).write_parquet(file, row_group_size=50)
    return file


def test_a_value_out_of_range_is_told_by_its_row_in_its_file(path: Path) -> None:
    file = change(path, p=pl.when(pl.int_range(pl.len()) == 222).then(1.5).otherwise(pl.col("p")))
    assert refused(path) == (
        "error[probability-range]: 1 value of column 'p' is not a probability from 0 to 1\n"
        f" --> {file}\n  |\n  | row 223: 1.5\n"
        "  = named at the spec, models.p.probability\n  = help: give the model's probability of the event")


def test_a_missing_value_is_told_with_a_way_out_that_is_one(path: Path) -> None:
    file = change(path, p=pl.when(pl.int_range(pl.len()) == 7).then(None).otherwise(pl.col("p")))
    assert refused(path) == (
        "error[missing-probability]: 1 row has no probability in column 'p'\n"
        f" --> {file}\n  |\n  | row 8: empty\n  = named at the spec, models.p.probability\n"
        "  = help: fill them, or leave such rows out with where: 'p IS NOT NULL'")


def test_another_type_is_told_with_its_file(path: Path) -> None:
    file = change(path, p=pl.col("p").cast(pl.String))
    assert refused(path) == (
        "error[wrong-type]: column 'p' of dataset 'd' holds text, not numbers\n"
        f" --> {file}\n  = named at the spec, models.p.probability\n  = help: write it as a column of numbers")


def test_another_level_is_told_with_its_file(path: Path) -> None:
    file = change(path, y=pl.when(pl.int_range(pl.len()) == 5).then(7).otherwise(pl.col("y")))
    expected = f"error[too-many-levels]: the outcome column 'y' of dataset 'd' has 3 levels, not two\n --> {file}"
    assert refused(path).startswith(expected)


def test_levels_that_differ_from_part_to_part_are_told(path: Path) -> None:
    change(path, y=pl.col("y").replace({0: 2}))
    assert refused(path).startswith(
        "error[too-many-levels]: the outcome of dataset 'd' has several levels beside the event '1': '0', '2'")


def test_a_file_that_is_cut_is_told(path: Path) -> None:
    file = path / "part-00002.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    assert refused(path).startswith(f"error[corrupt-file]: cannot read {file}: it is not a whole Parquet file")


def test_a_broken_row_group_is_told(path: Path) -> None:
    file = path / "part-00001.parquet"
    held = bytearray(file.read_bytes())
    # The header of the first page of the first column stands behind the four bytes that say what the file is.
    held[4:40] = b"\xff" * 36
    file.write_bytes(held)
    assert refused(path).startswith(f"error[corrupt-file]: cannot read {file}: it is not a whole Parquet file")


def test_no_rows_are_told(path: Path) -> None:
    assert "dataset 'd' has no row that meets its 'where' and weighs something" in refused(
        path, datasets={"d": {"path": str(path), "where": "age > 1000"}})
