"""What curves show beside themselves: thresholds marked on them."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from evalpipe.spec.kinds import Number, Only, Sparse

MOST_MARKS = 9


class Curves(Sparse):
    """What the curves show beside themselves."""

    marks: Annotated[tuple[Number, ...] | None, Field(min_length=1, max_length=MOST_MARKS), Only("binary")] = None
    """Thresholds, such as `[0.1, 0.5, 0.9]`, that are drawn as labelled points on the ROC curve, the precision-recall
    curve, cumulative gain, lift, and measures by threshold, with a table of the numbers there. Probabilities; for a
    model whose score is a rank alone, scores. Each model then has curves of its own, with the others grey behind."""
