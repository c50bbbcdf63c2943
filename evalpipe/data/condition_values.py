"""The language of conditions: its tokens, its values, and its functions of the cells of one row.

The parser calls these functions and no others, and `docs/spec.md` is made of the same list. A missing argument makes
the value missing, unless the function says otherwise; so does an argument for which it is undefined.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Literal, cast
from zoneinfo import ZoneInfo

from evalpipe.base.lazy_polars import pl
from evalpipe.data.values import Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_TOKEN = re.compile(
    r"""(?P<skip>\s+|--[^\n]*|/\*.*?\*/)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<text>'(?:[^']|'')*')
    |(?P<quoted>"(?:[^"]|"")*"|`[^`]*`)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign><=|>=|<>|!=|==|\|\||[-+*/%(),<>=])""",
    re.DOTALL | re.VERBOSE,
)

# Names and texts in quotes are told apart, as SQL does: "age" is a column, 'age' a text.
Sort = Literal["number", "text", "quoted", "word", "sign", "end"]


class WrongCondition(Unreadable):
    """Raised for a condition that cannot be parsed, or does not fit the columns."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a condition: its sort, its text (without quotes), and the positions where it begins and ends."""

    sort: Sort
    value: str
    begin: int
    end: int


def tokens(text: str) -> list[Token]:
    """Split a condition into tokens, the last of the sort "end"; raises WrongCondition."""
    pieces: list[Token] = []
    end = 0
    while end < len(text):
        begin, sign = end, text[end]
        match = _TOKEN.match(text, begin)
        if match is None and sign in "'\"`":
            hint = "close it, or write '' inside a text"
            raise WrongCondition("bad-sql", f"cannot be read: a quote ({sign}) is not closed", hint)
        if match is None:
            hint = ("put a name with other characters than letters, digits and _ in double quotes, as in "
                    '"blood.pressure" > 120')
            raise WrongCondition("bad-sql", f"cannot be read at {text[begin:begin + 20].strip()!r}", hint)
        end = match.end()
        value = match[0]
        if match.lastgroup in ("text", "quoted"):
            value = value[1:-1].replace(sign * 2, sign)
        if match.lastgroup != "skip":
            pieces.append(Token(cast("Sort", match.lastgroup), value, begin, end))
    return [*pieces, Token("end", "", len(text), len(text))]


def names_in(text: str) -> set[str]:
    """Return all words and quoted names of a condition, which include its columns; none where it cannot be split."""
    try:
        return {token.value for token in tokens(text) if token.sort in ("word", "quoted")}
    except WrongCondition:
        return set()


Kind = Literal["number", "text", "truth", "date", "time", "nothing"]

KIND_WORDS: dict[Kind, str] = {
    "number": "a number", "text": "text", "truth": "true or false", "date": "a date", "time": "a time",
    "nothing": "a missing value",
}
"""The words of messages for the kinds of values."""

_INT64_END = 2**63


@dataclass(frozen=True, slots=True)
class Value:
    """An expression of the row's cells, in which what is missing or undefined is null, never NaN.

    ``called`` names it in messages; ``literal`` is its text and ``constant`` its number where the condition has it as a
    literal; ``zone`` is the time zone of a time that has one; ``why`` explains why a column of numbers is text.
    """

    expression: pl.Expr
    kind: Kind
    called: str
    literal: str | None = None
    zone: str | None = None
    why: str | None = None
    constant: float | None = None


def column(name: str, dtype: pl.DataType, why: str | None = None) -> Value:
    """Return the values of a column; raises WrongCondition for a type that is not of single values."""
    cells, called = pl.col(name), f"'{name}'"
    if dtype.is_float() or dtype == pl.Decimal:
        return Value(nan_as_missing(cells), "number", called)
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
        raise WrongCondition("bad-where", f"names the column '{name}', which holds values of type {dtype}", hint)
    return Value(cells, kind, called, zone=getattr(dtype, "time_zone", None))


