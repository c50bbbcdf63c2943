"""Checks of the measures that a spec declares as expressions of others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.chapters.slices.spec import DISPARITIES
from evalpipe.metrics import registry
from evalpipe.metrics.declare import Advice
from evalpipe.metrics.grammar import FUNCTIONS, ExpressionFault, names_in, read_expression
from evalpipe.spec.choices import MetricChoice
from evalpipe.spec.expressions import MeasureExpression
from evalpipe.spec.rules_metrics import LISTS_ALL, check_measure
from evalpipe.spec.single import one_value
from evalpipe.words.spelling import closest, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.metrics.grammar import NameNode
    from evalpipe.spec.draft import Draft

ONE = "an expression takes one value of each of its measures"
"""Why a measure of an expression is not taken for each class, or at several prevalences."""


def check_expressions(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the expressions among the metrics."""
    first: dict[str, Loc] = {}
    for loc, entry in draft.entries(draft.spec.metrics, "metrics"):
        if isinstance(entry, MeasureExpression):
            yield from _name(draft, loc, entry, first)
            yield from _expression(draft, loc, entry)
            yield from _range(draft, loc, entry)


def _name(draft: Draft, loc: Loc, entry: MeasureExpression, first: dict[str, Loc]) -> Iterator[Problem]:
    """Report a name that a metric, a disparity or another expression has."""
    here = (*loc, "name")
    if not entry.name or not draft.readable(*here):
        return
    if entry.name in registry or entry.name in DISPARITIES:
        what = "a metric" if entry.name in registry else "a disparity between slices"
        message = f"{draft.tree.show(*here)} is the name of {what}"
        yield draft.tree.problem("name-taken", message, *here, hint="choose another name for the expression")
    elif first.setdefault(entry.name, here) != here:
        message = f"two expressions are called {draft.tree.show(*here)}"
        notes = draft.tree.noted("the first stands at", *first[entry.name])
        yield draft.tree.problem("name-taken", message, *here, hint="choose another name", notes=notes)


def _expression(draft: Draft, loc: Loc, entry: MeasureExpression) -> Iterator[Problem]:
    """Check an expression: that it can be read, and that each name in it is a measure that the models serve."""
    yield from _listed(draft, loc, entry)
    if not draft.readable(*loc, "expression"):
        return
    try:
        names = list(names_in(read_expression(entry.expression)))
    except ExpressionFault as fault:
        yield _problem(draft, loc, "bad-expression", fault.message, fault.hint, (fault.start, fault.end))
        return
    if not names:
        yield _problem(draft, loc, "bad-expression", "the expression names no measure", "name one, such as sensitivity",
                       (0, len(entry.expression)))
    for node in {node.name: node for node in reversed(names)}.values():
        if node.name not in entry.of:
            yield from _named(draft, loc, entry, node)
    used = {node.name for node in names}
    for name in (name for name in entry.of if name and name not in {*used, *FUNCTIONS}):
        message = f"'{name}' has no effect: the expression does not name it"
        yield draft.tree.problem("unused-measure", message, *loc, "of", name, key=True, hint="use it, or remove it")


def _listed(draft: Draft, loc: Loc, entry: MeasureExpression) -> Iterator[Problem]:
    """Check the measures that an expression lists with their options, each under a name of its own."""
    for here, choice in draft.entries(entry.of, *loc, "of"):
        if here[-1] in FUNCTIONS:
            message = f"'{here[-1]}' is a function of expressions"
            yield draft.tree.problem("name-taken", message, *here, key=True, hint="choose another name")
        if choice.metric in draft.measures.declared and choice.metric not in registry:
            yield draft.tree.problem("not-a-metric", *_nested(choice.metric), *here)
            continue
        measure, faults = check_measure(draft, here, choice)
        yield from faults
        if measure is not None:
            yield from one_value(draft, measure, ONE)


def _named(draft: Draft, loc: Loc, entry: MeasureExpression, node: NameNode) -> Iterator[Problem]:
    """Check a name in an expression that is not listed under `of`: it is a metric's."""
    span = node.start, node.end
    if node.name in draft.measures.declared and node.name not in registry:
        yield _problem(draft, loc, "not-a-metric", *_nested(node.name), span)
    elif node.name not in registry:
        guess = closest(node.name, entry.of)
        advice = Advice(f"did you mean '{guess}'?") if guess else registry.advice(node.name, draft.measures.task)
        problem = _problem(draft, loc, "unknown-metric", f"unknown metric {quoted(node.name)}",
                           advice.hint or LISTS_ALL, span)
        yield replace(problem, notes=advice.notes)
    else:
        for fault in check_measure(draft, (*loc, "expression"), MetricChoice(node.name))[1]:
            listed = f"list it under 'of' with the option, as in {{x: {{metric: {node.name}, …}}}}"
            way_out = listed if fault.code == "missing-option" else fault.hint
            yield replace(_problem(draft, loc, fault.code, fault.message, way_out, span), notes=fault.notes)


def _nested(name: str) -> tuple[str, str]:
    """Return what to say of an expression that names another one."""
    return f"{quoted(name)} is an expression itself, and expressions are of metrics alone", "write it out in brackets"


def _range(draft: Draft, loc: Loc, entry: MeasureExpression) -> Iterator[Problem]:
    """Report a range that no two values have."""
    here = (*loc, "range")
    if entry.range is None or not draft.readable(*here):
        return
    if len(entry.range) != 2:
        count = "1 is given" if len(entry.range) == 1 else f"{len(entry.range)} are given"
        message = f"a range has a lowest and a highest value, but {count}"
        yield draft.tree.problem("wrong-range", message, *here, hint="write [low, high], null for an end without limit")
        return
    low, high = entry.range
    if low is not None and high is not None and low >= high:
        message = f"the lowest value {draft.tree.show(*here, 0)} is not below the highest, {draft.tree.show(*here, 1)}"
        yield draft.tree.problem("wrong-range", message, *here, hint="write [low, high]")


def _problem(
    draft: Draft, loc: Loc, code: str, message: str, hint: str | None, span: tuple[int, int]
) -> Problem:
    """Make a problem of an expression at a ``span`` of its characters; where these have no place, it counts them.

    What came from the environment is not shown.
    """
    here, (start, end) = (*loc, "expression"), span
    written, place = str(draft.tree.get(*here)), draft.tree.origin.place(*here)
    if draft.tree.secret(*here):
        message = f"the expression {draft.tree.written(*here)} cannot be used, from its character {start + 1} on"
        return draft.tree.problem(code, message, *here)
    line, column = ("", 0) if place is None else (place.text or "", (place.column or 1) - 1)
    begin = line.find(written, column) if written else -1
    if place is None or begin < 0:
        counted = f"{message}, at character {start + 1} of the expression" if written else message
        return draft.tree.problem(code, counted, *here, hint=hint)
    within = replace(place, column=begin + start + 1, length=max(1, min(end, len(written)) - start))
    return replace(draft.tree.problem(code, message, *here, hint=hint), place=within)
