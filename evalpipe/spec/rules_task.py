"""Checks of what belongs to a task: the keys it has, the keys it needs, and that levels named are declared ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalpipe.base.levels import level_text, meant_level
from evalpipe.spec.messages import missing_key
from evalpipe.spec.spec import ANY_NAME, TASKS
from evalpipe.tasks import CLASSES, MANY, NUMBERS
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.field_types import EachLevel, Level
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
    """Yield the problems of keys that do not fit the task, and of levels that are not named or have two orders."""
    task = draft.spec.task
    if task in KNOWN:
        yield from _not_for_task(draft, task)
    if task == "binary":
        yield from _event_alone_named(draft)
    if task in CLASSES:
        key = "event" if task == "binary" else "levels"
        if not draft.spec.alone and draft.readable("outcome") and getattr(draft.spec.outcome, key) is None:
            yield from missing_in_part(draft, "Outcome", "outcome", key)
        yield from _two_orders(draft)


def _not_for_task(draft: Draft, task: str) -> Iterator[Problem]:
    """Report keys that the task does not have."""
    refused: set[Loc] = set()
    group = next(tasks for tasks in (BINARY, MANY, NUMBERS) if task in tasks)
    for key in (key for key, tasks in TASKS.items() if task not in tasks):
        for name in draft.models if ANY_NAME in key else ("",):
            loc = tuple(name if part == ANY_NAME else part for part in key)
            value = draft.tree.get(*loc)
            # null and false ask for nothing; a key that is refused is told alone, without the keys in it.
            if value is None or value is False or loc[:1] in refused:
                continue
            refused.add(loc)
            message = f"{with_article(task)} outcome has no '{loc[-1]}'"
            hint = _INSTEAD.get((str(loc[-1]), group), "remove it")
            yield draft.tree.problem("not-for-task", message, *loc, key=True, hint=hint)


def with_article(task: str) -> str:
    """Write a task with its article: "an ordinal"."""
    return f"an {task}" if task[:1] in tuple("aeiou") else f"a {task}"


def missing_in_part(draft: Draft, model: str, part: str, key: str) -> Iterator[Problem]:
    """Report a key that is absent or null in a part of the spec, unless one that is written was meant for it.

    ``model`` is the name of the class of that part.
    """
    from evalpipe.spec.schema import model_schema

    if key in draft.tree.get(part):
        message = f"expected a value, got {draft.tree.spell(part, key)}"
        yield draft.tree.problem("wrong-type", message, part, key)
    elif not draft.misspelt((part,), [key]):
        keys = model_schema()["$defs"][model]["properties"]  # slow to make, so only for a spec that is wrong
        yield missing_key(draft.tree, (part,), key, keys.get(key))


def each_level(draft: Draft, here: Loc, listed_levels: Iterable[Level], mark: EachLevel) -> Iterator[Problem]:
    """Report values at ``here`` that are no declared levels, and declared levels that are absent there."""
    by_level = isinstance(listed_levels, Mapping)
    names = [level_text(level) for level in listed_levels]
    for index, name in enumerate(names if draft.levels else ()):
        if name not in draft.levels:
            yield unknown_level(draft, (*here, name if by_level else index), name, key=by_level)
    absent = [level for level in draft.levels if level not in names]
    if absent:
        message = mark.missing.replace("{name}", str(here[1])).replace("{}", listed(absent, "and"))
        yield draft.tree.problem("missing-level", message, *here, key=True, hint=mark.hint)


def unknown_level(draft: Draft, loc: Loc, name: str, *, key: bool = False) -> Problem:
    """Report a level that is not declared."""
    guess = meant_level(name, draft.levels)
    hint = f"did you mean '{guess}'?" if guess else f"the levels are {listed(draft.levels, 'and')}"
    return draft.tree.problem("unknown-level", f"'{name}' is not one of the declared levels", *loc, key=key, hint=hint)


def _event_alone_named(draft: Draft) -> Iterator[Problem]:
    """Report numbers of both levels of a binary outcome that does not name both."""
    for name, model in draft.models.items() if draft.spec.outcome.levels is None else ():
        if model.probabilities is None and model.scores is None:
            continue
        kind = "scores" if model.probabilities is None else "probabilities"
        message = f"'{kind}' are of both levels, of which 'outcome' names the event alone"
        order = ", in their order in the lists" if model.list_column is not None and model.order is None else ""
        yield draft.tree.problem("missing-level", message, "models", name, kind, key=True,
                                 hint=f"name both under 'levels' of the outcome{order}")


def _two_orders(draft: Draft) -> Iterator[Problem]:
    """Report lists of one column whose levels have one order for a model and another for the next."""
    first: dict[str, str] = {}
    for name, model in draft.models.items():
        column = model.list_column
        if column is None or model.predictions is not None:
            continue
        other = first.setdefault(column, name)
        if (draft.models[other].order or draft.spec.outcome.levels) != (model.order or draft.spec.outcome.levels):
            message = f"the lists of column '{column}' have one order for the model '{name}', and another for '{other}'"
            yield draft.tree.problem("two-orders", message, "models", name, key=True,
                                     hint="give both the same 'order'")
