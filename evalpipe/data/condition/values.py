"""A value in a condition: what computes it for every row, and what kind of value it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal
from zoneinfo import ZoneInfo

from evalpipe.data.condition.tokens import Wrong

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

Kind = Literal["number", "text", "truth", "date", "time", "nothing"]

WORDS: dict[Kind, str] = {
    "number": "a number", "text": "text", "truth": "true or false", "date": "a date", "time": "a time",
    "nothing": "a missing value",
}
"""What the kinds are called."""

_LONG = 2**63


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of the row's cells, in which what is missing or undefined is null, never NaN.

    ``called`` is what messages call it; ``literal`` the text and ``constant`` the number, where it is one that was
    written in the condition;
    ``zone`` the time zone of a time that has one; ``why`` says why a column is text, where that may surprise.
    """

    expression: pl.Expr
    kind: Kind
    called: str
    literal: str | None = None
    zone: str | None = None
    why: str | None = None
    constant: float | None = None


def column(name: str, dtype: pl.DataType, why: str | None = None) -> Value:
    """Return the values of a column; raises Wrong for a type that is not of single values."""
    import polars as pl

    cells, called = pl.col(name), f"'{name}'"
    if dtype.is_float() or dtype == pl.Decimal:
        return Value(defined(cells), "number", called)
    if dtype.is_integer():
        # Whole numbers stay whole, in Int128 where Int64 is too narrow: as Float64, neighbours above 2^53 are equal.
        wide = dtype in (pl.UInt64, pl.Int128, pl.UInt128)
        return Value(cells.cast(pl.Int128 if wide else pl.Int64), "number", called)
    if dtype in (pl.String, pl.Categorical, pl.Enum):
        return Value(cells.cast(pl.String), "text", called, why=why)
    plain: dict[object, Kind] = {pl.Boolean: "truth", pl.Date: "date", pl.Datetime: "time", pl.Null: "nothing"}
    kind = plain.get(dtype.base_type())
    if kind is None:
        hint = "a condition is about text, numbers, dates, times, true and false"
        raise Wrong("bad-where", f"names the column '{name}', which holds values of type {dtype}", hint)
    return Value(cells, kind, called, zone=getattr(dtype, "time_zone", None))


def number(written: str) -> Value:
    """Return a number that stands in the condition."""
    import polars as pl

    if written.isdecimal():
        whole = int(written)
        kind = pl.Int64 if whole < _LONG else pl.Int128 if whole < _LONG**2 else pl.Float64
        return Value(pl.lit(whole if kind != pl.Float64 else float(whole), kind), "number", written, constant=whole)
    return Value(pl.lit(float(written), pl.Float64), "number", written, constant=float(written))


def text(written: str) -> Value:
    """Return a text that stands in the condition."""
    import polars as pl

    return Value(pl.lit(written, pl.String), "text", f"'{written}'", literal=written)


def nothing() -> Value:
    """Return a missing value."""
    import polars as pl

    return Value(pl.lit(None), "nothing", "NULL")


def defined(numbers: pl.Expr) -> pl.Expr:
    """Turn NaN, the value of what is undefined, into a missing value; gives Float64."""
    import polars as pl

    # an expression's own fill_nan holds its input twice, so that a sum of sixty terms would hold the first 2^60 times
    return numbers.cast(pl.Float64).map_batches(
        lambda column: column.fill_nan(None), return_dtype=pl.Float64, is_elementwise=True)


def not_zero(numbers: pl.Expr) -> pl.Expr:
    """Turn 0, by which nothing is divided, into a missing value."""
    import polars as pl

    # Not when().then(), which would hold its input twice, as in `defined`.
    return numbers.map_batches(
        lambda column: column.set(column == 0, None), return_dtype=pl.Float64, is_elementwise=True)


def real(value: Value) -> pl.Expr:
    """Return a number as Float64, in which conditions count."""
    import polars as pl

    return value.expression.cast(pl.Float64)


def need(value: Value, kind: Kind, what: str) -> Value:
    """Return the value if it is of a kind, or missing; else raises Wrong."""
    if value.kind not in (kind, "nothing"):
        message = f"does not fit the columns: {what} needs {WORDS[kind]}, but {value.called} is {WORDS[value.kind]}"
        raise Wrong("bad-where", message, way_out(value))
    return value


def way_out(*values: Value) -> str:
    """Return what to do about values of the wrong kind."""
    why = next((value.why for value in values if value.why is not None), None)
    return why or "compare text with 'text' in single quotes, numbers with bare numbers"


