"""Expressions of measures: what is read, written again, computed, and refused with its place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalpipe.card.figures.formula import formula_svg
from evalpipe.metrics.expressions import computed, latex, written
from evalpipe.metrics.grammar import (
    BinaryNode,
    CallNode,
    ExpressionFault,
    MinusNode,
    NameNode,
    Node,
    NumberNode,
    PowerNode,
    names_in,
    read_expression,
)

MEASURES = {"a": 0.3, "b": -1.7, "c_2": 0.0, "exponent": 12.5}
NUMBERS = st.floats(0, 1e6, allow_nan=False).map(NumberNode)
NAMES = st.sampled_from(sorted(MEASURES)).map(NameNode)
EXPONENTS = st.integers(-10, 10).map(float) | st.sampled_from([0.5, -0.25, 1 / 3])


def _larger(nodes: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    return (
        st.builds(MinusNode, nodes) | st.builds(BinaryNode, st.sampled_from(["+", "-", "*", "/"]), nodes, nodes)
        | st.builds(PowerNode, nodes, EXPONENTS)
        | st.builds(CallNode, st.sampled_from(["sqrt", "log", "exp", "abs"]), st.tuples(nodes))
        | st.builds(CallNode, st.sampled_from(["min", "max"]), st.lists(nodes, min_size=2, max_size=3).map(tuple)))


TREES = st.recursive(NUMBERS | NAMES, _larger, max_leaves=12)


def plain(node: Node) -> float:
    """Compute a tree by Python's own arithmetic; raises where Python does, or where the value is no finite number."""
    value = _plain(node)
    if isinstance(value, complex) or not math.isfinite(value):
        raise ValueError
    return value


def _plain(node: Node) -> Any:
    match node:
        case NumberNode(number):
            return number
        case NameNode(name):
            return MEASURES[name]
        case MinusNode(inner):
            return -plain(inner)
        case PowerNode(base, exponent):
            return plain(base) ** exponent
        case CallNode(function, arguments):
            values = [plain(argument) for argument in arguments]
            several = {"min": min, "max": max}
            calls = {"sqrt": math.sqrt, "log": math.log, "exp": math.exp, "abs": abs}
            return several[function](values) if function in several else calls[function](*values)
        case BinaryNode(sign, left, right):
            x, y = plain(left), plain(right)
            return {"+": x + y, "-": x - y, "*": x * y}[sign] if sign != "/" else x / y


@given(TREES)
def test_a_value_is_that_of_pythons_own_arithmetic_and_undefined_where_that_fails(node: Node) -> None:
    value = float(computed(node, {name: np.asarray(number) for name, number in MEASURES.items()}))

    try:
        known = plain(node)
    except (ValueError, ZeroDivisionError, OverflowError):
        assert math.isnan(value)
        return
    # numpy's exp, log and powers may differ in their last bit, which a difference of near numbers enlarges: so a
    # number that was computed with them is compared where it is not small beside what it was computed from.
    slack = 1e-9 * max(1.0, *(abs(plain(part)) for part in parts(node)))
    assert value == pytest.approx(known, rel=1e-9, abs=slack)


def parts(node: Node) -> list[Node]:
    """Return a node and all within it."""
    match node:
        case MinusNode(inner) | PowerNode(inner):
            return [node, *parts(inner)]
        case BinaryNode(_, left, right):
            return [node, *parts(left), *parts(right)]
        case CallNode(_, arguments):
            return [node, *(part for argument in arguments for part in parts(argument))]
    return [node]


@given(TREES)
def test_what_is_written_reads_as_the_same_again(node: Node) -> None:
    assert read_expression(written(node)) == node


@pytest.mark.parametrize(("text", "value"), [
    ("1 + 2 * 3", 7), ("(1 + 2) * 3", 9), ("8 / 4 / 2", 1), ("8 - 4 - 2", 2), ("8 / (4 / 2)", 4), ("-2 ** 2", -4),
    ("(-2) ** 2", 4), ("2 ** -1", 0.5), ("2 * -3", -6), ("--3", 3), ("min(3, 1, 2) + max(4, 5)", 6), ("sqrt(16)", 4),
    ("log(exp(2))", 2), ("abs(1 - 4)", 3), (".5e1 + 1.", 6), ("a / exponent", 0.024), ("1\n\t+ 1", 2),
])
def test_operators_bind_as_in_arithmetic(text: str, value: float) -> None:
    of = {name: np.asarray(number) for name, number in MEASURES.items()}

    assert float(computed(read_expression(text), of)) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize("text", [
    "1 / 0", "0 / 0", "log(0)", "log(0 - 1)", "sqrt(0 - 1)", "0 ** -1", "(0 - 8) ** 0.5", "exp(1000)", "1 / exp(1000)",
    "1e308 * 10", "max(1, log(0))", "min(1, 1 / 0)", "0 * (1 / 0)",
])
def test_what_has_no_value_is_undefined_and_no_exception(text: str) -> None:
    assert math.isnan(float(computed(read_expression(text), {})))


def test_replicates_without_a_value_are_undefined_alone() -> None:
    of = {"a": np.array([1.0, 2.0, math.nan, math.inf]), "b": np.array([2.0, 0.0, 1.0, 1.0])}

    np.testing.assert_array_equal(computed(read_expression("a / b"), of), [0.5, math.nan, math.nan, math.nan])


