"""The grammar of conditions: what its signs and words do with values, and the parser of one expression.

condition NOT, AND and OR over comparisons, in brackets where needed comparison = <> != < <= > >= · IS [NOT] NULL |
TRUE | FALSE · [NOT] IN (…) · [NOT] BETWEEN … AND … · [NOT] LIKE | ILIKE '…' value column, number, 'text', TRUE,
FALSE, NULL, + - * / %, ||, CASE WHEN … THEN … ELSE … END, CAST(… AS type), TRY_CAST(… AS type), DATE '…', TIMESTAMP
'…', a function

What is unknown because a value is missing is null, as SQL has it: NOT (x > 1) is not met either where x is missing. The
conditions of `where` and of slices are checked and evaluated at the end.
"""

from __future__ import annotations

import operator
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.base.lazy_polars import pl
from evalpipe.data.condition_values import (
    FUNCTIONS,
    KIND_WORDS,
    Kind,
    Value,
    WrongCondition,
    as_float,
    call,
    column,
    comparable,
    convert_to_common_kind,
    missing_value,
    names_in,
    nan_as_missing,
    number_literal,
    require_kind,
    text,
    tokens,
    zero_as_missing,
)
from evalpipe.data.formats import first_sentence
from evalpipe.data.values import Unreadable
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalpipe.data.condition_values import Token


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


def joined(left: Value, word: str, right: Value) -> Value:
    """Return two conditions joined by ``word``, AND or OR."""
    word = word.upper()
    first, second = (_as_condition(value, word) for value in (left, right))
    return Value(first & second if word == "AND" else first | second, "truth", f"a condition with {word}")


def negated(value: Value) -> Value:
    """Return NOT of a condition."""
    return Value(~_as_condition(value, "NOT"), "truth", "a condition with NOT")


def _as_condition(value: Value, word: str) -> pl.Expr:
    """Return a condition that ``word`` joins as a boolean expression; raises WrongCondition for another value."""
    if value.kind not in ("truth", "nothing"):
        message = f"joins {value.called}, which is {KIND_WORDS[value.kind]}, by {word}"
        raise WrongCondition("bad-where", message, 'compare it with something, as in "age >= 18"')
    return value.expression.cast(pl.Boolean)


def compared(left: Value, sign: str, right: Value) -> Value:
    """Return the comparison of two values by a sign such as "<="; raises WrongCondition for values that do not fit."""
    # SQL allows it and finds no row; whoever writes it means IS NULL.
    if "NULL" in (left.called, right.called):
        hint = "a missing value is found by IS NULL or IS NOT NULL"
        raise WrongCondition("bad-where", f"compares with NULL ({sign} NULL), which no row meets", hint)
    first, second = comparable(left, right)
    return Value(COMPARISONS[sign](first, second), "truth", "a comparison")


def membership_test(value: Value, options: Sequence[Value]) -> Value:
    """Return the test that a value is among options; unknown where it is not and an option is missing."""
    texts = [option.literal for option in options if option.literal is not None]
    constants = [option.constant for option in options if option.constant is not None]
    # Texts or numbers alone, which may be many, are looked up; above 2^53 two whole numbers may be one Float64.
    if value.kind == "text" and len(texts) == len(options):
        flags = value.expression.is_in(texts)
    elif value.kind == "number" and len(constants) == len(options) and max(constants) < _EXACT:
        flags = as_float(value).is_in(pl.Series(constants, dtype=pl.Float64, strict=False).implode())
    else:
        pairs = (comparable(value, option) for option in options)
        flags = pl.any_horizontal([first.eq(second).cast(pl.Boolean) for first, second in pairs])
    return Value(flags, "truth", "a test with IN")


def like(value: Value, pattern: Value, word: str) -> Value:
    """Return the test that a text matches a pattern, in which % stands for any text and _ for one character."""
    require_kind(value, "text", word.upper())
    if pattern.literal is None:
        message = f"compares {value.called} by {word.upper()} with what is not a text"
        raise WrongCondition("bad-where", message, "write the pattern in single quotes, as in name LIKE 'A%'")
    # All other signs of the pattern stand for themselves, also those that mean something in a regular expression.
    signs = {"%": ".*", "_": "."}
    expression = "".join(signs.get(sign, re.escape(sign)) for sign in pattern.literal)
    flags = "(?is)" if word == "ilike" else "(?s)"
    return Value(value.expression.cast(pl.String).str.contains(f"{flags}^{expression}$"), "truth", "a test with LIKE")


