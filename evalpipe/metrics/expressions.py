"""A measure that is an expression of others, such as `sensitivity / specificity`: written, computed, declared."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evalpipe import arithmetic
from evalpipe.arithmetic import exp, log
from evalpipe.metrics.declare import Metric
from evalpipe.metrics.grammar import BinaryNode, CallNode, MinusNode, NameNode, NumberNode, PowerNode
from evalpipe.tasks import NUMBERS, SCORES
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from evalpipe.base.arraytypes import Floats
    from evalpipe.metrics.declare import Direction
    from evalpipe.metrics.grammar import Node
    from evalpipe.tasks import Task


SUM, PRODUCT, SIGNED, POWER, VALUE = range(5)
"""How strongly a node binds, from least to most."""

_RANK = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}
_LATEX = {"sqrt": r"\sqrt{%s}", "abs": r"\left|%s\right|", "exp": r"e^{%s}"}


def rank(node: Node) -> int:
    """Return how strongly a node's operator binds, from `SUM` (weakest) to `VALUE` (a number, a name or a call)."""
    match node:
        case BinaryNode(sign):
            return _RANK[sign]
        case MinusNode():
            return SIGNED
        case PowerNode():
            return POWER
    return VALUE


def written(node: Node) -> str:
    """Return the text of an expression, with the brackets that it needs to be read as the same tree again."""
    match node:
        case NumberNode(number):
            return _plain(number)
        case NameNode(name):
            return name
        case MinusNode(inner):
            return f"-{_within(inner, SIGNED)}"
        case PowerNode(base, exponent):
            return f"{_within(base, VALUE)} ** {_plain(exponent)}"
        case BinaryNode(sign, left, right):
            # From left to right: on the right, what binds as much needs brackets.
            return f"{_within(left, _RANK[sign])} {sign} {_within(right, _RANK[sign] + 1)}"
        case CallNode(function, arguments):
            return f"{function}({', '.join(map(written, arguments))})"


def _within(node: Node, least: int) -> str:
    """Return the text of a node within another, in brackets where it binds less strongly than ``least``."""
    text = written(node)
    return text if rank(node) >= least else f"({text})"


def _plain(number: float) -> str:
    """Return the shortest text of a number that is read as the same number; of an integer without a point."""
    return repr(number).removesuffix(".0")


def latex(node: Node, titles: Mapping[str, str]) -> str:
    """Return an expression as LaTeX, with measures by their titles."""
    match node:
        case NumberNode(number):
            text, _, exponent = _plain(number).partition("e")
            if exponent:
                power = f"10^{{{int(exponent)}}}"
                text = power if text == "1" else rf"{text} \times {power}"
        case NameNode(name):
            escaped = "".join(
                f"\\{sign}" if sign in "_%&#${}" else r"\ " if sign == " " else sign for sign in titles[name])
            text = rf"\mathrm{{{escaped}}}"
        case MinusNode(inner):
            text = f"-{_bracketed(inner, PRODUCT, titles)}"
        case PowerNode(base, exponent):
            text = f"{_bracketed(base, VALUE, titles)}^{{{_plain(exponent)}}}"
        case BinaryNode("/", left, right):  # a fraction needs no brackets
            text = rf"\frac{{{latex(left, titles)}}}{{{latex(right, titles)}}}"
        case BinaryNode(sign, left, right):
            shown, least = r"\times" if sign == "*" else sign, _RANK[sign]
            text = f"{_bracketed(left, least, titles)} {shown} {_bracketed(right, least + 1, titles)}"
        case CallNode(function, arguments):
            listed = ", ".join(latex(argument, titles) for argument in arguments)
            text = _LATEX[function] % listed if function in _LATEX else rf"\{function}\left({listed}\right)"
    return text


def _bracketed(node: Node, least: int, titles: Mapping[str, str]) -> str:
    """Return a node within another as LaTeX, in brackets where it binds less strongly than ``least``."""
    text = latex(node, titles)
    is_fraction = isinstance(node, BinaryNode) and node.sign == "/" and least <= PRODUCT
    # What is set as a power cannot have a second exponent.
    is_raised = least == VALUE and isinstance(node, NumberNode | CallNode) and "^" in text
    return text if (rank(node) >= least or is_fraction) and not is_raised else rf"\left({text}\right)"


def computed(node: Node, values: Mapping[str, Floats]) -> Floats:
    """Return the value of an expression [...] from the ``values`` [...] of its measures by name.

    NaN where it is undefined: a measure is undefined or infinite, a division by zero, a logarithm of a number not above
    zero, a root of a negative number, a number that no float holds.
    """
    with np.errstate(all="ignore"):
        return np.asarray(_value_of(node, values) + 0.0)  # turns -0 into 0


