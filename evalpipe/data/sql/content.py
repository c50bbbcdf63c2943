"""The sha256 of rows in any order: a database promises none.

Each row is written as bytes, and the sha256 of each, as a number of 256 bits, is added to the others modulo 2^256
(Bellare & Micciancio 1997, AdHash). The sha256 of the names and kinds of the columns, the number of rows and this sum,
as JSON, is that of the content. It tells rows that changed; it is no seal against one who may choose rows freely.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.digests import json_sha256

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from evalpipe.base.arraytypes import Values

MODULUS = 1 << 256


class Content:
    """The sum of the rows so far, by the names of their columns."""

    def __init__(self, columns: Sequence[str]) -> None:
        """Begin without rows."""
        self.columns = list(columns)
        self.kinds: list[str] = []
        self.rows = self.total = 0

    def add(self, frame: pl.DataFrame) -> None:
        """Add some rows."""
        if not frame.height:
            return
        kinds, parts = zip(*(_bytes(frame[name]) for name in self.columns), strict=True)
        self.kinds = list(kinds)
        table = np.ascontiguousarray(np.concatenate(parts, axis=1))
        content, width = table.tobytes(), table.shape[1]
        digests = b"".join([hashlib.sha256(content[at:at + width]).digest() for at in range(0, len(content), width)])
        # Summed by words of 32 bits: a batch is far too short for these to exceed 64.
        words = np.frombuffer(digests, ">u4").reshape(-1, 8).sum(axis=0, dtype=np.uint64)
        total = sum(int(word) << (32 * place) for place, word in enumerate(reversed(words)))
        self.total = (self.total + total) % MODULUS
        self.rows += frame.height

    @property
    def sha256(self) -> str:
        """The sha256 of all rows."""
        about = [list(map(list, zip(self.columns, self.kinds, strict=False))), self.rows, f"{self.total:064x}"]
        return json_sha256(about)


def _bytes(column: pl.Series) -> tuple[str, Values]:
    """Return what kind of values a column has, and each as bytes [n, width]: whether it is there, and what it is.

    Whole numbers, true and false, dates and times are written as 64 bits with a sign, as which those beyond 2^63 have
    the same bits; other numbers as Float64, of which 0 has no sign and NaN has one form. Both have the least byte
    first. Texts are their sha256, lists that of their numbers, each written as a Float64, and what is missing is zeros.
    """
    import polars as pl

    there = column.is_not_null().to_numpy().astype(np.uint8)[:, None]
    kind = column.dtype
    if isinstance(kind, pl.List | pl.Array):
        return "list", np.concatenate([there, _lists(column.cast(pl.List(pl.Float64)))], axis=1)
    if kind == pl.String:
        return "text", np.concatenate([there, _texts(column)], axis=1)
    if kind.is_float() or kind.is_decimal():
        numbers = column.cast(pl.Float64).fill_null(0.0).to_numpy() + 0.0
        numbers = np.where(np.isnan(numbers), np.nan, numbers).astype("<f8")
        return "number", np.concatenate([there, numbers.view(np.uint8).reshape(-1, 8)], axis=1)
    wholes = column.to_physical() if kind.is_temporal() else column
    signed = wholes.reinterpret(signed=True) if kind == pl.UInt64 else wholes.cast(pl.Int64)
    whole = signed.fill_null(0).to_numpy().astype("<i8")
    name = "boolean" if kind == pl.Boolean else "integer" if kind.is_integer() else str(kind).lower()
    return name, np.concatenate([there, whole.view(np.uint8).reshape(-1, 8)], axis=1)


def _texts(column: pl.Series) -> Values:
    """Return the sha256 of each text [n, 32], zeros where there is none; of a text that occurs often, taken once."""
    import polars as pl

    distinct = column.unique().drop_nulls()
    digests = [hashlib.sha256(text.encode()).digest() for text in distinct]
    table = np.frombuffer(bytes(32) + b"".join(digests), np.uint8).reshape(-1, 32)
    numbers = pl.DataFrame({"text": distinct, "at": np.arange(1, len(distinct) + 1)})
    at = column.to_frame("text").join(numbers, on="text", how="left", maintain_order="left")["at"]
    return np.take(table, at.fill_null(0).to_numpy(), axis=0)


def _lists(column: pl.Series) -> Values:
    """Return the sha256 of the numbers of each list [n, 32], zeros where there is no list."""
    lengths = column.list.len()
    _, numbers = _bytes(column.filter((lengths > 0).fill_null(value=False)).explode())
    ends = lengths.fill_null(0).cum_sum().to_list()
    digests = [bytes(32) if length is None else hashlib.sha256(numbers[end - length:end].tobytes()).digest()
               for length, end in zip(lengths, ends, strict=True)]
    return np.frombuffer(b"".join(digests), np.uint8).reshape(-1, 32)
