"""Checks of what belongs to a task: the keys it has, the keys it needs, and that levels named are declared ones."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from evalpipe.levels import LEVEL, level_text, meant_level
from evalpipe.spec.describe import Shapes
from evalpipe.spec.explain import missing_key
from evalpipe.spelling import closest, listed
from evalpipe.tasks import CLASSES, MANY, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree

KNOWN = (*CLASSES, *NUMBERS)
_BINARY = ("binary",)
_OF_SPEC: dict[Loc, tuple[str, ...]] = {
    ("outcome", "event"): _BINARY,
    ("outcome", "levels"): CLASSES,
    ("outcome", "unit"): NUMBERS,
    ("threshold",): _BINARY,
    ("prevalence",): CLASSES,
    ("prevalence", "value"): _BINARY,
    ("prevalence", "beta"): _BINARY,
    ("prevalence", "levels"): MANY,
    ("prevalence", "dirichlet"): MANY,
    ("costs",): CLASSES,
    ("profit",): _BINARY,
    ("equivocal",): CLASSES,
    ("intervals", "stratify"): CLASSES,
    ("exposure",): ("count",),
}
_OF_MODEL: dict[str, tuple[str, ...]] = {
    "probability": _BINARY,
    "score": _BINARY,
    "scale": _BINARY,
    "threshold": _BINARY,
    "equivocal": CLASSES,
    "probabilities": MANY,
    "scores": MANY,
    "renormalise": MANY,
    "loo_prediction": NUMBERS,
    "rate": ("count",),
}
_INSTEAD = {
    ("score", MANY): "name the columns of all levels under 'scores'",
    ("scores", _BINARY): "name the column of the event's score under 'score'",
    ("probability", MANY): "name the columns of all levels under 'probabilities'",
    ("probabilities", _BINARY): "name the column of the event's probability under 'probability'",
    ("probability", NUMBERS): "name the column of the predicted number under 'prediction'",
    ("rate", NUMBERS): "name the column of the predicted number under 'prediction'",
    ("rate", MANY): "name the columns of all levels under 'probabilities'",
    ("rate", _BINARY): "name the column of the event's probability under 'probability'",
    ("event", MANY): "remove it; every level counts",
    ("value", MANY): "give the prior probability of each level under 'levels'",
    ("levels", _BINARY): "give the prior probability of the event under 'value'",
    ("beta", MANY): "give the parameter of each level under 'dirichlet'",
    ("dirichlet", _BINARY): "give the two parameters under 'beta'",
}
"""The key that was probably meant, by the key that was written and the tasks that do not have it."""


def check_task(tree: Tree) -> list[Problem]:
    """Return the problems of keys that do not fit the task, and of the levels they name."""
    task = tree.get("task")
    if task not in KNOWN:
        return []
    return list(chain(_foreign(tree, task), _needed(tree, task), _costs(tree, task), _probabilities(tree, task)))


def applies(loc: Loc, task: str) -> bool:
    """Tell whether a key of the spec belongs to a task."""
    tasks = _OF_MODEL.get(str(loc[2])) if len(loc) == 3 and loc[0] == "models" else _OF_SPEC.get(loc)
    return tasks is None or task in tasks


def _foreign(tree: Tree, task: str) -> Iterator[Problem]:
    """Find keys that the task does not have."""
    models = tree.get("models")
    named = [name for name, model in models.items() if isinstance(model, dict)] if isinstance(models, dict) else []
    places: list[Loc] = [*_OF_SPEC, *(("models", name, key) for name in named for key in _OF_MODEL)]
    refused: set[Loc] = set()
    for loc in places:
        value = tree.get(*loc)
        if applies(loc, task) or value is None or value is False or loc[:1] in refused:
            continue
        refused.add(loc)
        yield _not_for(tree, task, loc)


def _not_for(tree: Tree, task: str, loc: Loc) -> Problem:
    key = str(loc[-1])
    group = next(tasks for tasks in (_BINARY, MANY, NUMBERS) if task in tasks)
    hint = _INSTEAD.get((key, group), "remove it")
    if task == "binary" and loc == ("prevalence", "levels"):
        hint = _INSTEAD["levels", _BINARY]
    article = "an" if task[0] in "aeiou" else "a"
    return tree.problem("not-for-task", f"{article} {task} outcome has no '{key}'", *loc, key=True, hint=hint)


def _needed(tree: Tree, task: str) -> Iterator[Problem]:
    """Find what the task cannot do without."""
    if task in CLASSES:
        yield from lacking(tree, "Outcome", "outcome", "event" if task == "binary" else "levels")


def lacking(tree: Tree, model: str, part: str, key: str) -> Iterator[Problem]:
    """Report a key that is absent or null, unless one that is written was meant for it."""
    from evalpipe.spec.schema import model_schema

    written = tree.get(part)
    if not isinstance(written, dict):
        return
    if key in written:
        if written[key] is None:
            yield tree.problem("wrong-type", f"expected a value, got {tree.spell(part, key)}", part, key)
        return
    shape = model_schema()["$defs"][model]  # slow to make, so only for a spec that is wrong
    if not any(closest(name, [key]) for name in written if name not in shape["properties"]):
        yield missing_key(tree, Shapes(root={}, schemas=(shape,)), (part,), key)


def declared_levels(tree: Tree) -> list[str] | None:
    """Return the declared levels as texts; None where they cannot be read."""
    levels = tree.get("outcome", "levels")
    good = isinstance(levels, list) and levels and all(isinstance(level, LEVEL) for level in levels)
    return [level_text(level) for level in levels] if good else None


def unknown_level(tree: Tree, loc: Loc, name: str, levels: list[str], *, key: bool = False) -> Problem:
    """Report a level that is not declared."""
    guess = meant_level(name, levels)
    hint = f"did you mean '{guess}'?" if guess else f"the levels are {listed(levels, 'and')}"
    return tree.problem("unknown-level", f"'{name}' is not one of the declared levels", *loc, key=key, hint=hint)


def _costs(tree: Tree, task: str) -> Iterator[Problem]:
    """Find costs of levels that are not declared, and pairs of levels that are named twice."""
    costs, levels = tree.get("costs"), declared_levels(tree)
    if not isinstance(costs, list) or task not in CLASSES:
        return
    if levels is None:
        if tree.get("outcome", "levels") is None and task == "binary":
            yield tree.problem("missing-key", "costs name levels, but 'outcome.levels' is missing", "costs", key=True,
                               hint="add 'levels: […, …]' to the outcome")
        return
    seen: dict[tuple[str, str], int] = {}
    for index, entry in enumerate(costs):
        pair = _pair(entry)
        if pair is None:
            continue
        for kind, name in zip(("truth", "predicted"), pair, strict=True):
            if name not in levels:
                yield unknown_level(tree, ("costs", index, kind), name, levels)
        if pair in seen:
            yield tree.problem("duplicate-cost", f"the cost of '{pair[0]}' predicted as '{pair[1]}' is given twice",
                               "costs", index, hint="remove one of the two")
        seen.setdefault(pair, index)


def _pair(entry: Any) -> tuple[str, str] | None:
    if not isinstance(entry, dict):
        return None
    truth, predicted = entry.get("truth"), entry.get("predicted")
    if not isinstance(truth, LEVEL) or not isinstance(predicted, LEVEL):
        return None
    return level_text(truth), level_text(predicted)


def _probabilities(tree: Tree, task: str) -> Iterator[Problem]:
    """Find mappings of levels to columns that name other levels than the declared ones."""
    models, levels = tree.get("models"), declared_levels(tree)
    if task not in MANY or not isinstance(models, dict) or levels is None:
        return
    for here in [("models", name, kind) for name in models for kind in ("probabilities", "scores")]:
        columns = tree.get(*here)
        if not isinstance(columns, dict):
            continue
        strange = [level for level in columns if level not in levels]
        yield from (unknown_level(tree, (*here, level), level, levels, key=True) for level in strange)
        lacking = [level for level in levels if level not in columns]
        if lacking:
            yield tree.problem("missing-level", f"no column of {here[2]} for {listed(lacking, 'and')}", *here,
                               key=True, hint="name one for each level")
