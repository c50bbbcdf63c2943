"""The test of a difference between two subsets, and what the tests of differences ask of a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.differences import Test
from evalpipe.intervals.contrasts import IndependentProportions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.engine.estimates import Scope
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary


def of_subsets(plan: Plan, first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the test of a proportion in two subsets that share no rows, or of which the second holds the first."""
    if not one_value_a_row(plan, entry, k) or not is_proportion(entry):
        return None
    (x, m), (y, n) = (
        map(float, summary_of(scope, entry, k).proportion(entry.metric, options_of(entry, k)))
        for scope in (first, second)
    )
    shared, scale = _shared(first, second), 1.0
    if shared:
        if shared < first.subset.n or n <= m:
            return None
        # The second holds the first: taken against the rest of it, which shares no row, times the share of that rest.
        y, n, scale = y - x, n - m, (n - m) / n
    if not m or not n:
        return None
    return Test(IndependentProportions(x, m, y, n, scale), "two_proportions", "miettinen_nurminen")


def one_value_a_row(plan: Plan, entry: MetricPlan, k: int | None) -> bool:
    """Tell whether every row counts as one observation of one value: no clusters, importance, prior or average."""
    plain = plan.cluster is None and not plan.importance and entry.prior.shares is None
    return plain and (entry.average is None or k is not None)


def is_proportion(entry: MetricPlan) -> bool:
    """Tell whether a measure is a share of rows, by their predicted classes."""
    return entry.metric.interval == "proportion" and entry.metric.needs == "labels"


def options_of(entry: MetricPlan, k: int | None) -> Mapping[str, object]:
    """Return the options of a measure, of its k-th class where it has one."""
    return entry.params if k is None else entry.of_class[k]


def summary_of(scope: Scope, entry: MetricPlan, k: int | None) -> Summary:
    """Return the statistics that a measure is of, of the k-th class against the others where it has one."""
    seen = scope.summary.seen_by(entry.metric)
    return seen if k is None else seen.classes[k].seen_by(entry.metric)


def _shared(first: Scope, second: Scope) -> int:
    """Return how many observations two scopes share; those of different datasets share none."""
    if first.sample.dataset != second.sample.dataset:
        return 0
    if first.subset.rows is None or second.subset.rows is None:
        return min(first.subset.n, second.subset.n)
    rows = np.intersect1d(first.subset.rows, second.subset.rows, assume_unique=True)
    return int(first.sample.observations[rows].sum())
