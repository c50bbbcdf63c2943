"""What is known of datasets and of files of predictions before their rows are read, and which columns part these."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalpipe.base.levels import PeriodLength
    from evalpipe.errors import Problem
    from evalpipe.plan.sources import Source

Format = Literal["csv", "tsv", "parquet", "ipc", "ndjson", "memory", "query"]


@dataclass(frozen=True, slots=True)
class DataTable:
    """The files and columns of one dataset, or of one model's predictions for it.

    ``files`` are the files in the order they are read, with the path shown to people (as the spec gives it, relative to
    the spec); ``columns`` the names and polars type names, such as ``String``; ``where_columns`` the columns that the
    dataset's ``where`` and the conditions of slices mention; ``rows`` the rows before ``where``, None where it is
    costly to know.
    Of a query there are no ``files`` before its rows are stored, and then ``contents``: the sha256 of its rows, in
    place of that of a file's bytes. ``unreadable`` are the columns whose type cannot be read, with that type.
    """

    named: Source
    format: Format
    files: tuple[tuple[Path, str], ...]
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    where_columns: tuple[str, ...] = ()
    rows: int | None = None
    contents: tuple[str, ...] = ()
    unreadable: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def shown_files(self) -> list[str]:
        """The paths of its files as messages show them; of a query the name of the database."""
        return [self.named.path] if self.format == "query" else [shown for _, shown in self.files]


@dataclass(frozen=True, slots=True)
class Catalog:
    """The tables of data that could be read, and the problems of the others.

    ``tables`` are the datasets by name; ``predictions`` the files of models' predictions, by dataset and model,
    ``refits`` the files of the other fits of a model by the same, in the order of their names, ``candidates`` the
    table of candidates; ``bootstrap`` the files of fits to bootstrap samples, by dataset and model.
    """

    tables: Mapping[str, DataTable]
    problems: tuple[Problem, ...] = ()
    predictions: Mapping[tuple[str, str], DataTable] = field(default_factory=lambda: MappingProxyType({}))
    candidates: DataTable | None = None
    refits: Mapping[tuple[str, str], tuple[DataTable, ...]] = field(default_factory=lambda: MappingProxyType({}))
    bootstrap: Mapping[tuple[str, str], tuple[DataTable, ...]] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    """A column that slices are by: its levels, the intervals between ``cuts``, ascending, of its numbers, or periods.

    Periods of its dates are as long as ``by`` says.
    """

    column: str
    cuts: tuple[float, ...] = ()
    by: PeriodLength | None = None


@dataclass(frozen=True, slots=True)
class SlicingPlan:
    """One way to slice: the ``columns`` that are combined, or the rows that meet a condition, which has none."""

    title: str
    columns: tuple[ColumnPlan, ...]
    condition: str | None
