"""Checks of priors: the declared prevalence, and the prevalences at which measures are asked for."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from evalpipe.spec.choices import items
from evalpipe.spec.kinds import is_number
from evalpipe.spec.rules_task import KNOWN, lacking, unknown_levels
from evalpipe.spelling import closest, listed
from evalpipe.tasks import CLASSES, MANY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.chapters.prevalence.spec import Prevalence
    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.entry import Entry

HERE: Loc = ("prevalence",)
FORMS = {"binary": ("value", "beta"), "many": ("levels", "dirichlet")}
"""The forms of a declared prevalence, of which one is needed."""

What = Literal["prior probability", "parameter"]
EACH: dict[What, str] = {
    "prior probability": "give one for each level; 0 is one", "parameter": "give one for each level, above 0",
}
"""What a level may lack, and the way out."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the declared prevalence."""
    task, prior = draft.spec.task, draft.spec.prevalence
    if task not in CLASSES or prior is None or not draft.readable(*HERE):
        return
    if task in MANY and prior.value is not None and draft.tree.get(*HERE, "value") is None:  # a number alone
        message = f"expected a mapping with 'levels' or 'dirichlet', got {draft.tree.spell(*HERE)}"
        yield draft.tree.problem("wrong-type", message, *HERE, hint="give the prior probability of each level")
        return
    yield from _form(draft, task, prior)
    if task in MANY:
        yield from _each_level(draft, (*HERE, "levels"), prior.levels, "prior probability")
        yield from _each_level(draft, (*HERE, "dirichlet"), prior.dirichlet, "parameter")


def _form(draft: Draft, task: str, prior: Prevalence) -> Iterator[Problem]:
    """Find a prevalence in no form, and one in two."""
    own = FORMS["many" if task in MANY else "binary"]
    given = [form for form in own if getattr(prior, form) is not None]
    if not any(getattr(prior, form) is not None for form in chain(*FORMS.values())):
        yield from lacking(draft, "Prevalence", "prevalence", own[0])
    if len(given) > 1:
        message = f"the prevalence is declared twice, by '{given[0]}' and by '{given[1]}'"
        yield draft.tree.problem("two-priors", message, *HERE, given[1], key=True, hint="remove one of the two")
    if task == "binary" and prior.beta is not None and draft.readable(*HERE, "beta") and len(prior.beta) != 2:
        message = f"a Beta distribution has two parameters, but {len(prior.beta)} are given"
        yield draft.tree.problem("wrong-type", message, *HERE, "beta",
                                 hint="write [a, b], as if after a events and b others")


def _each_level(draft: Draft, here: Loc, shares: Mapping[str, Any] | None, what: What) -> Iterator[Problem]:
    """Find levels that are not declared, levels without a share or parameter, and shares that do not sum to 1."""
    if shares is None or not draft.levels or not draft.readable(*here):
        return
    yield from unknown_levels(draft, here, shares)
    absent = [level for level in draft.levels if level not in shares]
    if absent:
        message = f"no {what} for {listed(absent, 'and')}"
        yield draft.tree.problem("missing-level", message, *here, key=True, hint=EACH[what])
    elif what == "prior probability" and set(shares) == set(draft.levels) and all(map(_is_share, shares.values())):
        yield from _sum(draft, here, "prior probabilities", shares.values(), 1e-9)


def _sum(draft: Draft, here: Loc, what: str, shares: Iterable[float], tolerance: float) -> Iterator[Problem]:
    """Report shares that do not sum to 1; the sum is NaN where one of them cannot be read."""
    whole = sum(shares)
    if abs(whole - 1) > tolerance:
        message = f"the {what} sum to {whole:.10g}, not to 1"
        hint = "divide each by the sum" if whole else "give each level its share"
        yield draft.tree.problem("prior-sum", message, *here, key=True, hint=hint)


def single_prevalence(draft: Draft, entry: Entry, why: str) -> Iterator[Problem]:
    """Report an entry that is taken at several prevalences where only one value has a place; ``why`` begins it."""
    if len(entry.choice.prevalences) > 1:
        yield draft.tree.problem("many-prevalences", f"{why}, so it needs one prevalence", *entry.loc, "prevalence",
                                 hint="name one of them")


def check_prevalence(draft: Draft, entry: Entry) -> Iterator[Problem]:
    """Check the prevalences at which an entry of the spec asks for its measure."""
    here, written, task = (*entry.loc, "prevalence"), entry.choice.prevalence, draft.spec.task
    if written is None or task not in KNOWN:
        return
    if not entry.metric.reweighed:
        reason = f"a {task} outcome has no classes, so there are none to reweight to a prevalence"
        if entry.metric.interval == "test":
            reason = (f"{entry.metric.name} is a test on rows that count once each, so they cannot be reweighted to a "
                      "prevalence")
        yield draft.tree.problem("nothing-to-reweight", reason, *here, key=True, hint="remove it")
        return
    problems = [problem for loc, item in items(here, written) for problem in _at(draft, entry, loc, item)]
    if written == ():
        hint = f"use {_possible(task)}"
        problems.append(draft.tree.problem("wrong-type", "no prevalence is listed", *here, hint=hint))
    yield from problems or _twice(draft, items(here, written))


def _possible(task: str) -> str:
    form = "a mapping of each level to a number" if task in MANY else "a number from 0 to 1"
    return f"'sample', 'declared' or {form}"


