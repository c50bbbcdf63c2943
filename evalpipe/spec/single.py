"""Checks of one value: of a measure that has only one, of one that is asked for, of a number that it may have."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from evalpipe.chapters.prevalence.rules import prevalences, single_prevalence
from evalpipe.metrics import registry
from evalpipe.spec.choices import MetricChoice
from evalpipe.spec.entry import Entry
from evalpipe.spec.rules_metrics import check_measure, effective

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.parts import KnownValue


def one_value(draft: Draft, entry: Entry, why: str) -> Iterator[Problem]:
    """Report a measure that is given for each class, or at several averages or prevalences.

    ``why`` begins the message: "a goal judges one value of each model".
    """
    averages = entry.choice.averages
    if averages == ("none",) or len(averages) > 1:
        message = f"{why}, so it needs one average over the classes"
        hint = "write 'macro', 'macro_weighted' or 'micro'"
        yield draft.tree.problem("many-averages", message, *entry.loc, "average", hint=hint)
    yield from single_prevalence(draft, entry, why)


def known_value(draft: Draft, loc: Loc, known: KnownValue, why: str) -> tuple[Entry | None, list[Problem]]:
    """Check a value that is given of a measure; the entry is None where the measure is wrong.

    The measure has to be asked for, and to be one number: ``why`` begins the message where it is not.
    """
    entry, faults = check_measure(draft, (*loc, "metric"), known.metric)
    faults += _limits(draft, loc, known)
    if entry is not None:
        numbers = {"value": known.value, "lower": known.lower, "upper": known.upper}
        faults += [*one_value(draft, entry, why), *in_range(draft, loc, entry, numbers)]
        faults += [] if faults else asked_for(draft, entry)
    return entry, faults


def asked_for(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Report a measure that the spec does not ask for; without a list it asks for the standard set of its task."""
    if not draft.readable("metrics"):
        return
    listed = [choice for _, choice in draft.entries(draft.spec.choices, "metrics") if choice.metric in draft.measures]
    standard = [MetricChoice(metric.name) for metric in registry if draft.spec.task in metric.standard]
    same = [choice for choice in (standard if draft.spec.metrics is None else listed)
            if draft.measures[choice.metric] is entry.metric]
    wanted = _values(draft, entry)
    if not any(wanted & _values(draft, replace(entry, choice=choice)) for choice in same):
        how = " with these options" if same else ""
        hint = f"add it{how} to 'metrics'" if draft.spec.metrics is not None else "list it in 'metrics'"
        message = f"{entry.metric.name} is not in 'metrics'{how}"
        yield draft.tree.problem("not-asked-for", message, *entry.named, hint=hint)


def _values(draft: Draft, entry: Entry) -> set[tuple[str, str]]:
    """Return what tells the values that an entry asks for apart: options and average, and the prevalence."""
    choices = [replace(entry.choice, average=average) for average in entry.choice.averages or (None,)]
    return {(effective(draft, replace(entry, choice=choice)), at)
            for choice in choices for at in prevalences(draft, entry)}


def _limits(draft: Draft, loc: Loc, known: KnownValue) -> Iterator[Problem]:
    """Report a limit without the other, and limits that do not lie on either side of the value."""
    limits = {"lower": known.lower, "upper": known.upper}
    lacking = [key for key, limit in limits.items() if limit is None]
    if len(lacking) == 1 and not draft.unknown(*loc):
        (given,) = set(limits) - set(lacking)
        message = f"'{given}' needs '{lacking[0]}'"
        hint = f"add '{lacking[0]}: …', or remove it"
        yield draft.tree.problem("one-limit", message, *loc, given, key=True, hint=hint)
    beyond = {"lower": known.lower is not None and known.lower > known.value,
              "upper": known.upper is not None and known.upper < known.value}
    for key in (key for key, wrong in beyond.items() if wrong):
        side = "above" if key == "lower" else "below"
        message = f"the {key} limit {draft.tree.show(*loc, key)} is {side} the value {draft.tree.show(*loc, 'value')}"
        yield draft.tree.problem("wrong-limit", message, *loc, key, hint="change one of the two")


def in_range(draft: Draft, loc: Loc, entry: Entry, numbers: Mapping[str, float | None]) -> Iterator[Problem]:
    """Report numbers, by their keys at ``loc``, beyond the range that a measure has with its options."""
    metric = entry.metric
    moved = metric.range_of is not None
    low, high = metric.bounds(metric.options(**entry.choice.options).model_dump() if moved else {})
    for key, number in numbers.items():
        if number is not None and (number < low or number > high):
            shown = draft.tree.show(*loc, key)
            message = f"{shown} is a value that {metric.name} never has: it lies {_span(low, high)}"
            hint = f"did you mean {number / 100:g}?" if high == 1 and 2 <= number <= 100 else None
            yield draft.tree.problem("out-of-range", message, *loc, key, hint=hint)


def _span(low: float, high: float) -> str:
    if math.isfinite(low) and math.isfinite(high):
        return f"between {low:g} and {high:g}"
    return f"at or above {low:g}" if math.isfinite(low) else f"at or below {high:g}"