def number_literal(literal: str) -> Value:
    """Return a number written in a condition, such as "18" or "0.5", as a constant `Value`."""
    if literal.isdecimal():
        integer = int(literal)
        if integer < _INT64_END**2:
            expression = pl.lit(integer, pl.Int64 if integer < _INT64_END else pl.Int128)
        else:
            expression = pl.lit(float(integer), pl.Float64)
        return Value(expression, "number", literal, constant=integer)
    return Value(pl.lit(float(literal), pl.Float64), "number", literal, constant=float(literal))


def text(literal: str) -> Value:
    """Return a text written in a condition, without its quotes, as a constant `Value`."""
    return Value(pl.lit(literal, pl.String), "text", f"'{literal}'", literal=literal)


def missing_value() -> Value:
    """Return the constant NULL as a `Value`."""
    return Value(pl.lit(None), "nothing", "NULL")


def nan_as_missing(numbers: pl.Expr) -> pl.Expr:
    """Turn NaN, such as the value of 0 / 0, into a missing value; return Float64."""
    # an expression's own fill_nan holds its input twice, so that a sum of sixty terms would hold the first 2^60 times
    return numbers.cast(pl.Float64).map_batches(
        lambda column: column.fill_nan(None), return_dtype=pl.Float64, is_elementwise=True)


def zero_as_missing(numbers: pl.Expr) -> pl.Expr:
    """Turn 0 into a missing value, so that a division by it gives a missing value too."""
    # Not when().then(), which would hold its input twice.
    return numbers.map_batches(
        lambda column: column.set(column == 0, None), return_dtype=pl.Float64, is_elementwise=True)


def as_float(value: Value) -> pl.Expr:
    """Return the expression of a number as Float64, the type that conditions compute with."""
    return value.expression.cast(pl.Float64)


def require_kind(value: Value, kind: Kind, what: str) -> Value:
    """Return ``value`` if it is of ``kind`` or NULL; else raise WrongCondition: ``what`` needs that kind."""
    if value.kind not in (kind, "nothing"):
        message = (f"does not fit the columns: {what} needs {KIND_WORDS[kind]}, but {value.called} is "
                   f"{KIND_WORDS[value.kind]}")
        raise WrongCondition("bad-where", message, wrong_kind_hint(value))
    return value


def wrong_kind_hint(*values: Value) -> str:
    """Return the hint for values of the wrong kind, such as a text where a number is needed."""
    why = next((value.why for value in values if value.why is not None), None)
    return why or "compare text with 'text' in single quotes, numbers with bare numbers"


def comparable(left: Value, right: Value) -> tuple[pl.Expr, pl.Expr]:
    """Return the expressions of two values, converted so that they compare; raises WrongCondition where they cannot.

    Times, and a time and a date, become moments in UTC; a date is its first moment in the zone of the other.
    """
    left, right = _as_date_or_time(left, right), _as_date_or_time(right, left)
    if left.kind == right.kind == "time" or {left.kind, right.kind} == {"date", "time"}:
        zones = {value.zone for value in (left, right) if value.kind == "time"}
        if None in zones and len(zones) > 1:
            message = (f"does not fit the columns: compares {left.called} with {right.called}; only one of them has a "
                       "time zone")
            raise WrongCondition("bad-where", message, "write both columns with a time zone, or both without")
        moments: list[pl.Expr] = []
        for value in (left, right):
            moment, zone = value.expression, value.zone
            if value.kind == "date":
                moment, zone = moment.cast(pl.Datetime("us")), next(iter(zones))
                if zone is not None:
                    moment = moment.dt.replace_time_zone(zone, ambiguous="earliest", non_existent="null")
            moments.append(moment if zone is None else moment.dt.convert_time_zone("UTC"))
        return moments[0], moments[1]
    _refuse_other_kind(left, right, "compares")
    return left.expression, right.expression


