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
         "replicates, which resample rows with an outcome and other rows apart. Where a judge is seldom wrong, few rows "
         "move the value: with an effective number of K of them the error is times √(K / (K − 1)), and the degrees of "
         "freedom are those of a variance of so few. Limits are symmetric on the logit scale of the range of the "
         "measure, on the log scale where the range has one end.",
    detail="K is (Σ d²)² / Σ d⁴ of the distances d that J groups of rows with an outcome, left out in turn,"
           " move the value from their mean. The degrees of freedom are 2 J K / (J − K), by the fourth moment of the d.",
    ref="Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics "
    "Bulletin 2(6), 110–114. Angelopoulos, A. N., Duchi, J. C. & Zrnic, T. (2023). PPI++: efficient prediction-powered "
    "inference. arXiv:2311.01453.")
def judged_limits(
    replicates: Floats, jackknife: Floats, value: float, bounds: tuple[float, float], level: float
) -> Limits | None:
    """Return the limits of a value from its replicates [B].

    ``jackknife`` [J] are the values without each group of rows with an outcome in turn. Percentiles where none of them
    moves the value, or only one, and where it is at an end of its range.
    """
    groups, effective = effective_groups(jackknife)
    if effective > 1:
        error = bootstrap_error(replicates) * math.sqrt(effective / (effective - 1))
        freedom = 2 * groups * effective / (groups - effective) if groups > effective else math.inf
        limits = limits_on_scale(
            value, error * scale_slope(value, bounds), bounds, level, min(freedom, groups - 1))
        if limits is not None:
            return Limits(*limits)
    percentiles = percentile_limits(replicates, level)
    return None if percentiles is None else Limits(*percentiles, method="percentile")


def effective_groups(jackknife: Floats) -> tuple[int, float]:
    """Return how many values without a group of rows there are, and the groups' effective number.

    ``jackknife`` [J] are the values, d their distances from their mean; the number is (sum of d^2)^2 / sum of d^4: so
    many groups that all moved the value alike would be as uneven. 0 where none moves it.
    """
    left_out = jackknife[~np.isnan(jackknife)]
    if not len(left_out):
        return 0, 0.0
    squares = (left_out - left_out.mean())**2
    fourth = float((squares**2).sum())
    return len(left_out), float(squares.sum())**2 / fourth if fourth > 0 else 0.0