def test_names_are_told_with_their_places() -> None:
    nodes = names_in(read_expression("abs(a - 1) / -b ** 2 + a"))

    assert [(node.name, node.start, node.end) for node in nodes] == [("a", 4, 5), ("b", 14, 15), ("a", 23, 24)]


@pytest.mark.parametrize(("text", "formula"), [
    ("a / b", r"\frac{\mathrm{Share\ (of\ all)}}{\mathrm{ROC\_AUC}}"),
    ("2 * (a - b)", r"2 \times \left(\mathrm{Share\ (of\ all)} - \mathrm{ROC\_AUC}\right)"),
    ("sqrt(abs(a)) ** 2", r"\sqrt{\left|\mathrm{Share\ (of\ all)}\right|}^{2}"),
    ("max(1e-7, exp(-b))", r"\max\left(10^{-7}, e^{-\mathrm{ROC\_AUC}}\right)"),
    ("1e-7 ** 2 * exp(a) ** 3",
     r"\left(10^{-7}\right)^{2} \times \left(e^{\mathrm{Share\ (of\ all)}}\right)^{3}"),
    ("(a / b) ** 2", r"\left(\frac{\mathrm{Share\ (of\ all)}}{\mathrm{ROC\_AUC}}\right)^{2}"),
])
def test_an_expression_is_set_as_a_formula(text: str, formula: str) -> None:
    shown = latex(read_expression(text), {"a": "Share (of all)", "b": "ROC_AUC"})

    assert shown == formula
    assert formula_svg(shown, "key") is not None


FAULTS = [
    ("__import__('os')", 11, "\"'\" cannot stand in an expression"),
    ("().__class__", 2, "'.' cannot stand in an expression"),
    ("()", 1, ("the expression cannot be read: ')' stands after '(', where a number, a measure or a function should "
              "follow")),
    ("1e999", 0, "the number '1e999' is too large"),
    ("1e-999", 0, "the number '1e-999' is too small"),
    ("9**9**9", 4, "a power of a power needs brackets"),
    ("a ** 11", 5, "the exponent 11 is too large; at most 10 is allowed"),
    ("a ** -b", 6, ("the expression cannot be read: 'b' stands after 'a ** -', where a number, the exponent, should "
                   "follow")),
    ("a.b", 1, "'.' cannot stand in an expression"),
    ("x if y", 2, "the expression cannot be read: 'if' stands after 'x', where an operator or the end should follow"),
    ("lambda: 1", 6, "':' cannot stand in an expression"),
    ("f'{a}'", 1, "\"'\" cannot stand in an expression"),
    ("\u0455um", 0, "'\u0455' (U+0455, cyrillic small letter dze) cannot stand in an expression"),
    ("a ÷ b", 2, "'÷' (U+00F7, division sign) cannot stand in an expression"),
    ("٣ * a", 0, "'٣' (U+0663, arabic-indic digit three) cannot stand in an expression"),
    ("a\0", 1, "'\\x00' (U+0000, a control character) cannot stand in an expression"),
    ("a # b", 2, "'#' cannot stand in an expression"),
    ("(" * 10_000 + "a" + ")" * 10_000, 0, "the expression has 20,001 characters; at most 500 are allowed"),
    ("(" * 200 + "a" + ")" * 200, 20, "more than 20 brackets, signs and functions stand within each other"),
    ("abs(" * 50 + "a" + ")" * 50, 80, "more than 20 brackets, signs and functions stand within each other"),
    ("-" * 400 + "a", 20, "more than 20 brackets, signs and functions stand within each other"),
    ("a" + "+a" * 200, 99, "the expression has more than 100 numbers, names and operations"),
    ("eval(a)", 0, "'eval' is no function"), ("sqr(a)", 0, "'sqr' is no function"),
    ("a(b)", 0, "'a' is no function"), ("log", 0, "log is a function, which needs brackets"),
    ("log(a, 2)", 0, "log takes one value, got 2 values"), ("max(a)", 0, "max takes two values or more, got 1 value"),
    ("a; b", 1, "';' cannot stand in an expression"), ("a == b", 2, "'=' cannot stand in an expression"),
    ("a ^ 2", 2, "'^' cannot stand in an expression"), ("[a]", 0, "'[' cannot stand in an expression"),
    ("+a", 0, ("the expression cannot be read: '+' stands at its beginning, where a number, a measure or a function "
              "should follow")),
    ("sqrt(a", 6, "the expression cannot be read: it ends after 'sqrt(a', where ',' or ')' should follow"),
    ("", 0, "the expression is empty"), ("  ", 0, "the expression is empty"),
]


@pytest.mark.parametrize(("text", "start", "message"), FAULTS, ids=[text[:20].encode().hex() for text, *_ in FAULTS])
def test_what_is_no_expression_is_refused_with_its_place(text: str, start: int, message: str) -> None:
    with pytest.raises(ExpressionFault) as refused:
        read_expression(text)

    assert (refused.value.message, refused.value.start) == (message, start)
    assert refused.value.end > start  # where the expression ends, one character beyond it is marked


@given(st.text(max_size=60) | st.text("ab12+-*/()., **sqrt", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        node = read_expression(text)
    except ExpressionFault as refused:
        span = refused.start, refused.end
        node = None
    if node is None:
        assert 0 <= span[0] <= len(text)
        assert span[0] < span[1]
    else:
        assert read_expression(written(node)) == node
