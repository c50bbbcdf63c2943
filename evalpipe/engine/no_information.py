"""The value of a measure without information: its mean if truth and prediction were independent.

That is its mean over all pairings of the truths with the predictions, exact where a closed form is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.arithmetic import exp, log
from evalpipe.chapters.prevalence.plan import SAMPLE
from evalpipe.engine.averages import values
from evalpipe.intervals.resampling import stream
from evalpipe.metrics.values import ratio
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalpipe.base.arraytypes import Flags, Floats
    from evalpipe.data.sample import Sample
    from evalpipe.metrics import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan


    Shares = Floats | tuple[float, ...]

PAIRS = 20_000_000
"""The most pairs of a row and a distinct truth that are summed over one by one."""

DEVIATIONS = 40
"""Tables of counts this many standard deviations from the mean have no probability that a float can hold."""

CELLS = {"tp", "fp", "fn", "tn"}

TRUTHS_ONLY = {
    "total", "truth_at", "truth_total", "truth_sum", "negative_truths", "not_counts", "zero_truths",
    "baseline_deviation", "squared_baseline_deviation", "rate_at", "rate_total", "rate_moments", "rate_information",
    "squared_exposure", "exposed_excess", "squared_excess", "tweedie_exposure", "tweedie_truth", "tweedie_transformed",
}
"""Statistics of numbers that depend on the truths alone, and so are the same in every pairing."""

QUADRATIC = TRUTHS_ONLY | {
    "residual", "squared_residual", "residual_deviation", "squared_residual_deviation", "moments", "prediction_sum",
    "squared_left_out_residual", "squared_pearson_residual", "predictions_not_positive", "prediction_at",
    "truth_by_prediction",
}
"""Those, and statistics that are sums of no more than squares of the truth."""


def exact(summary: Summary, entry: MetricPlan, *, counted: bool) -> Floats | None:
    """Return a measure's mean over all pairings of truths with predictions, [], or [K] with a mean for each class.

    None where it must be estimated from random pairings. ``counted`` says that weights count observations, which
    are then paired one by one; else each prediction keeps its weight and meets each truth in proportion to the
    weight of the truth.
    """
    metric = entry.metric
    if metric.sees in ("numbers", "items"):
        return _exact_of_numbers(summary, entry, counted=counted)
    independent: Any = Independent(summary.rows, summary.weights)
    if metric.linear or metric.no_information is not None:
        return values(independent, entry)
    if not counted or entry.prior.shares is not None or entry.average == "micro":
        return None
    if not (set(metric.statistics) <= CELLS or metric.name in CLOSED_FORMS):
        return None
    parts = [independent] if entry.average is None else independent.classes
    # A mean over the classes that have a value is not the mean of theirs, where a class has none in some pairings.
    if entry.average in {"macro", "macro_weighted"} and not all(
        part.always_defined(metric, options) for part, options in zip(parts, entry.of_class, strict=True)
    ):
        return None
    return values(independent, entry)


def _exact_of_numbers(summary: Summary, entry: MetricPlan, *, counted: bool) -> Floats | None:
    """Return the mean of a measure of numbers over all pairings; None where it must be estimated from random ones."""
    metric = entry.metric
    if summary.rows.exposure is not None:  # predicted rates are paired, and long exposures expect much in any pairing
        return None
    if metric.no_information is not None:
        return _constant_mean(metric, entry.params, summary)
    if metric.name == "rsq" and counted:  # the mean of a squared correlation is 1 / (n - 1): Pitman (1937)
        size = float(summary.weights.sum())
        return np.where(np.isnan(summary.value(metric, entry.params)), np.nan, 1 / max(size - 1, 1.0))
    distinct = len(np.unique(summary.rows.truth))
    quadratic = set(metric.statistics) <= QUADRATIC
    if not metric.linear or not (quadratic or distinct * len(summary.rows.truth) <= PAIRS):
        return None
    independent = IndependentNumbers(summary.rows, summary.weights, quadratic)
    return metric(*[independent(name, entry.params) for name in metric.takes], **entry.params)


def _constant_mean(metric: Metric, options: Mapping[str, object], summary: Summary) -> Floats:
    """Return the mean over pairings that the metric declares as a constant; NaN where it has no value in any."""
    return np.where(np.isnan(summary.value(metric, options)), np.nan, float(metric.no_information or 0.0))


@dataclass(frozen=True)
class Independent:
    """The mean statistics of rows over all pairings of their truths with their predictions, under weights [n].

    It stands in for a `Summary`. Each prediction meets each level as often as the level occurs: a statistic that is
    linear in the pairs is the mean of its values where all rows are of one level, weighted by the levels' shares.
    ``pool`` takes every row once for each level, that level being the event, for micro averages.
    """

    rows: Any
    weights: Floats
    pool: bool = False

    @cached_property
    def levels(self) -> list[tuple[float, Summary]]:
        """The share of each level that occurs, with the statistics of all rows as if each were of this level."""
        occurring = Summary(self.rows, self.weights)("occurring")
        shares = ratio(occurring, occurring.sum())
        return [(float(s), Summary(self.rows.always(k), self.weights)) for k, s in enumerate(shares) if s > 0]

    @cached_property
    def classes(self) -> tuple[Independent, ...]:
        """The same rows for each class against the rest: in the k-th copy, the event is class k."""
        return tuple(Independent(rows, self.weights) for rows in self.rows.against_rest)

    @property
    def pooled(self) -> Independent:
        """The rows of all classes against the rest, pooled, as for a micro average."""
        return replace(self, pool=True)

    def seen_by(self, metric: Metric) -> Independent:
        """Return the rows as a metric uses them: ordered by their ranks for a metric of ranking."""
        return replace(self, rows=self.rows.by_rank) if metric.of_ranks else self

    def at(self, shares: Shares) -> Independent:
        """Return the same rows, reweighted so that each class has its share of the total weight."""
        return Independent(self.rows, Summary(self.rows, self.weights).at(shares).weights)

    def lacks(self, shares: Shares) -> Flags:
        """Tell whether a class with a share above 0 is absent."""
        return Summary(self.rows, self.weights).lacks(shares)

    def __call__(self, name: str, options: Mapping[str, object] | None = None) -> Floats:
        """Return the mean of the statistic ``name`` over all pairings."""
        of_levels = ((share, summary.pooled if self.pool else summary) for share, summary in self.levels)
        return np.asarray(sum(share * summary(name, options) for share, summary in of_levels))

    def value(self, metric: Metric, options: Mapping[str, object]) -> Floats:
        """Return the mean of a metric: where it is linear its value at the mean statistics, else by its closed form."""
        if (seen := self.seen_by(metric)).rows is not self.rows:
            return seen.value(metric, options)
        if metric.no_information is not None:
            return _constant_mean(metric, options, Summary(self.rows, self.weights))
        if metric.linear:
            return metric(*[self(name, options) for name in metric.takes], **options)
        if metric.name in CLOSED_FORMS:
            return np.asarray(CLOSED_FORMS[metric.name](Summary(self.rows, self.weights)))
        table_values, probability = self._tables(metric, options)
        is_defined = ~np.isnan(table_values)
        return ratio((probability[is_defined] * table_values[is_defined]).sum(), probability[is_defined].sum())

    def always_defined(self, metric: Metric, options: Mapping[str, object]) -> bool:
        """Tell whether a metric has a value in every pairing."""
        if metric.name in CLOSED_FORMS:
            return not math.isnan(float(self.value(metric, options)))
        return not np.isnan(self._tables(metric, options)[0]).any()

    def _tables(self, metric: Metric, options: Mapping[str, object]) -> tuple[Floats, Floats]:
        """Return a metric's values in all 2 x 2 tables with the data's margins [m], and their probabilities [m].

        The events among the predicted ones are hypergeometric; probabilities follow from the ratios of neighbours,
        so that no factorial is taken.
        """
        summary = Summary(self.rows, self.weights)
        tp, fp, fn, tn = (float(summary(name)) for name in ("tp", "fp", "fn", "tn"))
        events, predicted, n = tp + fn, tp + fp, tp + fp + fn + tn
        mean = events * predicted / n if n else 0.0
        spread = math.sqrt(mean * (n - events) * (n - predicted) / n / max(n - 1, 1.0)) if n else 0.0
        low, high = (mean + side * (DEVIATIONS * spread + DEVIATIONS) for side in (-1, 1))
        hits = np.arange(
            max(0.0, events + predicted - n, math.floor(low)), min(events, predicted, math.ceil(high)) + 1)
        before = hits[:-1]
        steps = log(events - before) + log(predicted - before)
        steps -= log(before + 1) + log(n - events - predicted + before + 1)
        logs = np.concatenate([[0.0], np.cumsum(steps)])
        # Relative to the likeliest table, since probabilities themselves may be too small for a float.
        probability = exp(logs - logs.max())
        cells = {"tp": hits, "fp": predicted - hits, "fn": events - hits, "tn": n - events - predicted + hits}
        return metric(*[cells[name] for name in metric.takes], **options), probability / probability.sum()


@dataclass(frozen=True)
class IndependentNumbers:
    """The mean statistics of rows of numbers over all pairings of their truths with their predictions.

    Each prediction meets each truth. ``quadratic`` statistics need two truths only, which have the mean and the
    variance of all (Gaussian quadrature); others need each distinct truth in turn.
    """

    rows: Any
    weights: Floats
    quadratic: bool

    def __call__(self, name: str, options: Mapping[str, object] | None = None) -> Floats:
        """Return the mean of the statistic ``name`` over all pairings."""
        if name in TRUTHS_ONLY:
            return Summary(self.rows, self.weights)(name, options)
        shares = self.weights / self.weights.sum()
        if self.quadratic:
            mean = float((shares * self.rows.truth).sum())
            deviation = math.sqrt(float((shares * (self.rows.truth - mean) ** 2).sum()))
            truths = [(0.5, mean - deviation), (0.5, mean + deviation)]
        else:
            distinct, truth_index = np.unique(self.rows.truth, return_inverse=True)
            share_of = zip(np.bincount(truth_index, shares), distinct, strict=True)
            truths = [(float(share), float(truth)) for share, truth in share_of if share > 0]
        return np.asarray(sum(
            share * Summary(self.rows.always(truth), self.weights)(name, options) for share, truth in truths
        ))


def _weights_and_chances(summary: Summary) -> tuple[Floats, Floats, float, float]:
    """Return the weight at each score [m], and from it up [m], and the chance that a row, or two, are events.

    Scores ascend. Two different rows are both events with probability q: the mean product of the events at scores
    s and t is n_s n_t q, and n_s (pi - q) more where s is t.
    """
    weight_at = summary("events_at") + summary("others_at")
    weight_at = weight_at[weight_at > 0]
    n, events = float(weight_at.sum()), float(summary("events_at").sum())
    two_events = events * (events - 1) / (n * (n - 1)) if n > 1 else 0.0
    return weight_at, np.cumsum(weight_at[::-1])[::-1], events / n if n else math.nan, two_events


def _average_precision(summary: Summary) -> float:
    """Return the mean average precision over all pairings of truths with predictions; NaN without events."""
    weight_at, weight_from, event, two_events = _weights_and_chances(summary)
    if not event > 0:
        return math.nan
    return float((weight_at * (two_events + (event - two_events) / weight_from)).sum() / (weight_at.sum() * event))


def _pr_auc(summary: Summary) -> float:
    """Return the mean area under the precision-recall curve over all pairings; NaN without events."""
    weight_at, weight_from, event, two_events = _weights_and_chances(summary)
    if not event > 0:
        return math.nan
    before = np.append(np.full(len(weight_at) - 1, two_events), event)  # the curve starts at precision 1
    products = weight_at * (two_events + (event - two_events) / weight_from + before)
    return float(products.sum() / (2 * weight_at.sum() * event))


CLOSED_FORMS: dict[str, Callable[[Summary], float]] = {"average_precision": _average_precision, "pr_auc": _pr_auc}
"""The exact means of measures that are sums of products of the events at two scores."""

EXPANDED = 1_000_000
"""The most observations that rows with frequency weights are split into, so that each is paired by itself."""


def no_information(plan: Plan, sample: Sample, summary: Summary, entries: Sequence[MetricPlan]) -> list[Floats]:
    """Return each measure's mean over pairings of truths with predictions, [], or [K] where each class has its own.

    Each measure pairs the rows that it uses: for predicted classes only rows that have one; at a prevalence, rows are
    reweighted. The mean is exact where it has a closed form; else over random pairings, as many as the plan says. NaN
    where it is undefined in all, or there are no rows; and for an expression of measures at prevalences of their own,
    whose rows cannot be reweighted to all of them.
    """
    means: list[Floats | None] = []
    to_draw: dict[tuple[int, tuple[float, ...] | None], tuple[Summary, list[int]]] = {}
    for number, entry in enumerate(entries):
        summary_seen, shares = summary.seen_by(entry.metric), entry.prior.asked
        mean = _mean_without_drawing(summary_seen, replace(entry, prior=replace(entry.prior, shares=shares)), sample)
        means.append(mean)
        if mean is None:
            to_draw.setdefault((id(summary_seen), shares), (summary_seen, []))[1].append(number)
    for (_, shares), (summary_seen, numbers) in to_draw.items():
        over_pairings = _mean_over_pairings(plan, sample, summary_seen, shares, [entries[number] for number in numbers])
        for number, mean in zip(numbers, over_pairings, strict=True):
            means[number] = mean
    return [mean for mean in means if mean is not None]


def _mean_without_drawing(summary: Summary, entry: MetricPlan, sample: Sample) -> Floats | None:
    """Return the mean of a measure over all pairings; None where it must be estimated from random pairings."""
    if any(part.prior.asked is not None for _, part in entry.parts):  # rows cannot have several prevalences at once
        return np.asarray(np.nan)
    if not summary.weights.any():  # no row has a class: there is nothing to pair
        return np.full_like(values(summary, entry), np.nan)
    exact_mean = None if entry.parts else exact(summary, entry, counted=sample.weight_kind != "importance")
    if exact_mean is None and entry.prior.shares is not None and summary.lacks(entry.prior.shares):
        return np.full_like(values(summary, entry), np.nan)
    return exact_mean


def _mean_over_pairings(
    plan: Plan, sample: Sample, summary: Summary, shares: Shares | None, entries: Sequence[MetricPlan]
) -> list[Floats]:
    """Return the mean of each measure over the random pairings in which it has a value.

    Rows are reweighted to the ``shares`` of the classes, if any. The statistics of one pairing serve all measures, and
    are freed before the next: they are as large as the data.
    """
    weighted = sample.weight is not None
    if shares is not None:
        summary, weighted = summary.at(shares), True
    elif sample.weight_kind == "frequency" and summary.weights.sum() <= EXPANDED:
        rows = summary.rows.at(np.repeat(np.arange(len(summary.weights)), summary.weights.astype(np.intp)))
        summary, weighted = Summary(rows, np.ones(len(rows.truth))), False
    entries = [replace(entry, prior=SAMPLE) for entry in entries]  # the rows are reweighted already
    n, values_by_pairing = len(summary.rows.truth), []
    for number in range(plan.permutations):
        generator = stream(plan.seed, "pairing", sample.dataset, number)
        # With weights a prediction meets truths in proportion to theirs.
        pairing = (generator.choice(n, n, p=summary.weights / summary.weights.sum()) if weighted else
                   generator.permutation(n))
        paired = Summary(summary.rows.paired(pairing), summary.weights)
        values_by_pairing.append([values(paired, entry) for entry in entries])
    means = []
    for pairing_values in zip(*values_by_pairing, strict=True):
        stacked = np.stack(pairing_values)
        is_defined = ~np.isnan(stacked)
        means.append(ratio(np.where(is_defined, stacked, 0.0).sum(axis=0), is_defined.sum(axis=0)))
    return means


def skill(entry: MetricPlan, value: float, uninformed: float) -> float | None:
    """Return (value - uninformed) / (best - uninformed), where ``uninformed`` is the mean without information.

    None where the measure has no best value, where that is infinite or equals ``uninformed``, and for a NaN value.
    """
    if entry.metric.direction == "none":
        return None
    best = entry.metric.bounds(entry.params)[entry.metric.direction == "maximize"]
    if not np.isfinite([best, value, uninformed]).all() or best == uninformed:
        return None
    return float((value - uninformed) / (best - uninformed))
