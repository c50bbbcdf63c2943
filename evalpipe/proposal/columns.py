"""Looking at files of predictions: how separated text is written, and what is seen of each column in its first rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalpipe.base.lazy_polars import pl
from evalpipe.base.origin import Origin
from evalpipe.data import files
from evalpipe.data.catalog import look
from evalpipe.data.columns import SEPARATED, TEXT_FORMATS
from evalpipe.data.delimited import likeliest, likely_encoding
from evalpipe.data.files import SUFFIXES, find
from evalpipe.data.formats import SEPARATORS, separator
from evalpipe.data.prediction_files import listed_numbers
from evalpipe.data.problems import Unreadable
from evalpipe.data.values import decimal_points, texts
from evalpipe.errors import DataError, Problem
from evalpipe.plan.sources import CsvPlan, DatasetSource, Source, Sources
from evalpipe.spec.messages import bad_key, is_key
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.plan.table import DataTable


ColumnKind = Literal["number", "boolean", "text", "date", "list", "nested", "empty"]

MOST_LEVELS = 50
"""The levels that an outcome may have here; a column of more is no outcome of levels."""

LONGEST_LEVEL = 100
"""The characters of a level."""

NULLS = frozenset({"na", "n/a", "#n/a", "nan", "null", "nil", "none", "missing", "-", ".", "?"})
"""Texts, in small letters, that are written for a missing value among numbers."""

WORD_NULLS = frozenset({"na", "n/a", "#n/a", "nan"})
"""Those that are taken for a missing value beside two levels too; beside more, `NA` may be a code, as of a country."""

_NULL_CODE = r"^-9+(?:[.,]0+)?$"
_NULL_LEVEL = r"^-?9+$"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"
_ENDLESS = r"^[+-]?(?i:inf|infinity)$"
_CODE = r"^[+-]?0\d"
_PERCENT = r"^\s*[+-]?[\d.,]+\s*%\s*$"
_DATE = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$"


class ColumnPart(NamedTuple):
    """The cells of a column in a dataset, [n], and how its numbers may be written.

    ``as_text`` allows numbers in texts, ``decimal`` is their sign; of ``separated`` text words may be declared missing.
    """

    cells: pl.Series
    as_text: bool
    separated: bool
    decimal: str


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """A column over all datasets, as far as its rows were looked at.

    ``missing`` of its ``rows`` have no value, ``distinct`` is the number of its values; ``levels`` gives their texts
    and counts where they are few. ``unique`` says that no two rows of a dataset have the same value and none has none,
    ``blank`` that some cells are an empty text, and ``nulls`` are texts of separated files that mean a missing value.
    Of a number ``low`` and ``high`` are its limits, ``whole`` whether it is whole throughout, and ``values`` [n] has
    null where it is missing. ``percent_signs`` tells that its numbers are texts with a percent sign. ``doubtful`` is a
    level that may mean a missing value, which the spec can declare; empty where there is none. ``coded`` is how many
    rows hold which number below 0, such as -99, where all others are from 0 to 1: no spec can declare it missing.
    ``lists`` [n] are the lists of numbers that it holds, as values or texts, null where one is missing.
    """

    name: str
    kind: ColumnKind
    rows: int
    missing: int
    distinct: int
    texts: pl.Series
    values: pl.Series | None = None
    levels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    nulls: tuple[str, ...] = ()
    unique: bool = False
    blank: bool = False
    low: float = 0.0
    high: float = 0.0
    whole: bool = False
    percent_signs: bool = False
    doubtful: str = ""
    coded: tuple[int, str] | None = None
    lists: pl.Series | None = None

    @property
    def lengths(self) -> tuple[int, int]:
        """The numbers that its shortest and its longest list hold; 0 and 0 where it holds none."""
        sizes = () if self.lists is None else self.lists.drop_nulls().list.len()
        return (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)  # type: ignore[arg-type, union-attr]

    @property
    def constant(self) -> bool:
        """Whether it has one value throughout."""
        return self.distinct == 1

    @property
    def written_levels(self) -> int:
        """The number of its levels in a run whose spec declares none of its texts missing."""
        return len(self.levels) + len(self.nulls)

    @property
    def graded(self) -> bool:
        """Whether it can be an outcome of levels."""
        short = all(len(level) <= LONGEST_LEVEL for level in self.levels)
        kind = self.kind in ("boolean", "text") or (self.kind == "number" and self.whole and not self.percent_signs)
        return kind and len(self.levels) > 1 and short

    @property
    def usable(self) -> bool:
        """Whether it can be an outcome."""
        return self.graded or (self.kind == "number" and not self.constant and not self.percent_signs)

    @property
    def two_but_one(self) -> bool:
        """Whether it has two levels beside one that may mean a missing value."""
        return bool(self.doubtful) and len(self.levels) == 3

    def without_doubtful(self) -> ColumnLook:
        """Return the same where the level that may mean a missing value does."""
        gone = self.texts == self.doubtful
        kept = MappingProxyType({level: rows for level, rows in self.levels.items() if level != self.doubtful})
        values = None if self.values is None else self.values.set(gone, None)
        return replace(self, missing=self.missing + self.levels[self.doubtful], distinct=self.distinct - 1,
                       texts=self.texts.set(gone, None), values=values, levels=kept, unique=False, doubtful="",
                       nulls=(*self.nulls, self.doubtful))

    def within(self, low: float, high: float) -> bool:
        """Tell whether it holds numbers, not all alike, from ``low`` to ``high``."""
        return self.kind == "number" and not self.constant and low <= self.low and self.high <= high


def column_look(name: str, parts: Sequence[ColumnPart]) -> ColumnLook:
    """Return what is seen of a column in the rows of all datasets."""
    rows = sum(len(part.cells) for part in parts)
    lists = [series for series in (listed_numbers(part.cells) for part in parts) if series is not None]
    if len(lists) == len(parts):
        read = pl.concat(lists)
        gone = read.is_null() | read.list.eval(pl.element().is_null() | pl.element().is_nan()).list.any().fill_null(
            value=True)
        return ColumnLook(name, "list", rows, int(gone.sum()), read.n_unique(), pl.Series(name, [], dtype=pl.String),
                          lists=read)
    try:
        words = pl.concat([texts(part.cells).alias(name) for part in parts])
    except Unreadable:
        return ColumnLook(name, "nested", rows, 0, 0, pl.Series(name, [], dtype=pl.String))
    unique, begin = rows > len(parts), 0
    for part in parts:
        of_part = words.slice(begin, len(part.cells))
        unique &= not of_part.null_count() and of_part.n_unique() == len(of_part)
        begin += len(part.cells)
    numbers = [_read_numbers(part) for part in parts]
    if words.null_count() == rows:
        return ColumnLook(name, "empty", rows, rows, 0, words)
    if None not in numbers:
        nulls = sorted(reduce(or_, (read[1] for read in numbers if read)))
        values = pl.concat([read[0] for read in numbers if read])
        signs = any(read[2] for read in numbers if read)
        look = replace(number_look(name, words, values, tuple(nulls)), unique=unique, percent_signs=signs)
        codes = [level for level in look.levels if re.search(_NULL_LEVEL, level)] if len(look.levels) == 3 else []
        return replace(look, doubtful=codes[0]) if len(codes) == 1 and all(part.separated for part in parts) else look
    # Texts such as NA mean a missing value beside exactly two others.
    present = words.drop_nulls().unique()
    null_words = sorted(present.filter(present.str.to_lowercase().is_in(list(WORD_NULLS))))
    sure = all(part.separated for part in parts) and len(present) - len(null_words) == 2
    absent = null_words if sure else []
    words = words.set(words.is_in(absent), None)
    missing, distinct = words.null_count(), words.drop_nulls().n_unique()
    kind = _text_kind([part.cells for part in parts], words)
    levels = _level_counts(words, distinct)
    blank = any(part.cells.dtype == pl.String and bool((part.cells == "").any()) for part in parts)
    may_be = [level for level in levels if level.lower() in NULLS] if all(part.separated for part in parts) else []
    return ColumnLook(
        name, kind, rows, missing, distinct, words, levels=levels, nulls=tuple(absent), unique=unique and not missing,
        blank=blank, doubtful=may_be[0] if len(may_be) == 1 else "")


def number_look(name: str, words: pl.Series, values: pl.Series, nulls: tuple[str, ...] = ()) -> ColumnLook:
    """Return what is seen of a column of numbers; its levels are the texts of those that are not missing."""
    present = values.drop_nulls()
    missing, distinct = values.null_count(), present.n_unique()
    words = words.set(values.is_null(), None)
    if not distinct:
        return ColumnLook(name, "empty", len(values), missing, 0, words, nulls=nulls)
    low, high = float(present.min()), float(present.max())  # type: ignore[arg-type]
    whole = bool((present == present.floor()).all())
    levels = _level_counts(words, words.drop_nulls().n_unique(), sort_as=values)
    return ColumnLook(name, "number", len(values), missing, distinct, words, values, levels, nulls,
                      low=low, high=high, whole=whole, coded=_missing_codes(present))


def _missing_codes(present: pl.Series) -> tuple[int, str] | None:
    """Return how many numbers are a code such as -99, and which, where all others are from 0 to 1 and not all whole."""
    codes = present.is_in([1 - 10.0**digits for digits in range(1, 7)])
    shares = present.filter(~codes)
    if not codes.any() or not shares.is_between(0, 1).all() or (shares == shares.floor()).all():
        return None
    return int(codes.sum()), f"{present.filter(codes)[0]:.0f}"


def _text_kind(parts: Sequence[pl.Series], words: pl.Series) -> ColumnKind:
    """Tell a column of truth values, of dates and of texts from each other."""
    present = words.drop_nulls()
    if all(part.dtype.is_temporal() for part in parts) or present.str.contains(_DATE).all():
        return "date"
    written = present.str.to_lowercase().is_in(["true", "false"]).all()
    return "boolean" if written or all(part.dtype == pl.Boolean for part in parts) else "text"


def _read_numbers(part: ColumnPart) -> tuple[pl.Series, set[str], bool] | None:
    """Return the numbers of a column, the texts in it that mean a missing value, and whether there are percent signs.

    None where it holds others. Numbers that begin with 0, such as `0123`, are codes and so texts.
    """
    column = part.cells
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None), set(), False
    if column.dtype != pl.String:
        return None
    cells = column.str.strip_chars()
    cells = cells.set(cells == "", None)
    signs = bool(cells.str.contains(_PERCENT).any())
    if not (part.as_text or signs):
        return None
    cells = cells.str.replace(r"\s*%$", "")
    plain = decimal_points(cells, part.decimal) if part.separated else cells
    fits = plain.str.contains(_NUMBER) & ~plain.str.contains(_CODE) | plain.str.contains(_ENDLESS)
    others = cells.filter(~fits.fill_null(value=True)).unique()
    words = set(others.to_list())
    # In other formats than separated text no word can be declared missing; NaN is a number everywhere.
    allowed = NULLS if part.separated else {"nan"}
    if not fits.any() or any(word.lower() not in allowed for word in words):
        return None
    values = plain.set(~fits.fill_null(value=False), None).cast(pl.Float64, strict=False)
    words = {word for word in words if word.lower() != "nan"}
    coded = cells.str.contains(_NULL_CODE).fill_null(value=False)
    shares = values.filter(~coded).drop_nulls()
    if part.separated and coded.any() and shares.is_between(0, 1).all() and (shares != shares.floor()).any():
        return values.set(coded, None), words | set(cells.filter(coded)), signs
    return values, words, signs


def _level_counts(words: pl.Series, distinct: int, sort_as: pl.Series | None = None) -> Mapping[str, int]:
    """Return the texts of few values with their counts: by size where they are numbers, else by their letters."""
    if distinct > MOST_LEVELS:
        return MappingProxyType({})
    keys = words if sort_as is None else sort_as
    frame = pl.DataFrame({"level": words, "key": keys.alias("key")}).drop_nulls()
    counts = frame.group_by("level").agg(pl.len().alias("rows"), pl.col("key").first()).sort("key", "level")
    return MappingProxyType(dict(zip(counts["level"], counts["rows"], strict=True)))


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
        full = [replace(dataset, frame=_read_rows(dataset.table, read, None)) for dataset in self.datasets]
        seen = {name: column_look(name, [dataset.part(name) for dataset in full]) for name in read}
        return replace(self, columns=self.columns | seen)


def look_at(paths: Sequence[str], limit: int = LOOK) -> Looked:
    """Look at the columns of files of predictions, of each the first ``limit`` rows; raises DataError."""
    names = _dataset_names(paths)
    datasets = tuple(_look_at_dataset(name, path, limit) for name, path in zip(names, paths, strict=True))
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


def _look_at_dataset(name: str, path: str, limit: int) -> DataLook:
    """Look at the first rows of a dataset; raises DataError."""
    table = _find_table(Source(name, None, path, ("datasets", name, "path"), CsvPlan()))
    frame = _read_rows(table, [column for column in table.columns if column], limit)
    if not frame.height:
        raise DataError.of("no-rows", f"{path} has columns but no rows", "give a file with predictions")
    csv = table.named.csv
    if table.format in SEPARATED and _has_decimal_commas(frame, separator(table.format, csv)):
        csv = replace(csv, decimal=",", declared=True)
    whole = frame.height < limit or frame.height == table.rows
    return DataLook(name, path, replace(table, named=replace(table.named, csv=csv)), frame, whole)


def _find_table(source: Source) -> DataTable:
    """Return the files and columns of a dataset, and how they are separated; raises DataError."""
    located = find(Origin(), source)
    if isinstance(located, Problem):
        raise DataError(located)
    path, shown = located.files[0]
    if located.format in SEPARATED:
        try:
            encodings = {likely_encoding(file) for file, _ in located.files} - {"ascii"}
            encoding = encodings.pop() if len(encodings) == 1 else None  # none where files differ
            encoding = None if encoding == "utf-8" else encoding
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


def _read_rows(table: DataTable, names: Sequence[str], limit: int | None) -> pl.DataFrame:
    """Return columns of the first ``limit`` rows of a table, all where None; raises DataError."""
    frames: list[pl.DataFrame] = []
    rows = 0
    for path, shown in table.files:
        try:
            for frame in _row_batches(path, shown, table, names, None if limit is None else limit - rows):
                frames.append(frame)
                rows += frame.height
                if limit is not None and rows >= limit:
                    return pl.concat(frames, how="vertical_relaxed").head(limit)
        except Unreadable as fault:
            raise DataError(fault.problem(shown, None)) from None
    return pl.concat(frames, how="vertical_relaxed") if frames else pl.DataFrame({name: [] for name in names})


def _row_batches(
    path: Path, shown: str, table: DataTable, names: Sequence[str], count: int | None
) -> Iterator[pl.DataFrame]:
    """Yield columns of a file, some rows at a time, without its blank lines; raises Unreadable."""
    read_from = (path, shown, table.format, table.named.csv, names, ())
    if table.format not in TEXT_FORMATS:
        yield files.read(*read_from, count=count)[0]
        return
    for frame, blank in files.batches(*read_from):
        kept = ~pl.col("\0row").is_in(list(blank))
        yield frame.with_row_index("\0row").filter(kept).drop("\0row") if blank else frame


def _has_decimal_commas(frame: pl.DataFrame, separator: str) -> bool:
    """Tell whether more columns of text have decimals with a comma than with a point.

    Where commas separate the cells too, those before three digits may be of thousands, as in "1,234".
    """
    written = {",": 0, ".": 0}
    for column in frame.select(pl.col(pl.String)):
        cells = column.drop_nulls().unique().str.replace(r"\s*%\s*$", "").str.strip_chars()
        cells = cells.filter((cells != "") & ~cells.str.to_lowercase().is_in(list(NULLS)))
        for mark, decimal in (",", _COMMA), (".", _POINT):
            numbers = cells.str.contains(rf"{decimal}|{_WHOLE}").all()
            sure = cells.filter(~cells.str.contains(_THOUSANDS)) if mark == separator else cells
            written[mark] += bool(numbers and sure.str.contains(decimal).any())
    return written[","] > written["."]
