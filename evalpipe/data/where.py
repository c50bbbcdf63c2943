"""The condition `where`: an SQL expression of one row, which a row with a missing value in it does not meet."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.condition.grammar import Parser
from evalpipe.data.condition.values import KIND_WORDS, WrongCondition, names_in
from evalpipe.data.formats import sentence
from evalpipe.data.problems import Unreadable
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.condition.values import Value


def mentioned_columns(text: str, columns: Mapping[str, object]) -> tuple[str, ...]:
    """Return the columns that a condition mentions, in the order of ``columns``."""
    # Any word may be a column, CAST and AND too; one that is meant as a word costs a column that is read unused.
    words = names_in(text)
    return tuple(column for column in columns if column in words)


def condition_faults(text: str, schema: Mapping[str, pl.DataType], why: Mapping[str, str]) -> list[WrongCondition]:
    """Return the faults of a condition, given the columns' types; ``why`` explains why columns of numbers are text."""
    try:
        value, unknown = _read(text, schema, why)
        if unknown:
            return [_unknown_column(name, text, schema) for name in dict.fromkeys(unknown)]
        # Patterns, dates and casts are known to be right only once polars has computed them, be it of no rows.
        pl.DataFrame(schema=dict(schema)).clear(n=1).select(_as_condition(value))
    except WrongCondition as wrong:
        return [wrong]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        message = f"cannot be computed: {sentence(error).rstrip(':')}"
        return [WrongCondition("bad-where", message, "check its texts, dates and patterns")]
    return []


def _read(
    text: str, schema: Mapping[str, pl.DataType], why: Mapping[str, str]
) -> tuple[Value, list[str]]:
    """Parse a condition into its value, and the names in it that are no columns; raises WrongCondition."""
    try:
        parser = Parser(text, schema, why)
        return parser.read(), parser.unknown
    except RecursionError:
        raise WrongCondition("bad-sql", "cannot be read: it is nested too deeply", "use fewer brackets") from None


def _as_condition(value: Value) -> pl.Expr:
    """Return the expression of a condition as a flag, null for NULL, whose rows are left out as in SQL.

    Raises WrongCondition for a value that is not true or false.
    """
    if value.kind not in ("truth", "nothing"):
        message = f"is not a condition: its value is {KIND_WORDS[value.kind]}, not true or false"
        raise WrongCondition("bad-where", message, 'compare it with something, as in "age >= 18"')
    return value.expression.cast(pl.Boolean).alias("keep")


def _unknown_column(name: str, text: str, schema: Mapping[str, object]) -> WrongCondition:
    """Return the fault of a name in a condition that is no column."""
    close = closest(name, schema)
    listed = ", ".join(list(schema)[:12]) + (", …" if len(schema) > 12 else "")
    hint = f"did you mean '{close}'?" if close else f"the columns are {listed}"
    if f'"{name}"' in text and not close:
        hint = f"put a text in single quotes: '{name}'"
    return WrongCondition("unknown-column", f"names the column '{name}', which the data do not have", hint)


def evaluate_condition(frame: pl.DataFrame, text: str) -> pl.Series:
    """Return flags [n] of the rows that meet a condition; null where that is unknown, as a value is missing.

    Raises Unreadable when a cell does not fit the condition.
    """
    try:
        value, _ = _read(text, frame.schema, {})
        return frame.with_columns(_as_condition(value)).get_column("keep")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = re.sub(r"^conversion from `\w+` to `(\w+).*` failed .* values?: \[(.*?)[,\]].*$",
                        r"\2 cannot be cast", sentence(error), flags=re.DOTALL)
        hint = "use TRY_CAST, which makes a value missing where it cannot be cast"
        raise Unreadable("bad-where", f"cannot be computed: {reason}", hint) from None