def alike(left: Value, right: Value, what: str) -> tuple[pl.Expr, pl.Expr]:
    """Return two values in a form in which they can be compared; raises Wrong where they cannot."""
    left, right = _dated(left, right), _dated(right, left)
    if left.kind == right.kind == "time" or {left.kind, right.kind} == {"date", "time"}:
        return _times(left, right, what)
    _same_kind(left, right, what)
    return left.expression, right.expression


def together(values: Sequence[Value], what: str) -> list[Value]:
    """Return values of which each row may have any, in one kind and one time zone; raises Wrong where they differ."""
    present = [value for value in values if value.kind != "nothing"]
    # A written text takes its kind from the column beside it, never the other way round.
    first = next((value for value in present if value.literal is None), present[0] if present else values[0])
    alike_values = [_dated(value, first) for value in values]
    for value in alike_values:
        _same_kind(first, value, what)
        if value.kind == "time" and value.zone not in (first.zone, "UTC"):
            message = f"does not fit the columns: {what} {first.called} and {value.called}, times of different zones"
            raise Wrong("bad-where", message, "write them in one time zone")
    return [_in_zone(value, first) for value in alike_values]


def _in_zone(value: Value, first: Value) -> Value:
    """Return a time in the zone of ``first``; what is no time, or where that has no zone, as it is."""
    if value.kind != "time" or first.zone is None:
        return value
    return replace(value, expression=value.expression.dt.convert_time_zone(first.zone), zone=first.zone)


def _same_kind(left: Value, right: Value, what: str) -> None:
    """Refuse values of different kinds; a missing one fits any."""
    if left.kind == right.kind or "nothing" in (left.kind, right.kind):
        return
    message = (f"does not fit the columns: {what} {left.called}, which is {WORDS[left.kind]}, with {right.called},"
               f" which is {WORDS[right.kind]}")
    dated = {left.kind, right.kind} & {"date", "time"} and "text" in (left.kind, right.kind)
    hint = "make a date of the text with CAST(… AS DATE)" if dated else way_out(left, right)
    raise Wrong("bad-where", message, hint)


def _dated(value: Value, other: Value) -> Value:
    """Read a written text as the date or time that it is compared with."""
    import polars as pl

    if value.literal is None or other.kind not in ("date", "time"):
        return value
    try:
        if other.kind == "date":
            return Value(pl.lit(date.fromisoformat(value.literal)), "date", value.called)
        return _instant(datetime.fromisoformat(value.literal), value, other)
    except ValueError:
        example = "2024-12-31" if other.kind == "date" else "2024-12-31 23:59:00"
        message = f"compares {other.called}, which is {WORDS[other.kind]}, with {value.called}"
        raise Wrong("bad-where", message, f"write {WORDS[other.kind]} as '{example}'") from None


def _instant(moment: datetime, value: Value, other: Value) -> Value:
    """Return a written time as one of the zone of the column; without an offset it is a time of that zone."""
    import polars as pl

    if other.zone is None:
        if moment.tzinfo is not None:
            message = f"compares {other.called}, whose times have no zone, with {value.called}"
            raise Wrong("bad-where", message, "leave the offset out")
        return Value(pl.lit(moment), "time", value.called)
    if moment.tzinfo is None:
        local = moment.replace(tzinfo=ZoneInfo(other.zone))
        # The two offsets differ in the hour that clocks repeat in autumn, and in the one they skip in spring.
        if local.utcoffset() != local.replace(fold=1).utcoffset():
            message = (f"compares {other.called} with {value.called}, which the clocks of {other.zone} show twice or"
                       " never")
            raise Wrong("bad-where", message, f"write the offset, as in '{moment.isoformat(sep=' ')}+00:00'")
        moment = local
    plain = pl.lit(moment.astimezone(UTC).replace(tzinfo=None))
    return Value(plain.dt.replace_time_zone("UTC"), "time", value.called, zone="UTC")


def _times(left: Value, right: Value, what: str) -> tuple[pl.Expr, pl.Expr]:
    """Compare times by the moment they name; a date is its first moment in the zone of the other."""
    zones = {value.zone for value in (left, right) if value.kind == "time"}
    if None in zones and len(zones) > 1:
        message = (
            f"does not fit the columns: {what} {left.called} with {right.called}; only one of them has a time zone"
        )
        raise Wrong("bad-where", message, "write both columns with a time zone, or both without")
    first, second = (_moment(value, zones) for value in (left, right))
    return first, second


def _moment(value: Value, zones: set[str | None]) -> pl.Expr:
    """Return the moment that a time names, in UTC where it has a zone; that of a date is its first."""
    import polars as pl

    expression = value.expression.cast(pl.Datetime("us")) if value.kind == "date" else value.expression
    zone = next(iter(zones)) if value.kind == "date" else value.zone
    if zone is None:
        return expression
    if value.kind == "date":
        expression = expression.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
    return expression.dt.convert_time_zone("UTC")
