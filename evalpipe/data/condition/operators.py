"""What the signs and words of conditions do with values; what is missing makes the outcome unknown, as in SQL."""

from __future__ import annotations

import operator
import re
from typing import TYPE_CHECKING

from evalpipe.data.condition.tokens import Wrong
from evalpipe.data.condition.values import WORDS, Kind, Value, alike, defined, need, not_zero, real, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

COMPARISONS = {
    "=": operator.eq, "<>": operator.ne, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge,
}
SUMS = {"+": operator.add, "-": operator.sub}
PRODUCTS = {"*": operator.mul, "/": operator.truediv, "%": operator.mod}

CASTS: dict[str, Kind] = {
    "integer": "number", "double": "number", "text": "text", "boolean": "truth", "date": "date", "timestamp": "time",
}
"""The types that CAST knows, and the kind of value each gives."""
_ALSO = {"int": "integer", "bigint": "integer", "float": "double", "real": "double", "varchar": "text",
         "string": "text", "bool": "boolean", "datetime": "timestamp"}
_EXACT = 2**53
"""Below it, whole numbers are exact as Float64."""
_DAY = r"^\s*(\d{4}-\d{2}-\d{2})(?:[T ]\d{2}:\d{2}.*)?\s*$"


def truth(*, value: bool) -> Value:
    """Return TRUE or FALSE."""
    import polars as pl

    return Value(pl.lit(value), "truth", str(value).upper())


def joined(left: Value, word: str, right: Value) -> Value:
    """Join two conditions by AND or OR."""
    word = word.upper()
    first, second = (_flags(value, word) for value in (left, right))
    return Value(first & second if word == "AND" else first | second, "truth", f"a condition with {word}")


def negated(value: Value) -> Value:
    """Return NOT of a condition."""
    return Value(~_flags(value, "NOT"), "truth", "a condition with NOT")


def _flags(value: Value, word: str) -> pl.Expr:
    """Return whether each row meets a condition that ``word`` joins; raises Wrong for a value that is none."""
    import polars as pl

    if value.kind not in ("truth", "nothing"):
        message = f"joins {value.called}, which is {WORDS[value.kind]}, by {word}"
        raise Wrong("bad-where", message, 'compare it with something, as in "age >= 18"')
    return value.expression.cast(pl.Boolean)


def compared(left: Value, sign: str, right: Value) -> Value:
    """Compare two values."""
    # SQL allows it and finds no row; whoever writes it means IS NULL.
    if "NULL" in (left.called, right.called):
        hint = "a missing value is found by IS NULL or IS NOT NULL"
        raise Wrong("bad-where", f"compares with NULL ({sign} NULL), which no row meets", hint)
    first, second = alike(left, right, "compares")
    return Value(COMPARISONS[sign](first, second), "truth", "a comparison")


def tested(value: Value, word: str, *, inverted: bool) -> Value:
    """Return IS [NOT] NULL, TRUE or FALSE, which are never unknown."""
    import polars as pl

    if word == "null":
        outcome = value.expression.is_null()
    else:
        flags = need(value, "truth", f"IS {word.upper()}").expression.cast(pl.Boolean)
        outcome = flags.eq_missing(pl.lit(word == "true"))
    return Value(~outcome if inverted else outcome, "truth", f"a test with IS {word.upper()}")


def one_of(value: Value, options: Sequence[Value]) -> Value:
    """Return whether a value is one of some; unknown where it is none of them and one of them is missing."""
    import polars as pl

    listed = _listed(value, options)
    if listed is not None:
        return listed
    pairs = (alike(value, option, "compares") for option in options)
    equal = [first.eq(second).cast(pl.Boolean) for first, second in pairs]
    return Value(pl.any_horizontal(equal), "truth", "a test with IN")


def _listed(value: Value, options: Sequence[Value]) -> Value | None:
    """Look numbers or texts up in a list of those that are written, which may be long."""
    import polars as pl

    texts = [option.literal for option in options if option.literal is not None]
    if value.kind == "text" and len(texts) == len(options):
        return Value(value.expression.is_in(texts), "truth", "a test with IN")
    sizes = [option.constant for option in options if option.constant is not None]
    # Above 2^53 two whole numbers may be one Float64, so longer ones are compared one by one instead.
    if value.kind == "number" and len(sizes) == len(options) and max(sizes) < _EXACT:
        looked_up = pl.Series(sizes, dtype=pl.Float64, strict=False).implode()
        return Value(real(value).is_in(looked_up), "truth", "a test with IN")
    return None


def between(value: Value, low: Value, high: Value) -> Value:
    """Return whether a value is from ``low`` to ``high``, both included."""
    return joined(compared(value, ">=", low), "AND", compared(value, "<=", high))