def _at(draft: Draft, entry: Entry, loc: Loc, item: object) -> Iterator[Problem]:
    """Check one prevalence."""
    task, problem, spell = draft.spec.task, draft.tree.problem, draft.tree.spell
    match item:
        case _ if draft.tree.hidden(loc):
            return
        case "sample":
            return
        case "declared":
            if draft.spec.prevalence is None:
                form = "{levels: {…}}" if task in MANY else "…"
                message = f"{entry.metric.name} at the declared prevalence needs one"
                yield problem("missing-option", message, *loc, hint=f"add 'prevalence: {form}' to the spec")
        case dict(shares) if task in MANY:
            wrong = [level for level, share in shares.items() if not _is_share(share)]
            yield from (problem("out-of-range", f"expected a number from 0 to 1, got {spell(*loc, level)}", *loc, level)
                        for level in wrong)
            yield from _each_level(draft, loc, shares, "prior probability")
        case _ if task not in MANY and is_number(item):
            if not _is_share(item):
                yield problem("out-of-range", f"expected a number from 0 to 1, got {spell(*loc)}", *loc)
        case _:
            yield _no_prevalence(draft, loc, item)


def _no_prevalence(draft: Draft, loc: Loc, item: object) -> Problem:
    """Report a value that is no prevalence."""
    message = f"expected {_possible(draft.spec.task)}, got {draft.tree.spell(*loc)}"
    match item:
        case str(word):
            guess = closest(word, ["sample", "declared"])
            hint = f"did you mean '{guess}'?" if guess else None
            return draft.tree.problem("unknown-choice", message, *loc, hint=hint)
        case {}:
            return draft.tree.problem("wrong-type", message, *loc, hint="give that of the event")
    return draft.tree.problem("wrong-type", message, *loc)


def _is_share(value: Any) -> bool:
    return is_number(value) and 0 <= value <= 1


def _twice(draft: Draft, listed_prevalences: list[tuple[Loc, Any]]) -> Iterator[Problem]:
    """Report prevalences that come to the same."""
    seen: dict[str, tuple[Loc, Any]] = {}
    for loc, item in listed_prevalences:
        first, same = seen.setdefault(_come_to(draft, item), (loc, item))
        if first == loc:
            continue
        shown = draft.tree.show(*loc)
        names = f"{draft.tree.show(*first)} and {shown} are the same"
        message = f"the prevalence {shown} is listed twice" if same == item else names
        yield draft.tree.problem("duplicate-prevalence", message, *loc, hint="remove one of them")


def prevalences(draft: Draft, entry: Entry) -> list[str]:
    """Return the prevalences that an entry asks for as texts, alike where they come to the same."""
    return [_come_to(draft, item) for item in entry.choice.prevalences] if entry.metric.reweighed else [""]


def _come_to(draft: Draft, item: Any) -> str:
    item = mean_of(draft.spec.prevalence) if item == "declared" else item
    return json.dumps(float(item) if _is_share(item) else item, sort_keys=True, default=repr)


def mean_of(prior: Prevalence | None) -> float | dict[str, float] | None:
    """Return a declared prevalence, or its mean: of the event, or by level; None where there is none to be read."""
    if prior is None or prior.value is not None:
        return None if prior is None else prior.value
    if prior.beta is not None:
        return prior.beta[0] / sum(prior.beta) if prior.beta else None
    if prior.levels is not None:
        return prior.levels
    parameters = prior.dirichlet or {}
    return {level: parameter / sum(parameters.values()) for level, parameter in parameters.items()}


def check_shift(draft: Draft, loc: Loc, named: Loc) -> Iterator[Problem]:
    """Check the prevalences that a recalibrator shifts from and to; ``named`` is where its name stands."""
    many, name, shifted = draft.spec.task in MANY, draft.tree.get(*named), draft.tree.get(*loc, "to")
    if shifted is None and draft.spec.prevalence is None:
        form = "[…]" if many else "…"
        yield draft.tree.problem("missing-option", f"{name} needs a prevalence to shift to", *named,
                                 hint=f"add 'prevalence: …' to the spec, or write {{method: {name}, to: {form}}}")
    elif shifted is None and (absent := _absent(draft.spec.prevalence)) is not None:
        message = f"{name} cannot shift to a prevalence at which {absent} never occurs"
        hint = "no probability can be known there: give a prevalence above 0 and below 1, or leave the method out"
        yield draft.tree.problem("out-of-range", message, *named, hint=hint)
    for key in ("from", "to"):
        yield from _shares(draft, (*loc, key), many=many)


def _shares(draft: Draft, here: Loc, *, many: bool) -> Iterator[Problem]:
    """Check a prevalence of a recalibrator: a number, or the share of each level in their order."""
    given, problem, levels = draft.tree.get(*here), draft.tree.problem, draft.levels
    match given:
        case [*shares] if not many:
            message = f"expected a number from 0 to 1, got {draft.tree.spell(*here)}"
            yield problem("wrong-type", message, *here, hint="give that of the event")
        case [*shares] if levels and len(shares) != len(levels):
            message = f"expected {len(levels)} shares, of {listed(levels, 'and')}, got {len(shares)}"
            yield problem("wrong-type", message, *here, hint="list one for each level, in their order")
        case [*shares]:
            yield from _sum(draft, here, "shares", shares, 1e-6)
        case _ if many and levels and given is not None:
            message = f"expected the shares of {listed(levels, 'and')}, got {draft.tree.spell(*here)}"
            yield problem("wrong-type", message, *here, hint="list one for each level, in their order")


def _absent(prior: Prevalence | None) -> str | None:
    """Say what never occurs at the declared prevalence; None where everything does."""
    match mean_of(prior):
        case dict(shares):
            return next((f"'{level}'" for level, share in shares.items() if share == 0), None)
        case 0:
            return "the event"
        case 1:
            return "anything but the event"
    return None
