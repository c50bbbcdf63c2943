"""The grammar of conditions: from its words to one expression, checked against the columns on the way.

    condition   NOT, AND and OR over comparisons, in brackets where needed
    comparison  =  <>  !=  <  <=  >  >=  ·  IS [NOT] NULL | TRUE | FALSE  ·  [NOT] IN (…)  ·  [NOT] BETWEEN … AND …
                ·  [NOT] LIKE | ILIKE '…'
    value       column, number, 'text', TRUE, FALSE, NULL, + - * / %, ||, CASE WHEN … THEN … ELSE … END,
                CAST(… AS type), TRY_CAST(… AS type), DATE '…', TIMESTAMP '…', a function

What is unknown because a value is missing is null, as SQL has it: NOT (x > 1) is not met either where x is missing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.data.condition import operators
from evalpipe.data.condition.functions import FUNCTIONS, call
from evalpipe.data.condition.tokens import Wrong, tokens
from evalpipe.data.condition.values import Value, column, nothing, number, text
from evalpipe.words.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from evalpipe.data.condition.tokens import Token

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


class Parser:
    """Reads one condition; ``unknown`` are the names in it that are no columns, in their order."""

    def __init__(self, written: str, schema: Mapping[str, pl.DataType], why: Mapping[str, str]) -> None:
        """Cut the condition into tokens; raises Wrong."""
        self.written, self.schema, self.why = written, schema, why
        self.unknown: list[str] = []
        self._tokens, self._at, self._operations = tokens(written), 0, 0

    def read(self) -> Value:
        """Return the whole condition as one value; raises Wrong."""
        value = self._or()
        if self._next.sort != "end":
            raise self._unexpected("AND, OR or the end")
        return value

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self, *words: str) -> str | None:
        """Take the next token if it is one of these words or signs; return it in small letters."""
        token = self._next
        if token.sort in ("word", "sign") and token.value.casefold() in words:
            self._at += 1
            return token.value.casefold()
        return None

    def _operation(self, *words: str) -> str | None:
        """Take the next token if it is one of these operators; raises Wrong where there are too many."""
        word = self._take(*words)
        self._operations += word is not None
        if self._operations > LONGEST:
            hint = "list values with IN (…), or make a column of it beforehand"
            raise Wrong("bad-sql", f"has more than {LONGEST} operations", hint)
        return word

    def _must(self, word: str) -> None:
        """Take a word or sign that has to follow; raises Wrong where another does."""
        if self._take(word) is None:
            raise self._unexpected(word.upper())

    def _unexpected(self, wanted: str) -> Wrong:
        """Return the fault that something else stands where ``wanted`` should."""
        token = self._next
        begin = self.written[:token.begin].strip()
        after = f"after {begin[-30:]!r}" if begin else "at its beginning"
        there = "it ends" if token.sort == "end" else f"{self.written[token.begin:token.end]!r} stands"
        hint = "write = to compare" if token.value == "==" else """write it as in "age >= 18 AND sex = 'f'\""""
        return Wrong("bad-sql", f"cannot be read: {there} {after}, where {wanted} should follow", hint)

    def _or(self) -> Value:
        """Read conditions joined by OR, which binds least."""
        value = self._and()
        while self._operation("or"):
            value = operators.joined(value, "OR", self._and())
        return value

    def _and(self) -> Value:
        """Read conditions joined by AND."""
        value = self._not()
        while self._operation("and"):
            value = operators.joined(value, "AND", self._not())
        return value

    def _not(self) -> Value:
        """Read a condition that NOT may stand before."""
        return operators.negated(self._not()) if self._operation("not") else self._comparison()

    def _comparison(self) -> Value:
        """Read values that signs or words compare, from left to right."""
        value = self._sum()
        while True:
            sign = self._operation(*operators.COMPARISONS)
            if sign is not None:
                value = operators.compared(value, sign, self._sum())
            elif self._take("is"):
                value = self._is(value)
            else:
                # NOT belongs to the test only where one of these words follows; `x NOT` alone is told by what reads on.
                after = self._tokens[self._at + 1].value.casefold() if self._next.sort == "word" else ""
                inverted = self._next.value.casefold() == "not" and after in ("in", "between", "like", "ilike")
                self._at += inverted
                test = self._range(value)
                if test is None:
                    return value
                value = operators.negated(test) if inverted else test

    def _is(self, value: Value) -> Value:
        """Read what follows IS."""
        inverted = self._take("not") is not None
        word = self._take("null", "true", "false")
        if word is None:
            raise self._unexpected("NULL, TRUE or FALSE")
        return operators.tested(value, word, inverted=inverted)

    def _range(self, value: Value) -> Value | None:
        """Read IN, BETWEEN, LIKE or ILIKE and what follows; None where none of them does."""
        word = self._take("in", "between", "like", "ilike")
        if word == "in":
            self._must("(")
            options = [self._sum()]
            while self._take(","):
                options.append(self._sum())
            self._must(")")
            return operators.one_of(value, options)
        if word == "between":
            low = self._sum()
            self._must("and")
            return operators.between(value, low, self._sum())
        return None if word is None else operators.like(value, self._sum(), word)

    def _sum(self) -> Value:
        """Read terms joined by +, - or ||."""
        value = self._product()
        while sign := self._operation(*operators.SUMS, "||"):
            value = operators.computed(value, sign, self._product())
        return value

    def _product(self) -> Value:
        """Read factors joined by *, / or %."""
        value = self._signed()
        while sign := self._operation(*operators.PRODUCTS):
            value = operators.computed(value, sign, self._signed())
        return value

    def _signed(self) -> Value:
        """Read a value that signs may stand before."""
        sign = self._operation("-", "+")
        return self._single() if sign is None else operators.signed(sign, self._signed())

    def _single(self) -> Value:
        """Read a value: one in brackets, a number, a text, a column or what a word begins."""
        token = self._next
        if self._take("("):
            # Refused by name: people who know SQL will try it.
            if self._next.value.casefold() in ("select", "with"):
                raise _refused("holds a subquery")
            value = self._or()
            self._must(")")
            return value
        if token.sort not in ("number", "text", "quoted", "word"):
            raise self._unexpected("a value")
        self._at += 1
        if token.sort == "number":
            return number(token.value)
        if token.sort == "text":
            return text(token.value)
        return self._column(token.value) if token.sort == "quoted" else self._word(token)

    def _word(self, token: Token) -> Value:
        """Read a column that is not quoted, a constant, CASE, CAST, a typed text or a function."""
        word = token.value.casefold()
        if word in ("null", "true", "false"):
            return nothing() if word == "null" else operators.truth(value=word == "true")
        if word == "case":
            return self._case()
        if word in ("date", "timestamp") and self._next.sort == "text":  # DATE '2024-12-31'
            self._at += 1
            return operators.cast(text(self._tokens[self._at - 1].value), word, strict=True)
        if self._take("("):
            return self._call(token.value, word)
        if word in RESERVED:
            self._at -= 1
            raise self._unexpected("a value")
        if word in CLOCK and token.value not in self.schema:
            raise _clock(word)
        return self._column(token.value)

    def _column(self, name: str) -> Value:
        """Return a column's values; of a name that is none, a missing value, so that the rest is still checked."""
        if name not in self.schema:
            self.unknown.append(name)
            return replace(nothing(), called=f"'{name}'")
        return column(name, self.schema[name], self.why.get(name))

    def _case(self) -> Value:
        """Read what follows CASE: conditions, or values that the first one is compared with."""
        base = None if self._next.value.casefold() == "when" else self._or()
        branches: list[tuple[Value, Value]] = []
        while self._take("when"):
            met = self._or()
            self._must("then")
            branches.append((met if base is None else operators.compared(base, "=", met), self._or()))
        if not branches:
            raise self._unexpected("WHEN")
        other = self._or() if self._take("else") else nothing()
        self._must("end")
        return operators.chosen(branches, other)

    def _call(self, written: str, word: str) -> Value:
        """Read the arguments of a function, called ``word`` in small letters, and its closing bracket."""
        if word in ("cast", "try_cast"):
            value = self._or()
            self._must("as")
            kind = self._next.value.casefold()
            self._at += self._next.sort == "word"
            self._must(")")
            return operators.cast(value, kind, strict=word == "cast")
        if word not in FUNCTIONS:
            raise _not_a_function(written, word)
        arguments: list[Value] = []
        while not self._take(")"):
            if arguments:
                self._must(",")
            arguments.append(self._or())
        # People who know SQL will try a window; alone, OVER would be told as a word out of place.
        if word != "isnan" and self._next.value.casefold() == "over":
            raise _refused("holds a window over other rows")
        return call(FUNCTIONS[word], arguments)


def _refused(what: str) -> Wrong:
    """Return the fault of what would look at more than one row."""
    return Wrong("bad-where", what, "a condition looks at the cells of one row")


def _clock(word: str) -> Wrong:
    """Return the fault of a function whose value another run would not repeat."""
    hint = "write the date itself, so that every run uses the same rows"
    return Wrong("bad-where", f"asks the clock with {word.upper()}", hint)


def _not_a_function(written: str, word: str) -> Wrong:
    """Return the fault of a call of something that is no function, with the one that may be meant."""
    if word in ("select", "exists"):
        return _refused("holds a subquery")
    if word in CLOCK:
        return _clock(word)
    close = closest(word, FUNCTIONS)
    hint = f"did you mean {FUNCTIONS[close].signature}?" if close else f"the functions are {', '.join(FUNCTIONS)}"
    return Wrong("bad-where", f"calls {written}(), which is not a function of conditions", hint)
