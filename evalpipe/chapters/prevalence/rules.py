"""Rules of the declared prevalence, and of those at which measures are asked for."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeGuard

from evalpipe.chapters.prevalence.spec import EACH_PRIOR
from evalpipe.metrics.expressions import ExpressionMetric
from evalpipe.spec.draft import KNOWN, each_level, missing_in_part, refer
from evalpipe.spec.field_types import is_number
from evalpipe.spec.measures import located_items
from evalpipe.tasks import CLASSES, MANY
from evalpipe.words.spelling import choose

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft
    from evalpipe.spec.measures import Entry

HERE: Loc = ("prevalence",)
BINARY_FORMS, FORMS_OF_MANY = ("value", "beta", "from"), ("levels", "dirichlet", "from")
"""The forms of a declared prevalence, of which one is needed."""

OF_DATASET = "give a dataset 'role: reference', such as the training data"
"""The way out where no dataset may give the prevalence."""

WORDS = ("sample", "declared")
"""The prevalences that a measure is asked for at by name."""


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the declared prevalence: of its form, its sum and the dataset that gives it."""
    task, declared, problem = draft.spec.task, draft.spec.prevalence, draft.tree.problem
    if task not in CLASSES or declared is None or not draft.readable(*HERE):
        return
    if task in MANY and declared.value is not None and draft.tree.get(*HERE, "value") is None:  # a number alone
        message = f"expected a mapping with 'levels' or 'dirichlet', got {draft.tree.spell(*HERE)}"
        yield problem("wrong-type", message, *HERE, hint="give the prior probability of each level")
        return
    forms = FORMS_OF_MANY if task in MANY else BINARY_FORMS
    fields = {form: "from_" if form == "from" else form for form in (*BINARY_FORMS, *FORMS_OF_MANY)}
    declared_forms = [form for form in forms if getattr(declared, fields[form]) is not None]
    if all(getattr(declared, field) is None for field in fields.values()):
        yield from missing_in_part(draft, "Prevalence", "prevalence", forms[0])
    if len(declared_forms) > 1:
        message = f"the prevalence is declared twice, by '{declared_forms[0]}' and by '{declared_forms[1]}'"
        yield problem("two-priors", message, *HERE, declared_forms[1], key=True, hint="remove one of the two")
    if task == "binary" and declared.beta is not None and draft.readable(*HERE, "beta") and len(declared.beta) != 2:
        message = f"a Beta distribution has two parameters, but {len(declared.beta)} are given"
        hint = "write [a, b], as if after a events and b others"
        yield problem("wrong-type", message, *HERE, "beta", hint=hint)
    if task in MANY and declared.levels is not None and draft.readable(*HERE, "levels"):
        yield from _check_sum_of_levels(draft, (*HERE, "levels"), declared.levels)
    if declared.from_ is not None and draft.readable(*HERE, "from") and draft.readable("datasets"):
        yield from _check_dataset(draft, declared.from_)


def _check_dataset(draft: Draft, name: str) -> Iterator[Problem]:
    """Check the dataset that gives the prevalence: that it exists, and is not the only one that is evaluated."""
    loc, evaluated = (*HERE, "from"), draft.role("evaluate")
    possible = [other for other in draft.spec.datasets if evaluated != [other]]
    if name not in draft.spec.datasets:
        message = f"no dataset is called {draft.tree.show(*loc)}"
        yield from refer(draft, loc, possible, "unknown-dataset", message, choose(possible, OF_DATASET))
    elif evaluated == [name]:
        message = (f"{draft.tree.show(*loc)} is the only dataset that is evaluated: at the prevalence of its own rows "
                   "measures are what they are without one")
        hint = f"{choose(possible, OF_DATASET)}, or take measures at 'prevalence: sample'"
        yield draft.tree.problem("prevalence-of-itself", message, *loc, hint=hint)


def _check_sum_of_levels(draft: Draft, loc: Loc, shares: Mapping[str, float]) -> Iterator[Problem]:
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
        listed = located_items(prevalence_loc, declared)
        problems = [problem for loc, asked in listed for problem in _check_asked(draft, entry, loc, asked)]
        yield from problems or _repeated(draft, listed)


def _expected_forms(task: str) -> str:
    form = "a mapping of each level to a number" if task in MANY else "a number from 0 to 1"
    return f"'sample', 'declared' or {form}"


def _check_asked(draft: Draft, entry: Entry, loc: Loc, prevalence: object) -> Iterator[Problem]:
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
            yield from refer(draft, loc, WORDS, "unknown-choice", expected, None)
        case dict(shares) if has_many_levels:
            for level, share in shares.items():
                if not _is_probability(share):
                    yield _no_probability(draft, (*loc, level))
            yield from each_level(draft, loc, shares, EACH_PRIOR)
            yield from _check_sum_of_levels(draft, loc, shares)
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


def _repeated(draft: Draft, located: list[tuple[Loc, object]]) -> Iterator[Problem]:
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