def _value_of(node: Node, measures: Mapping[str, Floats]) -> Floats:
    """Return the value of a node [...] from the values of ``measures`` by name; NaN where it is not finite."""
    match node:
        case NumberNode(number):
            return np.asarray(number)
        case NameNode(name):
            value = np.asarray(measures[name], float)
        case MinusNode(inner):
            return -_value_of(inner, measures)
        case PowerNode(base, exponent):
            value = np.asarray(arithmetic.power(_value_of(base, measures), exponent))
        case BinaryNode(sign, left, right):
            value = _SIGNS[sign](_value_of(left, measures), _value_of(right, measures))
        case CallNode(function, arguments):
            values = np.broadcast_arrays(*(_value_of(argument, measures) for argument in arguments))
            if function in _SEVERAL:
                value = np.asarray(_SEVERAL[function](np.stack(values), axis=0))
            else:
                value = np.asarray(_CALLS[function](*values))
    return np.where(np.isfinite(value), value, math.nan)


_SIGNS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_CALLS: dict[str, Callable[[Floats], Floats]] = {"sqrt": np.sqrt, "log": log, "exp": exp, "abs": np.abs}
_SEVERAL: dict[str, Callable[..., Floats]] = {"min": np.min, "max": np.max}


LONGEST_LINE = 70
"""The letters and signs of a formula that a line has room for."""


@dataclass(frozen=True, slots=True)
class PartOfExpression:
    """A measure that an expression is computed from: its name there, the metric, and its label with options."""

    name: str
    metric: Metric
    label: str


@dataclass(frozen=True)
class ExpressionMetric(Metric):
    """A measure that a spec declares as an expression of others; it has no options and no statistics of its own.

    ``tree`` is the expression, None where it cannot be read; ``parts`` are its measures, each once.
    """

    tree: Node | None = None
    parts: tuple[PartOfExpression, ...] = ()

    @property
    def text(self) -> str:
        """The expression, with the brackets that it needs."""
        return "" if self.tree is None else written(self.tree)

    @property
    def of_reportable(self) -> bool:
        """Whether rows in the equivocal zone are left out of all the expression's measures."""
        return bool(self.parts) and all(part.metric.of_reportable for part in self.parts)

    @property
    def of_ranks(self) -> bool:
        """Whether all measures of the expression depend on how the scores rank the rows."""
        return bool(self.parts) and all(part.metric.of_ranks for part in self.parts)

    @property
    def reweighed(self) -> bool:
        """Always False: an expression is not computed at another prevalence, though its measures can be."""
        return False

    @property
    def definition(self) -> str:
        """A sentence with the measures that the expression is computed from, and its text."""
        called = [part.metric.title if part.name == part.label else f"{part.name} ({part.label})"
                  for part in self.parts]
        return f"Computed from {joined(called, 'and')} as {self.text}."

    @property
    def formula(self) -> str:
        """The expression as LaTeX; empty where it would not fit in a line of the card, which has its text too."""
        titles = {part.name: part.metric.title if part.name == part.label else part.name for part in self.parts}
        formula = "" if self.tree is None else latex(self.tree, titles)
        return formula if len(re.sub(r"\\[a-z]+|[\\{}^_ ]", "", formula)) <= LONGEST_LINE else ""


def expression_metric(
    name: str, title: str, task: Task, direction: Direction, span: tuple[float | None, ...] | None,
    tree: Node | None, parts: tuple[PartOfExpression, ...],
) -> ExpressionMetric:
    """Return the metric of a declared expression; ``span`` are the ends of its range, each None if not declared."""
    low, high = span or (None, None)
    needs = [part.metric.needs for part in parts]
    return ExpressionMetric(
        name=name, function=_without_statistics, needs=needs[0] if needs else "truth", direction=direction,
        range=(-math.inf if low is None else low, math.inf if high is None else high),
        undefined=undefined(tree), ref="", title=title,
        sees="numbers" if task in NUMBERS else "items" if task in SCORES else "classes",
        tasks=(task,), extensive=any(part.metric.extensive for part in parts), tree=tree, parts=parts)


def _without_statistics() -> Floats:
    """Raise TypeError: a placeholder, as an expression has no function of statistics but is computed from metrics."""
    raise TypeError("an expression is computed from its measures")


def undefined(tree: Node | None) -> str:
    """Return in words when an expression has no value, such as "one of its measures is undefined"."""
    cases = ["one of its measures is undefined", *dict.fromkeys(() if tree is None else _undefined_cases(tree))]
    return joined(cases, "or")


def _undefined_cases(node: Node) -> Iterator[str]:
    """Yield in words each way in which an expression's operations have no value, such as "it divides by zero"."""
    match node:
        case BinaryNode(sign, left, right):
            if sign == "/":
                yield "it divides by zero"
            yield from _undefined_cases(left)
            yield from _undefined_cases(right)
        case PowerNode(base, exponent):
            if exponent < 0 or exponent % 1:
                yield "a power has no value"
            yield from _undefined_cases(base)
        case MinusNode(inner):
            yield from _undefined_cases(inner)
        case CallNode(function, arguments):
            if function in ("log", "sqrt"):
                yield f"{function} is taken of a number {'not above' if function == 'log' else 'below'} zero"
            for argument in arguments:
                yield from _undefined_cases(argument)
        case _:
            return
