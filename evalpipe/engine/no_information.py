"""What a measure would be if truth and prediction were independent: the value of a model that knows nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.engine.averages import values
from evalpipe.intervals import stream
from evalpipe.metrics.declare import ratio
from evalpipe.plan.priors import SAMPLE
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.data.sample import Sample
    from evalpipe.engine.averages import Floats
    from evalpipe.metrics import Metric
    from evalpipe.plan import MetricPlan, Plan

PERMUTATIONS = 200
"""Random pairings of truths with predictions, for measures whose mean has no closed form."""


@dataclass(frozen=True)
class Independent:
    """The mean statistics of rows over all pairings of their truths with their predictions, under weights [n].

    Each prediction meets each level as often as the level occurs: a statistic that is linear in the pairs is the mean
    of those of rows that are all of one level, weighted by the levels' shares.
    """

    rows: Any
    weights: Floats

    @cached_property
    def levels(self) -> list[tuple[float, Summary]]:
        """The share of each level that occurs, with the rows as if all were of it."""
        occurring = Summary(self.rows, self.weights)("occurring")
        shares = ratio(occurring, occurring.sum())
        return [(float(s), Summary(self.rows.always(k), self.weights)) for k, s in enumerate(shares) if s > 0]

    @cached_property
    def classes(self) -> tuple[Independent, ...]:
        """The same rows seen once for each level, that level being the event."""
        return tuple(Independent(self.rows.against(level), self.weights) for level in range(self.rows.levels))

    def seen_by(self, _: Metric) -> Independent:
        """Return itself: its rows are those that the metric sees."""
        return self

    def at(self, shares: Any) -> Independent:
        """Return the same with each class weighed to its share."""
        return Independent(self.rows, Summary(self.rows, self.weights).at(shares).weights)

    def lacks(self, shares: Any) -> Any:
        """Tell whether a class with a share above 0 is absent."""
        return Summary(self.rows, self.weights).lacks(shares)

    def __call__(self, name: str, options: Mapping[str, Any] | None = None) -> Floats:
        """Return the mean of the statistic ``name``."""
        return np.asarray(sum(share * summary(name, options) for share, summary in self.levels))

    def value(self, metric: Metric, options: Mapping[str, Any]) -> Floats:
        """Return a metric's value at the mean statistics."""
        return metric(*[self(name, options) for name in metric.statistics], **options)


def no_information(plan: Plan, sample: Sample, summary: Summary, entry: MetricPlan) -> Floats:
    """Return the mean of a measure over pairings of truths with predictions, [], or [K] where each class has its own.

    ``summary`` is of the rows that the measure sees: of predicted classes, those that have one are paired among
    themselves; at a prevalence they count as reweighted. Exact where the measure is linear; else over `PERMUTATIONS`
    random pairings. NaN where it is undefined in all.
    """
    entry = replace(entry, prior=replace(entry.prior, shares=entry.prior.asked))
    if entry.metric.linear and entry.average != "micro":
        independent: Any = Independent(summary.rows, summary.weights)
        return values(independent, entry)
    weighted = sample.weight is not None
    if entry.prior.shares is not None:
        if summary.lacks(entry.prior.shares):
            return np.full_like(values(summary, entry), np.nan)
        summary, entry = summary.at(entry.prior.shares), replace(entry, prior=SAMPLE)
        weighted = True
    pairings = (_pairing(plan, sample, summary, number, weighted=weighted) for number in range(PERMUTATIONS))
    drawn = np.stack([values(Summary(summary.rows.paired(each), summary.weights), entry) for each in pairings])
    known = ~np.isnan(drawn)
    return ratio(np.where(known, drawn, 0.0).sum(axis=0), known.sum(axis=0))


def _pairing(plan: Plan, sample: Sample, summary: Summary, number: int, *, weighted: bool) -> Any:
    """Draw which row's truth meets each prediction: a permutation; with weights, rows in proportion to them."""
    generator, n = stream(plan.spec.seed, "pairing", sample.dataset, number), len(summary.rows.truth)
    if not weighted:
        return generator.permutation(n)
    return generator.choice(n, n, p=summary.weights / summary.weights.sum())


def skill(entry: MetricPlan, value: float, known: float) -> float | None:
    """Return the share of the way from the value without information to the best one; None where there is none."""
    if entry.metric.direction == "none":
        return None
    end = entry.metric.bounds(entry.params)[entry.metric.direction == "maximize"]
    if not np.isfinite([end, value, known]).all() or end == known:
        return None
    return float((value - known) / (end - known))
