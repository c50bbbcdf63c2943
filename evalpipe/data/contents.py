"""What rows hold beyond what the spec names: copies, groups, ids, and rows of other datasets; no value is kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.base.arraytypes import Wholes

FURTHER = "\0further "
"""The beginning of the names of columns that checks alone look at."""


@dataclass(frozen=True, slots=True)
class SharedRows:
    """How many rows of a dataset are like rows of another by the contents of columns that are no ids.

    Of ``rows`` rows, ``twins`` have one in the ``other``; ``repeated`` have one in their dataset, and so have
    ``other_repeated`` of the ``other_rows``.
    """

    other: str
    columns: tuple[str, ...]
    rows: int
    twins: int
    repeated: int
    other_rows: int
    other_repeated: int


@dataclass(frozen=True, slots=True)
class Contents:
    """What the n rows of a sample hold beyond what the spec names.

    ``further`` columns were looked at, and ``unseen`` ones are too many. ``copies`` rows are the same as an earlier one
    in all ``compared`` columns, ids apart, and have measured numbers that no other row has. ``groups`` and ``ids`` are,
    by column, the number of each row's group or id, -1 where it has none. ``shared`` are the comparisons with other
    datasets.
    """

    further: int = 0
    unseen: int = 0
    compared: int = 0
    copies: int = 0
    groups: Mapping[str, Wholes] = field(default_factory=lambda: MappingProxyType({}))
    ids: Mapping[str, Wholes] = field(default_factory=lambda: MappingProxyType({}))
    shared: tuple[SharedRows, ...] = ()


@dataclass(frozen=True, slots=True)
class FurtherColumns:
    """What the columns of an evaluated dataset hold, row by row, before rows are sorted: ``series`` by name."""

    contents: Contents
    groups: tuple[str, ...]
    ids: tuple[str, ...]
    series: Mapping[str, pl.Series]

    def sorted(self, frame: pl.DataFrame, shared: tuple[SharedRows, ...]) -> Contents:
        """Return the contents of the rows of a sorted ``frame`` that has these ``series``."""
        def array(name: str) -> Wholes:
            return np.ascontiguousarray(frame[name].to_numpy())

        groups, ids = (MappingProxyType({name: array(f"\0code {name}") for name in names})
                       for names in (self.groups, self.ids))
        return replace(self.contents, groups=groups, ids=ids, shared=shared)
