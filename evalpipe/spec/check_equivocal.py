"""Checks of equivocal zones: that their keys fit the task, and that there are classes for a zone to leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.spec.parts import gives
from evalpipe.tasks import CLASSES, MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree

_SIDES = ("below", "above")


def check_equivocal(tree: Tree) -> list[Problem]:
    """Return the problems of the spec's equivocal zone and of those of its models."""
    task, models = tree.get("task"), tree.get("models")
    if task not in CLASSES:
        return []
    named = {name: model for name, model in models.items() if isinstance(model, dict)} if isinstance(
        models, dict) else {}
    problems: list[Problem] = []
    for here in [("equivocal",), *(("models", name, "equivocal") for name in named)]:
        if tree.get(*here) is not None and not tree.hidden(here):
            wanted = _of_many(tree, task, here) if task in MANY else _of_binary(tree, task, here)
            problems += [*wanted] or [*_idle(tree, named, here)]
    return problems


def _of_many(tree: Tree, task: str, here: Loc) -> Iterator[Problem]:
    """Find a zone about a threshold, which several levels do not have, and a probability that all rows reach."""
    zone, example = tree.get(*here), "give the least highest probability: {min_probability: …}"
    if isinstance(zone, int | float) and not isinstance(zone, bool):
        message = f"{_outcome(task)} has no threshold that a row could be near to"
        yield tree.problem("not-for-task", message, *here, hint=example)
    if not isinstance(zone, dict):
        return
    for side in (side for side in _SIDES if zone.get(side) is not None):
        yield tree.problem("not-for-task", f"{_outcome(task)} has no '{side}'", *here, side, key=True, hint=example)
        return
    least, levels = zone.get("min_probability"), tree.get("outcome", "levels")
    if least is None:
        yield from _empty(tree, here, example)
    elif isinstance(least, int | float) and isinstance(levels, list) and levels and 0 <= least <= 1 / len(levels):
        message = f"of {len(levels)} levels one always has a probability of 1/{len(levels)} or more, so no row would be"
        yield tree.problem("unused-equivocal", f"{message} equivocal", *here, "min_probability", hint="raise it")


def _of_binary(tree: Tree, task: str, here: Loc) -> Iterator[Problem]:
    """Find a zone of several levels, an empty one, and distances beyond those of probabilities."""
    zone, example = tree.get(*here), "give its reach: a number, or {below: …, above: …}"
    if isinstance(zone, dict):
        if zone.get("min_probability") is not None:
            where = (*here, "min_probability")
            yield tree.problem("not-for-task", f"{_outcome(task)} has no 'min_probability'", *where, key=True,
                               hint=example)
        elif all(zone.get(side) is None for side in _SIDES):
            yield from _empty(tree, here, example)
    if _rank(tree, here):
        return
    for loc in [(*here, side) for side in _SIDES] if isinstance(zone, dict) else [here]:
        reach = tree.get(*loc)
        if isinstance(reach, int | float) and not isinstance(reach, bool) and reach > 1:
            message = f"expected a distance between probabilities, from 0 to 1, got {tree.show(*loc)}"
            hint = f"did you mean {reach / 100:g}?" if 2 <= reach <= 100 else None
            yield tree.problem("out-of-range", message, *loc, hint=hint)


def _empty(tree: Tree, here: Loc, example: str) -> Iterator[Problem]:
    """Report a mapping that says nothing, unless what it holds is refused already."""
    if not any(key not in (*_SIDES, "min_probability") for key in tree.get(*here)):
        yield tree.problem("empty-value", "this equivocal zone has no reach", *here, key=True, hint=example)


def _idle(tree: Tree, models: dict[str, dict[str, Any]], here: Loc) -> Iterator[Problem]:
    """Find a zone that would change nothing: no class is made by a threshold, or by the highest probability."""
    if len(here) == 1:
        if models and tree.get("recalibrate") is None and all(_unmade(m, of_spec=True) for m in models.values()):
            message = "the equivocal zone would change nothing: no model has classes made from probabilities"
            yield tree.idle("unused-equivocal", message, *here, key=True, hint="remove it")
        return
    name = str(here[1])
    why = _unmade(models[name], of_spec=False)
    if why is not None:
        message = f"the equivocal zone of the model '{name}' would change nothing: {why}"
        yield tree.idle("unused-equivocal", message, *here, key=True, hint="remove it")


def _unmade(model: dict[str, Any], *, of_spec: bool) -> str | None:
    """Say why a model has no classes that a zone could be taken from; None where it has some."""
    if model.get("prediction") is not None:
        return "'prediction' gives its predicted classes"
    if "labels" not in gives(model):
        return "its score is a rank alone and has no threshold"
    if of_spec and "probabilities" not in gives(model):
        return "its score is a rank alone"
    return None


def _rank(tree: Tree, here: Loc) -> bool:
    """Tell whether a zone is in units of a score that is a rank alone."""
    return len(here) > 1 and "probabilities" not in gives(tree.get(*here[:2]))


def _outcome(task: str) -> str:
    return f"{'an' if task[0] in 'aeiou' else 'a'} {task} outcome"
