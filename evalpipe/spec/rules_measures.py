"""Checks of the measures that a spec asks for: metrics, their options and prevalences, single values, expressions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from pydantic import ValidationError

from evalpipe.base.levels import level_text
from evalpipe.chapters import functions
from evalpipe.chapters.prevalence.spec import EACH_PRIOR
from evalpipe.metrics import registry
from evalpipe.metrics.declare import AVERAGES, Advice
from evalpipe.metrics.expressions import ExpressionMetric
from evalpipe.metrics.grammar import FUNCTIONS, ExpressionFault, names_in, read_expression
from evalpipe.spec.draft import KNOWN, level_problems, refer, with_article
from evalpipe.spec.field_types import is_number
from evalpipe.spec.measures import Entry, MeasureExpression, MetricChoice, common_keys, located_items
from evalpipe.spec.messages import explain, unknown_key
from evalpipe.tasks import MANY, NUMBERS, SCORES
from evalpipe.words.spelling import closest, joined, listed, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.metrics.grammar import NameNode
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.measures import KnownValue


PREVALENCES = ("sample", "declared")
"""The prevalences that a measure is asked for at by name."""

LISTS_ALL = "`evalpipe metrics` lists all of them"
"""The way out where no name is like the one that was written."""


def check_metrics(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the entries of the spec's metrics."""
    entries: list[Entry] = []
    for loc, choice in draft.entries(draft.spec.metrics, "metrics"):
        if not isinstance(choice, MetricChoice):  # an expression
            continue
        entry, faults = check_measure(draft, loc, choice)
        yield from faults
        entries += [] if entry is None else [entry]
    yield from _listed_twice(draft, entries)


def check_measure(
    draft: Draft, loc: Loc, choice: MetricChoice, *, of_models: bool = True
) -> tuple[Entry | None, list[Problem]]:
    """Check one measure that the spec asks for at ``loc``; the entry is None where something is wrong with it.

    With ``of_models`` every model has to give what the measure needs, such as probabilities.
    """
    name_loc = loc if draft.tree.get(*loc, "metric") is None else (*loc, "metric")
    if not draft.readable(*name_loc):
        return None, []
    if choice.metric not in draft.measures:
        return None, [*unknown_metric(draft, name_loc), *misspelt_keys(draft, loc, choice, common_keys(choice.metric))]
    entry = Entry(loc, name_loc, draft.measures[choice.metric], choice)
    faults = [*_not_for_task(draft, entry)] or [
        *([*_wrong_options(draft, entry)] or _missing_from_spec(draft, entry)), *_wrong_averages(draft, entry),
        *check_prevalence(draft, entry), *(_unmet_needs(draft, entry) if of_models else ()),
    ]
    return (None if faults else entry), faults


def misspelt_keys(draft: Draft, loc: Loc, choice: MetricChoice, keys: Sequence[str]) -> Iterator[Problem]:
    """Report unknown options of a measure that were probably meant for one of ``keys``."""
    options = {option for metric in draft.measures for option in metric.option_types}
    for key in choice.options:
        if key not in options and closest(key, keys):
            yield unknown_key(draft.tree, list(keys), (*loc, key))


def unknown_metric(draft: Draft, name_loc: Loc, *, key: bool = False) -> Iterator[Problem]:
    """Report the value at ``name_loc``, or the ``key`` there, where it is no name of a metric."""
    shown = f"'{name_loc[-1]}'" if key else draft.tree.show(*name_loc)
    name = level_text(name_loc[-1] if key else draft.tree.get(*name_loc))
    advice = Advice(None) if draft.tree.secret(*name_loc) and not key else draft.measures.advice(name)
    yield from refer(draft, name_loc, draft.measures.names, "unknown-metric", f"unknown metric {shown}",
                     advice.hint or LISTS_ALL, key=key, meant=lambda *_: None, notes=advice.notes)


