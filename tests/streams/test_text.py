"""Files of text are read some rows at a time: what comes of them is what comes of the same rows held, wherever cut."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from evalpipe.data import delimited, formats
from evalpipe.errors import DataError
from evalpipe.plan.sources import CsvPlan
from streams.streaming import numbers, rows, run, write

if TYPE_CHECKING:
    from pathlib import Path

KEYS: dict[str, Any] = {"metrics": ["accuracy", "roc_auc"], "intervals": {"method": "none"}, "slices": ["s"],
                        "slice_rules": {"min_rows": 1}}


# By day some rows in each block; by night one or two rows, and all of them.
@pytest.fixture(autouse=True, params=[
    pytest.param(200, marks=pytest.mark.nightly), 5000, pytest.param(1 << 23, marks=pytest.mark.nightly)])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(formats, "BLOCK", request.param)
    return int(request.param)


def parquet(frame: pl.DataFrame, tmp_path: Path) -> str:
    return numbers(run(write(frame, tmp_path / "parquet", []), **KEYS))


def test_separated_text_in_blocks_is_what_parquet_is(tmp_path: Path) -> None:
    frame = rows(250)
    expected = parquet(frame, tmp_path)
    frame.write_csv(tmp_path / "d.csv")
    frame.write_csv(tmp_path / "d.tsv", separator="\t", line_terminator="\r\n")
    with gzip.open(tmp_path / "d.csv.gz", "wb") as file:
        file.write((tmp_path / "d.csv").read_bytes())
    for name in ("d.csv", "d.tsv", "d.csv.gz"):
        assert numbers(run(tmp_path / name, **KEYS)) == expected, name


def test_lines_of_json_have_the_types_that_all_of_them_tell(tmp_path: Path) -> None:
    frame = rows(250)
    # Whole numbers in all lines but the last tell the type of the column.
    frame = frame.with_columns(q=pl.when(pl.int_range(pl.len()) < 249).then(1.0).otherwise(pl.col("q")))
    frame.write_ndjson(tmp_path / "d.ndjson")
    text = (tmp_path / "d.ndjson").read_text().replace('"q":1.0', '"q":1')
    (tmp_path / "d.ndjson").write_text(text)
    assert numbers(run(tmp_path / "d.ndjson", **KEYS)) == parquet(frame, tmp_path)


def test_breaks_quotes_and_blank_lines_are_where_they_are(tmp_path: Path) -> None:
    frame = rows(150).with_columns(s=pl.when(pl.col("s") == "a").then(pl.lit('a "b",\nc')).otherwise(pl.col("s")))
    frame.write_csv(tmp_path / "d.csv")
    expected = parquet(frame, tmp_path)
    assert numbers(run(tmp_path / "d.csv", **KEYS)) == expected
    held = (tmp_path / "d.csv").read_text()
    (tmp_path / "d.csv").write_text("\ufeff" + held.replace('\nc"', "\0").replace("\n", "\n\n").replace("\0", '\nc"'))
    assert numbers(run(tmp_path / "d.csv", **KEYS)) == expected


@pytest.mark.parametrize("places", [(40,), (40, 41), (40, 90), (40, 41, 200)])
def test_a_quote_inside_a_cell_that_is_not_quoted_is_no_place_to_cut(tmp_path: Path, places: tuple[int, ...]) -> None:
    inches = pl.int_range(pl.len()).is_in(list(places))
    rows(300).with_columns(s=pl.when(inches).then(pl.lit("5x")).otherwise(pl.col("s"))).write_csv(tmp_path / "d.csv")
    (tmp_path / "d.csv").write_text((tmp_path / "d.csv").read_text().replace("5x", '5"'))

    def outcome(mode: str) -> object:
        try:
            results = run(tmp_path / "d.csv", mode, **KEYS | {"metrics": ["accuracy"]})
        except DataError as error:
            return str(error)
        return [(row.slice, row.model, row.n, row.value) for row in results.rows]

    assert outcome("grid") == outcome("exact")


def test_a_type_that_only_the_last_row_tells_is_that_of_all(tmp_path: Path) -> None:
    frame = rows(250).with_columns(k=pl.int_range(pl.len()) % 3)
    text = frame.with_columns(k=pl.when(pl.int_range(pl.len()) < 240).then(pl.format("{}.0", "k")).otherwise(
        pl.lit("late")))
    text.write_csv(tmp_path / "d.csv")
    slices = run(tmp_path / "d.csv", **KEYS | {"slices": ["k"]})
    assert {row.slice["k"] for row in slices.rows if row.slice} == {"0.0", "1.0", "2.0", "late"}


@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_a_fault_far_down_is_told_by_its_row(tmp_path: Path, form: str) -> None:
    frame = rows(700).with_columns(p=pl.when(pl.int_range(pl.len()) == 612).then(1.5).otherwise(pl.col("p")))
    path = tmp_path / f"d.{form}"
    if form == "csv":
        frame.write_csv(path)
    else:
        frame.write_ndjson(path)
    with pytest.raises(DataError) as error:
        run(path)
    assert str(error.value).startswith(
        f"error[probability-range]: 1 value of column 'p' is not a probability from 0 to 1\n --> {path}\n  |\n"
        "  | row 613: ")


@pytest.mark.parametrize("text", ['y,p\n1,"a\nb"\n\n0,c', "y,p\n", "y,p", "y,p\r\n1,2\r\n"])
def test_rows_of_compressed_text_are_counted_as_those_of_plain_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "d.csv").write_bytes(text.encode())
    (tmp_path / "d.csv.gz").write_bytes(gzip.compress(text.encode()))
    counts = [formats.rows(tmp_path / name, "csv", CsvPlan()) for name in ("d.csv", "d.csv.gz")]
    assert counts[0] == counts[1]


def test_no_block_is_much_larger_than_it_should_be(tmp_path: Path, block: int) -> None:
    rows(3000).write_csv(tmp_path / "d.csv")
    blocks = list(delimited.blocks(tmp_path / "d.csv", block))
    whole = (tmp_path / "d.csv").read_bytes()
    assert b"".join(blocks) == whole.partition(b"\n")[2]
    assert max(map(len, blocks)) < block + 200
