"""Checks of how the card looks."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from evalpipe.colours import LIGHT, READABLE, contrast, hardest, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.spec.draft import Draft


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of how the card is to look."""
    theme, here = draft.spec.report.theme, ("report", "theme", "accent")
    if theme is None or not draft.readable(*here):
        return
    ground = hardest(theme.accent, LIGHT)
    reached = contrast(theme.accent, ground)
    if reached < READABLE:
        shown = floor(100 * reached) / 100  # rounded down, so that what is too little never reads as enough
        message = (f"the accent {draft.tree.show(*here)} has a contrast of {shown:.2f} to 1 on the boxes of the page "
                   f"({ground}), and text needs {READABLE} to 1")
        hint = f'write "{readable(theme.accent, LIGHT)}", the nearest shade that has it'
        yield draft.tree.problem("low-contrast", message, *here, hint=hint)
