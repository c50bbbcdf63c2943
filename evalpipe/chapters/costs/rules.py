"""Checks of the profit of contacting rows: somebody must rank them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.spec.parts import gives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problem of a profit that no model ranks rows for."""
    if draft.spec.profit is None or draft.spec.task != "binary":
        return
    served = [gives(model) for model in draft.models.values()]
    unranked = [needs for needs in served if "labels" in needs and "scores" not in needs]
    if unranked and len(unranked) == len(draft.spec.models):
        message = "'profit' takes rows from the highest score down, but no model gives scores"
        hint = "add 'probability: …' or 'score: …' to a model"
        yield draft.tree.idle("nothing-to-rank", message, "profit", key=True, hint=hint)
