"""The recalibrators that make variants of every model, and the rows that they are fitted on: checks and plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from evalpipe.calibration import registry
from evalpipe.chapters.prevalence.plan import prevalence_plan, unread_prevalence
from evalpipe.chapters.recalibrate.spec import COMMON_KEYS
from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import refer, with_article
from evalpipe.spec.messages import bad_name, explain, is_key, missing_key, unknown_key
from evalpipe.spec.rules_measures import check_sum
from evalpipe.tasks import CLASSES, MANY, WITH_OUTCOME
from evalpipe.words.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.calibration import Recalibrator
    from evalpipe.chapters.recalibrate.spec import Folds, MethodChoice
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.spec import Spec


HERE: Loc = ("recalibrate",)


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of recalibration: datasets without use, methods, and models that they do not fit."""
    recalibrate = draft.spec.recalibrate
    if recalibrate is None or not draft.readable(*HERE):
        yield from _unused_datasets(draft, None)
        return
    if not isinstance(recalibrate.fit_on, str) or recalibrate.fit_on in draft.role("calibrate"):
        yield from _unused_datasets(draft, recalibrate.fit_on)
    variants: dict[str, Loc] = {}
    for index, choice in enumerate(recalibrate.methods):
        loc: Loc = (*HERE, "methods", index)
        problems = list(_check_method(draft, loc, choice))
        yield from problems
        if not problems and variants.setdefault(choice.name, loc) is not loc:
            notes = draft.tree.noted("the first is at", *variants[choice.name])
            hint = f"give one of them a name: {{method: {choice.method}, name: …}}"
            message = f"two variants are called '{choice.name}'"
            yield draft.tree.problem("duplicate-variant", message, *loc, hint=hint, notes=notes)
    if draft.spec.task in CLASSES:
        yield from _check_models(draft)


def _unused_datasets(draft: Draft, fit_on: str | Folds | None) -> Iterator[Problem]:
    """Report datasets of role `calibrate` that no recalibrator, threshold or prevalence uses."""
    declared, choosing = draft.spec.prevalence, [model.choosing_rows for model in draft.models.values()]
    used = [fit_on, declared and declared.from_, draft.spec.choosing_rows, *choosing]
    for name in draft.role("calibrate"):
        if name not in used:
            message = f"nothing is fitted on dataset '{name}', which has the role 'calibrate'"
            hint = f"add recalibrate: {{fit_on: {name}, methods: [isotonic]}}, or remove the dataset"
            if draft.spec.recalibrate is not None:
                hint = "name it under recalibrate.fit_on, or remove it"
            yield draft.tree.idle("unused-dataset", message, "datasets", name, key=True, hint=hint)


def _check_method(draft: Draft, loc: Loc, choice: MethodChoice) -> Iterator[Problem]:
    """Check one method: that it exists, that it is for this task, and its options."""
    task, name_loc = draft.spec.task, (*loc, "method") if draft.tree.get(*loc, "method") is not None else loc
    if not draft.readable(*loc):
        yield from _malformed_method(draft, loc)
    elif choice.method not in registry:
        message = f"no recalibrator is called {draft.tree.show(*name_loc)}"
        hint = f"the methods are {listed(list(registry), 'and')}"
        yield from refer(draft, name_loc, list(registry), "unknown-method", message, hint)
    elif task in WITH_OUTCOME and task not in registry[choice.method].tasks:
        possible = [entry.name for entry in registry.values() if task in entry.tasks]
        message = f"{choice.method} does not recalibrate {with_article(task)} outcome"
        yield draft.tree.problem("not-for-task", message, *name_loc, hint=f"use {listed(possible)}")
    else:
        problems = list(_check_options(draft, loc, registry[choice.method], choice))
        yield from problems
        if choice.shifts and not problems:
            yield from check_shift(draft, loc, name_loc)


def _malformed_method(draft: Draft, loc: Loc) -> Iterator[Problem]:
    """Report an entry of `methods` that is neither a method nor a mapping with one."""
    entry = draft.tree.get(*loc)
    if isinstance(entry, dict) and "method" not in entry:
        yield missing_key(draft.tree, loc, "method")
    elif not draft.tree.hidden(loc):
        method_loc = (*loc, "method") if isinstance(entry, dict) else loc
        expected = "a method" if isinstance(entry, dict) else "a method, or a mapping with 'method' and its options"
        yield draft.tree.problem("wrong-type", f"expected {expected}, got {draft.tree.spell(*method_loc)}", *method_loc)


def _check_options(draft: Draft, loc: Loc, entry: Recalibrator, choice: MethodChoice) -> Iterator[Problem]:
    """Check the options of a method, and the name of its variant."""
    options, tree = list(entry.options.model_fields), draft.tree
    has = f"the option{'s' if len(options) > 1 else ''} {listed(options, 'and')}" if options else "no options"
    for key in choice.options:
        if key not in options:
            yield unknown_key(tree, [*options, *COMMON_KEYS], (*loc, key), (f"the method {entry.name} has {has}",))
    try:
        entry.options.model_validate({key: item for key, item in choice.options.items() if key in options})
    except ValidationError as error:
        yield from explain(error, tree, entry.options.model_json_schema(), loc)
    name_loc, name = (*loc, "name"), tree.get(*loc, "name")
    if name is not None and not isinstance(name, str):
        yield tree.problem("wrong-type", f"expected a name, got {tree.spell(*name_loc)}", *name_loc)
    elif name is not None and not is_key(name):
        yield bad_name(tree, name_loc)
    elif name == "original":
        message = "'original' is what the model itself is called"
        yield tree.problem("bad-name", message, *name_loc, hint="choose another")


