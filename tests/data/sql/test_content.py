"""The sha256 of rows: the same in any order and in any batches, and another for other rows."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import struct
from itertools import pairwise
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.data.query_rows import ContentDigest

COLUMNS = ["a", "b", "c"]
ROWS = st.lists(st.tuples(
    st.none() | st.integers(-2**63, 2**63 - 1), st.none() | st.floats(), st.none() | st.text(max_size=4)), max_size=12)


def sha256(rows: list[tuple[object, ...]], cuts: tuple[int, ...] = ()) -> str:
    frame = pl.DataFrame(rows, schema={"a": pl.Int64, "b": pl.Float64, "c": pl.String}, orient="row")
    content = ContentDigest(COLUMNS)
    ends = (0, *sorted(cut % (len(rows) + 1) for cut in cuts), len(rows))
    for begin, end in pairwise(ends):
        content.add(frame[begin:end])
    return content.sha256


@given(ROWS, st.randoms(use_true_random=False), st.tuples(st.integers(0, 99), st.integers(0, 99)))
def test_neither_order_nor_batches_matter(
    rows: list[tuple[object, ...]], chance: Random, cuts: tuple[int, int]
) -> None:
    mixed = list(rows)
    chance.shuffle(mixed)
    assert sha256(mixed, cuts) == sha256(rows)


@given(ROWS.filter(bool))
def test_a_row_more_or_less_is_another_content(rows: list[tuple[object, ...]]) -> None:
    assert len({sha256(rows), sha256(rows[1:]), sha256([*rows, rows[0]])}) == 3


@pytest.mark.parametrize("other", [(2, 0.5, "x"), (1, 0.25, "x"), (1, 0.5, "y"), (None, 0.5, "x"), (1, None, "x"),
                                   (1, 0.5, None), (1, 0.5, "")])
def test_another_value_is_another_content(other: tuple[object, ...]) -> None:
    assert sha256([other]) != sha256([(1, 0.5, "x")])


def test_zero_has_no_sign_and_nan_one_form() -> None:
    assert sha256([(0, -0.0, "")]) == sha256([(0, 0.0, "")])
    odd = struct.unpack("<d", b"\x01\x00\x00\x00\x00\x00\xf8\xff")[0]
    assert sha256([(0, odd, "")]) == sha256([(0, float("nan"), "")])


def test_it_is_what_its_description_says() -> None:
    rows = [(1, 0.5, "x"), (None, None, None)]
    written = [b"\1" + struct.pack("<q", 1) + b"\1" + struct.pack("<d", 0.5) + b"\1" + hashlib.sha256(b"x").digest(),
               bytes(9 + 9 + 33)]
    total = sum(int.from_bytes(hashlib.sha256(row).digest(), "big") for row in written) % 2**256
    about = [[["a", "integer"], ["b", "number"], ["c", "text"]], 2, f"{total:064x}"]
    by_hand = hashlib.sha256(json.dumps(about, separators=(",", ":")).encode()).hexdigest()
    assert sha256(rows) == by_hand


def test_whole_numbers_without_a_sign_have_their_bits() -> None:
    """Of DuckDB's UBIGINT, such as hashes as ids; those that 64 bits with a sign hold are as with one."""
    contents = [ContentDigest(["id"]) for _ in range(3)]
    for content, ids in zip(contents, ([2**64 - 1, 2**63], [2**64 - 2, 2**63], [7, 8]), strict=True):
        content.add(pl.DataFrame({"id": pl.Series(ids, dtype=pl.UInt64)}))
    signed = ContentDigest(["id"])
    signed.add(pl.DataFrame({"id": [7, 8]}))
    assert len({content.sha256 for content in contents}) == 3
    assert contents[2].sha256 == signed.sha256


def test_types_of_one_kind_are_one() -> None:
    day, time = dt.date(2026, 11, 21), dt.datetime(2026, 11, 21, 12)  # noqa: DTZ001 - without a zone, as data have it
    frame = pl.DataFrame({"flag": [True], "small": [3], "day": [day], "time": [time], "half": [0.5]})
    narrow = frame.with_columns(pl.col("small").cast(pl.Int16), pl.col("half").cast(pl.Float32))
    contents = [ContentDigest(frame.columns) for _ in range(2)]
    for content, rows in zip(contents, (frame, narrow), strict=True):
        content.add(rows)
    assert contents[0].sha256 == contents[1].sha256
    assert contents[0].kinds == ["boolean", "integer", "date", "datetime(time_unit='us', time_zone=none)", "number"]


def test_lists_are_their_numbers() -> None:
    rows: list[list[float | None] | None] = [[0.5, None], [0.5], [], None, [None, 0.5], [0.5, 0.25]]
    contents = [ContentDigest(["p"]) for _ in rows]
    for content, row in zip(contents, rows, strict=True):
        content.add(pl.DataFrame({"p": [row]}, schema={"p": pl.List(pl.Float64)}))
    assert len({content.sha256 for content in contents}) == len(rows)
    together, apart, narrow = (ContentDigest(["p"]) for _ in range(3))
    together.add(pl.DataFrame({"p": rows}, schema={"p": pl.List(pl.Float64)}))
    narrow.add(pl.DataFrame({"p": rows}, schema={"p": pl.List(pl.Float32)}))
    for row in reversed(rows):
        apart.add(pl.DataFrame({"p": [row]}, schema={"p": pl.List(pl.Float64)}))
    assert together.sha256 == apart.sha256 == narrow.sha256
    numbers = b"\1" + struct.pack("<d", 0.5) + bytes(9)
    row_sha = hashlib.sha256(b"\1" + hashlib.sha256(numbers).digest()).hexdigest()
    assert contents[0].sha256 == hashlib.sha256(f'[[["p","list"]],1,"{row_sha}"]'.encode()).hexdigest()
