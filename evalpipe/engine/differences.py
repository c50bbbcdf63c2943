"""Differences with limits and tests: of what was drawn together, of two subsets, and of the outcomes of datasets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import log
from evalpipe.engine.bootstrap_values import Limited
from evalpipe.intervals.bootstrap import ROUNDING, bootstrap_error
from evalpipe.intervals.contrasts import IndependentProportions, Wald, recovered_limits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.data.sample import Sample
    from evalpipe.engine.bootstrap_values import Drawn
    from evalpipe.engine.estimates import Scope
    from evalpipe.intervals.contrasts import Contrast
    from evalpipe.plan.measures import KnownPlan, MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import DatasetDifference, DatasetSummary, Estimate
    from evalpipe.statistics import Summary


CONSTANT = "it is the same in every resample, so its uncertainty is unknown"


@dataclass(frozen=True, slots=True)
class Test:
    """A contrast with the names of its test and of its limits, and the figures to tell beside them."""

    __test__ = False

    contrast: Contrast
    name: str
    method: str
    details: Mapping[str, int | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tested(Limited):
    """A difference with limits and p-value of one and the same ``test``, None where there is none.

    ``same`` says that the difference is nothing in every resample, so that there is nothing to test.
    """

    __test__ = False

    test: Test | None = None
    same: bool = False

    @property
    def p_value(self) -> float | None:
        """The two-sided p-value of no difference, where there is a test."""
        return None if self.test is None else self.test.contrast.p(0.0)


def tested(first: Drawn, second: Drawn, level: float, test: Test | None, undefined: str) -> Tested:
    """Return the first number less the second, with the limits and the p-value of one test.

    ``test`` is the one made for the measure, if any; it needs no replicates. Else the test is Wald's with the error
    that the replicates tell, by Student's distribution with one degree of freedom less than there are rows or clusters
    on the smaller side: Efron & Tibshirani (1993), section 12.4. ``undefined`` says why there is no difference.
    """
    difference = replace(first - second, undefined=undefined)
    unlimited = difference.unlimited()
    if unlimited is not None:
        return Tested(unlimited.value, status=unlimited.status, reason=unlimited.reason)
    value = difference.value
    if _nothing(np.append(difference.known, value), max(abs(first.value), abs(second.value))):
        return _marked(Tested(0.0, (0.0, 0.0), "percentile", drawn=difference, same=True), difference.few(level))
    if test is not None:
        limits, drawn = test.contrast.limits(level), None if difference.doubt(level) else difference
        return _marked(Tested(value, limits, test.method if limits else "none", drawn=drawn, test=test), None)
    test = Test(Wald(value, bootstrap_error(difference.known), max(difference.units - 1, 1)), "bootstrap",
                "bootstrap_error")
    limits = test.contrast.limits(level)
    return _marked(Tested(value, limits, test.method if limits else "none", drawn=difference, test=test),
                   difference.doubt(level))


def less_known(estimate: Estimate, known: KnownPlan) -> Estimate:
    """Return an estimate less a value that was found elsewhere, with limits recovered from those of both.

    The two are taken as independent. Of a value without limits, known without error, the limits are the estimate's own
    less that value.
    """
    if estimate.value is None:
        return estimate
    difference = {"value": estimate.value - known.value}
    if estimate.lower is None or estimate.upper is None:
        return estimate.model_copy(update=difference)
    limits, method = (estimate.lower - known.value, estimate.upper - known.value), estimate.method
    if known.limits is not None:
        numbers = (estimate.value, estimate.lower, estimate.upper), (known.value, *known.limits)
        limits, method = recovered_limits(*numbers), "recovered"
    return estimate.model_copy(update={**difference, "lower": limits[0], "upper": limits[1], "method": method})


def _marked(difference: Tested, doubt: str | None) -> Tested:
    """Mark a difference that cannot be relied on, for a ``doubt`` or as it has no limits; it has no test then."""
    doubt = doubt or (CONSTANT if difference.limits is None else None)
    return difference if doubt is None else replace(difference, status="degenerate", reason=doubt, test=None)


def _nothing(gaps: Floats, size: float) -> bool:
    """Tell whether differences of values of this size are all within rounding of zero, some being defined."""
    known = gaps[~np.isnan(gaps)]
    return len(known) > 1 and bool((np.abs(known) <= ROUNDING * size).all())


def ratio_limited(ratio: Drawn, level: float) -> Limited:
    """Return a ratio with limits symmetric on the log scale, by the error of its replicates; none of a ratio of 0.

    Katz, Baptista, Azen & Pike (1978) for the scale.
    """
    if not ratio.value > 0:
        return ratio.unlimited() or Limited(ratio.value)
    return ratio.limited(level, _on_log_scale, excludes=None)


def _on_log_scale(value: float, replicates: Floats, level: float) -> tuple[float, float] | None:
    logs = log(np.where(replicates > 0, replicates, np.nan))
    limits = Wald(math.log(value), bootstrap_error(logs)).limits(level)
    if limits is None:
        return (value, value) if _nothing(replicates - value, value) else None
    return math.exp(limits[0]), math.exp(limits[1])


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


def dataset_differences(samples: Sequence[Sample]) -> Iterator[DatasetDifference]:
    """Yield the difference of each further dataset from the first: of the event, of every level, or of the mean."""
    if not samples:
        return
    first, *others = samples
    levels = first.levels[:1] if first.task == "binary" else first.levels
    for other in others:
        pair = first.summary, other.summary
        for level in levels:
            yield from _of_shares(level, *pair)
        if not levels and all({"mean", "sd"} <= summary.outcome.keys() for summary in pair):
            yield _of_means(*pair)


def _of_shares(level: str, first: DatasetSummary, other: DatasetSummary) -> Iterator[DatasetDifference]:
    """Yield the difference of two shares with the z-test of their pooled share; nothing of a dataset without rows."""
    if not (first.total_weight and other.total_weight):
        return
    shares = [math.fsum(count.weight for count in dataset.levels if count.level == level) / dataset.total_weight
              for dataset in (first, other)]
    sizes = [independent_rows(dataset) for dataset in (first, other)]
    pooled = math.fsum(share * size for share, size in zip(shares, sizes, strict=True)) / math.fsum(sizes)
    yield _row(level, (first, other), shares, math.sqrt(pooled * (1 - pooled) * math.fsum(1 / size for size in sizes)))


def _of_means(first: DatasetSummary, other: DatasetSummary) -> DatasetDifference:
    """Return the difference of two means with the z-test of unequal variances (Welch 1938)."""
    # The sd is that of the rows, which is smaller than that of what they are drawn from.
    sizes = [max(independent_rows(dataset) - 1, 0.0) for dataset in (first, other)]
    spreads = [dataset.outcome["sd"] for dataset in (first, other)]
    variance = math.fsum(sd**2 / size for sd, size in zip(spreads, sizes, strict=True)) if all(sizes) else 0.0
    return _row(None, (first, other), [dataset.outcome["mean"] for dataset in (first, other)], math.sqrt(variance))


def independent_rows(dataset: DatasetSummary) -> float:
    """Return how many independent observations the rows amount to, at least: clusters where there are any."""
    return min(size for size in (dataset.n, dataset.n_effective, dataset.clusters) if size is not None)


def _row(
    level: str | None, datasets: tuple[DatasetSummary, DatasetSummary], values: Sequence[float], error: float
) -> DatasetDifference:
    from scipy.special import ndtr

    from evalpipe.results import DatasetDifference

    statistic = (values[1] - values[0]) / error if error else None
    return DatasetDifference(
        dataset=datasets[1].name, baseline=datasets[0].name, level=level, value=values[1], baseline_value=values[0],
        statistic=statistic, p_value=None if statistic is None else 2 * float(ndtr(-abs(statistic))))