def arithmetic_or_joined_text(left: Value, sign: str, right: Value) -> Value:
    """Return two numbers combined by ``sign``, or two texts joined by ``||``; missing where undefined, as x / 0."""
    called = f"{left.called} {sign} {right.called}"
    if sign == "||":
        texts = [require_kind(value, "text", "||").expression.cast(pl.String) for value in (left, right)]
        return Value(pl.concat_str(texts), "text", called)
    first, second = (as_float(require_kind(value, "number", f"'{sign}'")) for value in (left, right))
    if sign in "/%":
        second = zero_as_missing(second)
    return Value(nan_as_missing((SUMS | PRODUCTS)[sign](first, second)), "number", called)


def case_value(branches: Sequence[tuple[Value, Value]], other: Value) -> Value:
    """Return the value of CASE: of the first branch (condition, value) whose condition is true, else ``other``."""
    values = convert_to_common_kind([*(value for _, value in branches), other], "CASE brings together")
    result = values[-1].expression
    # From the last branch inwards, each the alternative of the one before.
    for (condition, _), value in zip(reversed(branches), reversed(values[:-1]), strict=True):
        result = pl.when(_as_condition(condition, "WHEN")).then(value.expression).otherwise(result)
    first = next((value for value in values if value.kind != "nothing"), values[0])
    return Value(result, first.kind, "what CASE gives", zone=first.zone)


def cast(value: Value, type_word: str, *, strict: bool) -> Value:
    """Return a value cast to a type; a text that does not fit is an error, or missing where not ``strict``."""
    name = _ALSO.get(type_word, type_word)
    if name not in CASTS:
        raise WrongCondition("bad-where", f"casts to {type_word.upper()}", f"the types are {', '.join(CASTS).upper()}")
    kind, called = CASTS[name], f"{value.called} as {name.upper()}"
    if value.kind == "nothing":
        return Value(value.expression, kind, called)
    converted = _converted(value, name, strict=strict)
    if converted is None:
        message = f"casts {value.called}, which is {KIND_WORDS[value.kind]}, to {name.upper()}"
        raise WrongCondition("bad-where", message, "compare it as it is, or make a column of it beforehand")
    return Value(converted, kind, called, zone=value.zone if kind == "time" else None)


def _converted(value: Value, name: str, *, strict: bool) -> pl.Expr | None:
    """Return a value's expression cast to a type of `CASTS`; None where such values cannot be cast to it."""
    cells = value.expression
    if name == "text":
        plain, whole = cells.cast(pl.String), cells.cast(pl.Int64, strict=False)
        # Whole numbers are written without a point, as levels are.
        number_text = pl.when(whole == cells).then(whole.cast(pl.String)).otherwise(plain)
        return number_text if value.kind == "number" else plain
    if value.kind == "text":
        bare, day = cells.str.strip_chars(), cells.str.extract(_DAY, 1)  # the day as it is written, whatever its offset
        # What is no date is left as it is, so that the error of a strict cast shows what was written.
        written_day = pl.when(day.is_null()).then(cells).otherwise(day)
        conversions: dict[str, pl.Expr] = {
            "integer": bare.cast(pl.Int64, strict=strict),
            "double": nan_as_missing(bare.cast(pl.Float64, strict=strict)),
            "date": written_day.str.to_date("%Y-%m-%d", strict=strict),
            "timestamp": cells.str.to_datetime(time_unit="us", strict=strict),
        }
        return conversions.get(name)
    if name == "date":
        return {"date": cells, "time": cells.dt.date()}.get(value.kind)
    if name == "timestamp":
        return {"date": cells.cast(pl.Datetime("us")), "time": cells}.get(value.kind)
    if value.kind in ("number", "truth") and name != "boolean":
        return cells.cast(pl.Int64 if name == "integer" else pl.Float64, strict=strict)
    return cells if value.kind == "truth" else None


RESERVED = frozenset({
    "and", "or", "not", "in", "like", "ilike", "between", "is", "null", "true", "false", "case", "when", "then", "else",
    "end", "as",
})
"""Words that are no column unless they stand in double quotes."""
LONGEST = 250
"""The operations that a condition may have; the values in an IN list do not count."""
CLOCK = frozenset({
    "current_date", "current_time", "current_timestamp", "localtime", "localtimestamp", "now", "today",
})

ONE_ROW = "a condition looks at the cells of one row"
WRITE_THE_DATE = "write the date itself, so that every run uses the same rows"


