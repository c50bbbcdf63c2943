"""The functions of conditions: each sees the cells of one row and gives the same value in every run.

The parser calls what is listed here and nothing else, and `docs/spec.md` is made of the same list. A missing argument
makes the value missing, unless the function says otherwise; so does an argument for which it is undefined.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from evalpipe.data.condition.tokens import Wrong
from evalpipe.data.condition.values import WORDS, Kind, Value, defined, need, not_zero, nothing, real, together

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl


@dataclass(frozen=True, slots=True)
class Function:
    """A function: how it is written, as in "round(x, digits)", the kinds of its arguments and its value, its meaning.

    ``takes`` are kinds of values by space, or "whole", a whole number written in the condition; "when", a date or a
    time; "any", whatever the other arguments are. ``gives`` is a kind, or "any", that of the arguments. ``build`` makes
    the expression of those of the arguments; the last ``optional`` of these may be left out.
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


def _where(met: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Return the value where a condition is met, else a missing one."""
    import polars as pl

    return pl.when(met).then(value)


def _extreme(values: tuple[pl.Expr, ...], *, largest: bool) -> pl.Expr:
    """Return the largest of values, or the smallest; missing where one is, which polars would leave out."""
    import polars as pl

    extreme = pl.max_horizontal(*values) if largest else pl.min_horizontal(*values)
    return _where(pl.all_horizontal(value.is_not_null() for value in values), extreme)


def _first(*values: pl.Expr) -> pl.Expr:
    """Return the first of the values that is not missing."""
    import polars as pl

    return pl.coalesce(*values)


_ALL = (
    Function("abs(x)", "number", "number", "The number without its sign.", lambda x: x.abs()),
    Function("round(x, digits)", "number whole", "number",
             "The number with so many decimals, 0 where not given; a half is rounded away from 0.",
             lambda x, digits=0: x.round(digits, mode="half_away_from_zero"), optional=1),
    Function("floor(x)", "number", "number", "The largest whole number that is not above it.", lambda x: x.floor()),
    Function("ceil(x)", "number", "number", "The smallest whole number that is not below it.", lambda x: x.ceil()),
    Function("sqrt(x)", "number", "number", "The square root; missing below 0.", lambda x: x.sqrt()),
    Function("exp(x)", "number", "number", "The exponential.", lambda x: x.exp()),
    Function("ln(x)", "number", "number", "The natural logarithm; missing unless above 0.",
             lambda x: _where(x > 0, x.log())),
    Function("log10(x)", "number", "number", "The logarithm in base 10; missing unless above 0.",
             lambda x: _where(x > 0, x.log10())),
    Function("power(x, y)", "number number", "number", "The number x to the power of y.", lambda x, y: x.pow(y)),
    Function("mod(x, y)", "number number", "number",
             "What is left of x after division by y, with the sign of y; missing where y is 0.",
             lambda x, y: x % not_zero(y)),
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
    Function("coalesce(x, …)", "any", "any", "The first of the values that is not missing.", _first),
    Function("nullif(x, y)", "any any", "any", "The value x, but missing where it is y.",
             lambda x, y: _where((x != y).fill_null(value=True), x)),
)

FUNCTIONS = {function.name: function for function in _ALL}
"""All functions by name."""


def call(function: Function, arguments: list[Value]) -> Value:
    """Return what a function makes of its arguments; raises Wrong where they do not fit."""
    takes = function.takes.split()
    most = len(arguments) if function.many else len(takes)
    if not max(1, len(takes) - function.optional) <= len(arguments) <= most:
        message = f"calls {function.name}() with {len(arguments)} arguments"
        raise Wrong("bad-where", message, f"it is {function.signature}")
    what = f"{function.name}()"
    if takes[0] == "any":
        checked = together(arguments, f"{what} brings together") if len(arguments) > 1 else arguments
    else:
        checked = [_argument(value, kind, what) for value, kind in zip(arguments, takes, strict=False)]
    first = next((value for value in checked if value.kind != "nothing"), checked[0])
    gives = first.kind if function.gives == "any" else cast("Kind", function.gives)
    called = f"{function.name}({', '.join(value.called for value in arguments)})"
    # A missing argument makes the value missing, whatever polars would do with a null of no type.
    if takes[0] != "any" and any(value.kind == "nothing" for value in checked):
        return Value(nothing().expression, gives, called)
    result = function.build(*(
        _whole(value, what) if kind == "whole" else real(value) if value.kind == "number" else value.expression
        for value, kind in zip(checked, takes * most, strict=False)))
    return Value(defined(result) if gives == "number" else result, gives, called,
                 zone=first.zone if gives == "time" else None)


def _argument(value: Value, kind: str, what: str) -> Value:
    """Return an argument that is of the kind a function takes; raises Wrong for another."""
    if kind != "when":
        return need(value, "number" if kind == "whole" else cast("Kind", kind), what)
    if value.kind in ("date", "time", "nothing"):
        return value
    message = f"does not fit the columns: {what} needs a date or a time, but {value.called} is {WORDS[value.kind]}"
    hint = "make a date of it with CAST(… AS DATE); csv files can declare one: csv: {types: {COLUMN: date}}"
    raise Wrong("bad-where", message, hint)


def _whole(value: Value, what: str) -> int:
    """Return an argument that must stand in the condition as a whole number; raises Wrong for another."""
    if not value.called.lstrip("-").isdecimal():
        message = f"{what} needs a whole number written in the condition, but {value.called} is none"
        raise Wrong("bad-where", message, "write the number itself, as in round(x, 2)")
    return int(value.called)
