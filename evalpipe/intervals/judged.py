"""Limits of measures that labels of judges take part in, beside rows with an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    replicates: Floats, value: float, rows: float, bounds: tuple[float, float], level: float
) -> Limits | None:
    """Return the limits of a value from its replicates [B], of so many ``rows`` with an outcome."""
    limits = limits_on_scale(
        value, bootstrap_error(replicates) * scale_slope(value, bounds), bounds, level, max(rows - 1, 1))
    if limits is not None:
        return Limits(*limits)
    percentiles = percentile_limits(replicates, level)
    return None if percentiles is None else Limits(*percentiles, method="percentile")
