"""The values of cells: texts of levels and ids, numbers, days, and the types of columns of separated text.

One rule holds for conditions, slices and cuts. A column is `integer`, `number` or `boolean` where all its values are;
a column that this would change is text: numbers that begin with 0 (`01234`) or with a plus sign, whole numbers of too
many digits, and one number written in two ways (`250.0` and `250.00`). Missing values do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.base.lazy_polars import pl
from evalpipe.errors import Place, Problem
from evalpipe.words.spelling import clipped, counted, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.base.formats import CellType


def cells(mask: pl.Series) -> str:
    """Write the number of cells where ``mask`` is true: "1 value", "2 values"."""
    return counted(int(mask.sum()), "value")


def rows_have(mask: pl.Series) -> str:
    """Write the number of rows where ``mask`` is true, with a verb: "1 row has", "2 rows have"."""
    count = int(mask.sum())
    return f"{counted(count, 'row')} {'has' if count == 1 else 'have'}"


def are(number: int | pl.Series) -> str:
    """Return "is" or "are" for a number, or for the number of cells where a mask is true."""
    return "is" if (number if isinstance(number, int) else int(number.sum())) == 1 else "are"


def noun(mask: pl.Series, word: str) -> str:
    """Write a noun for the cells where ``mask`` is true: "a number" for a single cell, else "numbers"."""
    return f"a {word}" if int(mask.sum()) == 1 else plural(word)


def with_article(word: str) -> str:
    """Write a noun with its article: "a weight", "an outcome"."""
    return f"{'an' if word[0] in 'aeiou' else 'a'} {word}"


def sql_name(column: str) -> str:
    """Write the name of a column as SQL does, in double quotes where they are needed."""
    return column if column.isidentifier() else f'"{column}"'


SHOWN = 5
"""The most offending rows that a problem shows."""


class Unreadable(Exception):  # noqa: N818 - a state of a file, caught in this room
    """Raised where a file cannot be read: a stable code, reason, hint, and the line or the rows where known."""

    def __init__(
        self, code: str, reason: str, hint: str | None = None, line: int | None = None,
        rows: Sequence[tuple[int, str]] = (),
    ) -> None:
        """Keep the parts of the problem; `problem` adds the file's name."""
        super().__init__(reason)
        self.code, self.reason, self.hint, self.line, self.rows = code, reason, hint, line, tuple(rows)

    def problem(self, shown: str, named_at: Place | None) -> Problem:
        """Return the problem of the file ``shown``; ``named_at`` is the place in the spec that names it."""
        notes = more(len(self.rows)) + ((f"named at {named_at}",) if named_at is not None else ())
        place = Place(shown, self.line)
        return Problem(self.code, f"cannot read {shown}: {self.reason}", place, self.hint, self.rows[:SHOWN], notes)


def more(count: int) -> tuple[str, ...]:
    """Return a note on how many of ``count`` rows are not shown; none where all are."""
    return (f"and {count - SHOWN:,} more",) if count > SHOWN else ()


# Below it, a whole Float64 fits Int64, whose text has no point and no exponent.
_EXACT = 2.0**63
_MOMENT = (r"^(\d{4}-\d\d-\d\d)(?:[T ](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$")
"""A date, or a time with seconds and a zone or without, as ISO 8601 writes them; a space may stand for the T."""


def texts(column: pl.Series) -> pl.Series:
    """Return the text of each value [n], which names a level or an id, "1" for 1.0 too; null for an empty cell or NaN.

    Raises Unreadable for lists, mappings and bytes.
    """
    kind = column.dtype
    if kind == pl.Decimal:
        column, kind = column.cast(pl.Float64), pl.Float64()
    if kind.is_float():
        numbers = column.cast(pl.Float64).fill_nan(None)
        is_whole = (numbers == numbers.floor()) & (numbers.abs() < _EXACT)
        return numbers.cast(pl.String).zip_with(~is_whole, numbers.cast(pl.Int64, strict=False).cast(pl.String))
    if kind.is_nested() or kind in (pl.Binary, pl.Object):
        hint = "a level or an id is a text, a whole number, or true or false"
        raise Unreadable("wrong-type", f"holds {_kind_called(kind)}, not single values", hint)
    plain = column.dt.to_string("iso") if kind == pl.Duration else column.cast(pl.String)
    return plain.set(plain == "", None)


