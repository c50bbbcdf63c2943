"""Checks of the metrics that a spec asks for: their names, their options, and whether the models can serve them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalpipe.metrics import registry
from evalpipe.metrics.written import AVERAGES
from evalpipe.spec.check_prevalence import check_prevalence, mean_of, prevalences
from evalpipe.spec.check_task import KNOWN
from evalpipe.spec.choices import common_keys
from evalpipe.spec.describe import Shapes
from evalpipe.spec.explain import explain, missing_key, unknown_key
from evalpipe.spec.parts import gives
from evalpipe.spelling import closest, listed
from evalpipe.tasks import NUMBERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.errors import Problem
    from evalpipe.metrics import Metric
    from evalpipe.origin import Loc
    from evalpipe.spec.tree import Tree


@dataclass(frozen=True, slots=True)
class Entry:
    """A measure that the spec asks for: where it stands, where its name stands, its metric and options."""

    loc: Loc
    named: Loc
    metric: Metric
    options: dict[str, Any]


def check_metrics(tree: Tree) -> list[Problem]:
    """Check every entry of the spec's metrics."""
    written = tree.get("metrics")
    problems: list[Problem] = []
    known: list[Entry] = []
    for index, value in enumerate(written if isinstance(written, list) else ()):
        entry, faults = check_entry(tree, ("metrics", index), value)
        problems += faults
        known += [] if entry is None else [entry]
    return problems + _repeated(tree, known)


def check_entry(
    tree: Tree, loc: Loc, value: object, *, of_models: bool = True
) -> tuple[Entry | None, list[Problem]]:
    """Check one measure that the spec asks for at ``loc``; the entry is None where something is wrong with it.

    ``of_models`` says that all models must serve it.
    """
    entry = _entry(tree, loc, value)
    if not isinstance(entry, Entry):
        return None, [] if entry is None else [entry]
    faults = _task(tree, entry) or [
        *(_options(tree, entry) or _from_spec(tree, entry)), *_averages(tree, entry),
        *check_prevalence(tree, entry), *(_served(tree, entry) if of_models else ()),
    ]
    return (None if faults else entry), faults


def _entry(tree: Tree, loc: Loc, value: object) -> Entry | Problem | None:
    """Read an entry; a problem where its name cannot be read, None where that is reported already."""
    if tree.hidden(loc):
        return None
    if isinstance(value, str):
        return _named(tree, loc, loc, value, {})
    if not isinstance(value, dict):
        message = f"expected the name of a metric, or a mapping with 'metric' and its options, got {tree.spell(*loc)}"
        return tree.problem("wrong-type", message, *loc, hint=_lists(value))
    if "metric" not in value:
        return _unnamed(tree, loc, value)
    named = (*loc, "metric")
    if not isinstance(value["metric"], str):
        wrong = tree.problem("wrong-type", f"expected the name of a metric, got {tree.spell(*named)}", *named)
        return None if tree.hidden(named) else wrong
    common = common_keys(value["metric"])
    options = {key: item for key, item in value.items() if key not in common}
    return _named(tree, loc, named, value["metric"], options)


def _task(tree: Tree, entry: Entry) -> list[Problem]:
    """Report a measure that the task does not have."""
    task, tasks = tree.get("task"), entry.metric.tasks
    if task in tasks or task not in KNOWN:
        return []
    article = "an" if str(task)[0] in "aeiou" else "a"
    message = f"{entry.metric.name} is a measure of {listed_plain(tasks)} outcomes, not of {article} {task} one"
    hint = f"`evalpipe metrics --task {task}` lists those of {article} {task} outcome"
    return [tree.problem("metric-not-for-task", message, *entry.named, hint=hint)]


