"""Rules of the declared prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.draft import refer
from evalpipe.spec.rules_measures import check_sum_of_levels
from evalpipe.spec.rules_task import missing_in_part
from evalpipe.tasks import CLASSES, MANY
from evalpipe.words.spelling import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft

HERE: Loc = ("prevalence",)
BINARY_FORMS, FORMS_OF_MANY = ("value", "beta", "from"), ("levels", "dirichlet", "from")
"""The forms of a declared prevalence, of which one is needed."""

OF_DATASET = "give a dataset 'role: reference', such as the training data"
"""The way out where no dataset may give the prevalence."""


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
        yield from check_sum_of_levels(draft, (*HERE, "levels"), declared.levels)
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
