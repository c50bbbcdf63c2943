"""What is stated, as a table of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.statement.records import Stated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.plan import Plan


def tables(plan: Plan, _: Sequence[Evaluated]) -> dict[str, object]:
    """Return what is stated, word for word."""
    return {"statement": Stated(**plan.statement)}