class Parser:
    """Parses one condition; ``unknown`` are the names in it that are no columns, in their order."""

    def __init__(self, written: str, schema: Mapping[str, pl.DataType], why: Mapping[str, str]) -> None:
        """Split a condition into tokens; ``schema`` has the types of columns, ``why`` why some are text.

        Raises WrongCondition.
        """
        self.written, self.schema, self.why = written, schema, why
        self.unknown: list[str] = []
        self._tokens, self._position, self._operations = tokens(written), 0, 0

    def read(self) -> Value:
        """Return the whole condition as one value; raises WrongCondition."""
        value = self._or()
        if self._next.sort != "end":
            raise self._unexpected("AND, OR or the end")
        return value

    @property
    def _next(self) -> Token:
        """The first token that is not yet parsed."""
        return self._tokens[self._position]

    def _take(self, *words: str) -> str | None:
        """Consume the next token if it is among ``words`` (words or signs); return it in small letters, else None."""
        token = self._next
        if token.sort in ("word", "sign") and token.value.casefold() in words:
            self._position += 1
            return token.value.casefold()
        return None

    def _operation(self, *words: str) -> str | None:
        """Consume, count and return the next token if it is among these operators, else None; raises WrongCondition."""
        word = self._take(*words)
        self._operations += word is not None
        if self._operations > LONGEST:
            hint = "list values with IN (…), or make a column of it beforehand"
            raise WrongCondition("bad-sql", f"has more than {LONGEST} operations", hint)
        return word

    def _expect(self, word: str) -> None:
        """Consume a word or sign that has to follow; raises WrongCondition where it does not."""
        if self._take(word) is None:
            raise self._unexpected(word.upper())

    def _unexpected(self, expected: str) -> WrongCondition:
        """Return the error that not ``expected``, such as "a value", but something else stands next."""
        token = self._next
        begin = self.written[:token.begin].strip()
        after = f"after {begin[-30:]!r}" if begin else "at its beginning"
        problem = "it ends" if token.sort == "end" else f"{self.written[token.begin:token.end]!r} stands"
        hint = "write = to compare" if token.value == "==" else """write it as in "age >= 18 AND sex = 'f'\""""
        return WrongCondition("bad-sql", f"cannot be read: {problem} {after}, where {expected} should follow", hint)

    def _or(self) -> Value:
        """Parse conditions joined by OR, which binds least."""
        value = self._and()
        while self._operation("or"):
            value = joined(value, "OR", self._and())
        return value

    def _and(self) -> Value:
        """Parse conditions joined by AND."""
        value = self._not()
        while self._operation("and"):
            value = joined(value, "AND", self._not())
        return value

    def _not(self) -> Value:
        """Parse a condition after any number of NOT."""
        return negated(self._not()) if self._operation("not") else self._comparison()

    def _comparison(self) -> Value:
        """Parse comparisons by signs or words, from left to right."""
        value = self._sum()
        while True:
            sign = self._operation(*COMPARISONS)
            if sign is not None:
                value = compared(value, sign, self._sum())
            elif self._take("is"):
                value = self._test_by_is(value)
            else:
                # NOT belongs to the test only where one of these words follows; `x NOT` alone is told by what reads on.
                word_after = self._tokens[self._position + 1].value.casefold() if self._next.sort == "word" else ""
                is_inverted = self._next.value.casefold() == "not" and word_after in ("in", "between", "like", "ilike")
                self._position += is_inverted  # beyond NOT
                test = self._test_by_word(value)
                if test is None:
                    return value
                value = negated(test) if is_inverted else test

    def _test_by_is(self, value: Value) -> Value:
        """Parse what follows IS: [NOT] NULL, TRUE or FALSE."""
        is_inverted = self._take("not") is not None
        word = self._take("null", "true", "false")
        if word is None:
            raise self._unexpected("NULL, TRUE or FALSE")
        if word == "null":
            outcome = value.expression.is_null()
        else:  # never unknown
            flags = require_kind(value, "truth", f"IS {word.upper()}").expression.cast(pl.Boolean)
            outcome = flags.eq_missing(pl.lit(word == "true"))
        return Value(~outcome if is_inverted else outcome, "truth", f"a test with IS {word.upper()}")

    def _test_by_word(self, value: Value) -> Value | None:
        """Parse IN, BETWEEN, LIKE or ILIKE with its operands, as a test of ``value``; None where none follows."""
        word = self._take("in", "between", "like", "ilike")
        if word == "in":
            self._expect("(")
            options = [self._sum()]
            while self._take(","):
                options.append(self._sum())
            self._expect(")")
            return membership_test(value, options)
        if word == "between":
            low = self._sum()
            self._expect("and")
            high = self._sum()
            return joined(compared(value, ">=", low), "AND", compared(value, "<=", high))
        return None if word is None else like(value, self._sum(), word)

    def _sum(self) -> Value:
        """Parse values joined by +, - or ||, which bind more than comparisons."""
        value = self._product()
        while sign := self._operation(*SUMS, "||"):
            value = arithmetic_or_joined_text(value, sign, self._product())
        return value

    def _product(self) -> Value:
        """Parse values joined by *, / or %, which bind more than sums."""
        value = self._signed()
        while sign := self._operation(*PRODUCTS):
            value = arithmetic_or_joined_text(value, sign, self._signed())
        return value

    def _signed(self) -> Value:
        """Parse a value after any number of signs."""
        sign = self._operation("-", "+")
        if sign is None:
            return self._operand()
        value = require_kind(self._signed(), "number", f"'{sign}'")
        return value if sign == "+" else Value(-value.expression, "number", f"-{value.called}")

    def _operand(self) -> Value:
        """Parse a value: an expression in brackets, a number, a text, a column, or one that a word begins."""
        token = self._next
        if self._take("("):
            # Refused by name: people who know SQL will try it.
            if self._next.value.casefold() in ("select", "with"):
                raise WrongCondition("bad-where", "holds a subquery", ONE_ROW)
            value = self._or()
            self._expect(")")
            return value
        if token.sort not in ("number", "text", "quoted", "word"):
            raise self._unexpected("a value")
        self._position += 1
        if token.sort == "number":
            return number_literal(token.value)
        if token.sort == "text":
            return text(token.value)
        return self._column(token.value) if token.sort == "quoted" else self._after_word(token)

    def _after_word(self, token: Token) -> Value:
        """Parse an unquoted column, a constant, CASE, CAST, a typed text or a function; ``token`` is its first word."""
        word = token.value.casefold()
        if word in ("null", "true", "false"):
            return missing_value() if word == "null" else Value(pl.lit(word == "true"), "truth", word.upper())
        if word == "case":
            return self._case()
        if word in ("date", "timestamp") and self._next.sort == "text":  # DATE '2024-12-31'
            self._position += 1
            return cast(text(self._tokens[self._position - 1].value), word, strict=True)
        if self._take("("):
            return self._call(token.value, word)
        if word in RESERVED:
            self._position -= 1
            raise self._unexpected("a value")
        if word in CLOCK and token.value not in self.schema:
            raise WrongCondition("bad-where", f"asks the clock with {word.upper()}", WRITE_THE_DATE)
        return self._column(token.value)

    def _column(self, name: str) -> Value:
        """Return a column's values; for an unknown name a missing value, so that the rest is still checked."""
        if name not in self.schema:
            self.unknown.append(name)
            return replace(missing_value(), called=f"'{name}'")
        return column(name, self.schema[name], self.why.get(name))

    def _case(self) -> Value:
        """Parse what follows CASE: branches with conditions, or with values to compare with the first value."""
        base = None if self._next.value.casefold() == "when" else self._or()
        branches: list[tuple[Value, Value]] = []
        while self._take("when"):
            condition = self._or()
            self._expect("then")
            branches.append((condition if base is None else compared(base, "=", condition), self._or()))
        if not branches:
            raise self._unexpected("WHEN")
        other = self._or() if self._take("else") else missing_value()
        self._expect("end")
        return case_value(branches, other)

    def _call(self, written: str, word: str) -> Value:
        """Parse the arguments of a function and its closing bracket; ``word`` is its name in small letters."""
        if word in ("cast", "try_cast"):
            value = self._or()
            self._expect("as")
            kind = self._next.value.casefold()
            self._position += self._next.sort == "word"
            self._expect(")")
            return cast(value, kind, strict=word == "cast")
        if word in ("select", "exists"):
            raise WrongCondition("bad-where", "holds a subquery", ONE_ROW)
        if word in CLOCK:
            raise WrongCondition("bad-where", f"asks the clock with {word.upper()}", WRITE_THE_DATE)
        if word not in FUNCTIONS:
            close = closest(word, FUNCTIONS)
            hint = f"the functions are {', '.join(FUNCTIONS)}"
            if close:
                hint = f"did you mean {FUNCTIONS[close].signature}?"
            raise WrongCondition("bad-where", f"calls {written}(), which is not a function of conditions", hint)
        arguments: list[Value] = []
        while not self._take(")"):
            if arguments:
                self._expect(",")
            arguments.append(self._or())
        # People who know SQL will try a window; alone, OVER would be told as a word out of place.
        if word != "isnan" and self._next.value.casefold() == "over":
            raise WrongCondition("bad-where", "holds a window over other rows", ONE_ROW)
        return call(FUNCTIONS[word], arguments)


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
        pl.DataFrame(schema=dict(schema)).clear(n=1).select(_keep(value))
    except WrongCondition as wrong:
        return [wrong]
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        message = f"cannot be computed: {first_sentence(error).rstrip(':')}"
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


def _keep(value: Value) -> pl.Expr:
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
        return frame.with_columns(_keep(value)).get_column("keep")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = re.sub(r"^conversion from `\w+` to `(\w+).*` failed .* values?: \[(.*?)[,\]].*$",
                        r"\2 cannot be cast", first_sentence(error), flags=re.DOTALL)
        hint = "use TRY_CAST, which makes a value missing where it cannot be cast"
        raise Unreadable("bad-where", f"cannot be computed: {reason}", hint) from None