def numbers(column: pl.Series, *, as_text: bool) -> pl.Series:
    """Return the numbers of a column as Float64 [n]; null for an empty cell and for a text that is no number.

    ``as_text`` allows numbers written as text, as csv has them. Raises Unreadable for other types.
    """
    kind = column.dtype
    if kind.is_numeric() or kind == pl.Null:
        return column.cast(pl.Float64) + 0.0  # -0 becomes 0, so that equal numbers are the same bytes
    if kind == pl.String and as_text:
        return column.str.strip_chars().cast(pl.Float64, strict=False) + 0.0
    raise Unreadable("wrong-type", f"holds {_kind_called(kind)}, not numbers", "write it as a column of numbers")


def days(column: pl.Series) -> pl.Series:
    """Return the day of each date or time as Date [n]; null for an empty cell and for other texts.

    Of a time with a zone it is the day in that zone, of a text in ISO form the day that is written. Days are of the
    years 1 to 9999. Raises Unreadable for columns of other types.
    """
    kind = column.dtype
    if kind in (pl.String, pl.Categorical, pl.Enum):
        cells = column.cast(pl.String).str.strip_chars()
        column = cells.str.extract(_MOMENT).str.to_date("%Y-%m-%d", strict=False)
    elif kind not in (pl.Date, pl.Datetime, pl.Null):
        raise Unreadable("wrong-type", f"holds {_kind_called(kind)}, not dates")
    # `dt.date` takes the day of a time where its zone is.
    day = column.cast(pl.Date) if kind == pl.Null else column.dt.date()
    return day.set(~day.dt.year().is_between(1, 9999), None)


def probabilities(column: pl.Series, *, as_text: bool) -> pl.Series:
    """Return percents as probabilities, Float64 [n]; a text may end in a percent sign.

    25.18 is the number 0.2518, which a division alone may miss by its last bit. Raises Unreadable for other columns.
    """
    written = column.str.replace(r"\s*%\s*$", "") if column.dtype == pl.String else column
    percents = numbers(written, as_text=as_text or column.dtype == pl.String)
    # numpy, because polars multiplies by 1/100, which is no double.
    shares = percents.to_numpy() / 100
    decimals = np.rint(shares * 1e12) / 1e12
    nearest = np.where(np.abs(decimals - shares) <= 2.0**-52 * np.abs(shares), decimals, shares)
    return pl.Series(column.name, nearest).set(percents.is_null(), None)


def blank(column: pl.Series) -> pl.Series:
    """Return flags [n] of empty cells: null, or a text of white space alone."""
    if column.dtype != pl.String:
        return column.is_null()
    return column.is_null() | (column.str.strip_chars() == "").fill_null(value=True)


def cells_differ(left: pl.Series, right: pl.Series) -> pl.Series:
    """Return flags [n] of the rows in which two columns differ, whatever types they are stored as.

    Numbers are equal by value, also where one is written as text; of two floats of unlike precision the coarser counts.
    Other values are equal by their text, true and false in any capitals. An empty cell is equal to NaN, not to a value.
    """
    kinds = (left.dtype, right.dtype)
    if all(kind.is_integer() for kind in kinds):
        return left.ne_missing(right)
    words = [_comparable_texts(column) for column in (left, right)]
    if any(kind.is_temporal() for kind in kinds):
        words = [_comparable_moments(text) for text in words]
    # 0.1 as Float32 is not 0.1 as Float64; compared as the coarser they are the same cell.
    exact = pl.Float32 if pl.Float32 in kinds else pl.Float64
    values = [_comparable_numbers(column, text).cast(exact) for column, text in zip((left, right), words, strict=True)]
    both_numbers = values[0].is_not_null() & values[1].is_not_null()
    return (words[0].ne_missing(words[1]) & ~both_numbers) | (both_numbers & values[0].ne_missing(values[1]))


def _comparable_texts(column: pl.Series) -> pl.Series:
    """Return the text of each value, true and false in small letters; null for an empty cell or NaN."""
    plain = column.fill_nan(None) if column.dtype.is_float() else column
    text = plain.cast(pl.String).str.strip_chars()
    text = text.set(text == "", None)
    small = text.str.to_lowercase()
    return small.zip_with(small.is_in(["true", "false"]).fill_null(value=False), text)


