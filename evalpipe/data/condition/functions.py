"""The functions of conditions: each sees the cells of one row and gives the same value in every run.

The parser calls what is declared here and nothing else, and `docs/spec.md` is made of the same list. A missing argument
makes the value missing, unless the function says otherwise; so does an argument for which it is undefined.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.data.condition.tokens import Wrong
from evalpipe.data.condition.values import WORDS, Kind, Value, defined, need, not_zero, nothing, real, together

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

Takes = Kind | Literal["when", "any"]
"""The kind of an argument; "when" is a date or a time, "any" whatever the other arguments are."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function: its name, its arguments and their kinds, how many may be left out, its value and its meaning."""

    name: str
    arguments: tuple[str, ...]
    takes: tuple[Takes, ...]
    gives: Takes
    least: int
    many: bool
    meaning: str
    build: Callable[..., pl.Expr]

    @property
    def signature(self) -> str:
        """The function as it is written: "round(x, digits)"."""
        return f"{self.name}({', '.join(self.arguments)}{', …' if self.many else ''})"


FUNCTIONS: dict[str, Function] = {}
"""All functions by name."""


def _function(takes: str, gives: Takes) -> Callable[[Callable[..., pl.Expr]], Callable[..., pl.Expr]]:
    """Declare a function by its arguments' kinds, separated by spaces, and that of its value."""
    def declare(build: Callable[..., pl.Expr]) -> Callable[..., pl.Expr]:
        parameters = list(inspect.signature(build).parameters.values())
        name, kinds = build.__name__.strip("_"), tuple(takes.split())
        many = parameters[-1].kind is inspect.Parameter.VAR_POSITIONAL
        least = sum(parameter.default is parameter.empty for parameter in parameters)
        shown = tuple(parameter.name for parameter in parameters)
        meaning = " ".join((build.__doc__ or "").split())
        FUNCTIONS[name] = Function(name, shown, kinds, gives, least, many, meaning, build)  # type: ignore[arg-type]
        return build

    return declare


@_function("number", "number")
def _abs(x: pl.Expr) -> pl.Expr:
    """The number without its sign."""
    return x.abs()


@_function("number number", "number")
def _round(x: pl.Expr, digits: Any = 0) -> pl.Expr:
    """The number with so many decimals, 0 where not given; a half is rounded away from 0."""
    return x.round(digits, mode="half_away_from_zero")


@_function("number", "number")
def _floor(x: pl.Expr) -> pl.Expr:
    """The largest whole number that is not above it."""
    return x.floor()


@_function("number", "number")
def _ceil(x: pl.Expr) -> pl.Expr:
    """The smallest whole number that is not below it."""
    return x.ceil()


@_function("number", "number")
def _sqrt(x: pl.Expr) -> pl.Expr:
    """The square root; missing below 0."""
    return x.sqrt()


@_function("number", "number")
def _exp(x: pl.Expr) -> pl.Expr:
    """The exponential."""
    return x.exp()


@_function("number", "number")
def _ln(x: pl.Expr) -> pl.Expr:
    """The natural logarithm; missing unless above 0."""
    return _above(x, x.log())


@_function("number", "number")
def _log10(x: pl.Expr) -> pl.Expr:
    """The logarithm in base 10; missing unless above 0."""
    return _above(x, x.log10())


def _above(x: pl.Expr, value: pl.Expr) -> pl.Expr:
    """Leave out the value where ``x`` is not above 0."""
    import polars as pl

    return pl.when(x > 0).then(value)


