"""A measure that is an expression of other measures, such as `sensitivity / specificity`, declared by a spec."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalpipe.metrics.declare import Metric
from evalpipe.metrics.expressed import latex, written
from evalpipe.metrics.grammar import BinaryNode, CallNode, MinusNode, PowerNode
from evalpipe.tasks import NUMBERS
from evalpipe.words.spelling import joined

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Floats
    from evalpipe.metrics.declare import Direction
    from evalpipe.metrics.grammar import Node
    from evalpipe.tasks import Task


LONGEST_LINE = 70
"""The letters and signs of a formula that a line has room for."""


@dataclass(frozen=True, slots=True)
class PartOfExpression:
    """A measure that an expression is of: its name there, the metric, and its options as they are printed."""

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
        """Whether rows without a predicted class are left out of all its measures."""
        return bool(self.parts) and all(part.metric.of_reportable for part in self.parts)

    @property
    def of_ranks(self) -> bool:
        """Whether all its measures see the order of the rows."""
        return bool(self.parts) and all(part.metric.of_ranks for part in self.parts)

    @property
    def reweighed(self) -> bool:
        """Whether it can be taken at a prevalence: it cannot, but its measures can."""
        return False

    @property
    def definition(self) -> str:
        """The expression, and the measures that it is of."""
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
    """Return the measure that an expression declares; ``span`` are the two ends of its range, None for
    one that is not given."""
    low, high = span or (None, None)
    needs = [part.metric.needs for part in parts]
    return ExpressionMetric(
        name=name, function=_without_statistics, needs=needs[0] if needs else "truth", direction=direction,
        range=(-math.inf if low is None else low, math.inf if high is None else high),
        undefined=undefined(tree), ref="", title=title, sees="numbers" if task in NUMBERS else "classes",
        tasks=(task,), extensive=any(part.metric.extensive for part in parts), tree=tree, parts=parts)


def _without_statistics() -> Floats:
    raise TypeError("an expression is computed from its measures")


def undefined(tree: Node | None) -> str:
    """Say when an expression has no value."""
    cases = ["one of its measures is undefined", *dict.fromkeys(() if tree is None else _cases(tree))]
    return joined(cases, "or")


def _cases(node: Node) -> Iterator[str]:
    """Yield what an expression may do that has no value."""
    match node:
        case BinaryNode(sign, left, right):
            if sign == "/":
                yield "it divides by zero"
            yield from _cases(left)
            yield from _cases(right)
        case PowerNode(base, exponent):
            if exponent < 0 or exponent % 1:
                yield "a power has no value"
            yield from _cases(base)
        case MinusNode(inner):
            yield from _cases(inner)
        case CallNode(function, arguments):
            if function in ("log", "sqrt"):
                yield f"{function} is taken of a number {'not above' if function == 'log' else 'below'} zero"
            for argument in arguments:
                yield from _cases(argument)
        case _:
            return
