"""Rules of costs and profit: costs of declared levels, each pair once; somebody must rank the rows to contact."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.base.levels import level_text
from evalpipe.spec.core_keys import gives
from evalpipe.tasks import CLASSES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of named costs, and of a profit that no model ranks rows for."""
    spec, problem = draft.spec, draft.tree.problem
    if spec.costs is not None and draft.readable("costs") and spec.outcome.levels is None and spec.task == "binary":
        yield problem("missing-key", "costs name levels, but 'outcome.levels' is missing", "costs", key=True,
                      hint="add 'levels: […, …]' to the outcome")
    if draft.levels and spec.task in CLASSES:
        yield from _pairs(draft)
    needs = [gives(model) for model in draft.models.values()]
    unranked = [served for served in needs if "labels" in served and "scores" not in served]
    if spec.profit is not None and spec.task == "binary" and unranked and len(unranked) == len(spec.models):
        message = "'profit' takes rows from the highest score down, but no model gives scores"
        hint = "add 'probability: …' or 'score: …' to a model"
        yield draft.tree.idle("nothing-to-rank", message, "profit", key=True, hint=hint)


def _pairs(draft: Draft) -> Iterator[Problem]:
    """Find pairs of levels that are named twice."""
    seen: set[tuple[str, str]] = set()
    for loc, cost in draft.entries(draft.spec.costs, "costs"):
        if not (draft.readable(*loc, "truth") and draft.readable(*loc, "predicted")):
            continue
        truth, predicted = level_text(cost.truth), level_text(cost.predicted)
        if (truth, predicted) in seen:
            message = f"the cost of '{truth}' predicted as '{predicted}' is given twice"
            yield draft.tree.problem("duplicate-cost", message, *loc, hint="remove one of the two")
        seen.add((truth, predicted))
