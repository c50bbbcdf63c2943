"""The grammar of expressions of measures, such as `sensitivity / specificity`: read, written again, and computed.

    sum       product, and + or - another
    product   signed, and * or / another
    signed    -signed, or a power
    power     value, or value ** a number from -10 to 10
    value     a number, the name of a measure, (sum), or a function: sqrt(x), log(x), exp(x), abs(x), min(x, y, …),
              max(x, y, …)

There is nothing else: what is read is a tree of the few nodes below, and no code. Operators bind as in arithmetic, and
those of one rank from left to right.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from evalpipe.words.spelling import closest, joined, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 500
"""The characters that an expression may have."""

DEEPEST = 20
"""How many brackets, minus signs and functions may stand within each other."""

LARGEST = 100
"""The numbers, names and operations that an expression may have."""

STEEPEST = 10
"""The largest exponent."""

FUNCTIONS = {"sqrt": "x", "log": "x", "exp": "x", "abs": "x", "min": "x, y", "max": "x, y"}
"""The functions, with what each takes; `min` and `max` take two or more."""

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+)"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<sign>\*\*|[-+*/(),])"
)
IDENTIFIER = r"^[A-Za-z][A-Za-z0-9_]*$"
"""A name that an expression can hold."""


class ExpressionFault(Exception):  # noqa: N818 - a finding about what was written, not a fault of ours
    """An expression cannot be read: why, the way out, and from which character to which this is so."""

    def __init__(self, message: str, hint: str | None, start: int, end: int) -> None:
        """Keep the message, the way out, and the characters from ``start`` up to ``end`` that cannot be read."""
        super().__init__(message)
        self.message, self.hint, self.start, self.end = message, hint, start, end


@dataclass(frozen=True, slots=True)
class NumberNode:
    """A number, never below zero."""

    number: float


@dataclass(frozen=True, slots=True)
class NameNode:
    """The name of a measure, and the characters at which it stands."""

    name: str
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)


@dataclass(frozen=True, slots=True)
class MinusNode:
    """A value with its sign turned."""

    value: Node


@dataclass(frozen=True, slots=True)
class BinaryNode:
    """Two values and the sign between them."""

    sign: Literal["+", "-", "*", "/"]
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class PowerNode:
    """A value to the power of a number."""

    base: Node
    exponent: float


@dataclass(frozen=True, slots=True)
class CallNode:
    """A function of values."""

    function: str
    arguments: tuple[Node, ...]


Node = NumberNode | NameNode | MinusNode | BinaryNode | PowerNode | CallNode
"""An expression, or a part of one."""


@dataclass(frozen=True, slots=True)
class ExpressionToken:
    """A piece of an expression: its sort, its characters, and where it begins and ends."""

    sort: Literal["number", "name", "sign", "end"]
    text: str
    start: int
    end: int


def read_expression(text: str) -> Node:
    """Return the tree of an expression; raises ExpressionFault where it cannot be read."""
    if len(text) > LONGEST:
        message = f"the expression has {len(text):,} characters; at most {LONGEST:,} are allowed"
        raise ExpressionFault(message, "divide it into several expressions", 0, len(text))
    return _ExpressionReader(text, _tokens(text)).expression()


def names_in(node: Node) -> Iterator[NameNode]:
    """Yield each name in an expression, from left to right, as often as it occurs."""
    match node:
        case NameNode():
            yield node
        case MinusNode(inner) | PowerNode(inner):
            yield from names_in(inner)
        case BinaryNode(_, left, right):
            yield from names_in(left)
            yield from names_in(right)
        case CallNode(_, arguments):
            for argument in arguments:
                yield from names_in(argument)


def _tokens(text: str) -> list[ExpressionToken]:
    """Return the tokens of an expression, the last of which is its end; raises ExpressionFault."""
    pieces: list[ExpressionToken] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            sign = text[position]
            shown = quoted(sign)
            if ord(sign) > ord("~") or ord(sign) < ord(" "):  # it may look like another
                shown += f" (U+{ord(sign):04X}, {unicodedata.name(sign, 'a control character').lower()})"
            hint = _WAYS_OUT.get(sign, "an expression has numbers, names of measures, + - * / ** ( ) and functions")
            raise ExpressionFault(f"{shown} cannot stand in an expression", hint, position, position + 1)
        position = match.end()
        match match.lastgroup:
            case "number" | "name" | "sign" as sort:
                pieces.append(ExpressionToken(sort, match[0], match.start(), position))
    return [*pieces, ExpressionToken("end", "", len(text), len(text))]


_WAYS_OUT = {
    "^": "write ** for a power", ".": "a measure has no parts; its options stand under 'of'",
    "%": "write 0.05 for 5 %", "#": "an expression has no comments; write them in YAML, before the entry",
    "[": "an expression has numbers, names and functions alone", "=": "an expression computes, and compares nothing",
}
"""Hints for characters that people may try."""


class _ExpressionReader:
    """Reads tokens from left to right, and counts how many nodes there are and how deep they stand."""

    def __init__(self, text: str, tokens: list[ExpressionToken]) -> None:
        self.text, self.tokens, self.at = text, tokens, 0
        self.nodes = self.depth = 0

    def expression(self) -> Node:
        """Return the tree of all tokens; raises ExpressionFault."""
        if self.at_end():
            raise ExpressionFault("the expression is empty", "write one, such as sensitivity / specificity", 0, 1)
        node = self.sum()
        if not self.at_end():
            raise self.unexpected("an operator or the end", "write a sign between two values")
        return node

    @property
    def next(self) -> ExpressionToken:
        """The next token, which is not read yet."""
        return self.tokens[self.at]

    def at_end(self) -> bool:
        """Tell whether all tokens are read."""
        return self.next.sort == "end"

    def take(self, *signs: str) -> str | None:
        """Read the next token and return its text if it is one of ``signs``; else return None and leave it."""
        token = self.next
        if token.sort != "sign" or token.text not in signs:
            return None
        self.at += 1
        return token.text

    def unexpected(self, wanted: str, hint: str | None = None) -> ExpressionFault:
        """Return the fault that the next token stands where ``wanted`` should."""
        token = self.next
        before = self.text[: token.start].strip()
        after = f"after {quoted(before[-30:])}" if before else "at its beginning"
        there = "it ends" if token.sort == "end" else f"{quoted(token.text)} stands"
        message = f"the expression cannot be read: {there} {after}, where {wanted} should follow"
        return ExpressionFault(message, hint, token.start, max(token.end, token.start + 1))

    def counted(self, node: Node, token: ExpressionToken) -> Node:
        """Return ``node`` after counting it; raises ExpressionFault where the expression has too many nodes."""
        self.nodes += 1
        if self.nodes > LARGEST:
            message = f"the expression has more than {LARGEST} numbers, names and operations"
            raise ExpressionFault(message, "divide it into several expressions", token.start, token.end)
        return node

    def deeper(self, token: ExpressionToken) -> None:
        """Enter a further level of brackets, signs or functions; raises ExpressionFault beyond `DEEPEST`."""
        self.depth += 1
        if self.depth > DEEPEST:
            message = f"more than {DEEPEST} brackets, signs and functions stand within each other"
            raise ExpressionFault(message, "remove brackets", token.start, token.end)

    def sum(self) -> Node:
        """Read products joined by + or -."""
        node = self.product()
        while (token := self.next) and (sign := self.take("+", "-")):
            node = self.counted(BinaryNode("+" if sign == "+" else "-", node, self.product()), token)
        return node

    def product(self) -> Node:
        """Read signed values joined by * or /."""
        node = self.signed()
        while (token := self.next) and (sign := self.take("*", "/")):
            node = self.counted(BinaryNode("*" if sign == "*" else "/", node, self.signed()), token)
        return node

    def signed(self) -> Node:
        """Read a value that minus signs may stand before; a power binds more than they do."""
        token = self.next
        if self.take("-") is None:
            return self.power()
        self.deeper(token)
        node = self.counted(MinusNode(self.signed()), token)
        self.depth -= 1
        return node

    def power(self) -> Node:
        """Read a value, and the number to whose power it is taken."""
        base, token = self.value(), self.next
        if self.take("**") is None:
            return base
        node = self.counted(PowerNode(base, self.exponent()), token)
        if self.next.text == "**":
            raise ExpressionFault("a power of a power needs brackets", "write (a ** 2) ** 3", self.next.start,
                                  self.next.end)
        return node

    def exponent(self) -> float:
        """Read the number to whose power a value is taken."""
        sign, token = -1.0 if self.take("-") else 1.0, self.next
        if token.sort != "number":
            raise self.unexpected("a number, the exponent,", "write exp(y * log(x)) for another power")
        self.at += 1
        number = _number(token)
        if number > STEEPEST:
            message = f"the exponent {token.text} is too large; at most {STEEPEST} is allowed"
            raise ExpressionFault(message, None, token.start, token.end)
        return sign * number

    def value(self) -> Node:
        """Read a number, a name, a function, or an expression in brackets."""
        token = self.next
        if self.take("("):
            self.deeper(token)
            node = self.sum()
            self.close("an operator or ')'")
            self.depth -= 1
            return node
        if token.sort not in ("number", "name"):
            raise self.unexpected("a number, a measure or a function")
        self.at += 1
        if token.sort == "number":
            return self.counted(NumberNode(_number(token)), token)
        if self.next.text == "(":
            return self.call(token)
        if token.text in FUNCTIONS:
            message = f"{token.text} is a function, which needs brackets"
            raise ExpressionFault(message, f"write {token.text}({FUNCTIONS[token.text]})", token.start, token.end)
        return self.counted(NameNode(token.text, token.start, token.end), token)

    def close(self, wanted: str) -> None:
        """Read a closing bracket; raises ExpressionFault with what was ``wanted`` where another token stands."""
        if self.take(")") is None:
            raise self.unexpected(wanted)

    def call(self, token: ExpressionToken) -> Node:
        """Read the arguments of a function, whose name ``token`` is read already."""
        if token.text not in FUNCTIONS:
            guess = closest(token.text, FUNCTIONS)
            hint = f"did you mean '{guess}'?" if guess else f"the functions are {joined(list(FUNCTIONS), 'and')}"
            raise ExpressionFault(f"{quoted(token.text)} is no function", hint, token.start, token.end)
        self.deeper(token)
        self.take("(")
        arguments = [self.sum()]
        while self.take(","):
            arguments.append(self.sum())
        self.close("',' or ')'")
        self.depth -= 1
        takes_several = token.text in ("min", "max")
        if (len(arguments) < 2) if takes_several else (len(arguments) != 1):
            count = "1 value" if len(arguments) == 1 else f"{len(arguments)} values"
            message = f"{token.text} takes {'two values or more' if takes_several else 'one value'}, got {count}"
            hint = f"write {token.text}({FUNCTIONS[token.text]})"
            raise ExpressionFault(message, hint, token.start, token.end)
        return self.counted(CallNode(token.text, tuple(arguments)), token)


def _number(token: ExpressionToken) -> float:
    """Return the number that a token writes; raises ExpressionFault where no float can hold it."""
    number = float(token.text)
    mantissa = re.split("[eE]", token.text)[0]
    if math.isinf(number) or (number == 0 and mantissa.strip("0.")):
        message = f"the number {quoted(token.text)} is too {'large' if number else 'small'}"
        raise ExpressionFault(message, "write a number that can be computed with", token.start, token.end)
    return number