@_function("number number", "number")
def _power(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    """The number x to the power of y."""
    return x.pow(y)


@_function("number number", "number")
def _mod(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    """What is left of x after division by y, with the sign of y; missing where y is 0."""
    return x % not_zero(y)


@_function("any", "any")
def _greatest(*x: pl.Expr) -> pl.Expr:
    """The largest of the values; missing where one is."""
    import polars as pl

    return pl.when(pl.all_horizontal(value.is_not_null() for value in x)).then(pl.max_horizontal(*x))


@_function("any", "any")
def _least(*x: pl.Expr) -> pl.Expr:
    """The smallest of the values; missing where one is."""
    import polars as pl

    return pl.when(pl.all_horizontal(value.is_not_null() for value in x)).then(pl.min_horizontal(*x))


@_function("text", "text")
def _lower(x: pl.Expr) -> pl.Expr:
    """The text in small letters."""
    return x.str.to_lowercase()


@_function("text", "text")
def _upper(x: pl.Expr) -> pl.Expr:
    """The text in capital letters."""
    return x.str.to_uppercase()


@_function("text", "text")
def _trim(x: pl.Expr) -> pl.Expr:
    """The text without white space at its ends."""
    return x.str.strip_chars()


@_function("text", "number")
def _length(x: pl.Expr) -> pl.Expr:
    """The number of characters."""
    return x.str.len_chars()


@_function("text number number", "text")
def _substr(x: pl.Expr, first: Any, length: Any) -> pl.Expr:
    """The characters from the first, counted from 1, so many of them."""
    return x.str.slice(first - 1, length)


@_function("text text", "truth")
def _starts_with(x: pl.Expr, part: pl.Expr) -> pl.Expr:
    """Whether the text begins with a part."""
    return x.str.starts_with(part)


@_function("text text", "truth")
def _ends_with(x: pl.Expr, part: pl.Expr) -> pl.Expr:
    """Whether the text ends with a part."""
    return x.str.ends_with(part)


@_function("text text", "truth")
def _contains(x: pl.Expr, part: pl.Expr) -> pl.Expr:
    """Whether a part stands anywhere in the text."""
    return x.str.contains(part, literal=True)


@_function("text text", "truth")
def _regexp_like(x: pl.Expr, pattern: pl.Expr) -> pl.Expr:
    """Whether a regular expression matches anywhere in the text."""
    return x.str.contains(pattern)


@_function("text text text", "text")
def _replace(x: pl.Expr, old: pl.Expr, new: pl.Expr) -> pl.Expr:
    """The text with every occurrence of a part replaced by another."""
    return x.str.replace_all(old, new, literal=True)


@_function("when", "date")
def _date(x: pl.Expr) -> pl.Expr:
    """The day of a time in its zone; of a text use CAST(x AS DATE)."""
    return x.dt.date()


@_function("when", "number")
def _year(x: pl.Expr) -> pl.Expr:
    """The year of a date, or of a time in its zone."""
    return x.dt.year()


@_function("when", "number")
def _month(x: pl.Expr) -> pl.Expr:
    """The month, from 1 to 12."""
    return x.dt.month()


@_function("when", "number")
def _day(x: pl.Expr) -> pl.Expr:
    """The day of the month, from 1 to 31."""
    return x.dt.day()


@_function("when", "number")
def _weekday(x: pl.Expr) -> pl.Expr:
    """The day of the week, from 1 for Monday to 7 for Sunday."""
    return x.dt.weekday()


@_function("time", "number")
def _hour(x: pl.Expr) -> pl.Expr:
    """The hour of a time in its zone, from 0 to 23."""
    return x.dt.hour()


@_function("time", "number")
def _minute(x: pl.Expr) -> pl.Expr:
    """The minute of a time, from 0 to 59."""
    return x.dt.minute()


@_function("any", "truth")
def _isnan(x: pl.Expr) -> pl.Expr:
    """Whether the value is missing, null or NaN: the same as x IS NULL."""
    return x.is_null()


@_function("any", "any")
def _coalesce(*x: pl.Expr) -> pl.Expr:
    """The first of the values that is not missing."""
    import polars as pl

    return pl.coalesce(*x)


@_function("any any", "any")
def _nullif(x: pl.Expr, y: pl.Expr) -> pl.Expr:
    """The value x, but missing where it is y."""
    import polars as pl

    return pl.when((x != y).fill_null(value=True)).then(x)


_WHOLE = {("round", 1), ("substr", 1), ("substr", 2)}
"""The arguments that are whole numbers written in the condition."""


def call(function: Function, arguments: list[Value]) -> Value:
    """Return what a function makes of its arguments; raises Wrong where they do not fit."""
    _counted(function, arguments)
    takes = function.takes * len(arguments) if function.many else function.takes
    what = f"{function.name}()"
    checked = [_argument(value, kind, what) for value, kind in zip(arguments, takes, strict=False)]
    if takes[0] == "any" and len(checked) > 1:
        checked = together(checked, f"{what} brings together")
    first = next((value for value in checked if value.kind != "nothing"), checked[0])
    gives: Kind = first.kind if function.gives in ("any", "when") else function.gives  # type: ignore[assignment]
    called = f"{function.name}({', '.join(value.called for value in arguments)})"
    if takes[0] != "any" and any(value.kind == "nothing" for value in checked):
        return Value(nothing().expression, gives, called)
    inputs: list[Any] = [
        _whole(value, what) if (function.name, place) in _WHOLE
        else real(value) if value.kind == "number" else value.expression for place, value in enumerate(checked)]
    result = function.build(*inputs)
    zone = first.zone if gives == "time" else None
    return Value(defined(result) if gives == "number" else result, gives, called, zone=zone)


def _counted(function: Function, arguments: list[Value]) -> None:
    """Refuse too few or too many arguments; raises Wrong."""
    most = None if function.many else len(function.arguments)
    if len(arguments) < max(1, function.least) or (most is not None and len(arguments) > most):
        message = f"calls {function.name}() with {len(arguments)} arguments"
        raise Wrong("bad-where", message, f"it is {function.signature}")


def _argument(value: Value, kind: Takes, what: str) -> Value:
    """Return an argument that is of the kind a function takes; raises Wrong for another."""
    if kind == "any":
        return value
    if kind == "when":
        if value.kind in ("date", "time", "nothing"):
            return value
        message = f"does not fit the columns: {what} needs a date or a time, but {value.called} is {WORDS[value.kind]}"
        hint = "make a date of it with CAST(… AS DATE); csv files can declare one: csv: {types: {COLUMN: date}}"
        raise Wrong("bad-where", message, hint)
    return need(value, kind, what)


def _whole(value: Value, what: str) -> int:
    """Return an argument that must stand in the condition as a whole number; raises Wrong for another."""
    if not value.called.lstrip("-").isdecimal():
        message = f"{what} needs a whole number written in the condition, but {value.called} is none"
        raise Wrong("bad-where", message, "write the number itself, as in round(x, 2)")
    return int(value.called)
