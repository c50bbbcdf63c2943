"""Limits of measures on rows of few clusters: the bootstrap's standard error and Student's distribution."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from evalpipe.intervals.bootstrap import bootstrap_error, percentile_limits
from evalpipe.intervals.declare import FEW_CLUSTERS, Limits, interval
from evalpipe.intervals.scales import limits_on_scale, slope

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

FEWEST = 3
"""The clusters from which on these limits cover as often as they say; with two, shares cover 88 to 96 %."""


@interval(
    "cluster_t", title="Student’s t over clusters", short="t, clusters",
    detail=f"From {FEWEST} clusters on. Of more than {FEW_CLUSTERS}, limits are percentiles.",
    text=f"For rows of at most {FEW_CLUSTERS} clusters: the value plus and minus a quantile of Student’s distribution "
         "times the standard error. That is the one of the bootstrap replicates times √(K / (K − 1)) for K clusters; "
         "the degrees of freedom are K − 1. Limits are symmetric on the logit scale of the range of the measure, on "
         "the log scale where the range has one end.",
    ref="Cameron, A. C., Gelbach, J. B. & Miller, D. L. (2008). Bootstrap-based improvements for inference with "
    "clustered errors. The Review of Economics and Statistics 90(3), 414–427.")
def cluster_limits(
    replicates: Floats, value: float, clusters: int | None, bounds: tuple[float, float], level: float
) -> Limits | None:
    """Return the limits of a value from its replicates [B] of so many whole clusters, percentiles of more than a few.

    A bootstrap of K clusters has (K - 1) / K of the variance of their mean (Davison & Hinkley 1997, section 2.3.1), and
    an error that K clusters tell has K - 1 degrees of freedom. Percentiles too where the value is at an end of its
    range. None where fewer than two replicates are defined.
    """
    limits = None
    if clusters is not None and 2 <= clusters <= FEW_CLUSTERS:
        error = bootstrap_error(replicates) * math.sqrt(clusters / (clusters - 1))
        limits = limits_on_scale(value, error * slope(value, bounds), bounds, level, clusters - 1)
    if limits is not None:
        return Limits(*limits)
    percentiles = percentile_limits(replicates, level)
    return None if percentiles is None else Limits(*percentiles, method="percentile")
