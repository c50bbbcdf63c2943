"""Checks of priors: the declared prevalence, and the prevalences at which measures are asked for."""

from __future__ import annotations

import json
import math
from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.spec.check_task import KNOWN, declared_levels, lacking, unknown_level
from evalpipe.spelling import closest, listed
from evalpipe.tasks import MANY, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.check_metrics import Entry
    from evalpipe.spec.tree import Tree

HERE: Loc = ("prevalence",)
FORMS = {"binary": ("value", "beta"), "many": ("levels", "dirichlet")}
"""The forms of a declared prevalence, of which one is needed."""


def check_prior(tree: Tree) -> list[Problem]:
    """Return the problems of the declared prevalence."""
    task, written = tree.get("task"), tree.get(*HERE)
    if task not in KNOWN or task in NUMBERS or written is None or tree.hidden(HERE):
        return []
    if isinstance(written, dict):
        return list(chain(_form(tree, task, written), _levels(tree, task)))
    if task in MANY and isinstance(written, int | float) and not isinstance(written, bool):
        message = f"expected a mapping with 'levels' or 'dirichlet', got {tree.spell(*HERE)}"
        return [tree.problem("wrong-type", message, *HERE, hint="give the prior probability of each level")]
    return []


def _form(tree: Tree, task: str, written: dict[str, Any]) -> Iterator[Problem]:
    """Find a prevalence in no form, and one in two."""
    own, other = FORMS["many" if task in MANY else "binary"], FORMS["binary" if task in MANY else "many"]
    given = [form for form in own if written.get(form) is not None]
    if not given and all(written.get(form) is None for form in other):  # else it is refused with what to write instead
        yield from lacking(tree, "Prevalence", "prevalence", own[0])
    if len(given) > 1:
        message = f"the prevalence is declared twice, by '{given[0]}' and by '{given[1]}'"
        yield tree.problem("two-priors", message, *HERE, given[1], key=True, hint="remove one of the two")
    beta = written.get("beta")
    if task == "binary" and isinstance(beta, list) and len(beta) != 2:
        message = f"a Beta distribution has two parameters, but {len(beta)} are given"
        yield tree.problem("wrong-type", message, *HERE, "beta", hint="write [a, b], as if after a events and b others")


def _levels(tree: Tree, task: str) -> Iterator[Problem]:
    if task in MANY:
        yield from _each_level(tree, (*HERE, "levels"), total=True)
        yield from _each_level(tree, (*HERE, "dirichlet"), total=False)


def _each_level(tree: Tree, here: Loc, *, total: bool) -> Iterator[Problem]:
    """Find priors of levels that are not declared, levels without one, and priors that do not sum to 1."""
    priors, levels = tree.get(*here), declared_levels(tree)
    if not isinstance(priors, dict) or levels is None:
        return
    strange = [name for name in priors if name not in levels]
    yield from (unknown_level(tree, (*here, name), name, levels, key=True) for name in strange)
    absent = [level for level in levels if level not in priors]
    if absent:
        what, hint = ("prior probability", "give one for each level; 0 is one") if total else (
            "parameter", "give one for each level, above 0")
        yield tree.problem("missing-level", f"no {what} for {listed(absent, 'and')}", *here, key=True, hint=hint)
    numbers = [value for value in priors.values() if isinstance(value, int | float) and not isinstance(value, bool)]
    whole = len(numbers) == len(priors) and not absent and not strange
    if total and whole and not math.isclose(sum(numbers), 1, abs_tol=1e-9):
        message = f"the prior probabilities sum to {sum(numbers):.10g}, not to 1"
        yield tree.problem("prior-sum", message, *here, key=True, hint="divide each by the sum")


def one_prevalence(tree: Tree, loc: Loc, why: str) -> list[Problem]:
    """Report an entry that is taken at several prevalences where only one value has a place; ``why`` begins it."""
    at = tree.get(*loc, "prevalence")
    if not isinstance(at, list) or len(at) < 2:
        return []
    message = f"{why}, so it needs one prevalence"
    return [tree.problem("many-prevalences", message, *loc, "prevalence", hint="name one of them")]


def check_prevalence(tree: Tree, entry: Entry) -> list[Problem]:
    """Check the prevalences at which an entry of the spec asks for its measure."""
    here = (*entry.loc, "prevalence")
    written = tree.get(*here)
    if written is None or "prevalence" in entry.metric.option_types or tree.get("task") not in KNOWN:
        return []
    if not entry.metric.reweighed:
        why = (f"{entry.metric.name} is a test on rows that count once each" if entry.metric.interval == "test"
               else f"a {tree.get('task')} outcome has no classes")
        message = f"{why}, so there are none to reweight to a prevalence"
        if entry.metric.interval == "test":
            message = f"{why}, so they cannot be reweighted to a prevalence"
        return [tree.problem("nothing-to-reweight", message, *here, key=True, hint="remove it")]
    items = _items(tree, here)
    problems = [problem for loc, item in items for problem in _at(tree, entry, loc, item)]
    if not items:
        problems.append(tree.problem("wrong-type", "no prevalence is listed", *here, hint=f"use {_possible(tree)}"))
    return problems or _twice(tree, items)


def _items(tree: Tree, here: Loc) -> list[tuple[Loc, Any]]:
    written = tree.get(*here)
    if isinstance(written, list):
        return [((*here, index), item) for index, item in enumerate(written)]
    return [(here, "sample" if written is None else written)]


def _possible(tree: Tree) -> str:
    form = "a mapping of each level to a number" if tree.get("task") in MANY else "a number from 0 to 1"
    return f"'sample', 'declared' or {form}"


