"""Checks of recalibration: the rows to fit on, the methods and their options, and the models that have none."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.calibration import registry
from evalpipe.spec.check_prevalence import check_shift
from evalpipe.spec.check_task import KNOWN
from evalpipe.spec.describe import Shapes
from evalpipe.spec.draft import Draft
from evalpipe.spec.explain import bad_name, explain, missing_key, unknown_key
from evalpipe.spec.named import is_key
from evalpipe.spec.parts import gives
from evalpipe.spec.recalibration import OWN
from evalpipe.spec.thresholds import tuned_on
from evalpipe.spelling import closest, listed
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.calibration import Recalibrator
    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree

HERE: Loc = ("recalibrate",)


def check_recalibrate(tree: Tree) -> list[Problem]:
    """Return the problems of what is fitted on which rows."""
    if not isinstance(tree.get(*HERE), dict):
        return list(_idle(tree, None))
    return list(chain(_fit_on(tree), _methods(tree), _models(tree)))


def _calibrating(tree: Tree) -> list[str]:
    datasets = tree.get("datasets")
    known = datasets.items() if isinstance(datasets, dict) else ()
    return [name for name, dataset in known if isinstance(dataset, dict) and dataset.get("role") == "calibrate"]


def _idle(tree: Tree, fitted: str | None) -> Iterator[Problem]:
    """Report datasets to calibrate on of which nothing is made."""
    for name in _calibrating(tree):
        if name != fitted and name not in tuned_on(tree):
            message = f"nothing is fitted on dataset '{name}', which has the role 'calibrate'"
            hint = f"add recalibrate: {{fit_on: {name}, methods: [isotonic]}}, or remove the dataset"
            if tree.get(*HERE) is not None:
                hint = "name it under recalibrate.fit_on, or remove it"
            yield tree.idle("unused-dataset", message, "datasets", name, key=True, hint=hint)


def _fit_on(tree: Tree) -> Iterator[Problem]:
    here: Loc = (*HERE, "fit_on")
    name, datasets = tree.get(*here), tree.get("datasets")
    if isinstance(name, dict):
        yield from _idle(tree, None)
        return
    if not isinstance(name, str) or not isinstance(datasets, dict):
        return
    known = _calibrating(tree)
    if name in known:
        yield from _idle(tree, name)
        return
    guess = closest(name, known)
    hint = (f"did you mean '{guess}'?" if guess else f"choose one of {listed(known)}" if len(known) > 1 else
            f"write '{known[0]}'" if known else "give a dataset 'role: calibrate', or cross-fit: {folds: 10}")
    if name not in datasets:
        yield tree.problem("unknown-dataset", f"no dataset is called {tree.show(*here)}", *here, hint=hint)
        return
    role = tree.get("datasets", name, "role") or "evaluate"
    message = f"{tree.show(*here)} has the role '{role}': nothing may be fitted and judged on the same rows"
    if role == "reference":
        message = f"{tree.show(*here)} has the role 'reference', so its predictions are not read"
    yield tree.problem("wrong-role", message, *here, hint=hint)


def _methods(tree: Tree) -> Iterator[Problem]:
    written = tree.get(*HERE, "methods")
    names: dict[str, Loc] = {}
    for index, value in enumerate(written if isinstance(written, list) else ()):
        loc: Loc = (*HERE, "methods", index)
        faults = list(_method(tree, loc, value))
        yield from faults
        if not faults:
            yield from _named(tree, loc, value, names)


def _method(tree: Tree, loc: Loc, value: object) -> Iterator[Problem]:
    if tree.hidden(loc):
        return
    if not isinstance(value, str | dict):
        message = f"expected a method, or a mapping with 'method' and its options, got {tree.spell(*loc)}"
        yield tree.problem("wrong-type", message, *loc)
        return
    if isinstance(value, dict) and "method" not in value:
        yield missing_key(tree, Shapes(root={}, schemas=()), loc, "method")
        return
    named = loc if isinstance(value, str) else (*loc, "method")
    name = tree.get(*named)
    if not isinstance(name, str):
        yield tree.problem("wrong-type", f"expected a method, got {tree.spell(*named)}", *named)
        return
    if name not in registry:
        guess = closest(name, list(registry))
        hint = f"did you mean '{guess}'?" if guess else f"the methods are {listed(list(registry), 'and')}"
        yield tree.problem("unknown-method", f"no recalibrator is called {tree.show(*named)}", *named, hint=hint)
        return
    task = tree.get("task")
    if task in KNOWN and task not in registry[name].tasks:
        possible = [entry.name for entry in registry.values() if task in entry.tasks]
        message = f"{name} does not recalibrate a {task} outcome" if task[0] not in "aeiou" else (
            f"{name} does not recalibrate an {task} outcome")
        yield tree.problem("not-for-task", message, *named, hint=f"use {listed(possible)}")
        return
    faults = list(_options(tree, loc, registry[name], value)) if isinstance(value, dict) else []
    yield from faults
    if "to" in registry[name].options.model_fields and not faults:
        yield from check_shift(Draft(tree), loc, named)


def _options(tree: Tree, loc: Loc, entry: Recalibrator, value: dict[str, Any]) -> Iterator[Problem]:
    known = list(entry.options.model_fields)
    given = {key: item for key, item in value.items() if key not in OWN}
    has = f"the option{'s' if len(known) > 1 else ''} {listed(known, 'and')}" if known else "no options"
    for key in given:
        if key not in known:
            yield unknown_key(tree, [*known, *OWN], (*loc, key), (f"the method {entry.name} has {has}",))
    try:
        entry.options.model_validate({key: item for key, item in given.items() if key in known})
    except ValidationError as error:
        yield from explain(error, tree, entry.options.model_json_schema(), loc)
    name, here = value.get("name"), (*loc, "name")
    if name is not None and not isinstance(name, str):
        yield tree.problem("wrong-type", f"expected a name, got {tree.spell(*here)}", *here)
    elif name is not None and not is_key(name):
        yield bad_name(tree, here)
    elif name == "original":
        yield tree.problem("bad-name", "'original' is what the model itself is called", *here, hint="choose another")


def _named(tree: Tree, loc: Loc, value: Any, names: dict[str, Loc]) -> Iterator[Problem]:
    """Report variants of one name."""
    method = value if isinstance(value, str) else value["method"]
    name = method if isinstance(value, str) else value.get("name", method)
    first = names.setdefault(name, loc)
    if first is not loc:
        message = f"two variants are called '{name}'"
        hint = f"give one of them a name: {{method: {method}, name: …}}"
        place = tree.origin.place(*first)
        notes = (f"the first is at {place}",) if place is not None else ()
        yield tree.problem("duplicate-variant", message, *loc, hint=hint, notes=notes)


def _models(tree: Tree) -> Iterator[Problem]:
    """Report models without what can be recalibrated."""
    models, task = tree.get("models"), tree.get("task")
    if task not in KNOWN or task in NUMBERS:
        return
    for name, model in models.items() if isinstance(models, dict) else ():
        if not isinstance(model, dict) or len(gives(model)) == 1 or "probabilities" in gives(model):
            continue
        if model.get("score") is not None:
            message = f"the model '{name}' has a score without a scale, a rank alone: there is nothing to recalibrate"
            hint = "say what the score is: scale: logit for log odds, scale: margin for a distance from a boundary"
        else:
            message = f"the model '{name}' gives only classes: there is nothing to recalibrate"
            hint = "name a column of 'probability', or leave the model out"
        yield tree.problem("not-recalibrable", message, "models", name, key=True, hint=hint)
