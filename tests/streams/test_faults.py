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


def alike(path: Path, **keys: object) -> str:
    """Return the error of rows that are read part by part, which is that of rows that are held."""
    with pytest.raises(DataError) as error:
        run(path, "exact", **keys)
    held = str(error.value)
    assert refused(path, **keys) == held
    return held


def test_no_rows_are_told(path: Path) -> None:
    never = {"d": {"path": str(path), "where": "age > 1000"}}
    assert alike(path, datasets=never).startswith("error[no-rows-left]: no row of dataset 'd' meets its 'where'\n")
    for file in path.iterdir():
        pl.read_parquet(file).clear().write_parquet(file)
    assert alike(path).startswith(f"error[no-rows]: dataset 'd' has no rows\n --> {path}\n")


COUNTED = {"weight": {"column": "w", "kind": "frequency"}}


def weighted(path: Path, weight: int | pl.Expr) -> None:
    for file in path.iterdir():
        pl.read_parquet(file).with_columns(w=weight if isinstance(weight, pl.Expr) else pl.lit(weight)).write_parquet(
            file)


def test_weights_that_are_all_0_are_told(path: Path) -> None:
    weighted(path, 0)
    assert alike(path, **COUNTED).startswith("error[weights-all-zero]: all weights of dataset 'd' are 0 (column 'w')")


def test_weights_that_only_all_files_make_too_large_are_told(path: Path) -> None:
    weighted(path, 2**44)  # 300 of them in each file are no more than 2^53
    assert refused(path, **COUNTED) == (
        "error[frequency-weight]: the weight column 'w' sums to 1.583e+16, more than can be counted one by one\n"
        f" --> {path}\n  = named at the spec, weight.column\n"
        "  = help: frequency weights count rows, 9,007,199,254,740,992 at most; for other weights write kind: "
        "importance")
    assert alike(path, **COUNTED)


def test_more_observations_in_a_cell_than_can_be_totalled_are_told(path: Path) -> None:
    weighted(path, pl.when(pl.int_range(pl.len()) == 0).then(2**33).otherwise(1))
    assert refused(path, **COUNTED) == (
        "error[too-many-alike]: 8,589,934,592 observations of dataset 'd' have nearly one probability of model 'p', "
        f"more than the 8,589,934,591 that are counted exactly\n --> {path}\n"
        "  = help: divide the weights by a common factor, or set engine.mode to exact")
    weighted(path, pl.when(pl.int_range(pl.len()) == 0).then(2**33 - 900).otherwise(1))
    streamed, held = (
        run(path, mode, **COUNTED, metrics=["ece"], intervals={"replicates": 100}) for mode in ("grid", "exact"))
    for row, exact in zip(streamed.rows, held.rows, strict=True):
        # Sums of 300 rows in another order differ in their last digits, which the bound leaves out.
        assert row.value == pytest.approx(exact.value, abs=row.error_bound, rel=1e-13)


def test_probabilities_next_to_0_are_not_said_to_be_0(path: Path) -> None:
    for file in path.iterdir():
        pl.read_parquet(file).with_columns(p=pl.col("p") * 1e-300).write_parquet(file)
    events = sum(int(pl.read_parquet(file)["y"].sum()) for file in path.iterdir())
    results = run(path, models={"p": {"probability": "p"}}, metrics=["log_loss"])
    assert [warning.message for warning in results.warnings if warning.code == "clipped"] == [
        (f"d, p: {events} outcomes given a probability of 0, or below 1e-16, did occur. Log loss would be infinite at "
         "0, so 900 probabilities were limited to 1e-15")]
