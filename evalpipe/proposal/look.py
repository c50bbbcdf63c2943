"""Looking at files of predictions: how separated text is written, the columns, and the first rows or all of some."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evalpipe.base.origin import Origin
from evalpipe.data import files
from evalpipe.data.catalog import look
from evalpipe.data.columns import SEPARATED, TEXT_FORMATS
from evalpipe.data.delimited import likeliest, likely_encoding
from evalpipe.data.files import SUFFIXES, find
from evalpipe.data.formats import SEPARATORS, separator
from evalpipe.data.problems import Unreadable
from evalpipe.errors import DataError, Problem
from evalpipe.plan.sources import CsvPlan, DatasetSource, Source, Sources
from evalpipe.proposal.columns import NULLS, ColumnLook, ColumnPart, column_look
from evalpipe.spec.messages import bad_key, is_key
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from evalpipe.data.table import DataTable

_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"

LOOK = 20_000
"""The rows of each dataset that all columns are looked at in; those that a spec names are then read whole."""

_COMMA, _POINT, _WHOLE = (
    r"^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$", r"^[+-]?\d*\.\d+(?:[eE][+-]?\d+)?$", r"^[+-]?\d+$")


@dataclass(frozen=True, slots=True)
class DataLook:
    """A dataset as it is given: its name and path, its files, and the ``frame`` of the columns and rows looked at."""

    name: str
    path: str
    table: DataTable
    frame: pl.DataFrame
    whole: bool

    @property
    def csv(self) -> CsvPlan:
        """How its separated text is written."""
        return self.table.named.csv

    @property
    def encoding_note(self) -> str | None:
        """What a person has to know of files that are not UTF-8, with letters to check; None for UTF-8."""
        import polars as pl

        if self.csv.encoding is None:
            return None
        cells = [self.frame[column].drop_nulls() for column in self.frame.select(pl.col(pl.String)).columns]
        odd = [cell for column in cells for cell in column.filter(column.str.contains(r"[^\x00-\x7f]")).head(1)]
        names = [name for name in self.frame.columns if not name.isascii()]
        letters = next((f"; check letters, as in {quoted(text)}" for text in (*names, *odd)), "")
        return f"not UTF-8: taken for {self.csv.encoding}{letters}"

    @property
    def separated(self) -> bool:
        """Whether its files are separated text."""
        return self.table.format in SEPARATED

    def part(self, column: str) -> ColumnPart:
        """Return the cells of a column, and how its numbers may be written."""
        return ColumnPart(self.frame[column], self.table.format in TEXT_FORMATS, self.separated, self.csv.decimal)

    @property
    def rows(self) -> int | None:
        """The number of its rows; None where it is costly to know."""
        return self.frame.height if self.whole else self.table.rows


@dataclass(frozen=True, slots=True)
class Looked:
    """All datasets, and by name the columns that all of them have, in the order of the first."""

    datasets: tuple[DataLook, ...]
    columns: dict[str, ColumnLook]

    @property
    def whole(self) -> bool:
        """Whether all rows were looked at."""
        return all(dataset.whole for dataset in self.datasets)

    @property
    def rows(self) -> int:
        """The number of rows that were looked at."""
        return sum(dataset.frame.height for dataset in self.datasets)

    def fully(self, names: Sequence[str]) -> Looked:
        """Return the same with all rows of some columns looked at."""
        if self.whole:
            return self
        read = list(dict.fromkeys(names))
        full = [replace(dataset, frame=_frame(dataset.table, read, None)) for dataset in self.datasets]
        seen = {name: column_look(name, [dataset.part(name) for dataset in full]) for name in read}
        return replace(self, columns=self.columns | seen)


def look_at(paths: Sequence[str], limit: int = LOOK) -> Looked:
    """Look at the columns of files of predictions, of each the first ``limit`` rows; raises DataError."""
    names = _dataset_names(paths)
    datasets = tuple(_dataset(name, path, limit) for name, path in zip(names, paths, strict=True))
    first = datasets[0].frame.columns
    lacking = [(column, dataset) for dataset in datasets[1:] for column in first if column not in dataset.frame]
    shared = [column for column in first if column not in {name for name, _ in lacking}]
    if not shared:
        dataset = lacking[0][1]
        raise DataError.of("columns-differ", f"{dataset.path} and {paths[0]} have no column in common",
                           "write a spec for each of them: init FILE")
    return Looked(datasets, {name: column_look(name, [dataset.part(name) for dataset in datasets]) for name in shared})


def _dataset_names(paths: Sequence[str]) -> list[str]:
    """Name datasets after their files, each otherwise."""
    names: list[str] = []
    for path in paths:
        stem = Path(path).name
        ending = next((suffix for suffix in SUFFIXES if stem.lower().endswith(suffix)), "")
        stem = re.sub(r"[*?\[\]]+", "", stem[: len(stem) - len(ending)]).strip(" -_.") or "evaluation"
        if not is_key(stem):
            way = re.search(r"^write '(.*)'$", bad_key(stem, quoted(stem))[1] or "", re.DOTALL)
            stem = way[1] if way else "evaluation"
        names.append(stem if stem not in names else f"{stem}_{len(names) + 1}")
    return names


def _dataset(name: str, path: str, limit: int) -> DataLook:
    """Look at the first rows of a dataset; raises DataError."""
    table = _table(Source(name, None, path, ("datasets", name, "path"), CsvPlan()))
    frame = _frame(table, [column for column in table.columns if column], limit)
    if not frame.height:
        raise DataError.of("no-rows", f"{path} has columns but no rows", "give a file with predictions")
    csv = table.named.csv
    if table.format in SEPARATED and _decimal_commas(frame, separator(table.format, csv)):
        csv = replace(csv, decimal=",", declared=True)
    whole = frame.height < limit or frame.height == table.rows
    return DataLook(name, path, replace(table, named=replace(table.named, csv=csv)), frame, whole)


def _table(source: Source) -> DataTable:
    """Return the files and columns of a dataset, and how they are separated; raises DataError."""
    located = find(Origin(), source)
    if isinstance(located, Problem):
        raise DataError(located)
    path, shown = located.files[0]
    if located.format in SEPARATED:
        try:
            encoding = _encoding([file for file, _ in located.files])
            sign = likeliest(path, SEPARATORS[located.format], encoding)
        except Unreadable as fault:
            raise DataError(fault.problem(shown, None)) from None
        usual = sign == SEPARATORS[located.format]
        source = replace(
            source, csv=CsvPlan(separator=None if usual else sign, declared=not usual, encoding=encoding))
    catalog = look(Sources({source.dataset: DatasetSource(source.dataset, source, (), {})}, "", Origin()))
    if catalog.problems:
        raise DataError(*catalog.problems)
    return catalog.tables[source.dataset]


def _encoding(files: Sequence[Path]) -> str | None:
    """Return the encoding that files share; None for UTF-8, and where they differ or it cannot be told."""
    likely = {likely_encoding(file) for file in files} - {"ascii"}
    encoding = likely.pop() if len(likely) == 1 else None
    return None if encoding == "utf-8" else encoding


def _frame(table: DataTable, names: Sequence[str], limit: int | None) -> pl.DataFrame:
    """Return columns of the first ``limit`` rows of a table, all where None; raises DataError."""
    import polars as pl

    frames: list[pl.DataFrame] = []
    rows = 0
    for path, shown in table.files:
        try:
            for frame in _batches(path, shown, table, names, None if limit is None else limit - rows):
                frames.append(frame)
                rows += frame.height
                if limit is not None and rows >= limit:
                    return pl.concat(frames, how="vertical_relaxed").head(limit)
        except Unreadable as fault:
            raise DataError(fault.problem(shown, None)) from None
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame({name: [] for name in names})


def _batches(
    path: Path, shown: str, table: DataTable, names: Sequence[str], count: int | None
) -> Iterator[pl.DataFrame]:
    """Yield columns of a file, some rows at a time, without its blank lines; raises Unreadable."""
    read_from = (path, shown, table.format, table.named.csv, names, ())
    if table.format not in TEXT_FORMATS:
        yield files.read(*read_from, count=count)[0]
        return
    for frame, blank in files.batches(*read_from):
        yield frame.with_row_index("\0row").filter(~_is_in(blank)).drop("\0row") if blank else frame


def _is_in(blank: frozenset[int]) -> pl.Expr:
    import polars as pl

    return pl.col("\0row").is_in(list(blank))


def _decimal_commas(frame: pl.DataFrame, separator: str) -> bool:
    """Tell whether more columns of text have decimals with a comma than with a point.

    Where commas separate the cells too, those before three digits may be of thousands, as in "1,234".
    """
    import polars as pl

    written = {",": 0, ".": 0}
    for column in frame.select(pl.col(pl.String)):
        cells = column.drop_nulls().unique().str.replace(r"\s*%\s*$", "").str.strip_chars()
        cells = cells.filter((cells != "") & ~cells.str.to_lowercase().is_in(list(NULLS)))
        for mark, decimal in (",", _COMMA), (".", _POINT):
            numbers = cells.str.contains(rf"{decimal}|{_WHOLE}").all()
            sure = cells.filter(~cells.str.contains(_THOUSANDS)) if mark == separator else cells
            written[mark] += bool(numbers and sure.str.contains(decimal).any())
    return written[","] > written["."]
