"""Read files of predictions: the form of separated text, and a summary of each column in the first rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple

from evalpipe.base.lazy_polars import pl
from evalpipe.base.origin import Origin
from evalpipe.data import files
from evalpipe.data.catalog import look
from evalpipe.data.columns import SEPARATED, TEXT_FORMATS
from evalpipe.data.delimited import likely_encoding, likely_separator
from evalpipe.data.files import SUFFIXES, find
from evalpipe.data.formats import SEPARATORS, separator
from evalpipe.data.prediction_files import listed_numbers
from evalpipe.data.values import Unreadable, decimal_points, texts
from evalpipe.errors import DataError, Problem
from evalpipe.plan.sources import CsvPlan, DatasetSource, Source, Sources
from evalpipe.spec.messages import bad_key, is_key
from evalpipe.words.spelling import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.plan.sources import DataTable


ColumnKind = Literal["number", "boolean", "text", "date", "list", "nested", "empty"]

MOST_LEVELS = 50
"""The most levels of an outcome of levels; a column with more is none."""

LONGEST_LEVEL = 100
"""The most characters of a level."""

NULLS = frozenset({"na", "n/a", "#n/a", "nan", "null", "nil", "none", "missing", "-", ".", "?"})
"""Texts, in small letters, that mean a missing value among numbers."""

WORD_NULLS = frozenset({"na", "n/a", "#n/a", "nan"})
"""Texts that mean a missing value beside two levels too; beside more levels, `NA` may be a code, as of a country."""

_NULL_CODE = r"^-9+(?:[.,]0+)?$"
_NULL_LEVEL = r"^-?9+$"
_NUMBER = r"^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$"
_ENDLESS = r"^[+-]?(?i:inf|infinity)$"
_CODE = r"^[+-]?0\d"
_PERCENT = r"^\s*[+-]?[\d.,]+\s*%\s*$"
_DATE = r"^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$"


class ColumnPart(NamedTuple):
    """The cells [n] of a column in a dataset, and the form of its numbers.

    ``as_text`` allows numbers as texts, with the ``decimal`` sign; in ``separated`` text words may mean missing values.
    """

    cells: pl.Series
    as_text: bool
    separated: bool
    decimal: str


@dataclass(frozen=True, slots=True)
class ColumnLook:
    """A summary of a column in all datasets, from the rows that were read.

    ``missing`` of its ``rows`` have no value, ``distinct`` is the number of different values; ``levels`` are their
    texts with counts, where they are few. ``unique`` says that within each dataset all rows have different values,
    ``blank`` that some cells are an empty text; ``nulls`` are texts of separated files that mean a missing value. Of
    numbers ``low`` and ``high`` are the limits, ``whole`` says that all are integers, and ``values`` [n] are null where
    missing. ``percent_signs`` says that numbers are texts with a percent sign. ``doubtful`` is a level that may mean a
    missing value, which the spec can declare; empty where there is none. ``coded`` is a count of rows and their number
    below 0, such as -99, where all others are from 0 to 1: no spec can declare it missing. ``lists`` [n] are the lists
    of numbers in the cells, null where missing.
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
        """The lengths of the shortest and the longest list in the column; 0 and 0 where it has none."""
        sizes = () if self.lists is None else self.lists.drop_nulls().list.len()
        return (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)  # type: ignore[arg-type, union-attr]

    @property
    def constant(self) -> bool:
        """Whether all values of the column are the same."""
        return self.distinct == 1

    @property
    def written_levels(self) -> int:
        """The number of levels that a slice has; texts such as NA count, for slices declare none missing."""
        return len(self.levels) + len(self.nulls)

    @property
    def graded(self) -> bool:
        """Whether the column can be a categorical outcome: a few short levels, which are no measured numbers."""
        are_short = all(len(level) <= LONGEST_LEVEL for level in self.levels)
        is_fit = self.kind in ("boolean", "text") or (self.kind == "number" and self.whole and not self.percent_signs)
        return is_fit and len(self.levels) > 1 and are_short

    @property
    def usable(self) -> bool:
        """Whether the column can be an outcome, of levels or of numbers."""
        return self.graded or (self.kind == "number" and not self.constant and not self.percent_signs)

    @property
    def has_two_clear_levels(self) -> bool:
        """Whether two of three levels are clear and the third may mean missing: a binary outcome, perhaps."""
        return bool(self.doubtful) and len(self.levels) == 3

    def without_doubtful(self) -> ColumnLook:
        """Return the summary of the column with its doubtful level taken as missing."""
        is_doubtful = self.texts == self.doubtful
        levels = MappingProxyType({level: rows for level, rows in self.levels.items() if level != self.doubtful})
        values = None if self.values is None else self.values.set(is_doubtful, None)
        return replace(self, missing=self.missing + self.levels[self.doubtful], distinct=self.distinct - 1,
                       texts=self.texts.set(is_doubtful, None), values=values, levels=levels, unique=False, doubtful="",
                       nulls=(*self.nulls, self.doubtful))

    def within(self, low: float, high: float) -> bool:
        """Tell whether the column's values are numbers from ``low`` to ``high``, not all the same."""
        return self.kind == "number" and not self.constant and low <= self.low and self.high <= high