def listed_plain(words: Sequence[str]) -> str:
    """Join words: "binary, multiclass and ordinal"."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _averages(tree: Tree, entry: Entry) -> list[Problem]:
    """Check how an entry is to be averaged over classes."""
    here = (*entry.loc, "average")
    written = tree.get(*here)
    if written is None:
        return []
    name, task = entry.metric.name, tree.get("task")
    why = (f"{name} sees all classes at once" if entry.metric.sees == "classes"
           else f"a {task} outcome has no classes" if task in NUMBERS
           else "a binary outcome has one event" if task == "binary" else None)
    if why is not None:
        message = f"{why}, so there is nothing to average"
        return [tree.problem("nothing-to-average", message, *here, key=True, hint="remove it")]
    items = [((*here, index), item) for index, item in enumerate(written)] if isinstance(written, list) else [
        (here, written)]
    problems = [_average(tree, entry, loc, item) for loc, item in items]
    if not items:
        problems.append(tree.problem("wrong-type", "no average is listed", *here, hint=f"use {listed(AVERAGES)}"))
    twice = [loc for place, (loc, item) in enumerate(items) if item in [other for _, other in items[:place]]]
    problems += [tree.problem("duplicate-average", f"the average {tree.show(*loc)} is listed twice", *loc,
                              hint="remove it") for loc in twice]
    return [problem for problem in problems if problem is not None]


def _average(tree: Tree, entry: Entry, loc: Loc, item: object) -> Problem | None:
    if item not in AVERAGES:
        guess = closest(item, AVERAGES) if isinstance(item, str) else None
        hint = f"did you mean '{guess}'?" if guess else None
        return tree.problem("unknown-choice", f"expected {listed(AVERAGES)}, got {tree.spell(*loc)}", *loc, hint=hint)
    if item == "micro" and entry.metric.from_spec:
        message = f"{entry.metric.name} depends on each level's prior, so the levels cannot be pooled"
        return tree.problem("nothing-to-pool", message, *loc, hint="use 'macro', 'macro_weighted' or 'none'")
    return None


def _lists(value: object) -> str | None:
    names = [name for name in value if isinstance(name, str)] if isinstance(value, list) else []
    return "write each metric as an entry of its own" if names else None


def _named(tree: Tree, loc: Loc, named: Loc, name: str, options: dict[str, Any]) -> Entry | Problem:
    if name in registry:
        return Entry(loc, named, registry[name], options)
    guess = None if tree.secret(*named) else registry.closest(name) or closest(name, _all_names())
    hint = f"did you mean '{guess}'?" if guess else "`evalpipe metrics` lists all of them"
    return tree.problem("unknown-metric", f"unknown metric {tree.show(*named)}", *named, hint=hint)


def _all_names() -> list[str]:
    return [name for metric in registry for name in (metric.name, *metric.aliases)]


def _unnamed(tree: Tree, loc: Loc, value: dict[str, Any]) -> Problem:
    """Report an entry without the key 'metric'; often the name itself was taken for a key."""
    name = next(iter(value), "")
    if name in registry and len(value) == 1:
        inner = value[name]
        options = list(inner) if isinstance(inner, dict) else []
        form = ", ".join([f"metric: {name}", *(f"{option}: …" for option in options)])
        return tree.problem("missing-key", "missing key 'metric'", *loc, name, key=True, hint=f"write {{{form}}}")
    return missing_key(tree, Shapes(root={}, schemas=()), loc, "metric")


def _options(tree: Tree, entry: Entry) -> list[Problem]:
    """Check the options that an entry gives."""
    known = [name for name in entry.metric.option_types if name not in entry.metric.alone]
    has = f"the option{'s' if len(known) > 1 else ''} {listed(known, 'and')}" if known else "no options"
    takes = f"the metric {entry.metric.name} has {has}"
    problems = [
        unknown_key(tree, list(known), (*entry.loc, key), (takes,)) for key in entry.options if key not in known
    ]
    given = {key: item for key, item in entry.options.items() if key in known}
    try:
        entry.metric.options.model_validate(given)
    except ValidationError as error:
        found = explain(error, tree, entry.metric.options.model_json_schema(), entry.loc)
        problems += [problem for problem in found if problem.code != "missing-key"]
    return problems + _absent(tree, entry)


def _absent(tree: Tree, entry: Entry) -> list[Problem]:
    """Report the options that a metric needs and that no key of the spec can give."""
    name = entry.metric.name
    needed = [o for o, field in entry.metric.options.model_fields.items() if field.is_required()]
    return [
        tree.problem(
            "missing-option", f"{name} needs the option '{option}'", *entry.named,
            hint=f"write {{metric: {name}, {option}: …}}",
        )
        for option in needed
        if option not in entry.options and option not in entry.metric.from_spec
    ]  # fmt: skip


def _from_spec(tree: Tree, entry: Entry) -> list[Problem]:
    """Report the options that neither the entry nor the spec gives."""
    return [
        tree.problem(
            "missing-option", f"{entry.metric.name} needs {option if option in entry.metric.alone else f'a {option}'}",
            *entry.named,
            hint=f"add '{key}: …' to the spec" if option in entry.metric.alone else (
                f"write {{metric: {entry.metric.name}, {option}: …}}, or add '{key}: …' to the spec"),
        )
        for option, key in entry.metric.from_spec.items()
        if entry.options.get(option) is None and tree.get(key) is None
    ]  # fmt: skip


_LACK = {
    "probabilities": (
        "metric-needs-probability", "needs probabilities",
        "remove it, name a column of 'probability', or add a 'scale' to the score",
    ),
    "scores": ("metric-needs-probability", "ranks rows", "remove it, or name a column of 'probability' or 'score'"),
    "values": ("metric-needs-prediction", "needs a prediction", "remove it, or name a column under 'prediction'"),
    "loo_values": (
        "metric-needs-prediction", "needs leave-one-out predictions",
        "remove it, or name their column under 'loo_prediction'",
    ),
    "labels": (
        "metric-needs-classes", "needs predicted classes",
        "remove it, or give the model a 'scale', a 'threshold' or a 'prediction'",
    ),
}
"""For each need: the code of its problem, the words for it, and the way out."""


def _served(tree: Tree, entry: Entry) -> list[Problem]:
    """Report a metric that some model cannot serve, such as one of probabilities where there are only classes."""
    models = tree.get("models")
    named = models.items() if isinstance(models, dict) else ()
    given = {name: gives(model, tree.get("threshold")) for name, model in named if isinstance(model, dict)}
    lacking = [name for name, needs in given.items() if len(needs) > 1 and entry.metric.needs not in needs]
    if not lacking:
        return []
    code, need, hint = _LACK[entry.metric.needs]
    noun, verb = ("model", "gives") if len(lacking) == 1 else ("models", "give")
    shown = [kind for kind in ("score", "prediction", "rate") if any(_has(tree, name, kind) for name in lacking)]
    if not shown:  # then a model's columns are refused already
        return []
    kinds = listed(shown, "and")
    message = f"{entry.metric.name} {need}, but the {noun} {listed(lacking, 'and')} {verb} only {kinds}"
    return [tree.problem(code, message, *entry.named, hint=hint)]


def _has(tree: Tree, model: str, kind: str) -> bool:
    return tree.get("models", model, kind) is not None


def _repeated(tree: Tree, entries: list[Entry]) -> list[Problem]:
    """Report metrics that are asked for twice with the same options."""
    first: dict[tuple[str, str, str], Entry] = {}
    problems = []
    for entry in entries:
        keys = [(entry.metric.name, effective(tree, entry), at) for at in prevalences(tree, entry)]
        same = next((first[key] for key in keys if key in first), entry)
        first = dict.fromkeys(keys, entry) | first
        if same is entry:
            continue
        alike = tree.get(*same.named) == tree.get(*entry.named)
        names = f"{tree.show(*entry.named)} and {tree.show(*same.named)}"
        also = "" if alike else f" ({names} are names of the same metric)"
        message = f"{entry.metric.name} is asked for twice with the same options{also}"
        place = tree.origin.place(*same.named)
        notes = (f"first asked for at {place}",) if place is not None else ()
        problems.append(tree.problem("duplicate-metric", message, *entry.named, hint="remove one of them", notes=notes))
    return problems


def effective(tree: Tree, entry: Entry) -> str:
    """Return the options an entry comes to, as text."""
    filled = dict(entry.options)
    average = tree.get(*entry.loc, "average")
    for option, key in entry.metric.from_spec.items():
        prior = tree.get(key)
        filled.setdefault(option, mean_of(prior) if key == "prevalence" else prior)
    try:
        options = entry.metric.options.model_validate(filled).model_dump(mode="json")
    except ValidationError:
        options = {**filled, "from": "the spec"}
    return json.dumps([options, average or "macro"], sort_keys=True, default=repr)
