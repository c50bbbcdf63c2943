"""Look at all columns of rows: for copies, for columns of groups and of ids, and for rows of other datasets.

Values are compared by hashes, which are the same for a number and for its text; no value is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.base.lazy_polars import pl
from evalpipe.data.sample import FURTHER, Contents, FurtherColumns, SharedRows
from evalpipe.data.values import decimal_points
from evalpipe.plan.resolve import NESTED
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from evalpipe.base.arraytypes import Keys
    from evalpipe.data.columns import Columns, RowBlock

GROUPS = 20
"""The most levels of a column of groups."""

IDS, FEWEST_OF_ID, MOST_OF_ID = 30, 2, 200
"""The fewest ids of a column of them, and the fewest and most rows that one has on average."""

MEASURED = 2
"""The fewest measured numbers of a row that no other row may have, so that it is no copy by chance."""

FEWEST_COPIES = 5
"""The fewest rows that are the same as an earlier one from which these are counted as copies."""

NEARLY_ALL = 0.95
"""The share of rows, copies apart, that measured numbers tell from all others."""


@dataclass(frozen=True)
class ColumnCells:
    """The values of a column, compared by ``hashes`` [n]; ``numbers`` [n] where all that there are are numbers."""

    hashes: pl.Series
    numbers: pl.Series | None
    values: pl.Series

    @cached_property
    def is_fraction(self) -> bool:
        """Whether the values are all numbers and some of them are not whole."""
        return self.numbers is not None and not bool((self.numbers == self.numbers.floor()).all())

    @cached_property
    def distinct(self) -> int:
        """The number of distinct values; missing counts as a value."""
        return self.hashes.n_unique()

    @property
    def looks_like_id(self) -> bool:
        """Whether all rows have different values and these are not measured numbers, as with an id."""
        return not self.is_fraction and self.distinct == len(self.hashes)

    @property
    def codes(self) -> pl.Series:
        """The rank of each row's value among the distinct values [n], from 0; -1 where it is missing."""
        ordered = self.values if self.numbers is None else self.numbers
        if self.distinct > GROUPS + 1:
            return (ordered.rank("dense").cast(pl.Int64) - 1).fill_null(-1)
        distinct = ordered.unique().drop_nulls().sort()
        codes = pl.int_range(len(distinct), dtype=pl.Int64, eager=True)
        return ordered.replace_strict(distinct, codes, default=-1, return_dtype=pl.Int64)


def cells_of(rows: RowBlock, column: str) -> ColumnCells | None:
    """Return the hashes, numbers and texts of a dataset's column; None where it was not read or holds lists."""
    name = next((name for name in (FURTHER + column, column) if name in rows.frame.columns), None)
    if name is None or str(rows.frame[name].dtype).startswith(NESTED):
        return None
    cells = rows.frame[name]
    if cells.dtype == pl.Float32:  # the shortest decimal, as a file of text has it
        cells = cells.cast(pl.String).cast(pl.Float64)
    if cells.dtype.is_numeric():
        numbers = (cells.cast(pl.Float64) + 0.0).fill_nan(None)
        return ColumnCells(_without_nulls(numbers.hash(), numbers), numbers, numbers)
    if cells.dtype == pl.Duration:
        cells = cells.dt.to_string("iso")
    texts = cells.cast(pl.String, strict=False).str.strip_chars()
    texts = texts.set((texts == "").fill_null(value=False), None)
    written = decimal_points(texts, rows.dataset.table.named.csv.decimal) if rows.separated else texts
    numbers = (written.cast(pl.Float64, strict=False) + 0.0).fill_nan(None)
    lacking = numbers.is_null()
    hashes = texts.hash() if lacking.all() else numbers.hash().zip_with(~lacking, texts.hash())
    hashes = _without_nulls(hashes, texts)
    is_number = bool((lacking == texts.is_null()).all()) and not bool(lacking.all())
    return ColumnCells(hashes, numbers if is_number else None, texts)


def _without_nulls(hashes: pl.Series, values: pl.Series) -> pl.Series:
    """Return ``hashes`` [n] with 0 in place of the hash where the value is missing."""
    return hashes.set(values.is_null(), 0) if values.null_count() else hashes


def further_columns(columns: Columns) -> FurtherColumns:
    """Count the repeated rows of an evaluated dataset, and find unnamed columns that look like groups or ids.

    Rows are compared by all columns, also those that the spec does not name and those of prediction files.
    """
    rows, plan = columns.rows, columns.rows.plan
    height, outcome = rows.frame.height, plan.outcome.column
    further = {name: cells for name in rows.dataset.further if (cells := cells_of(rows, name)) is not None}
    named = {name: cells for name in rows.dataset.columns if name != plan.id and (
        cells := cells_of(rows, name)) is not None}
    predicted = {f"{fit.model} {fit.number}\0{name}": cells for fit, block in rows.models.items() if fit.is_shown
                 for name in block.dataset.columns if name != plan.id and (cells := cells_of(block, name)) is not None}
    compared = {name: cells for name, cells in (further | named | predicted).items() if not cells.looks_like_id}
    hashes = _hash_of_rows([cells.hashes for cells in compared.values()], height)
    measurable = further | ({outcome: named[outcome]} if plan.task in NUMBERS and outcome in named else {})
    levels = {name: cells.distinct for name, cells in further.items() if not cells.is_fraction}
    groups = tuple(name for name, count in levels.items() if 2 <= count <= GROUPS)
    ids = tuple(name for name, count in levels.items() if count >= IDS and (
        FEWEST_OF_ID * count <= height <= MOST_OF_ID * count))
    series = {f"\0code {name}": further[name].codes for name in (*groups, *ids)}
    counts = Contents(len(further), rows.dataset.unseen, len(compared), _copies(hashes, list(measurable.values())))
    return FurtherColumns(counts, groups, ids, series)


