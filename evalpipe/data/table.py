"""What is known of a dataset before its rows are read."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from evalpipe.errors import Problem

Format = Literal["csv", "tsv", "parquet", "ipc", "ndjson", "memory"]


@dataclass(frozen=True, slots=True)
class Table:
    """One dataset's files and columns.

    ``files`` are the files in the order they are read, with the path shown to people (as the spec gives it, relative to
    the spec); ``columns`` the names and polars type names, such as ``String``; ``where_columns`` the columns that the
    dataset's ``where`` mentions; ``rows`` the rows before ``where``, None where it is costly to know.
    """

    dataset: str
    format: Format
    files: tuple[tuple[Path, str], ...]
    columns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    where_columns: tuple[str, ...] = ()
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Catalog:
    """The datasets of a spec: the tables that could be looked at, by name, and what is wrong with the others."""

    tables: Mapping[str, Table]
    problems: tuple[Problem, ...] = ()
