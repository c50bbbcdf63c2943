"""Intervals: binomial limits, limits from a known variance, and the bootstrap."""

from evalpipe.intervals.analytic import auc_variance, logit_limits, predictive_error
from evalpipe.intervals.binomial import LIMITS, clopper_pearson, jeffreys, wilson
from evalpipe.intervals.bootstrap import (
    Design,
    bca_limits,
    jackknife_weights,
    monte_carlo_error,
    percentile_limits,
    replicate_weights,
    stream,
)

__all__ = [
    "LIMITS", "Design", "auc_variance", "bca_limits", "clopper_pearson", "jackknife_weights", "jeffreys",
    "logit_limits", "monte_carlo_error", "percentile_limits", "predictive_error", "replicate_weights", "stream",
    "wilson",
]
