"""Checks of the column of folds."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problem of folds in the column of the outcome."""
    if draft.spec.folds and draft.readable("folds") and draft.spec.folds == draft.spec.outcome.column:
        message = f"{draft.tree.show('folds')} is the outcome's column"
        yield draft.tree.problem("same-column", message, "folds", hint="name the column that numbers the folds")