def _comparable_moments(text: pl.Series) -> pl.Series:
    """Return texts of dates and times in one form: without T, zone UTC, a fraction of zeros, or a time of midnight."""
    plain = text.str.replace(r"^(\d{4}-\d\d-\d\d)T", "${1} ").str.replace(r"(Z|UTC|\+00:00|\+0000)$", "")
    return plain.str.replace(r"(:\d\d)\.0+$", "${1}").str.replace(r"^(\d{4}-\d\d-\d\d) 00:00(:00)?$", "${1}")


def _comparable_numbers(column: pl.Series, words: pl.Series) -> pl.Series:
    """Return each value as a number, also true and false; null for other values."""
    numeric = column.dtype.is_numeric() or column.dtype == pl.Boolean
    numbers = (column if numeric else words).cast(pl.Float64, strict=False)
    return numbers.fill_nan(None)


def shown(value: object) -> str:
    """Return a cell as a message shows it: text in quotes, at most 60 characters."""
    if value is None or value == "":
        return "empty"
    if isinstance(value, float) and value != value:  # noqa: PLR0124 - NaN alone differs from itself
        return "NaN"
    if not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return f"'{clipped(value)}'"


def _kind_called(kind: pl.DataType) -> str:
    """Return the words of messages for values of a type."""
    if kind.is_nested():
        return "lists or mappings"
    if kind in (pl.Date, pl.Datetime):
        return "dates or times"
    if kind.is_integer():
        return "whole numbers"
    if kind.is_numeric():
        return "numbers"
    if kind in (pl.String, pl.Categorical, pl.Enum):
        return "text"
    return {"Boolean": "true and false", "Binary": "bytes"}.get(str(kind), f"values of type {kind}")


# Of 18 digits at most, which Int64 always holds.
_INTEGER = r"^-?(?:0|[1-9]\d{0,17})$"
_NUMBER = r"^-?(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$"
_NAN = r"^(?i:nan)$"
_INFINITE = r"^-?(?i:inf|infinity)$"
# From 16 digits on (2^53 has 16), neighbouring whole numbers may be one Float64.
_LONG = r"^-?\d{16,}$"
_DATE = r"^\d{4}-\d{2}-\d{2}$"
_DATETIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$"
MISSING_WORDS = frozenset({"na", "n/a", "#n/a", "null", "none", "missing", "nil", "-", ".", "?"})
"""Texts that people and programs write for a missing value, in small letters; each counts only where it is declared."""
_YAML = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})

CALLED: dict[CellType, str] = {
    "text": "a text", "number": "a number", "integer": "a whole number", "boolean": "true or false",
    "date": "a date such as 2024-12-31", "datetime": "a time such as 2024-12-31 23:59:00, without a zone",
}
"""The words of messages for a value of each type."""


@dataclass(frozen=True, slots=True)
class InferredType:
    """The inferred type of a column; ``why`` says, with a hint, why a column with numbers is text."""

    type: CellType | None
    why: str | None = None


def infer_type(column: pl.Series, decimal: str) -> InferredType:
    """Infer the type of a column of text from all of its values; the type None where it has no values."""
    present = column.drop_nulls().unique(maintain_order=True)
    cells = present.str.strip_chars()
    cells = cells.filter(cells != "")
    if cells.is_empty():
        return InferredType("text" if len(present) else None)
    # The narrowest type that fits all cells counts, so whole numbers are looked for before numbers.
    if cells.str.contains(_INTEGER).all():
        return InferredType("integer")
    if cells.str.to_lowercase().is_in(["true", "false"]).all():
        return InferredType("boolean")
    plain = cells.str.replace(",", ".", literal=True) if decimal == "," else cells
    numeric = plain.str.contains(_NUMBER)
    if decimal == ",":
        numeric &= ~cells.str.contains(".", literal=True)
    odd = ~(numeric | cells.str.contains(_NAN) | cells.str.contains(_INFINITE))
    if not numeric.any() or odd.any():
        only_nan = cells.str.contains(_NAN).all()
        return InferredType("number") if only_nan else InferredType("text", _why_text(column.name, cells, numeric, odd))
    return _number_or_text(column.name, cells, plain, numeric)