def column_look(name: str, parts: Sequence[ColumnPart]) -> ColumnLook:
    """Return the summary of a column from its cells in all datasets: of lists, of numbers, or else of texts.

    Texts of separated files such as NA are missing values, or a doubtful level, by what stands beside them.
    """
    rows = sum(len(part.cells) for part in parts)
    lists = [series for series in (listed_numbers(part.cells) for part in parts) if series is not None]
    if len(lists) == len(parts):
        cells = pl.concat(lists)
        has_gap = cells.list.eval(pl.element().is_null() | pl.element().is_nan()).list.any()
        is_missing = cells.is_null() | has_gap.fill_null(value=True)
        return ColumnLook(name, "list", rows, int(is_missing.sum()), cells.n_unique(),
                          pl.Series(name, [], dtype=pl.String), lists=cells)
    try:
        words = pl.concat([texts(part.cells).alias(name) for part in parts])
    except Unreadable:
        return ColumnLook(name, "nested", rows, 0, 0, pl.Series(name, [], dtype=pl.String))
    unique, begin = rows > len(parts), 0
    for part in parts:  # unique within each dataset: two may have the same rows
        part_words = words.slice(begin, len(part.cells))
        unique &= not part_words.null_count() and part_words.n_unique() == len(part_words)
        begin += len(part.cells)
    numbers = [read for part in parts if (read := _read_numbers(part)) is not None]
    if words.null_count() == rows:
        return ColumnLook(name, "empty", rows, rows, 0, words)
    if len(numbers) == len(parts):
        values, nulls, have_percent_signs = zip(*numbers, strict=True)
        look = summarise_number_column(name, words, pl.concat(values), tuple(sorted(set().union(*nulls))))
        look = replace(look, unique=unique, percent_signs=any(have_percent_signs))
        # A code such as -9 or 99 beside two levels may mean a missing value.
        codes = [level for level in look.levels if re.search(_NULL_LEVEL, level)] if len(look.levels) == 3 else []
        return replace(look, doubtful=codes[0]) if len(codes) == 1 and all(part.separated for part in parts) else look
    # Texts such as NA mean a missing value beside exactly two others.
    present = words.drop_nulls().unique()
    null_words = sorted(present.filter(present.str.to_lowercase().is_in(list(WORD_NULLS))))
    has_two_levels = all(part.separated for part in parts) and len(present) - len(null_words) == 2
    nulls_of_texts = null_words if has_two_levels else []
    words = words.set(words.is_in(nulls_of_texts), None)
    missing, distinct = words.null_count(), words.drop_nulls().n_unique()
    kind = _text_kind([part.cells for part in parts], words)
    levels = _level_counts(words, distinct)
    blank = any(part.cells.dtype == pl.String and bool((part.cells == "").any()) for part in parts)
    doubtful = [level for level in levels if level.lower() in NULLS] if all(part.separated for part in parts) else []
    return ColumnLook(
        name, kind, rows, missing, distinct, words, levels=levels, nulls=tuple(nulls_of_texts),
        unique=unique and not missing, blank=blank, doubtful=doubtful[0] if len(doubtful) == 1 else "")


def summarise_number_column(name: str, words: pl.Series, values: pl.Series, nulls: tuple[str, ...] = ()) -> ColumnLook:
    """Return the summary of a column of numbers, ``values`` [n] with their texts ``words`` [n]."""
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
    """Return the count and the text of a missing-value code such as -99 beside probabilities; None without one."""
    codes = present.is_in([1 - 10.0**digits for digits in range(1, 7)])  # -9, -99, …
    others = present.filter(~codes)
    if not codes.any() or not others.is_between(0, 1).all() or (others == others.floor()).all():
        return None
    return int(codes.sum()), f"{present.filter(codes)[0]:.0f}"


def _text_kind(parts: Sequence[pl.Series], words: pl.Series) -> ColumnKind:
    """Return the kind of a column that has no numbers: dates, booleans or texts."""
    present = words.drop_nulls()
    if all(part.dtype.is_temporal() for part in parts) or present.str.contains(_DATE).all():
        return "date"
    are_booleans = present.str.to_lowercase().is_in(["true", "false"]).all()
    return "boolean" if are_booleans or all(part.dtype == pl.Boolean for part in parts) else "text"