def _copies(hashes: pl.Series, measurable: Sequence[ColumnCells]) -> int:
    """Return how many rows copy an earlier one: same hash, and `MEASURED` measured numbers that no other row has.

    A number that is missing, or that rows with other contents have too, such as 0, says nothing. Nor does a column
    in which numbers of different rows are often the same, for its rare ones may be alike by chance.
    """
    is_first = hashes.is_first_distinct()
    if len(hashes) - is_first.sum() < FEWEST_COPIES:
        return 0
    unshared = pl.repeat(0, len(hashes), dtype=pl.Int64, eager=True)
    for numbers in (cells.numbers for cells in measurable if cells.is_fraction):
        if numbers is None:
            continue
        of_first = numbers.filter(is_first).drop_nulls()
        single = of_first.filter(of_first.is_unique())
        if len(single) >= NEARLY_ALL * len(of_first):
            unshared += numbers.is_in(single.implode()).fill_null(value=False).cast(pl.Int64)
    copied = hashes.filter(unshared >= MEASURED)
    return len(copied) - copied.n_unique()


def _hash_of_rows(hashes: list[pl.Series], height: int) -> pl.Series:
    """Return a hash for each row [n] of the hashes of its values."""
    frame = pl.DataFrame({str(index): series for index, series in enumerate(hashes)})
    return frame.hash_rows() if frame.width else pl.repeat(0, height, dtype=pl.UInt64, eager=True)


def id_like_columns(rows: RowBlock) -> frozenset[str]:
    """Return the columns that datasets share but that match no contents: those like ids, and unreadable ones."""
    cells = {name: cells_of(rows, name) for name in rows.dataset.shared}
    return frozenset(name for name, values in cells.items() if values is None or values.looks_like_id)


def measured_columns(rows: RowBlock, columns: Sequence[str]) -> frozenset[str]:
    """Return the columns in which numbers with a fraction are nearly all different, as measurements are."""
    fractions = {column: _fractions(rows, column) for column in columns}
    numbers = {column: cells.filter(has) for column, (cells, has) in fractions.items() if has.any()}
    return frozenset(column for column, cells in numbers.items() if cells.n_unique() >= NEARLY_ALL * len(cells))


def _fractions(rows: RowBlock, column: str) -> tuple[pl.Series, pl.Series]:
    """Return the hashes [n] of a column's values, and flags [n] of the values that are numbers with a fraction."""
    values = cells_of(rows, column)
    if values is None or values.numbers is None:
        none = pl.repeat(0, rows.frame.height, dtype=pl.UInt64, eager=True)
        return none, none != 0
    return values.hashes, (values.numbers != values.numbers.floor()).fill_null(value=False)


def content_hashes(rows: RowBlock, columns: Sequence[str], numbers: Collection[str]) -> Keys:
    """Return the sorted hashes of rows over ``columns``, by which rows of two datasets are compared.

    Only rows count that have a fraction in one of ``numbers``, for many rows have the same whole number, such as
    0.
    """
    cells = [values.hashes for column in columns if (values := cells_of(rows, column)) is not None]
    flags = [_fractions(rows, column)[1] for column in numbers]
    return np.sort(_hash_of_rows(cells, rows.frame.height).filter(reduce(or_, flags)).to_numpy())


def shared_contents(rows: RowBlock, other: RowBlock) -> Iterator[SharedRows]:
    """Yield the count of rows that two datasets share by contents; nothing without a common measured column."""
    ids = id_like_columns(rows) | id_like_columns(other)
    columns = tuple(name for name in rows.dataset.shared if name in other.dataset.shared and name not in ids)
    numbers = measured_columns(rows, columns) & measured_columns(other, columns)
    if numbers:
        pair = content_hashes(rows, columns, numbers), content_hashes(other, columns, numbers)
        yield count_shared_hashes(other.name, columns, [pair])


def count_shared_hashes(other: str, columns: tuple[str, ...], pairs: Iterable[tuple[Keys, Keys]]) -> SharedRows:
    """Count the rows of a dataset that are in the ``other`` one too, from the hashes of their contents.

    ``pairs`` are sorted hashes of the two; no hash of a pair is in another pair.
    """
    counts = np.zeros(5, np.int64)
    for left, right in pairs:
        counts += [len(left), np.isin(left, right).sum(), _repeated_count(left), len(right), _repeated_count(right)]
    return SharedRows(other, columns, *counts.tolist())


def _repeated_count(hashes: Keys) -> int:
    """Return how many of the sorted ``hashes`` occur more than once, the first occurrence included."""
    same = hashes[1:] == hashes[:-1]
    return int(np.count_nonzero(np.append(same, False) | np.append(False, same))) if len(hashes) else 0
