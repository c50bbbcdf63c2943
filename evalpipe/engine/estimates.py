"""One estimate: value, interval, support and status."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.intervals import LIMITS, percentile_limits
from evalpipe.results import Estimate, Status

if TYPE_CHECKING:
    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan import MetricPlan, Plan
    from evalpipe.statistics import Summary

TOLERATED = 0.05
"""Share of undefined replicates above which an interval is marked degenerate."""


def estimate(
    plan: Plan, sample: Sample, model: str, summary: Summary, entry: MetricPlan, replicates: Replicates
) -> Estimate:
    """Return the estimate of one metric for one model."""
    value = float(summary.value(entry.metric, entry.params))
    limits: tuple[float, float] | None = None
    status: Status = "ok"
    reason, undefined = None, 0
    if math.isnan(value):
        status, reason = "undefined", entry.metric.undefined
    elif entry.method == "percentile":
        drawn = replicates.metrics[model, plan.metrics.index(entry)]
        limits, undefined = percentile_limits(drawn, plan.spec.intervals.level), int(np.isnan(drawn).sum())
        if undefined > TOLERATED * len(drawn):
            status = "degenerate"
            reason = f"undefined in {undefined} of {len(drawn)} replicates: {entry.metric.undefined}"
        elif limits is not None and limits[0] == limits[1]:
            status = "degenerate"
            reason = "the same in nearly all replicates, so the bootstrap cannot tell its uncertainty"
    elif entry.method != "none":
        successes, trials = summary.proportion(entry.metric, entry.params)
        lower, upper = LIMITS[entry.method](successes, trials, plan.spec.intervals.level)
        limits = float(lower), float(upper)
    return Estimate(
        dataset=sample.dataset, model=model, metric=entry.metric.name, params=dict(entry.params),
        value=None if math.isnan(value) else value,
        lower=limits[0] if limits else None, upper=limits[1] if limits else None,
        level=plan.spec.intervals.level if limits else None, method=entry.method if limits else "none",
        n=sample.summary.n, events=sample.summary.events, status=status, reason=reason, undefined_replicates=undefined,
    )