def _read_numbers(part: ColumnPart) -> tuple[pl.Series, set[str], bool] | None:
    """Return the numbers of a column, its texts that mean a missing value, and whether it has percent signs.

    None where it has other texts. Numbers that begin with 0, such as `0123`, are codes and so texts.
    """
    column = part.cells
    if column.dtype.is_numeric():
        return column.cast(pl.Float64).fill_nan(None), set(), False
    if column.dtype != pl.String:
        return None
    cells = column.str.strip_chars()
    cells = cells.set(cells == "", None)
    has_percent_signs = bool(cells.str.contains(_PERCENT).any())
    if not (part.as_text or has_percent_signs):
        return None
    cells = cells.str.replace(r"\s*%$", "")
    plain = decimal_points(cells, part.decimal) if part.separated else cells
    is_number = plain.str.contains(_NUMBER) & ~plain.str.contains(_CODE) | plain.str.contains(_ENDLESS)
    other_cells = cells.filter(~is_number.fill_null(value=True)).unique()
    null_words = set(other_cells.to_list())
    # In other formats than separated text no word can be declared missing; NaN is a number everywhere.
    allowed = NULLS if part.separated else {"nan"}
    if not is_number.any() or any(word.lower() not in allowed for word in null_words):
        return None
    values = plain.set(~is_number.fill_null(value=False), None).cast(pl.Float64, strict=False)
    null_words = {word for word in null_words if word.lower() != "nan"}
    is_code = cells.str.contains(_NULL_CODE).fill_null(value=False)  # such as -99, beside probabilities alone
    others = values.filter(~is_code).drop_nulls()
    if part.separated and is_code.any() and others.is_between(0, 1).all() and (others != others.floor()).any():
        return values.set(is_code, None), null_words | set(cells.filter(is_code)), has_percent_signs
    return values, null_words, has_percent_signs


def _level_counts(words: pl.Series, distinct: int, sort_as: pl.Series | None = None) -> Mapping[str, int]:
    """Return texts with counts, sorted by ``sort_as`` or by text; none where ``distinct`` are too many for levels."""
    if distinct > MOST_LEVELS:
        return MappingProxyType({})
    keys = words if sort_as is None else sort_as
    frame = pl.DataFrame({"level": words, "key": keys.alias("key")}).drop_nulls()
    counts = frame.group_by("level").agg(pl.len().alias("rows"), pl.col("key").first()).sort("key", "level")
    return MappingProxyType(dict(zip(counts["level"], counts["rows"], strict=True)))


_THOUSANDS = r"^[+-]?[1-9]\d{0,2},\d{3}$"

LOOK = 20_000
"""The rows of each dataset from which all columns are summarised; all rows are then read of columns in the spec."""

_COMMA, _POINT, _WHOLE = (
    r"^[+-]?\d*,\d+(?:[eE][+-]?\d+)?$", r"^[+-]?\d*\.\d+(?:[eE][+-]?\d+)?$", r"^[+-]?\d+$")


@dataclass(frozen=True, slots=True)
class DataLook:
    """A dataset: its name and path, its files as a ``table``, and the ``frame`` of rows read, ``whole`` if all rows."""

    name: str
    path: str
    table: DataTable
    frame: pl.DataFrame
    whole: bool

    @property
    def csv(self) -> CsvPlan:
        """How the dataset's separated text is written: separator, decimal sign and encoding."""
        return self.table.named.csv

    @property
    def encoding_note(self) -> str | None:
        """A note on files that are not UTF-8, with letters to check; None for UTF-8."""
        if self.csv.encoding is None:
            return None
        cells = [self.frame[column].drop_nulls() for column in self.frame.select(pl.col(pl.String)).columns]
        odd_texts = [cell for column in cells for cell in column.filter(column.str.contains(r"[^\x00-\x7f]")).head(1)]
        names = [name for name in self.frame.columns if not name.isascii()]
        letters = next((f"; check letters, as in {quoted(text)}" for text in (*names, *odd_texts)), "")
        return f"not UTF-8: taken for {self.csv.encoding}{letters}"

    @property
    def separated(self) -> bool:
        """Whether the dataset's files are separated text, such as csv."""
        return self.table.format in SEPARATED

    def part(self, column: str) -> ColumnPart:
        """Return the cells of a column of the dataset, with how numbers are written in it."""
        return ColumnPart(self.frame[column], self.table.format in TEXT_FORMATS, self.separated, self.csv.decimal)

    @property
    def rows(self) -> int | None:
        """The number of rows of the dataset; None where counting them is costly."""
        return self.frame.height if self.whole else self.table.rows