def convert_to_common_kind(values: Sequence[Value], what: str) -> list[Value]:
    """Return values converted to one kind and one time zone; raises WrongCondition where that is impossible."""
    defined = [value for value in values if value.kind != "nothing"]
    # A written text takes its kind from the column beside it, never the other way round.
    first = next((value for value in defined if value.literal is None), defined[0] if defined else values[0])
    comparable_values = [_as_date_or_time(value, first) for value in values]
    for value in comparable_values:
        _refuse_other_kind(first, value, what)
        if value.kind == "time" and value.zone not in (first.zone, "UTC"):
            message = f"does not fit the columns: {what} {first.called} and {value.called}, times of different zones"
            raise WrongCondition("bad-where", message, "write them in one time zone")
    if first.kind != "time" or first.zone is None:
        return comparable_values
    return [
        replace(value, expression=value.expression.dt.convert_time_zone(first.zone), zone=first.zone)
        if value.kind == "time" else value for value in comparable_values
    ]


def _refuse_other_kind(left: Value, right: Value, what: str) -> None:
    """Raise WrongCondition for values of different kinds; a missing one fits any."""
    if left.kind == right.kind or "nothing" in (left.kind, right.kind):
        return
    message = (f"does not fit the columns: {what} {left.called}, which is {KIND_WORDS[left.kind]}, with {right.called},"
               f" which is {KIND_WORDS[right.kind]}")
    is_date_with_text = {left.kind, right.kind} & {"date", "time"} and "text" in (left.kind, right.kind)
    hint = "make a date of the text with CAST(… AS DATE)" if is_date_with_text else wrong_kind_hint(left, right)
    raise WrongCondition("bad-where", message, hint)


def _as_date_or_time(value: Value, other: Value) -> Value:
    """Return a text literal as a date or time where ``other``, with which it is compared, is one."""
    if value.literal is None or other.kind not in ("date", "time"):
        return value
    try:
        if other.kind == "date":
            return Value(pl.lit(date.fromisoformat(value.literal)), "date", value.called)
        return _as_time(datetime.fromisoformat(value.literal), value, other)
    except ValueError:
        example = "2024-12-31" if other.kind == "date" else "2024-12-31 23:59:00"
        message = f"compares {other.called}, which is {KIND_WORDS[other.kind]}, with {value.called}"
        raise WrongCondition("bad-where", message, f"write {KIND_WORDS[other.kind]} as '{example}'") from None


def _as_time(moment: datetime, value: Value, other: Value) -> Value:
    """Return ``moment``, the text ``value`` read as a time, for comparison with ``other``, a column of times.

    It is in UTC where the column has a zone; without an offset it is a time of that zone. Raises WrongCondition
    where the two do not fit.
    """
    if other.zone is None:
        if moment.tzinfo is not None:
            message = f"compares {other.called}, whose times have no zone, with {value.called}"
            raise WrongCondition("bad-where", message, "leave the offset out")
        return Value(pl.lit(moment), "time", value.called)
    if moment.tzinfo is None:
        local = moment.replace(tzinfo=ZoneInfo(other.zone))
        # The two offsets differ in the hour that clocks repeat in autumn, and in the one they skip in spring.
        if local.utcoffset() != local.replace(fold=1).utcoffset():
            message = (f"compares {other.called} with {value.called}, which the clocks of {other.zone} show twice or"
                       " never")
            raise WrongCondition("bad-where", message, f"write the offset, as in '{moment.isoformat(sep=' ')}+00:00'")
        moment = local
    plain = pl.lit(moment.astimezone(UTC).replace(tzinfo=None))
    return Value(plain.dt.replace_time_zone("UTC"), "time", value.called, zone="UTC")


@dataclass(frozen=True, slots=True)
class Function:
    """A function of conditions: its signature, such as "round(x, digits)", kinds of arguments and value, and meaning.

    ``takes`` are the kinds of arguments, separated by spaces: a `Kind`; "whole", an integer literal; "when", a date or
    a time; "any", the same kind for all. ``gives`` is the kind of the value, or "any", that of the arguments. ``build``
    makes the expression from those of the arguments, of which the last ``optional`` ones may be left out.
    """

    signature: str
    takes: str
    gives: str
    meaning: str
    build: Callable[..., pl.Expr]
    optional: int = 0

    @property
    def name(self) -> str:
        """The name in small letters, as in "round"."""
        return self.signature.partition("(")[0]

    @property
    def many(self) -> bool:
        """Whether any number of arguments may be given."""
        return "…" in self.signature