def _not_for_task(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report a measure that the task does not have."""
    task, tasks = draft.spec.task, entry.metric.tasks
    if task in KNOWN and task not in tasks:
        name, called = entry.metric.name, "scores of items" if task in SCORES else f"{with_article(task)} outcome"
        its = "scores of items" if tasks == SCORES else f"{joined(tasks, 'and')} outcomes"
        message = f"{name} is a measure of {its}, not of {called if task in SCORES else f'{with_article(task)} one'}"
        counterpart = registry.counterpart(name, task)
        meant = f"did you mean '{counterpart}'? " if counterpart else ""
        hint = f"{meant}`evalpipe metrics --task {task}` lists those of {called}"
        yield draft.tree.problem("metric-not-for-task", message, *entry.named, hint=hint)


def _wrong_averages(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report averages over classes that are unknown, listed twice, or that the measure cannot have."""
    here, written = (*entry.loc, "average"), entry.choice.average
    why = _why_no_average(entry, draft.spec.task)
    if written is None:
        return
    if why is not None:
        message = f"{why}, so there is nothing to average"
        yield draft.tree.problem("nothing-to-average", message, *here, key=True, hint="remove it")
        return
    if written == ():
        yield draft.tree.problem("wrong-type", "no average is listed", *here, hint=f"use {listed(AVERAGES)}")
    averages = located_items(here, written)
    for index, (loc, average) in enumerate(averages):
        wrong = f"expected {listed(AVERAGES)}, got {draft.tree.spell(*loc)}"
        if average == "micro" and entry.metric.from_spec:
            message = f"{entry.metric.name} depends on each level's prior, so the levels cannot be pooled"
            yield draft.tree.problem("nothing-to-pool", message, *loc, hint="use 'macro', 'macro_weighted' or 'none'")
        elif isinstance(average, str):
            yield from refer(draft, loc, AVERAGES, "unknown-choice", wrong, None)
        else:
            yield draft.tree.problem("unknown-choice", wrong, *loc)
        if average in [earlier for _, earlier in averages[:index]]:
            message = f"the average {draft.tree.show(*loc)} is listed twice"
            yield draft.tree.problem("duplicate-average", message, *loc, hint="remove it")


def _why_no_average(entry: Entry, task: str) -> str | None:
    """Return why a measure has nothing to average over classes; None where it may have an average."""
    if isinstance(entry.metric, ExpressionMetric):
        return f"each measure of the expression {entry.metric.name} has its own average"
    if entry.metric.sees == "classes":
        return f"{entry.metric.name} sees all classes at once"
    if task in NUMBERS:
        return f"a {task} outcome has no classes"
    if task in SCORES:
        return "scores of items have no classes"
    return "a binary outcome has one event" if task == "binary" else None


def _wrong_options(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Check the options that an entry gives, and report those that the metric needs and no key of the spec can give."""
    metric, written = entry.metric, entry.choice.options
    options = [name for name in metric.option_types if name not in metric.alone]
    has = f"the option{'s' if len(options) > 1 else ''} {listed(options, 'and')}" if options else "no options"
    common = [key for key in common_keys(metric.name)
              if key != "average" or _why_no_average(entry, draft.spec.task) is None]
    for key in written:
        if key not in options and closest(key, options) is None and closest(key, common) is not None:
            yield unknown_key(draft.tree, common, (*entry.loc, key))
        elif key not in options:
            yield unknown_key(draft.tree, options, (*entry.loc, key), (f"the metric {metric.name} has {has}",))
    try:
        metric.options.model_validate({key: option for key, option in written.items() if key in options})
    except ValidationError as error:
        problems = explain(error, draft.tree, metric.options.model_json_schema(), entry.loc)
        yield from (problem for problem in problems if problem.code != "missing-key")
    for option, field in metric.options.model_fields.items():
        if field.is_required() and option not in written and option not in metric.from_spec:
            yield draft.tree.problem("missing-option", f"{metric.name} needs the option '{option}'", *entry.named,
                                     hint=f"write {{metric: {metric.name}, {option}: …}}")


def _missing_from_spec(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report the options that neither the entry nor the spec gives."""
    name = entry.metric.name
    for option, key in entry.metric.from_spec.items():
        if entry.choice.options.get(option) is None and getattr(draft.spec, key) is None:
            is_of_spec_alone = option in entry.metric.alone  # such as costs, which no entry may have
            hint = f"add '{key}: …' to the spec"
            if draft.spec.alone:  # a spec of candidates with values in a table, without predictions
                hint = f"read its values as they are: {{characteristic: {name}, …}}"
            yield draft.tree.problem(
                "missing-option", f"{name} needs {option if is_of_spec_alone else f'a {option}'}", *entry.named,
                hint=hint if is_of_spec_alone else f"write {{metric: {name}, {option}: …}}, or {hint}")


_UNSERVED = {
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


_OF_ITEMS = {
    "successes": ("metric-needs-success", "needs to know which score is a success",
                  "add 'success: 1', say, or 'range: [0, 1]' under 'score'"),
    "ranked_lists": ("metric-needs-ranking", "needs ranked lists of documents",
                     "give each model a 'ranking: {relevance: …, score: …}', or remove it"),
    "usage": ("metric-needs-usage", "needs what each model used",
              "give each model a 'usage: {cost: COLUMN}', or remove it"),
    "usage_of_successes": (
        "metric-needs-usage", "needs what each model used, and which score is a success",
        "give each model a 'usage: {cost: COLUMN}', and 'score' a 'success' or a 'range', or remove it"),
    "wins": ("metric-needs-models", "needs another model to win against", "remove it, or add a model"),
}
"""The same of needs that all models of a benchmark meet, or none."""


def _unmet_needs(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report a metric for which a model lacks what it needs, such as probabilities where there are only classes."""
    if isinstance(entry.metric, ExpressionMetric):  # its measures are checked where it is declared
        return
    needs_met = {name: draft.spec.gives_with_variants(model) for name, model in draft.models.items()}
    # A model that meets one need at most has no columns that can be used, which is reported elsewhere.
    lacking = [name for name, needs in needs_met.items() if len(needs) > 1 and entry.metric.needs not in needs]
    kinds_of_columns = [kind for kind in ("score", "prediction", "rate")
                        if any(getattr(draft.models[name], kind) is not None for name in lacking)]
    use = entry.choice.options.get("usage")
    if not lacking and draft.models and "usage" in entry.metric.needs and isinstance(use, str):
        yield from _unknown_usage(draft, entry, use)
    if lacking and entry.metric.needs in _OF_ITEMS:
        code, message, hint = _OF_ITEMS[entry.metric.needs]
        yield draft.tree.problem(code, f"{entry.metric.name} {message}", *entry.named, hint=hint)
    elif kinds_of_columns:  # else a model's columns are refused already
        code, need, hint = _UNSERVED[entry.metric.needs]
        noun, verb = ("model", "gives") if len(lacking) == 1 else ("models", "give")
        if entry.metric.needs == "loo_values" and draft.spec.task == "regression":
            hint += ", or the leverages of a linear fit under 'leverage'"
        message = (f"{entry.metric.name} {need}, but the {noun} {listed(lacking, 'and')} {verb} only "
                   f"{listed(kinds_of_columns, 'and')}")
        yield draft.tree.problem(code, message, *entry.named, hint=hint)


def _unknown_usage(draft: Draft, entry: Entry, use: str) -> Iterator[Problem]:
    """Report a measure of something that models do not say how much of they used."""
    uses = list(next(iter(draft.models.values())).usage or ())
    if use not in uses:
        guess = closest(use, uses)
        hint = f"did you mean '{guess}'?" if guess else f"they have {listed(uses, 'and')}"
        yield draft.tree.problem("unknown-usage", f"the models have no usage called '{use}'", *entry.loc, "usage",
                                 hint=hint)


def _listed_twice(draft: Draft, entries: list[Entry]) -> Iterator[Problem]:
    """Report metrics that are asked for twice with the same options."""
    first: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        keys = [(entry.metric.name, effective(draft, entry), prevalence) for prevalence in prevalences(draft, entry)]
        earlier = next((first[key] for key in keys if key in first), None)
        first = dict.fromkeys(keys, entry) | first
        if earlier is None:
            continue
        names = f"{draft.tree.show(*entry.named)} and {draft.tree.show(*earlier.named)}"
        also = "" if earlier.choice.metric == entry.choice.metric else f" ({names} are names of the same metric)"
        message = f"{entry.metric.name} is listed twice with the same options{also}"
        place = draft.tree.origin.place(*earlier.named)
        notes = (f"first listed at {place}",) if place is not None else ()
        yield draft.tree.problem("duplicate-metric", message, *entry.named, hint="remove one of them", notes=notes)


def effective(draft: Draft, entry: Entry) -> str:
    """Return all options and the average of an entry, with what the spec and defaults give, as text to compare."""
    filled = dict(entry.choice.options)
    for option, key in entry.metric.from_spec.items():
        declared = getattr(draft.spec, key)
        if key == "prevalence" and declared:
            declared = declared.mean
        filled.setdefault(option, declared)
    try:
        options = entry.metric.options.model_validate(filled).model_dump(mode="json")
    except ValidationError:
        options = {**filled, "from": "the spec"}
    return json.dumps([options, entry.choice.average or "macro"], sort_keys=True, default=repr)


def check_single_value(draft: Draft, entry: Entry, why: str) -> Iterator[Problem]:
    """Report a measure that is given for each class, or at several averages or prevalences.

    ``why`` begins the message: "a goal judges one value of each model".
    """
    averages = entry.choice.averages
    if averages == ("none",) or len(averages) > 1:
        message = f"{why}, so it needs one average over the classes"
        hint = "write 'macro', 'macro_weighted' or 'micro'"
        yield draft.tree.problem("many-averages", message, *entry.loc, "average", hint=hint)
    yield from single_prevalence(draft, entry, why)


def check_known_value(draft: Draft, loc: Loc, known: KnownValue, why: str) -> tuple[Entry | None, list[Problem]]:
    """Check a value of a measure that the spec states from elsewhere, such as a paper; return its entry.

    The entry is None where something is wrong. The measure has to be listed under 'metrics' and to be one number:
    ``why`` begins the message where it is not. Problems are returned too.
    """
    entry, faults = check_measure(draft, (*loc, "metric"), known.metric)
    faults += _wrong_limits(draft, loc, known)
    if entry is not None:
        numbers = {"value": known.value, "lower": known.lower, "upper": known.upper}
        faults += [*check_single_value(draft, entry, why), *in_range(draft, loc, entry, numbers)]
        faults += [] if faults else _not_asked_for(draft, entry)
    return entry, faults


def _not_asked_for(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report a measure that the spec does not ask for; without a list it asks for the standard set of its task."""
    if not draft.readable("metrics"):
        return
    standard = [MetricChoice(metric.name) for metric in registry if draft.spec.task in metric.standard]
    choices = standard if draft.spec.metrics is None else [
        choice for _, choice in draft.entries(draft.spec.choices, "metrics") if choice.metric in draft.measures]
    of_metric = [choice for choice in choices if draft.measures[choice.metric] is entry.metric]
    wanted = _values_asked_for(draft, entry)
    if not any(wanted & _values_asked_for(draft, replace(entry, choice=choice)) for choice in of_metric):
        how = " with these options" if of_metric else ""
        hint = f"add it{how} to 'metrics'" if draft.spec.metrics is not None else "list it in 'metrics'"
        message = f"{entry.metric.name} is not in 'metrics'{how}"
        yield draft.tree.problem("not-asked-for", message, *entry.named, hint=hint)


def _values_asked_for(draft: Draft, entry: Entry) -> set[tuple[str, str]]:
    """Return what identifies each value that an entry asks for: options with average, and prevalence."""
    choices = [replace(entry.choice, average=average) for average in entry.choice.averages or (None,)]
    return {(effective(draft, replace(entry, choice=choice)), prevalence)
            for choice in choices for prevalence in prevalences(draft, entry)}


def _wrong_limits(draft: Draft, loc: Loc, known: KnownValue) -> Iterator[Problem]:
    """Report a lower limit above the value, or an upper limit below it."""
    beyond = {"lower": known.lower is not None and known.lower > known.value,
              "upper": known.upper is not None and known.upper < known.value}
    for key in (key for key, wrong in beyond.items() if wrong):
        side = "above" if key == "lower" else "below"
        message = f"the {key} limit {draft.tree.show(*loc, key)} is {side} the value {draft.tree.show(*loc, 'value')}"
        yield draft.tree.problem("wrong-limit", message, *loc, key, hint="change one of the two")


def in_range(draft: Draft, loc: Loc, entry: Entry, numbers: Mapping[str, float | None]) -> Iterator[Problem]:
    """Report numbers, by their keys at ``loc``, beyond the range that a measure has with its options."""
    metric = entry.metric
    by_options = metric.range_of is not None
    low, high = metric.bounds(metric.options(**entry.choice.options).model_dump() if by_options else {})
    for key, number in numbers.items():
        if number is not None and (number < low or number > high):
            shown = draft.tree.show(*loc, key)
            message = f"{shown} is a value that {metric.name} never has: it lies {_range_in_words(low, high)}"
            hint = f"did you mean {number / 100:g}?" if high == 1 and 2 <= number <= 100 else None
            yield draft.tree.problem("out-of-range", message, *loc, key, hint=hint)


def _range_in_words(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"between {low:g} and {high:g}"
    return f"at or above {low:g}" if math.isfinite(low) else f"at or below {high:g}"


ONE_VALUE_EACH = "an expression takes one value of each of its measures"
"""Why a measure of an expression is not taken for each class, or at several prevalences."""


def check_expressions(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the expressions among the metrics."""
    first_locs: dict[str, Loc] = {}
    for loc, entry in draft.entries(draft.spec.metrics, "metrics"):
        if isinstance(entry, MeasureExpression):
            yield from _name_taken(draft, loc, entry, first_locs)
            yield from _check_expression(draft, loc, entry)
            yield from _wrong_range(draft, loc, entry)


def _name_taken(draft: Draft, loc: Loc, entry: MeasureExpression, first_locs: dict[str, Loc]) -> Iterator[Problem]:
    """Report an expression called like a metric, like a measure of a chapter, or like an earlier expression."""
    here = (*loc, "name")
    if not entry.name or not draft.readable(*here):
        return
    names_of_chapters = {name: what for names in functions("plan", "taken_names") for name, what in names().items()}
    what = "a metric" if entry.name in registry else names_of_chapters.get(entry.name)
    if what is not None:
        message = f"{draft.tree.show(*here)} is the name of {what}"
        yield draft.tree.problem("name-taken", message, *here, hint="choose another name for the expression")
    elif first_locs.setdefault(entry.name, here) != here:
        message = f"two expressions are called {draft.tree.show(*here)}"
        notes = draft.tree.noted("the first stands at", *first_locs[entry.name])
        yield draft.tree.problem("name-taken", message, *here, hint="choose another name", notes=notes)


def _check_expression(draft: Draft, loc: Loc, entry: MeasureExpression) -> Iterator[Problem]:
    """Check that an expression can be read, and that models give what each measure that it names needs."""
    yield from _check_listed_measures(draft, loc, entry)
    if not draft.readable(*loc, "expression"):
        return
    try:
        names = list(names_in(read_expression(entry.expression)))
    except ExpressionFault as fault:
        yield _expression_problem(draft, loc, "bad-expression", fault.message, fault.hint, (fault.start, fault.end))
        return
    if not names:
        yield _expression_problem(draft, loc, "bad-expression", "the expression names no measure",
                                  "name one, such as sensitivity", (0, len(entry.expression)))
    for node in {node.name: node for node in reversed(names)}.values():  # each name where it stands first
        if node.name not in entry.of:
            yield from _check_unlisted_name(draft, loc, entry, node)
    used = {node.name for node in names}
    for name in (name for name in entry.of if name and name not in {*used, *FUNCTIONS}):
        message = f"'{name}' has no effect: the expression does not name it"
        yield draft.tree.problem("unused-measure", message, *loc, "of", name, key=True, hint="use it, or remove it")


def _check_listed_measures(draft: Draft, loc: Loc, entry: MeasureExpression) -> Iterator[Problem]:
    """Check the measures that an expression lists with their options, each under a name of its own."""
    for here, choice in draft.entries(entry.of, *loc, "of"):
        if here[-1] in FUNCTIONS:
            message = f"'{here[-1]}' is a function of expressions"
            yield draft.tree.problem("name-taken", message, *here, key=True, hint="choose another name")
        if choice.metric in draft.measures.declared and choice.metric not in registry:
            message, hint = _nested_expression(choice.metric)
            named = here if draft.tree.get(*here, "metric") is None else (*here, "metric")
            yield draft.tree.problem("not-a-metric", message, *named, hint=hint)
            continue
        measure, faults = check_measure(draft, here, choice)
        yield from faults
        if measure is not None:
            yield from check_single_value(draft, measure, ONE_VALUE_EACH)


def _check_unlisted_name(draft: Draft, loc: Loc, entry: MeasureExpression, node: NameNode) -> Iterator[Problem]:
    """Check a name in an expression that is not listed under `of`: it is a metric's."""
    span = node.start, node.end
    if node.name in draft.measures.declared and node.name not in registry:
        yield _expression_problem(draft, loc, "not-a-metric", *_nested_expression(node.name), span)
    elif node.name not in registry:
        guess = closest(node.name, entry.of)
        advice = Advice(f"did you mean '{guess}'?") if guess else registry.advice(node.name, draft.measures.task)
        problem = _expression_problem(draft, loc, "unknown-metric", f"unknown metric {quoted(node.name)}",
                                      advice.hint or LISTS_ALL, span)
        yield replace(problem, notes=advice.notes)
    else:
        for fault in check_measure(draft, (*loc, "expression"), MetricChoice(node.name))[1]:
            to_list = f"list it under 'of' with the option, as in {{x: {{metric: {node.name}, …}}}}"
            way_out = to_list if fault.code == "missing-option" else fault.hint
            yield replace(_expression_problem(draft, loc, fault.code, fault.message, way_out, span), notes=fault.notes)


def _nested_expression(name: str) -> tuple[str, str]:
    """Return the message, and the hint, for an expression that names another one."""
    return f"{quoted(name)} is an expression itself, and expressions are of metrics alone", "write it out in brackets"


def _wrong_range(draft: Draft, loc: Loc, entry: MeasureExpression) -> Iterator[Problem]:
    """Report a range that has not two ends, or ends that do not ascend."""
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


def _expression_problem(
    draft: Draft, loc: Loc, code: str, message: str, hint: str | None, span: tuple[int, int]
) -> Problem:
    """Make a problem that points at a ``span`` of the characters of an expression, or counts them where it cannot.

    Nothing is shown of an expression from the environment, which may hold a secret.
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


def check_sum_of_levels(draft: Draft, loc: Loc, shares: Mapping[str, float]) -> Iterator[Problem]:
    """Report the prior probabilities of all levels where they do not sum to 1."""
    if draft.levels and set(shares) == set(draft.levels) and all(map(_is_probability, shares.values())):
        yield from check_sum(draft, loc, "prior probabilities", shares.values(), 1e-9)


def check_sum(draft: Draft, loc: Loc, what: str, shares: Iterable[float], tolerance: float) -> Iterator[Problem]:
    """Report shares, called ``what``, that do not sum to 1; the sum is NaN where one of them cannot be read."""
    total = sum(shares)
    if abs(total - 1) > tolerance:
        hint = "divide each by the sum" if total else "give each level its share"
        message = f"the {what} sum to {total:.10g}, not to 1"
        yield draft.tree.problem("prior-sum", message, *loc, key=True, hint=hint)


def single_prevalence(draft: Draft, entry: Entry, why: str) -> Iterator[Problem]:
    """Report an entry with several prevalences where only one value has a place; ``why`` begins the message."""
    if len(entry.choice.prevalences) > 1:
        yield draft.tree.problem("many-prevalences", f"{why}, so it needs one prevalence", *entry.loc, "prevalence",
                                 hint="name one of them")


def check_prevalence(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Check the prevalences at which an entry of the spec requests its measure."""
    prevalence_loc, declared, task = (*entry.loc, "prevalence"), entry.choice.prevalence, draft.spec.task
    if declared is None or task not in KNOWN:
        return
    if not entry.metric.reweighed:
        message = f"a {task} outcome has no classes, so there are none to reweight to a prevalence"
        if isinstance(entry.metric, ExpressionMetric):
            message = f"each measure of the expression {entry.metric.name} has its own prevalence"
        elif entry.metric.interval == "test":
            message = (f"{entry.metric.name} is a test on rows that count once each, so they cannot be reweighted to a "
                       "prevalence")
        yield draft.tree.problem("nothing-to-reweight", message, *prevalence_loc, key=True, hint="remove it")
    elif declared == ():
        form = f"use {_expected_forms(task)}"
        yield draft.tree.problem("wrong-type", "no prevalence is listed", *prevalence_loc, hint=form)
    else:
        located = located_items(prevalence_loc, declared)
        problems = [problem for loc, asked in located for problem in _check_prevalence(draft, entry, loc, asked)]
        yield from problems or _repeated_prevalence(draft, located)


def _expected_forms(task: str) -> str:
    form = "a mapping of each level to a number" if task in MANY else "a number from 0 to 1"
    return f"'sample', 'declared' or {form}"


def _check_prevalence(draft: Draft, entry: Entry, loc: Loc, prevalence: object) -> Iterator[Problem]:
    """Check one prevalence at which an entry requests its measure."""
    has_many_levels, problem = draft.spec.task in MANY, draft.tree.problem
    expected = f"expected {_expected_forms(draft.spec.task)}, got {draft.tree.spell(*loc)}"
    match prevalence:
        case _ if draft.tree.hidden(loc):
            return
        case "declared" if draft.spec.prevalence is None:
            form = "{levels: {…}}" if has_many_levels else "…"
            message = f"{entry.metric.name} at the declared prevalence needs one"
            yield problem("missing-option", message, *loc, hint=f"add 'prevalence: {form}' to the spec")
        case str():
            yield from refer(draft, loc, PREVALENCES, "unknown-choice", expected, None)
        case dict(shares) if has_many_levels:
            for level, share in shares.items():
                if not _is_probability(share):
                    yield _no_probability(draft, (*loc, level))
            yield from level_problems(draft, loc, shares, EACH_PRIOR)
            yield from check_sum_of_levels(draft, loc, shares)
        case dict():
            yield problem("wrong-type", expected, *loc, hint="give that of the event")
        case _ if has_many_levels or not is_number(prevalence):
            yield problem("wrong-type", expected, *loc)
        case _ if not _is_probability(prevalence):
            yield _no_probability(draft, loc)


def _no_probability(draft: Draft, loc: Loc) -> Problem:
    return draft.tree.problem("out-of-range", f"expected a number from 0 to 1, got {draft.tree.spell(*loc)}", *loc)


def _is_probability(value: object) -> TypeGuard[float]:
    return is_number(value) and 0 <= value <= 1


def _repeated_prevalence(draft: Draft, located: list[tuple[Loc, object]]) -> Iterator[Problem]:
    """Report prevalences of one entry that are equal."""
    first_uses: dict[str, tuple[Loc, object]] = {}
    for loc, prevalence in located:
        first, first_prevalence = first_uses.setdefault(_comparable_text(draft, prevalence), (loc, prevalence))
        if first != loc:
            shown = draft.tree.show(*loc)
            message = (f"the prevalence {shown} is listed twice" if first_prevalence == prevalence
                       else f"{draft.tree.show(*first)} and {shown} are the same")
            yield draft.tree.problem("duplicate-prevalence", message, *loc, hint="remove one of them")


def prevalences(draft: Draft, entry: Entry) -> list[str]:
    """Return the prevalences of an entry as texts, which are equal where the prevalences are; "" if none matters."""
    return [_comparable_text(draft, share) for share in entry.choice.prevalences] if entry.metric.reweighed else [""]


def _comparable_text(draft: Draft, prevalence: object) -> str:
    """Return a prevalence as a text that equal prevalences share, be they declared or numbers."""
    declared = draft.spec.prevalence
    share: object = declared.mean if prevalence == "declared" and declared is not None else prevalence
    return json.dumps(float(share) if _is_probability(share) else share, sort_keys=True, default=repr)