def _at(tree: Tree, entry: Entry, loc: Loc, item: object) -> Iterator[Problem]:
    """Check one prevalence."""
    many = tree.get("task") in MANY
    if item == "sample" or tree.hidden(loc):
        return
    if item == "declared":
        if tree.get(*HERE) is None:
            form = "{levels: {…}}" if many else "…"
            message = f"{entry.metric.name} at the declared prevalence needs one"
            yield tree.problem("missing-option", message, *loc, hint=f"add 'prevalence: {form}' to the spec")
        return
    number = isinstance(item, int | float) and not isinstance(item, bool)
    if many and isinstance(item, dict):
        wrong = [level for level, value in item.items() if not _is_share(value)]
        yield from (tree.problem("out-of-range", f"expected a number from 0 to 1, got {tree.spell(*loc, level)}",
                                 *loc, level) for level in wrong)
        yield from _each_level(tree, loc, total=not wrong)
    elif many or not number:
        code = "unknown-choice" if isinstance(item, str) else "wrong-type"
        guess = closest(item, ["sample", "declared"]) if isinstance(item, str) else None
        hint = f"did you mean '{guess}'?" if guess else "give that of the event" if isinstance(item, dict) else None
        yield tree.problem(code, f"expected {_possible(tree)}, got {tree.spell(*loc)}", *loc, hint=hint)
    elif not _is_share(item):
        yield tree.problem("out-of-range", f"expected a number from 0 to 1, got {tree.spell(*loc)}", *loc)


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _twice(tree: Tree, items: list[tuple[Loc, Any]]) -> list[Problem]:
    """Report prevalences that come to the same."""
    found = []
    seen: dict[str, Loc] = {}
    for loc, item in items:
        first = seen.setdefault(_come_to(tree, item), loc)
        if first != loc:
            shown = [(tree.written if isinstance(item, dict) else tree.show)(*one) for one in (first, loc)]
            names = f"{shown[0]} and {shown[1]} are the same"
            message = f"the prevalence {shown[1]} is listed twice" if tree.get(*first) == item else names
            found.append(tree.problem("duplicate-prevalence", message, *loc, hint="remove one of them"))
    return found


def prevalences(tree: Tree, entry: Entry) -> list[str]:
    """Return the prevalences that an entry asks for as texts, alike where they come to the same."""
    if not entry.metric.reweighed:
        return [""]
    return [_come_to(tree, item) for _, item in _items(tree, (*entry.loc, "prevalence"))]


def _come_to(tree: Tree, item: Any) -> str:
    item = mean_of(tree.get(*HERE)) if item == "declared" else item
    return json.dumps(float(item) if _is_share(item) else item, sort_keys=True, default=repr)


def mean_of(prior: Any) -> Any:
    """Return a declared prevalence, or its mean, as far as it can be read."""
    if not isinstance(prior, dict):
        return prior
    forms = (form for forms in FORMS.values() for form in forms if prior.get(form) is not None)
    return next((_mean(prior[form]) for form in forms), None)


def _mean(given: Any) -> Any:
    """Return a prior probability, or the mean of the distribution that is given by parameters."""
    try:
        if isinstance(given, list):
            return given[0] / sum(given)
        whole = sum(given.values())
        return given if math.isclose(whole, 1, abs_tol=1e-9) else {key: part / whole for key, part in given.items()}
    except (AttributeError, TypeError, IndexError, ZeroDivisionError):
        return given


def check_shift(tree: Tree, loc: Loc, named: Loc) -> Iterator[Problem]:
    """Check the prevalences that a recalibrator shifts from and to; ``named`` is where its name stands."""
    levels, many = declared_levels(tree), tree.get("task") in MANY
    if tree.get(*loc, "to") is None and tree.get(*HERE) is None:
        name, form = tree.get(*named), "[…]" if many else "…"
        yield tree.problem("missing-option", f"{name} needs a prevalence to shift to", *named,
                           hint=f"add 'prevalence: …' to the spec, or write {{method: {name}, to: {form}}}")
    elif tree.get(*loc, "to") is None and (absent := _absent(tree)) is not None:
        message = f"{tree.get(*named)} cannot shift to a prevalence at which {absent} never occurs"
        hint = "no probability can be known there: give a prevalence above 0 and below 1, or leave the method out"
        yield tree.problem("out-of-range", message, *named, hint=hint)
    for key in ("from", "to"):
        here, given = (*loc, key), tree.get(*loc, key)
        if given is None:
            continue
        if many and levels is not None and (not isinstance(given, list) or len(given) != len(levels)):
            message = f"expected the shares of {listed(levels, 'and')}, got {tree.spell(*here)}"
            if isinstance(given, list):
                message = f"expected {len(levels)} shares, of {listed(levels, 'and')}, got {len(given)}"
            yield tree.problem("wrong-type", message, *here, hint="list one for each level, in their order")
        elif many and isinstance(given, list) and not math.isclose(sum(given), 1, abs_tol=1e-6):
            message = f"the shares sum to {sum(given):.10g}, not to 1"
            yield tree.problem("prior-sum", message, *here, key=True, hint="divide each by the sum")
        elif not many and isinstance(given, list):
            message = f"expected a number from 0 to 1, got {tree.spell(*here)}"
            yield tree.problem("wrong-type", message, *here, hint="give that of the event")


def _absent(tree: Tree) -> str | None:
    """Say what never occurs at the declared prevalence; None where everything does."""
    written = tree.get(*HERE)
    value = written.get("value", _mean(written.get("beta"))) if isinstance(written, dict) else written
    shares = written.get("levels") if isinstance(written, dict) else None
    if isinstance(value, int | float) and value in (0, 1):
        return "the event" if value == 0 else "anything but the event"
    named = shares.items() if isinstance(shares, dict) else ()
    return next((f"'{level}'" for level, share in named if isinstance(share, int | float) and share == 0), None)
