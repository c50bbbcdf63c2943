"""Intervals: binomial limits and the bootstrap."""

from evalpipe.intervals.binomial import LIMITS, clopper_pearson, wilson
from evalpipe.intervals.bootstrap import percentile_limits, replicate_weights

__all__ = ["LIMITS", "clopper_pearson", "percentile_limits", "replicate_weights", "wilson"]
