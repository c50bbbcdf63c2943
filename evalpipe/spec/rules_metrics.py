"""Checks of the metrics that a spec asks for: their names, their options, and whether the models can serve them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalpipe.base.levels import level_text
from evalpipe.chapters.prevalence.rules import check_prevalence, prevalences
from evalpipe.metrics import registry
from evalpipe.metrics.declare import AVERAGES, Advice
from evalpipe.metrics.expressions import ExpressionMetric
from evalpipe.spec.choices import MetricChoice, common_keys, items
from evalpipe.spec.draft import refer
from evalpipe.spec.entry import Entry
from evalpipe.spec.explain import explain, unknown_key
from evalpipe.spec.parts import all_give
from evalpipe.spec.rules_task import KNOWN, with_article
from evalpipe.tasks import NUMBERS
from evalpipe.words.spelling import closest, joined, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


LISTS_ALL = "`evalpipe metrics` lists all of them"
"""The way out where no name is like the one that was written."""


def check_metrics(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the entries of the spec's metrics."""
    known: list[Entry] = []
    for loc, choice in draft.entries(draft.spec.metrics, "metrics"):
        if not isinstance(choice, MetricChoice):  # an expression
            continue
        entry, faults = check_measure(draft, loc, choice)
        yield from faults
        known += [] if entry is None else [entry]
    yield from _repeated(draft, known)


def check_measure(
    draft: Draft, loc: Loc, choice: MetricChoice, *, of_models: bool = True
) -> tuple[Entry | None, list[Problem]]:
    """Check one measure that the spec asks for at ``loc``; the entry is None where something is wrong with it.

    ``of_models`` says that all models must serve it.
    """
    named = loc if draft.tree.get(*loc, "metric") is None else (*loc, "metric")
    if not draft.readable(*named):
        return None, []
    if choice.metric not in draft.measures:
        return None, [*unknown_metric(draft, named), *misspelt_keys(draft, loc, choice, common_keys(choice.metric))]
    entry = Entry(loc, named, draft.measures[choice.metric], choice)
    faults = [*_task(draft, entry)] or [
        *([*_options(draft, entry)] or _from_spec(draft, entry)), *_averages(draft, entry),
        *check_prevalence(draft, entry), *(_served(draft, entry) if of_models else ()),
    ]
    return (None if faults else entry), faults


def misspelt_keys(draft: Draft, loc: Loc, choice: MetricChoice, keys: Sequence[str]) -> Iterator[Problem]:
    """Report what stands among the options of a measure that is unknown, and was probably meant for one of ``keys``."""
    options = {option for metric in draft.measures for option in metric.option_types}
    for key in choice.options:
        if key not in options and closest(key, keys):
            yield unknown_key(draft.tree, list(keys), (*loc, key))


def unknown_metric(draft: Draft, named: Loc, *, key: bool = False) -> Iterator[Problem]:
    """Report the name at ``named`` (the key there, if so asked) where no metric is called so."""
    shown = f"'{named[-1]}'" if key else draft.tree.show(*named)
    name = level_text(named[-1] if key else draft.tree.get(*named))
    advice = Advice(None) if draft.tree.secret(*named) and not key else draft.measures.advice(name)
    yield from refer(draft, named, draft.measures.names, "unknown-metric", f"unknown metric {shown}",
                     advice.hint or LISTS_ALL, key=key, meant=lambda *_: None, notes=advice.notes)


