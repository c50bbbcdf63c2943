"""What checks will look at in the rows, for the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.words.spelling import some_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.plan.plan import Plan


def lines(plan: Plan) -> Iterator[str]:
    """Yield a line for each dataset with columns that no key names and checks look at."""
    for dataset in plan.datasets:
        if dataset.further:
            unseen = f"; {dataset.unseen} more are too many" if dataset.unseen else ""
            yield f"checks look at further columns of {dataset.name}: {some_of(dataset.further)}{unseen}"
