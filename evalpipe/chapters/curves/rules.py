"""Checks of the thresholds that are marked on curves."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.spec.parts import gives

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.errors import Problem
    from evalpipe.origin import Loc
    from evalpipe.spec.draft import Draft

HERE: Loc = ("curves", "marks")


def rules(draft: Draft) -> Iterator[Problem]:
    """Yield the problems of marked thresholds: written twice, no probability, or on no curve."""
    curves = draft.spec.curves
    if draft.spec.task != "binary" or curves is None or not draft.readable("curves"):
        return
    if curves.marks is None:
        if draft.readable(*HERE):
            yield draft.tree.idle("nothing-asked", "'curves' asks for nothing", "curves", key=True,
                                  hint="add 'marks: [0.1, 0.5, 0.9]', or remove it")
    elif draft.readable(*HERE):
        yield from _marks(draft, curves.marks)


def _marks(draft: Draft, marks: tuple[float, ...]) -> Iterator[Problem]:
    """Check each mark, and that a model has curves to mark."""
    given = [gives(model, draft.spec.threshold) for model in draft.models.values()]
    ranks = any("scores" in served and "probabilities" not in served for served in given)
    for place, mark in enumerate(marks):
        if math.isnan(mark):
            continue
        if mark in marks[:place]:
            yield draft.tree.problem("duplicate-mark", f"the threshold {mark:g} is marked twice", *HERE, place,
                                     hint="remove one of them")
        elif not 0 <= mark <= 1 and given and not ranks:
            message = f"a marked threshold is a probability, from 0 to 1, got {draft.tree.show(*HERE, place)}"
            hint = f"did you mean {mark / 100:g}?" if 1 < mark <= 100 else None
            yield draft.tree.problem("out-of-range", message, *HERE, place, hint=hint)
    if given and not any("scores" in served for served in given):
        message = "'marks' has no effect: no model gives a probability or a score, so there are no curves"
        yield draft.tree.idle("unused-marks", message, *HERE, key=True, hint="remove it")