def _task(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report a measure that the task does not have."""
    task, tasks = draft.spec.task, entry.metric.tasks
    if task in KNOWN and task not in tasks:
        name, a_task = entry.metric.name, with_article(task)
        message = f"{name} is a measure of {joined(tasks, 'and')} outcomes, not of {a_task} one"
        counterpart = registry.counterpart(name, task)
        meant = f"did you mean '{counterpart}'? " if counterpart else ""
        hint = f"{meant}`evalpipe metrics --task {task}` lists those of {a_task} outcome"
        yield draft.tree.problem("metric-not-for-task", message, *entry.named, hint=hint)


def _averages(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Check how an entry is to be averaged over classes."""
    here, written, task = (*entry.loc, "average"), entry.choice.average, draft.spec.task
    why = (f"each measure of the expression {entry.metric.name} has its own average"
           if isinstance(entry.metric, ExpressionMetric)
           else f"{entry.metric.name} sees all classes at once" if entry.metric.sees == "classes"
           else f"a {task} outcome has no classes" if task in NUMBERS
           else "a binary outcome has one event" if task == "binary" else None)
    if written is None:
        return
    if why is not None:
        message = f"{why}, so there is nothing to average"
        yield draft.tree.problem("nothing-to-average", message, *here, key=True, hint="remove it")
        return
    if written == ():
        yield draft.tree.problem("wrong-type", "no average is listed", *here, hint=f"use {listed(AVERAGES)}")
    averages = items(here, written)
    for index, (loc, average) in enumerate(averages):
        yield from _average(draft, entry, loc, average)
        if average in [earlier for _, earlier in averages[:index]]:
            message = f"the average {draft.tree.show(*loc)} is listed twice"
            yield draft.tree.problem("duplicate-average", message, *loc, hint="remove it")


def _average(draft: Draft, entry: Entry, loc: Loc, average: object) -> Iterator[Problem]:
    wrong = f"expected {listed(AVERAGES)}, got {draft.tree.spell(*loc)}"
    match average:
        case "micro" if entry.metric.from_spec:
            message = f"{entry.metric.name} depends on each level's prior, so the levels cannot be pooled"
            yield draft.tree.problem("nothing-to-pool", message, *loc, hint="use 'macro', 'macro_weighted' or 'none'")
        case str():
            yield from refer(draft, loc, AVERAGES, "unknown-choice", wrong, None)
        case _:
            yield draft.tree.problem("unknown-choice", wrong, *loc)


def _options(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Check the options that an entry gives, and report those that the metric needs and no key of the spec can give."""
    metric, written = entry.metric, entry.choice.options
    known = [name for name in metric.option_types if name not in metric.alone]
    has = f"the option{'s' if len(known) > 1 else ''} {listed(known, 'and')}" if known else "no options"
    for key in written:
        if key not in known:
            yield unknown_key(draft.tree, known, (*entry.loc, key), (f"the metric {metric.name} has {has}",))
    try:
        metric.options.model_validate({key: option for key, option in written.items() if key in known})
    except ValidationError as error:
        problems = explain(error, draft.tree, metric.options.model_json_schema(), entry.loc)
        yield from (problem for problem in problems if problem.code != "missing-key")
    for option, field in metric.options.model_fields.items():
        if field.is_required() and option not in written and option not in metric.from_spec:
            yield draft.tree.problem("missing-option", f"{metric.name} needs the option '{option}'", *entry.named,
                                     hint=f"write {{metric: {metric.name}, {option}: …}}")


def _from_spec(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report the options that neither the entry nor the spec gives."""
    name = entry.metric.name
    for option, key in entry.metric.from_spec.items():
        if entry.choice.options.get(option) is None and getattr(draft.spec, key) is None:
            alone = option in entry.metric.alone
            hint = f"add '{key}: …' to the spec"
            if draft.alone:
                hint = f"read its values as they are: {{characteristic: {name}, …}}"
            yield draft.tree.problem(
                "missing-option", f"{name} needs {option if alone else f'a {option}'}", *entry.named,
                hint=hint if alone else f"write {{metric: {name}, {option}: …}}, or {hint}")


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


def _served(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report a metric that some model cannot serve, such as one of probabilities where there are only classes."""
    if isinstance(entry.metric, ExpressionMetric):  # its measures are checked where it is declared
        return
    given = {name: all_give(model, draft.spec.recalibrate, draft.spec.threshold)
             for name, model in draft.models.items()}
    lacking = [name for name, needs in given.items() if len(needs) > 1 and entry.metric.needs not in needs]
    shown = [kind for kind in ("score", "prediction", "rate")
             if any(getattr(draft.models[name], kind) is not None for name in lacking)]
    if shown:  # else a model's columns are refused already
        code, need, hint = _LACK[entry.metric.needs]
        noun, verb = ("model", "gives") if len(lacking) == 1 else ("models", "give")
        if entry.metric.needs == "loo_values" and draft.spec.task == "regression":
            hint += ", or the leverages of a linear fit under 'leverage'"
        message = (f"{entry.metric.name} {need}, but the {noun} {listed(lacking, 'and')} {verb} only "
                   f"{listed(shown, 'and')}")
        yield draft.tree.problem(code, message, *entry.named, hint=hint)


def _repeated(draft: Draft, entries: list[Entry]) -> Iterator[Problem]:
    """Report metrics that are asked for twice with the same options."""
    first: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        keys = [(entry.metric.name, effective(draft, entry), at) for at in prevalences(draft, entry)]
        same = next((first[key] for key in keys if key in first), entry)
        first = dict.fromkeys(keys, entry) | first
        if same is entry:
            continue
        names = f"{draft.tree.show(*entry.named)} and {draft.tree.show(*same.named)}"
        also = "" if same.choice.metric == entry.choice.metric else f" ({names} are names of the same metric)"
        message = f"{entry.metric.name} is listed twice with the same options{also}"
        place = draft.tree.origin.place(*same.named)
        notes = (f"first listed at {place}",) if place is not None else ()
        yield draft.tree.problem("duplicate-metric", message, *entry.named, hint="remove one of them", notes=notes)


def effective(draft: Draft, entry: Entry) -> str:
    """Return the options an entry comes to, as text."""
    filled = dict(entry.choice.options)
    for option, key in entry.metric.from_spec.items():
        declared = getattr(draft.spec, key)
        filled.setdefault(option, declared and declared.mean if key == "prevalence" else declared)
    try:
        options = entry.metric.options.model_validate(filled).model_dump(mode="json")
    except ValidationError:
        options = {**filled, "from": "the spec"}
    return json.dumps([options, entry.choice.average or "macro"], sort_keys=True, default=repr)