def like(value: Value, pattern: Value, word: str) -> Value:
    """Return whether a text is like a pattern, in which % stands for any text and _ for one character."""
    need(value, "text", word.upper())
    if pattern.literal is None:
        message = f"compares {value.called} by {word.upper()} with what is not a text"
        raise Wrong("bad-where", message, "write the pattern in single quotes, as in name LIKE 'A%'")
    # All other signs of the pattern stand for themselves, also those that mean something in a regular expression.
    signs = {"%": ".*", "_": "."}
    expression = "".join(signs.get(sign, re.escape(sign)) for sign in pattern.literal)
    flags = "(?is)" if word == "ilike" else "(?s)"
    import polars as pl

    return Value(value.expression.cast(pl.String).str.contains(f"{flags}^{expression}$"), "truth", "a test with LIKE")


def computed(left: Value, sign: str, right: Value) -> Value:
    """Compute with two numbers, or join two texts by ``||``; what is undefined is missing, as is division by 0."""
    import polars as pl

    called = f"{left.called} {sign} {right.called}"
    if sign == "||":
        texts = [need(value, "text", "||").expression.cast(pl.String) for value in (left, right)]
        return Value(pl.concat_str(texts), "text", called)
    first, second = (real(need(value, "number", f"'{sign}'")) for value in (left, right))
    if sign in "/%":
        second = not_zero(second)
    return Value(defined((SUMS | PRODUCTS)[sign](first, second)), "number", called)


def signed(sign: str, value: Value) -> Value:
    """Return a number as it is, or with the other sign."""
    number = need(value, "number", f"'{sign}'")
    return number if sign == "+" else Value(-number.expression, "number", f"-{value.called}")


def chosen(branches: Sequence[tuple[Value, Value]], other: Value) -> Value:
    """Return the value of the first condition that is met, else the other; one that is unknown is not met."""
    import polars as pl

    values = together([*(value for _, value in branches), other], "CASE brings together")
    result = values[-1].expression
    # From the last branch inwards, each the alternative of the one before.
    for (met, _), value in zip(reversed(branches), reversed(values[:-1]), strict=True):
        result = pl.when(_flags(met, "WHEN")).then(value.expression).otherwise(result)
    first = next((value for value in values if value.kind != "nothing"), values[0])
    return Value(result, first.kind, "what CASE gives", zone=first.zone)


def cast(value: Value, written: str, *, strict: bool) -> Value:
    """Return a value as another type; a text that is none is an error, or missing where not ``strict``."""
    name = _ALSO.get(written, written)
    if name not in CASTS:
        raise Wrong("bad-where", f"casts to {written.upper()}", f"the types are {', '.join(CASTS).upper()}")
    kind, called = CASTS[name], f"{value.called} as {name.upper()}"
    if value.kind == "nothing":
        return Value(value.expression, kind, called)
    converted = _converted(value, name, strict=strict)
    if converted is None:
        message = f"casts {value.called}, which is {WORDS[value.kind]}, to {name.upper()}"
        raise Wrong("bad-where", message, "compare it as it is, or make a column of it beforehand")
    return Value(converted, kind, called, zone=value.zone if kind == "time" else None)


def _converted(value: Value, name: str, *, strict: bool) -> pl.Expr | None:
    """Return the cells as another type; None where that has no meaning."""
    import polars as pl

    cells = value.expression
    if name == "text":
        return _written(cells) if value.kind == "number" else cells.cast(pl.String)
    if value.kind == "text":
        bare = cells.str.strip_chars()
        conversions: dict[str, pl.Expr] = {
            "integer": bare.cast(pl.Int64, strict=strict), "double": defined(bare.cast(pl.Float64, strict=strict)),
            "date": _day(cells, strict=strict), "timestamp": cells.str.to_datetime(time_unit="us", strict=strict),
        }
        return conversions.get(name)
    if name == "date":
        return {"date": cells, "time": cells.dt.date()}.get(value.kind)
    if name == "timestamp":
        return {"date": cells.cast(pl.Datetime("us")), "time": cells}.get(value.kind)
    numeric = value.kind in ("number", "truth") and name != "boolean"
    if numeric:
        return cells.cast(pl.Int64 if name == "integer" else pl.Float64, strict=strict)
    return cells if value.kind == "truth" else None


def _written(numbers: pl.Expr) -> pl.Expr:
    """Write numbers as levels are: whole ones without a point."""
    import polars as pl

    whole = numbers.cast(pl.Int64, strict=False)
    return pl.when(whole == numbers).then(whole.cast(pl.String)).otherwise(numbers.cast(pl.String))


def _day(cells: pl.Expr, *, strict: bool) -> pl.Expr:
    """Return the day that a text names, as it is written there whatever its offset."""
    import polars as pl

    day = cells.str.extract(_DAY, 1)
    # What is no date is left as it is, so that the error of a strict cast shows what was written.
    return pl.when(day.is_null()).then(cells).otherwise(day).str.to_date("%Y-%m-%d", strict=strict)
