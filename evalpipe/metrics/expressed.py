"""Expressions of measures written out, as text and as LaTeX, and their values."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import functions
from evalpipe.arithmetic.functions import exp, log
from evalpipe.metrics.grammar import BinaryNode, CallNode, MinusNode, NameNode, NumberNode, PowerNode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalpipe.base.arraytypes import Floats
    from evalpipe.metrics.grammar import Node

SUM, PRODUCT, SIGNED, POWER, VALUE = range(5)
"""How strongly a node binds, from least to most."""

_RANK = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT}
_LATEX = {"sqrt": r"\sqrt{%s}", "abs": r"\left|%s\right|", "exp": r"e^{%s}"}


def rank(node: Node) -> int:
    """Return how strongly a node binds what it is made of."""
    match node:
        case BinaryNode(sign):
            return _RANK[sign]
        case MinusNode():
            return SIGNED
        case PowerNode():
            return POWER
    return VALUE


def written(node: Node) -> str:
    """Write an expression with the brackets that it needs; read again it is the same."""
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
    text = written(node)
    return text if rank(node) >= least else f"({text})"


def _plain(number: float) -> str:
    """Write a number as short as it can be read again; a whole one without a point."""
    return repr(number).removesuffix(".0")


def latex(node: Node, titles: Mapping[str, str]) -> str:
    """Write an expression as LaTeX, each measure by its title."""
    match node:
        case NumberNode(number):
            return _power_of_ten(number)
        case NameNode(name):
            return _upright(titles[name])
        case MinusNode(inner):
            return f"-{_bracketed(inner, PRODUCT, titles)}"
        case PowerNode(base, exponent):
            return f"{_bracketed(base, VALUE, titles)}^{{{_plain(exponent)}}}"
        case BinaryNode():
            return _latex_of_two(node, titles)
        case CallNode(function, arguments):
            listed = ", ".join(latex(argument, titles) for argument in arguments)
            return _LATEX[function] % listed if function in _LATEX else rf"\{function}\left({listed}\right)"


def _latex_of_two(node: BinaryNode, titles: Mapping[str, str]) -> str:
    """Write two values and their sign; a fraction needs no brackets."""
    if node.sign == "/":
        return rf"\frac{{{latex(node.left, titles)}}}{{{latex(node.right, titles)}}}"
    shown = r"\times" if node.sign == "*" else node.sign
    least = _RANK[node.sign]
    return f"{_bracketed(node.left, least, titles)} {shown} {_bracketed(node.right, least + 1, titles)}"


def _bracketed(node: Node, least: int, titles: Mapping[str, str]) -> str:
    text = latex(node, titles)
    fraction = isinstance(node, BinaryNode) and node.sign == "/" and least <= PRODUCT
    # What is set as a power cannot have a second exponent.
    raised = least == VALUE and isinstance(node, NumberNode | CallNode) and "^" in text
    return text if (rank(node) >= least or fraction) and not raised else rf"\left({text}\right)"


def _power_of_ten(number: float) -> str:
    mantissa, _, exponent = _plain(number).partition("e")
    if not exponent:
        return mantissa
    power = f"10^{{{int(exponent)}}}"
    return power if mantissa == "1" else rf"{mantissa} \times {power}"


def _upright(title: str) -> str:
    """Write a title in upright letters, what LaTeX reads otherwise behind a backslash."""
    escaped = "".join(f"\\{sign}" if sign in "_%&#${}" else r"\ " if sign == " " else sign for sign in title)
    return rf"\mathrm{{{escaped}}}"


def computed(node: Node, of: Mapping[str, Floats]) -> Floats:
    """Return the value of an expression [...] from those of its measures by name, [...].

    NaN where it has none: a measure is undefined or infinite, a division by zero, a logarithm of what is not above
    zero, a root of what is below it, a number that no float holds.
    """
    with np.errstate(all="ignore"):
        return np.asarray(_computed(node, of) + 0.0)  # turns -0 into 0


def _computed(node: Node, of: Mapping[str, Floats]) -> Floats:
    match node:
        case NumberNode(number):
            return np.asarray(number)
        case NameNode(name):
            value = np.asarray(of[name], float)
        case MinusNode(inner):
            return -_computed(inner, of)
        case PowerNode(base, exponent):
            value = np.asarray(functions.power(_computed(base, of), exponent))
        case BinaryNode(sign, left, right):
            value = _SIGNS[sign](_computed(left, of), _computed(right, of))
        case CallNode(function, arguments):
            values = np.broadcast_arrays(*(_computed(argument, of) for argument in arguments))
            value = np.asarray(_CALLS[function](*values)) if len(values) == 1 else np.asarray(
                _SEVERAL[function](np.stack(values), axis=0))
    return np.where(np.isfinite(value), value, math.nan)


_SIGNS: dict[str, Callable[[Floats, Floats], Floats]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}
_CALLS: dict[str, Callable[[Floats], Floats]] = {"sqrt": np.sqrt, "log": log, "exp": exp, "abs": np.abs}
_SEVERAL: dict[str, Callable[..., Floats]] = {"min": np.min, "max": np.max}
