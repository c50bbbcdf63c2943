"""What curves show beside themselves: thresholds marked on them, and probabilities judged as numbers."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StrictBool

from evalpipe.spec.kinds import Number, Only, Sparse
from evalpipe.tasks import CLASSES

MOST_MARKS = 9


class Curves(Sparse):
    """What the curves show beside themselves."""

    marks: Annotated[tuple[Number, ...] | None, Field(min_length=1, max_length=MOST_MARKS), Only("binary")] = None
    """Thresholds, such as `[0.1, 0.5, 0.9]`, that are drawn as labelled points on the ROC curve, the precision-recall
    curve, cumulative gain, lift, and measures by threshold, with a table of the numbers there. Probabilities; for a
    model whose score is a rank alone, scores. Each model then has curves of its own, with the others grey behind."""
    residuals: Annotated[StrictBool | None, Only(*CLASSES)] = None
    """Judge probabilities as numbers, as DALEX's `model_performance` does: RMSE, MAE and MAD (the median) of the
    absolute residuals, quantiles, a histogram, box plots and the distribution from the top. The residual of a binary
    outcome is 1 − p for an event and −p for the others; of several levels it is 1 − the probability of the true level,
    as in R's DALEX."""