def _null_unless(met: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return an expression of ``value`` in rows where the condition ``met`` is true, null in the others."""
    return pl.when(met).then(value)


def _extreme(values: tuple[pl.Expr, ...], *, largest: bool) -> pl.Expr:
    """Return the largest of values, or the smallest; null where one is null, which polars would ignore."""
    extreme = pl.max_horizontal(*values) if largest else pl.min_horizontal(*values)
    return _null_unless(pl.all_horizontal(value.is_not_null() for value in values), extreme)


_FUNCTIONS = (
    Function("abs(x)", "number", "number", "The number without its sign.", lambda x: x.abs()),
    Function("round(x, digits)", "number whole", "number",
             "The number with so many decimals, 0 where not given; a half is rounded away from 0.",
             lambda x, digits=0: x.round(digits, mode="half_away_from_zero"), optional=1),
    Function("floor(x)", "number", "number", "The largest whole number that is not above it.", lambda x: x.floor()),
    Function("ceil(x)", "number", "number", "The smallest whole number that is not below it.", lambda x: x.ceil()),
    Function("sqrt(x)", "number", "number", "The square root; missing below 0.", lambda x: x.sqrt()),
    Function("exp(x)", "number", "number", "The exponential.", lambda x: x.exp()),
    Function("ln(x)", "number", "number", "The natural logarithm; missing unless above 0.",
             lambda x: _null_unless(x > 0, x.log())),
    Function("log10(x)", "number", "number", "The logarithm in base 10; missing unless above 0.",
             lambda x: _null_unless(x > 0, x.log10())),
    Function("power(x, y)", "number number", "number", "The number x to the power of y.", lambda x, y: x.pow(y)),
    Function("mod(x, y)", "number number", "number",
             "What is left of x after division by y, with the sign of y; missing where y is 0.",
             lambda x, y: x % zero_as_missing(y)),
    Function("greatest(x, …)", "any", "any", "The largest of the values; missing where one is.",
             lambda *x: _extreme(x, largest=True)),
    Function("least(x, …)", "any", "any", "The smallest of the values; missing where one is.",
             lambda *x: _extreme(x, largest=False)),
    Function("lower(x)", "text", "text", "The text in small letters.", lambda x: x.str.to_lowercase()),
    Function("upper(x)", "text", "text", "The text in capital letters.", lambda x: x.str.to_uppercase()),
    Function("trim(x)", "text", "text", "The text without white space at its ends.", lambda x: x.str.strip_chars()),
    Function("length(x)", "text", "number", "The number of characters.", lambda x: x.str.len_chars()),
    Function("substr(x, first, length)", "text whole whole", "text",
             "The characters from the first, counted from 1, so many of them.",
             lambda x, first, length: x.str.slice(first - 1, length)),
    Function("starts_with(x, part)", "text text", "truth", "Whether the text begins with a part.",
             lambda x, part: x.str.starts_with(part)),
    Function("ends_with(x, part)", "text text", "truth", "Whether the text ends with a part.",
             lambda x, part: x.str.ends_with(part)),
    Function("contains(x, part)", "text text", "truth", "Whether a part stands anywhere in the text.",
             lambda x, part: x.str.contains(part, literal=True)),
    Function("regexp_like(x, pattern)", "text text", "truth",
             "Whether a regular expression matches anywhere in the text.", lambda x, pattern: x.str.contains(pattern)),
    Function("replace(x, old, new)", "text text text", "text",
             "The text with every occurrence of a part replaced by another.",
             lambda x, old, new: x.str.replace_all(old, new, literal=True)),
    Function("date(x)", "when", "date", "The day of a time in its zone; of a text use CAST(x AS DATE).",
             lambda x: x.dt.date()),
    Function("year(x)", "when", "number", "The year of a date, or of a time in its zone.", lambda x: x.dt.year()),
    Function("month(x)", "when", "number", "The month, from 1 to 12.", lambda x: x.dt.month()),
    Function("day(x)", "when", "number", "The day of the month, from 1 to 31.", lambda x: x.dt.day()),
    Function("weekday(x)", "when", "number", "The day of the week, from 1 for Monday to 7 for Sunday.",
             lambda x: x.dt.weekday()),
    Function("hour(x)", "time", "number", "The hour of a time in its zone, from 0 to 23.", lambda x: x.dt.hour()),
    Function("minute(x)", "time", "number", "The minute of a time, from 0 to 59.", lambda x: x.dt.minute()),
    Function("isnan(x)", "any", "truth", "Whether the value is missing, null or NaN: the same as x IS NULL.",
             lambda x: x.is_null()),
    Function("coalesce(x, …)", "any", "any", "The first of the values that is not missing.",
             lambda *x: pl.coalesce(*x)),  # noqa: PLW0108 - polars is imported when it is used
    Function("nullif(x, y)", "any any", "any", "The value x, but missing where it is y.",
             lambda x, y: _null_unless((x != y).fill_null(value=True), x)),
)

FUNCTIONS = {function.name: function for function in _FUNCTIONS}
"""All functions by name."""


def call(function: Function, arguments: list[Value]) -> Value:
    """Return the value of a function for its arguments; raises WrongCondition where they do not fit."""
    takes = function.takes.split()
    most = len(arguments) if function.many else len(takes)
    if not max(1, len(takes) - function.optional) <= len(arguments) <= most:
        message = f"calls {function.name}() with {len(arguments)} arguments"
        raise WrongCondition("bad-where", message, f"it is {function.signature}")
    what = f"{function.name}()"
    if takes[0] == "any":
        checked = convert_to_common_kind(arguments, f"{what} brings together") if len(arguments) > 1 else arguments
    else:
        checked = [_checked_argument(value, kind, what) for value, kind in zip(arguments, takes, strict=False)]
    first = next((value for value in checked if value.kind != "nothing"), checked[0])
    gives = first.kind if function.gives == "any" else cast("Kind", function.gives)
    called = f"{function.name}({', '.join(value.called for value in arguments)})"
    # A missing argument makes the value missing, whatever polars would do with a null of no type.
    if takes[0] != "any" and any(value.kind == "nothing" for value in checked):
        return Value(missing_value().expression, gives, called)
    expressions: list[pl.Expr | int] = []
    for value, kind in zip(checked, takes * most, strict=False):
        if kind == "whole":
            expressions.append(_whole_number(value, what))
        else:
            expressions.append(as_float(value) if value.kind == "number" else value.expression)
    result = function.build(*expressions)
    return Value(nan_as_missing(result) if gives == "number" else result, gives, called,
                 zone=first.zone if gives == "time" else None)


def _checked_argument(value: Value, kind: str, what: str) -> Value:
    """Return an argument if it is of a ``kind``, "whole" (an integer) or "when" (a date or time); else raise."""
    if kind != "when":
        return require_kind(value, "number" if kind == "whole" else cast("Kind", kind), what)
    if value.kind in ("date", "time", "nothing"):
        return value
    message = (f"does not fit the columns: {what} needs a date or a time, but {value.called} is "
               f"{KIND_WORDS[value.kind]}")
    hint = "make a date of it with CAST(… AS DATE); csv files can declare one: csv: {types: {COLUMN: date}}"
    raise WrongCondition("bad-where", message, hint)


def _whole_number(value: Value, what: str) -> int:
    """Return the integer of an argument that must be a literal in the condition; raises WrongCondition for others."""
    if not value.called.lstrip("-").isdecimal():
        message = f"{what} needs a whole number written in the condition, but {value.called} is none"
        raise WrongCondition("bad-where", message, "write the number itself, as in round(x, 2)")
    return int(value.called)
