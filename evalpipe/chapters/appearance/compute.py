"""How the card looks, as a table of the results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalpipe.chapters.appearance.records import Appearance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.engine.evaluated import Evaluated
    from evalpipe.plan.plan import Plan


def tables(plan: Plan, _: Sequence[Evaluated]) -> dict[str, object]:
    """Return how the card looks."""
    return {"appearance": Appearance(accent=plan.appearance.accent, paper=plan.appearance.paper)}
