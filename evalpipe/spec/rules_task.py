"""Checks of what belongs to a task: the keys it has, the keys it needs, and that levels named are declared ones."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from evalpipe.base.levels import level_text, meant_level
from evalpipe.spec.messages import Shapes, missing_key
from evalpipe.spec.spec import NAMED, TASKS
from evalpipe.tasks import CLASSES, MANY, NUMBERS
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.core_keys import Model
    from evalpipe.spec.draft import Draft
    from evalpipe.tasks import Task

BINARY: tuple[Task, ...] = ("binary",)
KNOWN = (*CLASSES, *NUMBERS)
_INSTEAD = {
    ("score", MANY): "name the columns of all levels under 'scores'",
    ("probability", MANY): "name the columns of all levels under 'probabilities'",
    ("probability", NUMBERS): "name the column of the predicted number under 'prediction'",
    ("rate", NUMBERS): "name the column of the predicted number under 'prediction'",
    ("rate", MANY): "name the columns of all levels under 'probabilities'",
    ("rate", BINARY): "name the column of the event's probability under 'probability'",
    ("event", MANY): "remove it; every level counts",
    ("value", MANY): "give the prior probability of each level under 'levels'",
    ("levels", BINARY): "give the prior probability of the event under 'value'",
    ("beta", MANY): "give the parameter of each level under 'dirichlet'",
    ("dirichlet", BINARY): "give the two parameters under 'beta'",
}
"""The key that was probably meant, by the key that was written and the tasks that do not have it."""


def check_task(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of keys that do not fit the task, and of the levels they name."""
    task = draft.spec.task
    if task in KNOWN:
        yield from chain(_foreign(draft, task), _needed(draft, task), _columns(draft, task), _orders(draft, task))


def _foreign(draft: Draft, task: str) -> Iterator[Problem]:
    """Find keys that the task does not have."""
    refused: set[Loc] = set()
    for place in (place for place, tasks in TASKS.items() if task not in tasks):
        for name in draft.models if NAMED in place else ("",):
            loc = tuple(name if part == NAMED else part for part in place)
            value = draft.tree.get(*loc)
            # null and false ask for nothing; a key that is refused is told alone, without the keys in it.
            if not (value is None or value is False or loc[:1] in refused):
                refused.add(loc)
                yield _not_for(draft, task, loc)


def _not_for(draft: Draft, task: str, loc: Loc) -> Problem:
    key = str(loc[-1])
    group = next(tasks for tasks in (BINARY, MANY, NUMBERS) if task in tasks)
    hint = _INSTEAD.get((key, group), "remove it")
    message = f"{with_article(task)} outcome has no '{key}'"
    return draft.tree.problem("not-for-task", message, *loc, key=True, hint=hint)


def with_article(task: str) -> str:
    """Write a task with its article: "an ordinal"."""
    return f"an {task}" if task[:1] in tuple("aeiou") else f"a {task}"


def _needed(draft: Draft, task: str) -> Iterator[Problem]:
    """Find what the task cannot do without."""
    key = "event" if task == "binary" else "levels"
    if task in CLASSES and not draft.alone and draft.readable("outcome") and getattr(draft.spec.outcome, key) is None:
        yield from lacking(draft, "Outcome", "outcome", key)


def lacking(draft: Draft, model: str, part: str, key: str) -> Iterator[Problem]:
    """Report a key that is absent or null in a part of the spec, unless one that is written was meant for it."""
    from evalpipe.spec.schema import model_schema

    if key in draft.tree.get(part):
        message = f"expected a value, got {draft.tree.spell(part, key)}"
        yield draft.tree.problem("wrong-type", message, part, key)
    elif not draft.misspelt((part,), [key]):
        shape = model_schema()["$defs"][model]  # slow to make, so only for a spec that is wrong
        yield missing_key(draft.tree, Shapes(root={}, schemas=(shape,)), (part,), key)


def unknown_levels(draft: Draft, loc: Loc, names: Iterable[str]) -> Iterator[Problem]:
    """Report keys of the mapping at ``loc`` that are no declared levels."""
    for name in names:
        if name not in draft.levels:
            yield unknown_level(draft, (*loc, name), name, key=True)


def unknown_level(draft: Draft, loc: Loc, name: str, *, key: bool = False) -> Problem:
    """Report a level that is not declared."""
    guess = meant_level(name, draft.levels)
    hint = f"did you mean '{guess}'?" if guess else f"the levels are {listed(draft.levels, 'and')}"
    return draft.tree.problem("unknown-level", f"'{name}' is not one of the declared levels", *loc, key=key, hint=hint)


def _columns(draft: Draft, task: str) -> Iterator[Problem]:
    """Find mappings of levels to columns that name other levels than the declared ones."""
    if task not in CLASSES:
        return
    for name, model in draft.models.items():
        if task == "binary":
            yield from _both_levels(draft, name, model)
        if not draft.levels:
            continue
        for kind, columns in (("probabilities", model.probabilities), ("scores", model.scores)):
            match columns:
                case dict(by_level) if draft.readable("models", name, kind):
                    yield from unknown_levels(draft, ("models", name, kind), by_level)
                    absent = [level for level in draft.levels if level not in by_level]
                    if absent:
                        message = f"no column of {kind} for {listed(absent, 'and')}"
                        yield draft.tree.problem("missing-level", message, "models", name, kind, key=True,
                                                 hint="name one for each level")


def _both_levels(draft: Draft, name: str, model: Model) -> Iterator[Problem]:
    """Report numbers of both levels of a binary outcome that does not name both."""
    if draft.spec.outcome.levels is None and (model.probabilities or model.scores) is not None:
        kind = "scores" if model.probabilities is None else "probabilities"
        message = f"'{kind}' are of both levels, of which 'outcome' names the event alone"
        listed_so = ", in their order in the lists" if model.list_column is not None and model.order is None else ""
        yield draft.tree.problem("missing-level", message, "models", name, kind, key=True,
                                 hint=f"name both under 'levels' of the outcome{listed_so}")


def _orders(draft: Draft, task: str) -> Iterator[Problem]:
    """Find orders of levels in lists that no model has, that are not of every level once, and that contradict."""
    problem, first = draft.tree.problem, dict[str, str]()
    for name, model in draft.models.items() if task in CLASSES else ():
        here, column = ("models", name, "order"), model.list_column
        order = [level_text(level) for level in model.order or ()]
        if model.order is not None and column is None:
            message = f"'order' of the model '{name}' has no effect: no column holds lists of its probabilities"
            yield draft.tree.idle("unused-order", message, *here, key=True, hint="remove it")
        elif model.order is not None and draft.levels and draft.readable(*here):
            for index, level in enumerate(order):
                if level not in draft.levels:
                    yield unknown_level(draft, (*here, index), level)
                elif level in order[:index]:
                    yield problem("duplicate-level", f"the level {draft.tree.show(*here, index)} is listed twice",
                                  *here, index, hint="remove it")
            absent = [level for level in draft.levels if level not in order]
            if absent:
                message = f"'order' of the model '{name}' does not have {listed(absent, 'and')}"
                yield problem("missing-level", message, *here, key=True, hint="list every level once")
        if column is not None and model.predictions is None:
            other = first.setdefault(column, name)
            if (draft.models[other].order or draft.spec.outcome.levels) != (model.order or draft.spec.outcome.levels):
                message = (f"the lists of column '{column}' have one order for the model '{name}', and another for "
                           f"'{other}'")
                yield problem("two-orders", message, "models", name, key=True, hint="give both the same 'order'")