@dataclass(frozen=True, slots=True)
class Looked:
    """All datasets, and summaries by name of the columns that all of them have, in the order of the first."""

    datasets: tuple[DataLook, ...]
    columns: dict[str, ColumnLook]

    @property
    def whole(self) -> bool:
        """Whether all rows were read."""
        return all(dataset.whole for dataset in self.datasets)

    @property
    def rows(self) -> int:
        """The number of rows that were read."""
        return sum(dataset.frame.height for dataset in self.datasets)

    def with_all_rows_of(self, names: Sequence[str]) -> Looked:
        """Return the datasets with the columns ``names`` summarised from all rows, not from the first ones alone."""
        if self.whole:
            return self
        distinct = list(dict.fromkeys(names))
        datasets = [replace(dataset, frame=_read_rows(dataset.table, distinct, None)) for dataset in self.datasets]
        looks = {name: column_look(name, [dataset.part(name) for dataset in datasets]) for name in distinct}
        return replace(self, columns=self.columns | looks)


def look_at_datasets(paths: Sequence[str], limit: int = LOOK) -> Looked:
    """Read the first ``limit`` rows of each dataset, and summarise the columns they share; raises DataError."""
    names: list[str] = []
    for path in paths:
        stem = Path(path).name
        ending = next((suffix for suffix in SUFFIXES if stem.lower().endswith(suffix)), "")
        stem = re.sub(r"[*?\[\]]+", "", stem[: len(stem) - len(ending)]).strip(" -_.") or "evaluation"
        stem = as_key(stem, "evaluation")
        names.append(stem if stem not in names else f"{stem}_{len(names) + 1}")
    datasets = tuple(_look_at_dataset(name, path, limit) for name, path in zip(names, paths, strict=True))
    first = datasets[0].frame.columns
    lacking = [(column, dataset) for dataset in datasets[1:] for column in first if column not in dataset.frame]
    shared = [column for column in first if column not in {name for name, _ in lacking}]
    if not shared:
        dataset = lacking[0][1]
        raise DataError.of("columns-differ", f"{dataset.path} and {paths[0]} have no column in common",
                           "write a spec for each of them: init FILE")
    return Looked(datasets, {name: column_look(name, [dataset.part(name) for dataset in datasets]) for name in shared})


def as_key(name: str, default: str) -> str:
    """Return a name as the spec accepts it for a dataset or a model, else ``default``."""
    if is_key(name):
        return name
    # The hint of the error says how to write the name, if it can be written as a key.
    valid_name = re.search(r"^write '(.*)'$", bad_key(name, quoted(name))[1] or "", re.DOTALL)
    return valid_name[1] if valid_name else default


def _look_at_dataset(name: str, path: str, limit: int) -> DataLook:
    """Read the first ``limit`` rows of the dataset at a path; raises DataError."""
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
    """Return the table of a dataset: its files, columns, separator and encoding; raises DataError."""
    located = find(Origin(), source)
    if isinstance(located, Problem):
        raise DataError(located)
    path, shown = located.files[0]
    if located.format in SEPARATED:
        try:
            encodings = {likely_encoding(file) for file, _ in located.files} - {"ascii"}
            encoding = encodings.pop() if len(encodings) == 1 else None  # none where files differ
            encoding = None if encoding == "utf-8" else encoding
            separator = likely_separator(path, SEPARATORS[located.format], encoding)
        except Unreadable as fault:
            raise DataError(fault.problem(shown, None)) from None
        is_usual = separator == SEPARATORS[located.format]
        csv = CsvPlan(separator=None if is_usual else separator, declared=not is_usual, encoding=encoding)
        source = replace(source, csv=csv)
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
    """Yield columns of a file in batches of rows, without blank lines; text is not cut at ``count`` rows."""
    arguments = (path, shown, table.format, table.named.csv, names, ())
    if table.format not in TEXT_FORMATS:
        yield files.read(*arguments, count=count)[0]
        return
    for frame, blank in files.batches(*arguments):
        is_row = ~pl.col("\0row").is_in(list(blank))
        yield frame.with_row_index("\0row").filter(is_row).drop("\0row") if blank else frame


def _has_decimal_commas(frame: pl.DataFrame, separator: str) -> bool:
    """Tell whether more columns of text have decimal commas than decimal points, and so the file is read with commas.

    Where the ``separator`` is a comma too, one before three digits may separate thousands, as in "1,234".
    """
    columns_by_mark = {",": 0, ".": 0}
    for column in frame.select(pl.col(pl.String)):
        cells = column.drop_nulls().unique().str.replace(r"\s*%\s*$", "").str.strip_chars()
        cells = cells.filter((cells != "") & ~cells.str.to_lowercase().is_in(list(NULLS)))
        for mark, decimal in (",", _COMMA), (".", _POINT):
            are_numbers = cells.str.contains(rf"{decimal}|{_WHOLE}").all()
            clear_cells = cells.filter(~cells.str.contains(_THOUSANDS)) if mark == separator else cells
            columns_by_mark[mark] += bool(are_numbers and clear_cells.str.contains(decimal).any())
    return columns_by_mark[","] > columns_by_mark["."]
