"""Measures of predicted probabilities: means of losses over rows."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric, ratio


@metric(needs="probabilities", direction="minimize", range=(0.0, np.inf), standard=True,
        aliases=("mn_log_loss", "cross_entropy"), undefined="no rows", ref="Good (1952)")
def log_loss(
    total: Any,
    negative_log: Any,
    *,
    base: Literal["e", 2, 10] = "e",
    epsilon: Annotated[float, Field(gt=0, lt=0.5)] = 1e-15,  # noqa: ARG001 - an option of the statistic `negative_log`
) -> Any:
    r"""Mean negative logarithm of the probability given to the true class, after clipping at epsilon,
    $-\frac{1}{n}\sum_i y_i\log p_i+(1-y_i)\log(1-p_i)$."""
    return ratio(negative_log, total) / (1.0 if base == "e" else math.log(base))


@metric(needs="probabilities", direction="minimize", range=(0.0, 1.0), standard=True, title="Brier score",
        aliases=("brier_class", "brier_score_loss"), undefined="no rows", ref="Brier (1950)")
def brier(total: Any, squared_error: Any) -> Any:
    r"""Mean squared difference of the event (1 or 0) and its probability, $\frac{1}{n}\sum_i(y_i-p_i)^2$."""
    return ratio(squared_error, total)
