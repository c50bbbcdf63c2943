"""The types of the columns of separated text: declared, or told from all of their values.

One rule holds for conditions, slices and cuts. A column is `integer`, `number` or `boolean` where all its values are; a
column in which that would lose what is written is text: numbers that begin with 0 (`01234`) or with a plus sign, whole
numbers too long to be kept, and one number written in two ways (`250.0` and `250.00`). A missing value has no say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.data.values import shown

if TYPE_CHECKING:
    import polars as pl

    from evalpipe.base.cells import CellType

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
"""What a value of each type is called."""


@dataclass(frozen=True, slots=True)
class Told:
    """The type that the values of a column tell; ``why`` it is text and the way out, where it holds numbers too."""

    type: CellType | None
    why: str | None = None


def tell(column: pl.Series, decimal: str) -> Told:
    """Tell the type of a column of text from all of its values; None where it has none."""
    present = column.drop_nulls().unique(maintain_order=True)
    cells = present.str.strip_chars()
    cells = cells.filter(cells != "")
    if cells.is_empty():
        return Told("text" if len(present) else None)
    # The narrowest type that fits all cells counts, so whole numbers are looked for before numbers.
    if cells.str.contains(_INTEGER).all():
        return Told("integer")
    if cells.str.to_lowercase().is_in(["true", "false"]).all():
        return Told("boolean")
    plain = cells.str.replace(",", ".", literal=True) if decimal == "," else cells
    numeric = plain.str.contains(_NUMBER)
    if decimal == ",":
        numeric &= ~cells.str.contains(".", literal=True)
    odd = ~(numeric | cells.str.contains(_NAN) | cells.str.contains(_INFINITE))
    if not numeric.any() or odd.any():
        absent = cells.str.contains(_NAN).all()
        return Told("number") if absent else Told("text", _why(column.name, cells, numeric, odd))
    return _lossless(column.name, cells, plain, numeric)


def _lossless(name: str, cells: pl.Series, plain: pl.Series, numeric: pl.Series) -> Told:
    """Refuse numbers that would not be told apart, or not be kept."""
    import polars as pl

    long = plain.filter(plain.str.contains(_LONG))
    if len(long):
        return Told("text", f"column '{name}' is text, because it holds {shown(long[0])}, too long for a number")
    sizes = pl.DataFrame({"cell": cells, "size": plain.cast(pl.Float64, strict=False)}).filter(numeric)
    twice = sizes.filter(pl.col("size") != 0).filter(pl.col("size").is_duplicated()).sort("size", "cell")
    if twice.height:
        first, second = twice["cell"][0], twice["cell"][1]
        why = (f"column '{name}' is text, because it holds {shown(first)} and {shown(second)}, one number in two "
               f"ways; for numbers declare csv: {{types: {{{name}: number}}}}")
        return Told("text", why)
    return Told("number")


def _why(name: str, cells: pl.Series, numeric: pl.Series, odd: pl.Series) -> str | None:
    """Say why a column with numbers is text."""
    strange = cells.filter(odd)
    digits = strange.str.contains(r"^[+-]?\d")
    if not numeric.any() and not digits.any():
        return None
    word = strange[0]
    out = f"declare csv: {{types: {{{name}: number}}}}" if strange.str.contains(r"^[+-]?0*\d+(?:\.\d*)?$").all() else (
        f"TRY_CAST({name} AS DOUBLE) is missing where it is no number")
    if strange.str.to_lowercase().is_in(list(MISSING_WORDS)).all():
        words = ", ".join(map(quoted, strange))
        out = f"if it means a missing value, declare csv: {{null: {{{quoted(name)}: [{words}]}}}}"
    return f"column '{name}' is text, because it holds {shown(word)}; {out}"


def quoted(cell: str) -> str:
    """Write a text as YAML has it."""
    plain = cell.isalnum() and not cell.isdecimal() and cell.lower() not in _YAML
    return cell if plain else f'"{cell}"'


def typed(column: pl.Series, kind: CellType | None, decimal: str) -> pl.Series:
    """Return a column of text as its type; null where a cell is empty or not of that type."""
    import polars as pl

    if kind is None:
        return pl.Series(column.name, [None] * len(column), dtype=pl.Null)
    if kind == "text":
        return column
    cells = column.str.strip_chars()
    if kind in ("integer", "number"):
        return decimals(cells, decimal).cast(pl.Int64 if kind == "integer" else pl.Float64, strict=False)
    if kind == "boolean":
        words = cells.str.to_lowercase()
        return (words == "true").set(~words.is_in(["true", "false"]), None)
    fits = cells.str.contains(_DATE if kind == "date" else _DATETIME)
    return _dated(cells.set(~fits, None), kind)


def _dated(cells: pl.Series, kind: CellType) -> pl.Series:
    """Read dates, or times without a zone, with seconds or without."""
    import polars as pl

    if kind == "date":
        return cells.str.to_date("%Y-%m-%d", strict=False)
    full = cells.str.replace("T", " ", literal=True).str.replace(r"^(\S+ \d\d:\d\d)$", "${1}:00")
    return full.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False).cast(pl.Datetime("us"))


def decimals(cells: pl.Series, decimal: str) -> pl.Series:
    """Write the decimals of numbers with a point; with a decimal comma, a cell with a point is no number."""
    if decimal == ".":
        return cells
    # With a decimal comma, 1.234 may be a thousand or a decimal; it is read as neither.
    return cells.set(cells.str.contains(".", literal=True), "?").str.replace(",", ".", literal=True)


def strange(column: pl.Series, kind: CellType, decimal: str) -> pl.Series:
    """Return which cells are neither empty nor of a declared type, shape [n]."""
    empty = column.is_null() | (column.str.strip_chars() == "").fill_null(value=True)
    return typed(column, kind, decimal).is_null() & ~empty
