"""Sizes of the residuals of probabilities: by how much the probability of the true class falls short of 1.

For an event this is |y - p|; so probabilities are judged as numbers, as in R's DALEX.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics.declare import metric
from evalpipe.metrics.regression import median_size
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

size = partial(metric, needs="probabilities", sees="classes", direction="minimize", range=(0.0, 1.0),
               undefined="no rows", ref="Biecek & Burzykowski (2021)")
"""Declare a mean size of the residuals of probabilities."""


@size(title="RMSE of probabilities")
def probability_rmse(total: Floats, squared_shortfall: Floats) -> Floats:
    r"""Root mean squared distance of the probability of the true class from 1; of an event, the root of the Brier
    score, $\sqrt{\frac{1}{n}\sum_i(1-p_{iy_i})^2}$."""
    return np.sqrt(ratio(squared_shortfall, total))


@size(title="MAE of probabilities", linear=True)
def probability_mae(total: Floats, shortfall: Floats) -> Floats:
    r"""Mean distance of the probability of the true class from 1; of an event, the mean of |y - p|,
    $\frac{1}{n}\sum_i(1-p_{iy_i})$."""
    return ratio(shortfall, total)


@size(title="Median absolute residual of probabilities")
def probability_mad(shortfall_at: Floats, shortfall_total: Floats) -> Floats:
    r"""Median distance of the probability of the true class from 1, the mean of the two middle ones where there are
    two. It is not centred and not scaled, $\mathrm{median}_i(1-p_{iy_i})$."""
    return median_size(shortfall_at, shortfall_total)