def _number_or_text(name: str, cells: pl.Series, plain: pl.Series, numeric: pl.Series) -> InferredType:
    """Return the type of a column of numbers: text where numbers are too long, or written in two ways.

    ``cells`` are the distinct texts of column ``name``, ``plain`` the same with decimal points; ``numeric`` flags
    those that are numbers.
    """
    long_numbers = plain.filter(plain.str.contains(_LONG))
    if len(long_numbers):
        why = f"column '{name}' is text, because it holds {shown(long_numbers[0])}, too long for a number"
        return InferredType("text", why)
    values = pl.DataFrame({"cell": cells, "size": plain.cast(pl.Float64, strict=False)}).filter(numeric)
    twice = values.filter(pl.col("size") != 0).filter(pl.col("size").is_duplicated()).sort("size", "cell")
    if twice.height:
        first, second = twice["cell"][0], twice["cell"][1]
        why = (f"column '{name}' is text, because it holds {shown(first)} and {shown(second)}, one number in two "
               f"ways; for numbers declare csv: {{types: {{{name}: number}}}}")
        return InferredType("text", why)
    return InferredType("number")


def _why_text(name: str, cells: pl.Series, numeric: pl.Series, odd: pl.Series) -> str | None:
    """Say why a column is text, with a hint, where it has numbers; ``odd`` flags the cells that are no numbers."""
    strange = cells.filter(odd)
    digits = strange.str.contains(r"^[+-]?\d")
    if not numeric.any() and not digits.any():
        return None
    word = strange[0]
    hint = f"declare csv: {{types: {{{name}: number}}}}" if strange.str.contains(r"^[+-]?0*\d+(?:\.\d*)?$").all() else (
        f"TRY_CAST({name} AS DOUBLE) is missing where it is no number")
    if strange.str.to_lowercase().is_in(list(MISSING_WORDS)).all():
        words = ", ".join(map(quote_for_yaml, strange))
        hint = f"if it means a missing value, declare csv: {{null: {{{quote_for_yaml(name)}: [{words}]}}}}"
    return f"column '{name}' is text, because it holds {shown(word)}; {hint}"


def quote_for_yaml(cell: str) -> str:
    """Write a text in YAML, in quotes where they are needed."""
    is_plain = cell.isalnum() and not cell.isdecimal() and cell.lower() not in _YAML
    return cell if is_plain else f'"{cell}"'


def typed(column: pl.Series, kind: CellType | None, decimal: str) -> pl.Series:
    """Convert a column of text to a type; null where a cell is empty or not of that type."""
    if kind is None:
        return pl.Series(column.name, [None] * len(column), dtype=pl.Null)
    if kind == "text":
        return column
    cells = column.str.strip_chars()
    if kind in ("integer", "number"):
        return decimal_points(cells, decimal).cast(pl.Int64 if kind == "integer" else pl.Float64, strict=False)
    if kind == "boolean":
        words = cells.str.to_lowercase()
        return (words == "true").set(~words.is_in(["true", "false"]), None)
    cells = cells.set(~cells.str.contains(_DATE if kind == "date" else _DATETIME), None)
    if kind == "date":
        return cells.str.to_date("%Y-%m-%d", strict=False)
    full = cells.str.replace("T", " ", literal=True).str.replace(r"^(\S+ \d\d:\d\d)$", "${1}:00")  # with seconds
    return full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).cast(pl.Datetime("us"))


def decimal_points(cells: pl.Series, decimal: str) -> pl.Series:
    """Replace decimal commas by points, where ``decimal`` is ","; a cell with a point then becomes "?", no number."""
    if decimal == ".":
        return cells
    # With a decimal comma, 1.234 may be a thousand or a decimal; it is read as neither.
    return cells.set(cells.str.contains(".", literal=True), "?").str.replace(",", ".", literal=True)


def not_of_type(column: pl.Series, kind: CellType, decimal: str) -> pl.Series:
    """Return flags [n] of cells that are neither empty nor of a declared type."""
    return typed(column, kind, decimal).is_null() & ~blank(column)
