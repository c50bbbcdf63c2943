"""What checks will look at in the rows, for the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalpipe.words.spelling import first_few

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.plan.plan import Plan


def lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each dataset with columns that checks look at although no key of the spec names them."""
    for dataset in plan.datasets:
        if dataset.further:
            unseen = f"; {dataset.unseen} more are too many" if dataset.unseen else ""
            yield f"checks look at further columns of {dataset.name}: {first_few(dataset.further)}{unseen}"


def document(plan: Plan) -> dict[str, Any]:
    """Return by dataset the columns that no key names and checks look at; ``unseen`` counts those left out."""
    return {"further_columns": {
        dataset.name: {"columns": list(dataset.further), "unseen": dataset.unseen}
        for dataset in plan.datasets if dataset.further}}