def _check_models(draft: Draft) -> Iterator[Problem]:
    """Report models with nothing to recalibrate, and methods that cannot take a raw score."""
    for loc, model in draft.entries(draft.spec.models, "models"):
        if len(gives(model)) == 1 or "probabilities" in gives(model):
            continue
        if model.score is not None:
            yield from _check_methods_for_rank_score(draft, str(loc[1]))
            continue
        message = f"the model '{loc[1]}' gives only classes: there is nothing to recalibrate"
        yield draft.tree.problem("not-recalibrable", message, *loc, key=True,
                                 hint="name a column of 'probability', or leave the model out")


def _check_methods_for_rank_score(draft: Draft, model: str) -> Iterator[Problem]:
    """Report methods that need probabilities, of a model whose score only ranks rows."""
    fitting = [entry.name for entry in registry.values() if entry.method.of_scores]
    recalibrate = draft.spec.recalibrate
    for index, choice in enumerate(recalibrate.methods if recalibrate is not None else ()):
        loc: Loc = (*HERE, "methods", index)
        of_probability = choice.options.get("on") == "probability"
        if not draft.readable(*loc) or choice.method not in registry or (
                choice.method in fitting and not of_probability):
            continue
        method = f"{choice.method} on the probability" if of_probability else choice.method
        message = f"{method} takes probabilities, but the score of the model '{model}' is a rank alone"
        hint = "leave out 'on'" if of_probability else (
            f"use {listed(fitting)}, or say what the score is: scale: logit for log odds, scale: margin for a distance "
            "from a boundary")
        yield draft.tree.problem("not-recalibrable", message, *loc, hint=hint)


def check_shift(draft: Draft, loc: Loc, name_loc: Loc) -> Iterator[Problem]:
    """Check the prevalences that a recalibrator shifts from and to; ``name_loc`` is the place of its name."""
    declared, name, many = draft.spec.prevalence, draft.tree.get(*name_loc), draft.spec.task in MANY
    if draft.tree.get(*loc, "to") is None:
        impossible = None if declared is None else _level_that_never_occurs(declared.mean)
        if declared is None:
            message, form = f"{name} needs a prevalence to shift to", "[…]" if many else "…"
            yield draft.tree.problem("missing-option", message, *name_loc, hint=(
                f"add 'prevalence: …' to the spec, or write {{method: {name}, to: {form}}}"))
        elif impossible is not None:
            message = f"{name} cannot shift to a prevalence at which {impossible} never occurs"
            hint = "no probability can be known there: give a prevalence above 0 and below 1, or leave the method out"
            yield draft.tree.problem("out-of-range", message, *name_loc, hint=hint)
    for key in ("from", "to"):
        yield from _check_shares(draft, (*loc, key), many=many)


def _level_that_never_occurs(prevalence: float | dict[str, float]) -> str | None:
    """Return the level, or the event, that never occurs at a prevalence; None where each occurs."""
    match prevalence:
        case dict(shares):
            return next((f"'{level}'" for level, share in shares.items() if share == 0), None)
        case 0:
            return "the event"
        case 1:
            return "anything but the event"
    return None


def _check_shares(draft: Draft, loc: Loc, *, many: bool) -> Iterator[Problem]:
    """Check a prevalence of a recalibrator: a number or, with ``many`` levels, the share of each in their order."""
    declared, problem, levels = draft.tree.get(*loc), draft.tree.problem, draft.levels
    spelt, hint = draft.tree.spell(*loc), "list one for each level, in their order"
    match declared:
        case [*_] if not many:
            message = f"expected a number from 0 to 1, got {spelt}"
            yield problem("wrong-type", message, *loc, hint="give that of the event")
        case [*shares] if levels and len(shares) != len(levels):
            message = f"expected {len(levels)} shares, of {listed(levels, 'and')}, got {len(shares)}"
            yield problem("wrong-type", message, *loc, hint=hint)
        case [*shares]:
            yield from check_sum(draft, loc, "shares", shares, 1e-6)
        case _ if many and levels and declared is not None:
            message = f"expected the shares of {listed(levels, 'and')}, got {spelt}"
            yield problem("wrong-type", message, *loc, hint=hint)


@dataclass(frozen=True, slots=True)
class RecalibrationPlan:
    """The recalibrators of a spec, none without `recalibrate`, and the rows that they are fitted on.

    These are the rows of a ``dataset`` for this purpose, or else the evaluated ones, in so many ``folds``.
    """

    methods: tuple[MethodChoice, ...] = ()
    dataset: str | None = None
    folds: int | None = None


def recalibration_plan(spec: Spec) -> RecalibrationPlan:
    """Return which recalibrators are fitted, and on which rows."""
    recalibrate = spec.recalibrate
    if recalibrate is None:
        return RecalibrationPlan()
    methods = tuple(_with_target_prevalence(spec, choice) for choice in recalibrate.methods)
    if isinstance(recalibrate.fit_on, str):
        return RecalibrationPlan(methods, dataset=recalibrate.fit_on)
    return RecalibrationPlan(methods, folds=recalibrate.fit_on.folds)


def _with_target_prevalence(spec: Spec, choice: MethodChoice) -> MethodChoice:
    """Return a method; if it shifts to a prevalence and names none, it gets the declared one."""
    options, declared = dict(choice.options), prevalence_plan(spec)
    if choice.shifts and options.get("to") is None and declared is not None:
        options["to"] = unread_prevalence(spec, 0 if spec.task == "binary" else "list") or (
            declared.shares[0] if spec.task == "binary" else list(declared.shares))
    return replace(choice, options=MappingProxyType(options))


PLANNED = {"recalibrate": recalibration_plan}
