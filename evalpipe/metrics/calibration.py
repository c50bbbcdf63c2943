"""Measures of calibration over bins of predicted probability."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from evalpipe.metrics.declare import metric, ratio


@metric(needs="probabilities", direction="minimize", range=(0.0, 1.0), title="Expected calibration error",
        interval="gaps",
        aliases=("expected_calibration_error",), undefined="no rows", ref="Naeini, Cooper & Hauskrecht (2015)")
def ece(total: Any, binned_gap: Any, *, bins: Annotated[int, Field(ge=2, le=1000)] = 15) -> Any:  # noqa: ARG001
    r"""Mean distance of event rate and mean probability in bins of equal width, each weighted by its rows; closed
    below, the last bin closed above too. Never below what chance alone gives, so it is no test of calibration,
    $\sum_b\frac{n_b}{n}|r_b-\bar p_b|$."""
    return ratio(np.abs(binned_gap).sum(-1), total)
