"""Differences with limits and tests: of what was drawn together, of two subsets, and of the outcomes of datasets."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic import log
from evalpipe.chapters.labels.plan import is_prediction_powered
from evalpipe.engine.support import Limited
from evalpipe.intervals.bootstrap import ROUNDING, bootstrap_error
from evalpipe.intervals.contrasts import IndependentProportions, NoneDiffers, PairedProportions, Wald, recovered_limits
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.chapters.reference_rates.plan import RatePlan
    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Scope
    from evalpipe.engine.support import Drawn
    from evalpipe.intervals.contrasts import Contrast
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import DatasetDifference, DatasetSummary, Estimate
    from evalpipe.statistics import Summary
    from evalpipe.words.sentences import Sentence


CONSTANT = sentence("same-in-resamples")


@dataclass(frozen=True, slots=True)
class Test:
    """A contrast, the names of its test and of its interval method, and further numbers of the test by name."""

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


def tested(
    first: Drawn, second: Drawn, level: float, test: Test | None, undefined: Sentence | None, *,
    may_differ: Callable[[], bool],
) -> Tested:
    """Return the first number less the second, with the limits and the p-value of one test.

    ``test`` is specific to the measure, if there is one; it needs no replicates. Else the test is Wald's with the
    standard error of the replicates, by Student's distribution with one degree of freedom less than there are rows or
    clusters on the smaller side: Efron & Tibshirani (1993), section 12.4. ``undefined`` is why there may be none.
    Where it is zero in every resample there is nothing to test, unless rows that were not drawn ``may_differ``: then it
    has no limits but those of a test for that.
    """
    difference = replace(first - second, undefined=undefined)
    unlimited = difference.unlimited()
    if unlimited is not None:
        return Tested(unlimited.value, status=unlimited.status, reason=unlimited.reason)
    value = difference.value
    is_zero = _all_zero(np.append(difference.known, value), max(abs(first.value), abs(second.value)))
    none_differs = test is not None and isinstance(test.contrast, NoneDiffers)
    is_tested = none_differs or (test is not None and isinstance(test.contrast, PairedProportions))
    differs_elsewhere = is_zero and may_differ()
    if differs_elsewhere and not is_tested:
        return _degenerate_if(CONSTANT, Tested(0.0))
    if is_zero and not differs_elsewhere:
        unchanged = Tested(0.0, (0.0, 0.0), "percentile", drawn=difference, same=True)
        return _degenerate_if(difference.few(level), unchanged)
    drawn: Drawn | None = difference
    doubt = difference.doubt(level)
    if test is None:
        wald = Wald(value, bootstrap_error(difference.known), max(difference.units - 1, 1))
        test = Test(wald, "bootstrap", "bootstrap_error")
    else:  # such a test holds whatever the replicates: doubtful ones are left out, not the test
        drawn = None if doubt else difference
        doubt = difference.few(level) if none_differs and difference.clusters is not None else None
    limits = test.contrast.limits(level)
    return _degenerate_if(doubt, Tested(value, limits, test.method if limits else "none", drawn=drawn, test=test))


def difference_from_known(estimate: Estimate, reference: RatePlan) -> Estimate:
    """Return an estimate less a ``reference`` value from elsewhere, with limits recovered from the limits of both.

    The two are taken as independent. A reference without limits has no error: the limits are the estimate's, less it.
    """
    if estimate.value is None:
        return estimate
    difference = {"value": estimate.value - reference.value}
    if estimate.lower is None or estimate.upper is None:
        return estimate.model_copy(update=difference)
    limits, method = (estimate.lower - reference.value, estimate.upper - reference.value), estimate.method
    if reference.limits is not None:
        numbers = (estimate.value, estimate.lower, estimate.upper), (reference.value, *reference.limits)
        limits, method = recovered_limits(*numbers), "recovered"
    return estimate.model_copy(update={**difference, "lower": limits[0], "upper": limits[1], "method": method})


def _degenerate_if(doubt: Sentence | None, difference: Tested) -> Tested:
    """Mark a difference degenerate, without its test, for a doubt or because it has no limits."""
    doubt = doubt or (CONSTANT if difference.limits is None else None)
    return difference if doubt is None else replace(difference, status="degenerate", reason=doubt, test=None)


def _all_zero(differences: Floats, size: float) -> bool:
    """Tell whether differences of values of this size are all zero but for rounding, and at least two are defined."""
    defined = differences[~np.isnan(differences)]
    return len(defined) > 1 and bool((np.abs(defined) <= ROUNDING * size).all())


def ratio_with_limits(ratio: Drawn, level: float) -> Limited:
    """Return a ratio with limits symmetric on the log scale, by the error of its replicates; a ratio of 0 has none.

    Katz, Baptista, Azen & Pike (1978) for the scale.
    """
    def log_scale_limits(value: float, replicates: Floats, level: float) -> tuple[float, float] | None:
        """Return normal limits of the logarithm, as ratios; replicates of 0, which have none, do not count."""
        logs = log(np.where(replicates > 0, replicates, np.nan))
        limits = Wald(math.log(value), bootstrap_error(logs)).limits(level)
        if limits is None:
            return (value, value) if _all_zero(replicates - value, value) else None
        return math.exp(limits[0]), math.exp(limits[1])

    if not ratio.value > 0:
        return ratio.unlimited() or Limited(ratio.value)
    return ratio.limited(level, log_scale_limits, excludes=None)


def two_proportions_test(plan: Plan, first: Scope, second: Scope, entry: MetricPlan, k: int | None) -> Test | None:
    """Return the test of a proportion in two subsets that share no rows, or the second of which contains the first.

    None where there is no such test; ``k`` is the index of the class, None for a measure that is one number.
    """
    if not rows_count_alike(plan, entry, k) or not is_proportion(entry):
        return None
    (successes, trials), (other_successes, other_trials) = (
        map(float, summary_of(scope, entry, k).proportion(entry.metric, options_of(entry, k)))
        for scope in (first, second)
    )
    shared_rows, scale = _shared_observations(first, second), 1.0
    if shared_rows:
        if shared_rows < first.subset.n or other_trials <= trials:
            return None
        # The second holds the first, which is compared with the rest of it, times the share of that rest.
        scale = (other_trials - trials) / other_trials
        other_successes, other_trials = other_successes - successes, other_trials - trials
    if not trials or not other_trials:
        return None
    contrast = IndependentProportions(successes, trials, other_successes, other_trials, scale)
    return Test(contrast, "two_proportions", "miettinen_nurminen")


def rows_count_alike(plan: Plan, entry: MetricPlan, k: int | None, *, without_judges: bool = False) -> bool:
    """Tell whether the rows of a measure are independent and count alike, as tests of single rows suppose.

    So without clusters, importance weights, labels of judges, a prevalence or an average over classes. With
    ``without_judges`` it is asked of rows with an outcome alone.
    """
    has_independent_rows = plan.cluster is None and not plan.importance and entry.prior.shares is None
    has_independent_rows = has_independent_rows and (without_judges or not is_prediction_powered(plan))
    return has_independent_rows and (entry.average is None or k is not None)


def is_proportion(entry: MetricPlan) -> bool:
    """Tell whether a measure is a share of rows, by their predicted classes."""
    return entry.metric.interval == "proportion" and entry.metric.needs == "labels"


def options_of(entry: MetricPlan, k: int | None) -> Mapping[str, object]:
    """Return the options of a measure, or of its k-th class unless ``k`` is None."""
    return entry.params if k is None else entry.of_class[k]


def summary_of(scope: Scope, entry: MetricPlan, k: int | None) -> Summary:
    """Return the statistics that a measure uses; with ``k``, the statistics of the k-th class against the rest."""
    summary = scope.summary.seen_by(entry.metric)
    return summary if k is None else summary.classes[k].seen_by(entry.metric)


def _shared_observations(first: Scope, second: Scope) -> int:
    """Return how many observations two scopes share; those of different datasets share none."""
    if first.sample.dataset != second.sample.dataset:
        return 0
    if first.subset.rows is None or second.subset.rows is None:
        return min(first.subset.n, second.subset.n)
    rows = np.intersect1d(first.subset.rows, second.subset.rows, assume_unique=True)
    return int(first.sample.observations_at(rows).sum())


def dataset_differences(samples: Sequence[Sample]) -> Iterator[DatasetDifference]:
    """Yield the differences of each further dataset from the first: of the shares of levels, or of the mean outcome."""
    if not samples:
        return
    first, *others = samples
    levels = first.levels[:1] if first.task == "binary" else first.levels  # of a binary outcome the event alone
    for other in others:
        pair = first.summary, other.summary
        for level in levels:
            if first.summary.total_weight and other.summary.total_weight:
                yield _share_difference(level, *pair)
        if not levels and all({"mean", "sd"} <= summary.outcome.keys() for summary in pair):
            yield _mean_difference(*pair)


def _share_difference(level: str, first: DatasetSummary, other: DatasetSummary) -> DatasetDifference:
    """Return the difference of the shares of a level, with the z-test by their pooled share."""
    shares = [math.fsum(count.weight for count in dataset.levels if count.level == level) / dataset.total_weight
              for dataset in (first, other)]
    sizes = [independent_rows(dataset) for dataset in (first, other)]
    pooled = math.fsum(share * size for share, size in zip(shares, sizes, strict=True)) / math.fsum(sizes)
    error = math.sqrt(pooled * (1 - pooled) * math.fsum(1 / size for size in sizes))
    return _difference_record(level, (first, other), shares, error)


def _mean_difference(first: DatasetSummary, other: DatasetSummary) -> DatasetDifference:
    """Return the difference of two means with the z-test of unequal variances (Welch 1938)."""
    # The sd divides by n, so that the error of the mean divides by n - 1.
    sizes = [max(independent_rows(dataset) - 1, 0.0) for dataset in (first, other)]
    spreads = [dataset.outcome["sd"] for dataset in (first, other)]
    variance = math.fsum(sd**2 / size for sd, size in zip(spreads, sizes, strict=True)) if all(sizes) else 0.0
    means = [dataset.outcome["mean"] for dataset in (first, other)]
    return _difference_record(None, (first, other), means, math.sqrt(variance))


def independent_rows(dataset: DatasetSummary) -> float:
    """Return the number of independent observations: the effective rows, or the clusters where these are fewer."""
    return min(size for size in (dataset.n, dataset.n_effective, dataset.clusters) if size is not None)


def _difference_record(
    level: str | None, datasets: tuple[DatasetSummary, DatasetSummary], values: Sequence[float], error: float
) -> DatasetDifference:
    """Return the record of the second value less the first, with the z-test by its standard ``error``."""
    from scipy.special import ndtr

    from evalpipe.results import DatasetDifference

    statistic = (values[1] - values[0]) / error if error else None
    return DatasetDifference(
        dataset=datasets[1].name, baseline=datasets[0].name, level=level, value=values[1], baseline_value=values[0],
        statistic=statistic, p_value=None if statistic is None else 2 * float(ndtr(-abs(statistic))))
