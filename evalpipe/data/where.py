"""The condition `where`: SQL that looks at one row at a time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.data.errors import Unreadable
from evalpipe.data.formats import sentence
from evalpipe.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_TOKEN = re.compile(
    r"""(?P<skip>'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/)|(?P<quoted>"(?:[^"]|"")*"|`[^`]*`)|(?P<word>[^\W\d]\w*)(?P<call>\s*\()?
    |(?P<decimal>\d*\.\d+|\d+\.)""",
    re.DOTALL | re.VERBOSE,
)
_ROWWISE = frozenset({
    "abs", "acos", "acosd", "asin", "asind", "atan", "atan2", "atan2d", "atand", "cbrt", "ceil", "ceiling",
    "cos", "cosd", "cot", "cotd", "degrees", "div", "exp", "floor", "ln", "log", "log10", "log1p", "log2",
    "mod", "pi", "pow", "power", "radians", "round", "sign", "sin", "sind", "sqrt", "tan", "tand", "trunc",
    "greatest", "least", "coalesce", "if", "ifnull", "nullif", "bit_and", "bit_or", "bit_xor", "bit_not",
    "bitand", "bitor", "bitxor", "bitnot", "bit_count", "bit_length", "char_length", "character_length",
    "length", "len", "octet_length", "concat", "concat_ws", "contains", "starts_with", "ends_with", "initcap",
    "left", "right", "lower", "upper", "ltrim", "rtrim", "trim", "lpad", "rpad", "normalize", "position",
    "strpos", "regexp_like", "replace", "replace_regexp", "reverse", "split_part", "string_to_array", "substr",
    "substring", "translate", "extract", "date_part", "date", "datetime", "time", "timestamp", "strftime",
    "strptime", "date_trunc", "cast", "try_cast", "to_char", "to_date", "to_timestamp", "overlay", "chr",
    "ascii", "array_contains", "array_length", "list_contains",
})
"""Functions whose value depends on the row's own cells alone."""
_SYNTAX = frozenset({
    "and", "or", "not", "in", "like", "ilike", "rlike", "regexp", "between", "when", "then", "else", "case",
    "is", "as", "on", "any", "all", "where",
})
_CLOCK = frozenset({
    "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "now", "today",
})


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a condition: a stable code, a sentence and the way out."""

    code: str
    message: str
    hint: str


def mentioned(text: str, columns: Mapping[str, object]) -> tuple[str, ...]:
    """Return the columns that a condition mentions, in the order of ``columns``."""
    words = {token["word"] or (token["quoted"] or "")[1:-1].replace('""', '"') for token in _TOKEN.finditer(text)}
    return tuple(column for column in columns if column in words)


def faults(text: str, schema: Mapping[str, pl.DataType]) -> list[Fault]:
    """Check a condition against the columns and their types."""
    import polars as pl

    found = _not_rowwise(text)
    if found is not None:
        return [found]
    try:
        pl.sql_expr(text)
    except pl.exceptions.ColumnNotFoundError:
        pass  # the parser looks for the columns of `x IN (…)`; they are checked below
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
        hint = """write it as in "age >= 18 AND sex = 'f'\""""
        return [Fault("bad-sql", f"is not a condition in SQL: {sentence(error)}", hint)]
    return _typed(text, schema)


def _not_rowwise(text: str) -> Fault | None:
    """Refuse what looks at other rows, at other tables or at the clock."""
    for token in _TOKEN.finditer(text):
        word, called = (token["word"] or "").casefold(), token["call"] is not None
        if word in ("select", "exists") or (word == "over" and called):
            what = "a window over other rows" if word == "over" else "a subquery"
            return Fault("bad-where", f"holds {what}", "a condition looks at the cells of one row")
        if word in _CLOCK:
            hint = "write the date itself, so that every run uses the same rows"
            return Fault("bad-where", f"asks the clock with {word.upper()}", hint)
        if called and word not in _ROWWISE | _SYNTAX:
            hint = "a condition looks at the cells of one row; compute the value beforehand and write the number"
            return Fault("bad-where", f"calls {token['word']}(), which is not a function of one row", hint)
    return None


def _typed(text: str, schema: Mapping[str, pl.DataType]) -> list[Fault]:
    """Try the condition on no rows: unknown columns, types that do not fit, and its own type."""
    import polars as pl

    known, unknown = dict(schema), list[str]()
    while True:
        try:
            kind = _tried(pl.DataFrame(schema=known), text)
        except pl.exceptions.ColumnNotFoundError as error:
            name = re.search(r'"(.*?)"', str(error))
            if name is None or name[1] in known:
                return [Fault("bad-sql", f"cannot be used: {sentence(error)}", "check the columns it names")]
            unknown.append(name[1])
            known[name[1]] = pl.Null()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError) as error:
            reason = sentence(error)
            hint = "compare text with 'text' in single quotes, numbers with bare numbers"
            found = [Fault("bad-where", f"does not fit the columns: {reason}", hint)]
            return [_unknown(name, text, schema) for name in unknown] or found
        else:
            break
    if unknown:
        return [_unknown(name, text, schema) for name in unknown]
    if kind != pl.Boolean:
        hint = 'compare it with something, as in "age >= 18"'
        return [Fault("bad-where", f"is not a condition: its value is {_kind(kind)}, not true or false", hint)]
    return []


def _unknown(name: str, text: str, schema: Mapping[str, object]) -> Fault:
    close = closest(name, schema)
    quoted = f'"{name}"' in text
    listed = ", ".join(list(schema)[:12]) + (", …" if len(schema) > 12 else "")
    hint = f"did you mean '{close}'?" if close else f"the columns are {listed}"
    if quoted and not close:
        hint = f"a text stands in single quotes: '{name}'"
    return Fault("unknown-column", f"names the column '{name}', which the data do not have", hint)


def _kind(kind: pl.DataType) -> str:
    return "a number" if kind.is_numeric() else "text" if str(kind) == "String" else str(kind).lower()


def _apply(frame: pl.DataFrame, text: str) -> pl.Series:
    """Return the condition's value for each row; the condition must have passed `faults`."""
    # IN needs the columns, so the expression is made by a query; `faults` has seen that nothing can close the bracket
    return frame.lazy().sql(f"SELECT (\n{text}\n) AS keep FROM self").collect().to_series()  # noqa: S608


def _tried(frame: pl.DataFrame, text: str) -> pl.DataType:
    """Return the type of the condition, tried on a row of nulls; some types are compared only where there is a row."""
    # a text is silently compared with the text of a decimal, but never with a whole number
    whole = _TOKEN.sub(lambda token: "1" if token["decimal"] else token[0], text)
    row = frame.clear(n=1)
    _apply(row, whole)
    return _apply(row, text).dtype


def keep(frame: pl.DataFrame, text: str) -> pl.Series:
    """Return which rows meet the condition, shape [n]; a row for which it is unknown (null) does not.

    Raises Unreadable when the values do not fit the condition.
    """
    import polars as pl

    try:
        _tried(frame, text)
        flags = _apply(frame, text)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, TypeError) as error:
        hint = "a column that 'where' uses may hold other values further down than in its first rows"
        raise Unreadable("bad-where", f"cannot be computed: {sentence(error)}", hint) from None
    if len(flags) == 1 != frame.height:
        flags = flags.extend_constant(flags[0], frame.height - 1) if frame.height else flags.clear()
    return flags.fill_null(value=False)
