"""Limits of measures that labels of judges take part in, beside rows with an outcome."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.base.lazy_numpy import np
from evalpipe.intervals.bootstrap import bootstrap_error, limits_on_scale, percentile_limits, scale_slope
from evalpipe.intervals.declare import Limits, interval

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats


@interval(
    "judged_t", title="Student’s t with labels of judges", short="t, judged",
    text="The value plus and minus a quantile of Student’s distribution times the standard error of bootstrap "
         "replicates, which resample rows with an outcome and other rows apart. The degrees of freedom are one less "
         "than the rows with an outcome. Limits are symmetric on the logit scale of the range of the measure, on the "
         "log scale where the range has one end.",
    ref="Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient prediction-powered inference. arXiv "
    "2311.01453.")
def judged_limits(
    replicates: Floats, jackknife: Floats, value: float, bounds: tuple[float, float], level: float
) -> Limits | None:
    """Return the limits of a value from its replicates [B].

    ``jackknife`` [J] are the values without each group of rows with an outcome in turn. Groups that move the value far
    are few where a judge is seldom wrong: the degrees of freedom are one less than their effective number.
    """
    effective = effective_groups(jackknife)
    error = bootstrap_error(replicates) * math.sqrt(effective / (effective - 1)) if effective > 1 else math.nan
    limits = limits_on_scale(value, error * scale_slope(value, bounds), bounds, level, effective - 1)
    if limits is not None:
        return Limits(*limits)
    percentiles = percentile_limits(replicates, level)
    return None if percentiles is None else Limits(*percentiles, method="percentile")


def effective_groups(jackknife: Floats) -> float:
    """Return how many groups of rows would move a value as unevenly if all moved it alike: (sum of d^2)^2 / sum of d^4.

    ``jackknife`` [J] are the values without each group, d their distances from their mean. NaN where none moves it.
    """
    left_out = jackknife[~np.isnan(jackknife)]
    squares = (left_out - left_out.mean())**2 if len(left_out) else left_out
    fourth = float((squares**2).sum())
    return float(squares.sum())**2 / fourth if fourth > 0 else math.nan
