"""Checks of the rows that models were fitted on: an evaluated dataset, and probabilities whose deviance is tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.core_keys import gives
from evalpipe.spec.draft import refer
from evalpipe.words.spelling import choose

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.origin import Loc
    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of models that say what they were fitted on."""
    for name, model in draft.models.items():
        here: Loc = ("models", name, "fitted")
        if model.fitted is None or not draft.readable(*here):
            continue
        if "probabilities" not in gives(model):
            message = f"'fitted' of the model '{name}' has no effect: it gives no probabilities, so no deviance"
            yield draft.tree.idle("unused-fitted", message, *here, key=True, hint="remove it")
        elif draft.readable("datasets"):
            yield from _dataset(draft, (*here, "on"), model.fitted.on)


def _dataset(draft: Draft, here: Loc, name: str) -> Iterator[Problem]:
    """Check that the dataset is there, and that it is evaluated, so that predictions of its rows are read."""
    known = draft.role("evaluate")
    if name in known:
        return
    code, message = "unknown-dataset", f"no dataset is called {draft.tree.show(*here)}"
    if name in draft.spec.datasets:
        code = "wrong-role"
        message = f"{draft.tree.show(*here)} has the role '{draft.spec.datasets[name].role}', so it has no deviance"
    yield from refer(draft, here, known, code, message, choose(known, "give a dataset the role 'evaluate'"))
