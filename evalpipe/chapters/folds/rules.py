"""Checks of the column of folds: it is not the outcome, and no evaluated rows are those of the training."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of the column of folds."""
    if not draft.spec.folds or not draft.readable("folds"):
        return
    if draft.spec.folds == draft.spec.outcome.column:
        message = f"{draft.tree.show('folds')} is the outcome's column"
        yield draft.tree.problem("same-column", message, "folds", hint="name the column that numbers the folds")
    for name, dataset in draft.spec.datasets.items():
        if draft.readable("datasets", name) and dataset.trained_on:
            message = (f"dataset '{name}' is 'trained_on', but 'folds' says that every row was predicted by a fit that "
                       "had not seen it")
            yield draft.tree.problem("folds-of-training", message, "datasets", name, "trained_on", key=True,
                                     hint="remove it, or remove 'folds'")
