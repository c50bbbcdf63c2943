"""The condition `where`: SQL that looks at one row at a time, and that a missing value never meets."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalpipe.data.condition.parse import Parser
from evalpipe.data.condition.tokens import ConditionFault, Wrong, names
from evalpipe.data.condition.values import WORDS
from evalpipe.data.errors import Unreadable
from evalpipe.data.formats import sentence
from evalpipe.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


def mentioned(text: str, columns: Mapping[str, object]) -> tuple[str, ...]:
    """Return the columns that a condition mentions, in the order of ``columns``."""
    words = names(text)
    return tuple(column for column in columns if column in words)


def faults(text: str, schema: Mapping[str, pl.DataType], why: Mapping[str, str]) -> list[ConditionFault]:
    """Check a condition against the columns and their types; ``why`` says why a column is text that may surprise."""
    try:
        _expression(text, schema, why, nothing=True)
    except Unknown as wrong:
        return [_unknown(name, text, schema) for name in wrong.names]
    except Wrong as wrong:
        return [wrong.fault]
    return []


class Unknown(Exception):  # noqa: N818 - a state of a condition, caught in this room
    """A condition has ``names`` that are no columns."""

    def __init__(self, unknown: list[str]) -> None:
        """Keep the names, each once."""
        super().__init__(", ".join(unknown))
        self.names = list(dict.fromkeys(unknown))


def _expression(
    text: str, schema: Mapping[str, pl.DataType], why: Mapping[str, str], *, nothing: bool = False
) -> pl.Expr:
    """Return what computes the condition; with ``nothing`` tried on no rows. Raises Wrong or Unknown."""
    import polars as pl

    try:
        parser = Parser(text, schema, why)
        value = parser.read()
    except RecursionError:
        raise Wrong("bad-sql", "cannot be read: it is nested too deeply", "use fewer brackets") from None
    if parser.unknown:
        raise Unknown(parser.unknown)
    if value.kind not in ("truth", "nothing"):
        message = f"is not a condition: its value is {WORDS[value.kind]}, not true or false"
        raise Wrong("bad-where", message, 'compare it with something, as in "age >= 18"')
    expression = value.expression.cast(pl.Boolean).alias("keep")
    if nothing:
        try:
            pl.DataFrame(schema=dict(schema)).clear(n=1).select(expression)
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            message = f"cannot be computed: {sentence(error).rstrip(':')}"
            raise Wrong("bad-where", message, "check its texts, dates and patterns") from None
    return expression


def _unknown(name: str, text: str, schema: Mapping[str, object]) -> ConditionFault:
    """Return the fault of a name that is no column, with the one that may be meant."""
    close = closest(name, schema)
    quoted = f'"{name}"' in text
    listed = ", ".join(list(schema)[:12]) + (", …" if len(schema) > 12 else "")
    hint = f"did you mean '{close}'?" if close else f"the columns are {listed}"
    if quoted and not close:
        hint = f"a text stands in single quotes: '{name}'"
    return ConditionFault("unknown-column", f"names the column '{name}', which the data do not have", hint)


def judge(frame: pl.DataFrame, text: str) -> pl.Series:
    """Return for each row whether it meets the condition, shape [n]; null where that is unknown, as a value is missing.

    Raises Unreadable when a cell does not fit the condition.
    """
    import polars as pl

    try:
        expression = _expression(text, frame.schema, {})
        flags = frame.with_columns(expression).get_column("keep")
    except Wrong as wrong:
        raise Unreadable(wrong.fault.code, wrong.fault.message, wrong.fault.hint) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = re.sub(r"^conversion from `\w+` to `(\w+).*` failed .* values?: \[(.*?)[,\]].*$",
                        r"\2 cannot be cast", sentence(error), flags=re.DOTALL)
        hint = "use TRY_CAST, which makes a value missing where it cannot be cast"
        raise Unreadable("bad-where", f"cannot be computed: {reason}", hint) from None
    return flags
