"""A number with its replicates, and what its limits rest on: observations, inputs of its method, and enough rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.base import constants
from evalpipe.engine.judges import unseen_of
from evalpipe.intervals.bootstrap import FEWEST, kish, reason_outside_limits
from evalpipe.intervals.declare import FEW_CLUSTERS
from evalpipe.intervals.noise import ENOUGH, Bins
from evalpipe.statistics import Summary
from evalpipe.words.sentences import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.data.sample import Sample
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.results import Status
    from evalpipe.statistics import Rows
    from evalpipe.words.sentences import Sentence
    LimitsOf = Callable[[float, Floats, float], tuple[float, float] | None]


CLUSTERS = 20
"""The clusters from which on quantiles of their bootstrap are trusted; of fewer they cover too seldom, as the
between-cluster variance is known too badly: Cameron & Miller (2015), section VI, who call fewer than 20 to 50 few."""

STUDENTS = ("cluster_t", "bootstrap_logit", "bootstrap_score")
"""The methods that allow for how badly few clusters tell their variance: their quantiles are Student's."""

ONE_CLUSTER = sentence("one-cluster")


@dataclass(frozen=True, slots=True)
class Limited:
    """A number, None where it is undefined, with its limits, their method, and a status with its reason.

    ``drawn`` is the number with the replicates that the limits are computed from; None where they need none.
    """

    value: float | None
    limits: tuple[float, float] | None = None
    method: str = "none"
    status: Status = "ok"
    reason: Sentence | None = None
    drawn: Drawn | None = None

    @property
    def lower(self) -> float | None:
        """The lower confidence limit; None where there are no limits."""
        return self.limits[0] if self.limits else None

    @property
    def upper(self) -> float | None:
        """The upper confidence limit; None where there are no limits."""
        return self.limits[1] if self.limits else None

    def fields(self, level: float) -> dict[str, object]:
        """Return the limits, their confidence level (None without limits) and status as fields of a record."""
        return {"lower": self.lower, "upper": self.upper, "level": level if self.limits else None,
                "status": self.status, "reason": self.reason}

    @property
    def missing(self) -> int:
        """How many of the replicates behind the limits are undefined."""
        return 0 if self.drawn is None else self.drawn.missing

    def doubted(self, reason: Sentence | None) -> Limited:
        """Return the number with status degenerate for a ``reason``; unchanged without one or with another status."""
        return self if reason is None or self.status != "ok" else replace(self, status="degenerate", reason=reason)


@dataclass(frozen=True)
class Drawn:
    """A number with its replicates [B], or one number a class [K] with replicates [B, K].

    ``value`` is NaN where it is undefined, for the reason ``undefined``, which holds for undefined replicates too;
    ``absent`` is the code of the sentence about these. ``replicates`` is None where none were drawn. ``units`` is how
    many rows were resampled, or how many clusters where rows are ``clustered``. Further inputs of limits: ``jackknife``
    values [J], the standard ``errors`` [B] of the replicates and ``error`` of the value, and the ``shift`` from the
    grid that replicates were drawn on; see `Replicates`. ``rare`` says, of the number or of each class, why limits
    cover too seldom where no row, or few clusters, have the rarer level; None where enough have. ``alone`` are
    replicates [B] without judges, where they take part by a ``share`` together.
    """

    value: Any
    replicates: Floats | None
    units: int
    clustered: bool = False
    undefined: Sentence | None = None
    absent: str = "undefined-replicates"
    jackknife: Floats | None = None
    errors: Floats | None = None
    error: Floats | None = None
    shift: Floats | None = None
    rare: Sequence[Sentence | None] = ()
    alone: Floats | None = None
    share: float = 0.0

    @property
    def clusters(self) -> int | None:
        """How many clusters were resampled; None where rows were resampled."""
        return self.units if self.clustered else None

    @property
    def known(self) -> Floats:
        """The replicates [B], for callers who know that there are some; NaN where a replicate is undefined."""
        assert self.replicates is not None  # noqa: S101 - asked of what was drawn alone
        return self.replicates

    @property
    def missing(self) -> int:
        """How many replicates are undefined."""
        return 0 if self.replicates is None else int(np.isnan(self.replicates).sum())

    def of_class(self, k: int) -> Drawn:
        """Return the k-th class's number with its replicates."""
        def of_k(table: Floats | None) -> Floats | None:
            return None if table is None else table[..., k]

        return replace(
            self, value=float(self.value[k]), replicates=of_k(self.replicates), jackknife=of_k(self.jackknife),
            errors=of_k(self.errors), error=of_k(self.error), shift=of_k(self.shift), rare=self.rare[k : k + 1])

    def __sub__(self, other: Drawn) -> Drawn:
        """Return the difference of two numbers that were drawn together."""
        return combine_drawn([self, other], lambda values: values[..., 0] - values[..., 1])

    def __truediv__(self, other: Drawn) -> Drawn:
        """Return the ratio of two numbers drawn together; NaN if the divisor is zero or either is negative."""
        return combine_drawn([self, other], lambda values: quotient(values[..., 0], values[..., 1]))

    def unlimited(self, *, needs_replicates: bool = True) -> Limited | None:
        """Return the value with why it can have no confidence limits; None where limits can be computed.

        They cannot be where the value is undefined, nothing was resampled, or all rows are of one cluster.
        ``needs_replicates`` is whether the limits would come from the replicates.
        """
        if math.isnan(self.value):
            return Limited(None, status="undefined", reason=self.undefined)
        if needs_replicates and self.replicates is None:
            return Limited(self.value)
        if self.clusters == 1:
            return Limited(self.value, status="degenerate", reason=ONE_CLUSTER)
        return None

    def doubt(self, level: float, method: str = "percentile") -> Sentence | None:
        """Return why limits of a method from the replicates cannot be relied on; None where they can."""
        total = 0 if self.replicates is None else len(self.replicates)
        if self.missing > constants.TOLERATED * total:
            return sentence(self.absent, undefined=self.missing, replicates=total, because=self.undefined)
        return self.few(level, method)

    def few(self, level: float, method: str = "percentile") -> Sentence | None:
        """Return why limits from few clusters, or rows of the rarer level, are unreliable; None if reliable."""
        least = FEWEST if method in STUDENTS else CLUSTERS
        if self.clusters is not None and self.clusters < least:
            return sentence("few-clusters", clusters=self.clusters, least=least, level=level)
        return next((reason for reason in self.rare if reason is not None), None)

    def limited(self, level: float, limits_of: LimitsOf, excludes: str | None = "bootstrap") -> Limited:
        """Return the number with confidence limits ``limits_of(value, replicates, level)`` and a status.

        ``excludes`` is the method in the reason where limits exclude the value; None where this is no fault.
        """
        unlimited = self.unlimited()
        if unlimited is not None:
            return unlimited
        limits = limits_of(self.value, self.known, level)
        limited = Limited(self.value, limits, drawn=self).doubted(self.doubt(level))
        if excludes is None or limits is None:
            return limited
        return limited.doubted(reason_outside_limits(self.value, limits, excludes))


def combine_drawn(parts: Sequence[Drawn], combine: Callable[[Floats], Floats]) -> Drawn:
    """Return the number that ``combine`` computes from several numbers, such as their range, with replicates.

    ``combine`` works along the last axis, which has the numbers. They were drawn together, so it takes their
    replicates draw by draw. The units of the result are the fewest of theirs.
    """
    replicates_of_parts = [part.replicates for part in parts if part.replicates is not None]
    replicates = combine(np.stack(replicates_of_parts, axis=-1)) if len(replicates_of_parts) == len(parts) else None
    value = float(combine(np.array([part.value for part in parts])))
    first, rare = parts[0], [reason for part in parts for reason in part.rare]
    return Drawn(value, replicates, min(part.units for part in parts), first.clustered, first.undefined, rare=rare)


def quotient(over: Floats, under: Floats) -> Floats:
    """Return ``over`` / ``under``, elementwise; NaN where the divisor is zero or either of them is negative."""
    is_defined = (over >= 0) & (under > 0)
    return np.where(is_defined, over / np.where(is_defined, under, 1.0), np.nan)


def range_of(parts: Sequence[Drawn]) -> Drawn:
    """Return the range, largest minus smallest, of several numbers drawn together, with its replicates."""
    return combine_drawn(parts, lambda values: values.max(axis=-1) - values.min(axis=-1))


def smallest_over_largest(parts: Sequence[Drawn]) -> Drawn:
    """Return the smallest of several numbers drawn together over the largest, with its replicates."""
    return combine_drawn(parts, lambda values: quotient(values.min(axis=-1), values.max(axis=-1)))


def support_counts(sample: Sample, subset: Subset, rows: Rows) -> Summary:
    """Return the statistics of ``rows`` with two rows of weights: counts of all observations, and of events only."""
    observations = sample.observations_at(subset.rows)
    if observations.sum() <= np.iinfo(np.int32).max:
        observations = observations.astype(np.int32)  # half of the memory, of which this takes as much as all scores
    return Summary(rows, np.stack([observations, observations * rows.truth]))


def denominator_counts(counts_and_events: Summary, entry: MetricPlan, params: Mapping[str, object]) -> tuple[int, int]:
    """Return how many observations a proportion's denominator has, and how many of them are events.

    ``counts_and_events`` are statistics under two rows of weights, all observations and events only. Trials are linear
    in the weights, so under the second they are the events among them. No prevalence changes how many rows there are.
    """
    _, trials = counts_and_events.proportion(entry.metric, params)
    rows, events = np.broadcast_to(trials, 2)
    return round(float(rows)), round(float(events))


NAMES = frozenset({
    "value", "level", "kind", "measure", "options", "successes", "trials", "bins", "replicates", "jackknife", "errors",
    "error", "clusters", "bounds", "rarest", "shares", "rows", "alone", "share", "unseen",
})
"""The inputs of interval methods that are no statistics."""

DRAWN = ("replicates", "jackknife", "errors", "error", "clusters", "alone", "share")
"""The inputs of interval methods that are attributes of `Drawn`."""


@dataclass(frozen=True)
class MethodInputs:
    """The inputs of an interval method for one estimate.

    ``options`` are the options of the metric. ``weighted`` says that weights are importance weights; a proportion then
    counts the effective number of rows.
    """

    entry: MetricPlan
    summary: Summary
    options: Mapping[str, object]
    value: float
    level: float
    weighted: bool
    drawn: Drawn

    def __call__(self, name: str) -> Any:
        """Return the input ``name`` of an interval method: an attribute, one of the replicates, or a statistic."""
        if name not in NAMES:
            return self.summary(name, self.options)
        return getattr(self.drawn if name in DRAWN else self, name)

    @property
    def kind(self) -> str | None:
        """The kind of interval that the metric declares, such as "proportion"; None where it declares none."""
        return self.entry.metric.interval

    @property
    def measure(self) -> str:
        """The name of the metric."""
        return self.entry.metric.name

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest possible value of the metric under its options."""
        return self.entry.metric.bounds(self.options)

    @property
    def shares(self) -> tuple[float, ...] | None:
        """The shares of the classes at the prevalence of the measure; ``summary`` is not reweighted to them."""
        return self.entry.prior.shares

    @property
    def rows(self) -> float:
        """The number of observations; under importance weights their effective number (Kish)."""
        return float(kish(self.summary.weights)) if self.weighted else float(np.sum(self.summary.weights))

    @property
    def rarest(self) -> float:
        """The number of observations of the rarest level that occurs."""
        occurring = np.asarray(self.summary("occurring"), float)
        return float(occurring[occurring > 0].min() / occurring.sum()) * self.rows

    @property
    def unseen(self) -> float:
        """What an event and a non-event more, of the largest weight, would add to a variance: see `unseen_errors`."""
        return unseen_of(self.summary, self.drawn.clusters, importance=self.weighted)

    @property
    def successes(self) -> Floats:
        """The number of successes of a proportion; under importance weights the effective number."""
        return self._proportion[0]

    @property
    def trials(self) -> Floats:
        """The number of trials of a proportion; under importance weights the effective number."""
        return self._proportion[1]

    @cached_property
    def _proportion(self) -> tuple[Floats, Floats]:
        """Successes and trials; under importance weights the effective numbers of both.

        Effective trials are p (1 - p) over the variance of the weighted proportion, sum of w^2 (y - p)^2 over the
        squared total; Kish's (sum of w)^2 / sum of w^2 where p is 0 or 1. Korn & Graubard (1998).
        """
        successes, trials = self.summary.proportion(self.entry.metric, self.options)
        if not self.weighted:
            return successes, trials
        hits, all_ = self._squared.proportion(self.entry.metric, self.options)
        share = successes / trials
        variance = (hits * (1 - share) ** 2 + (all_ - hits) * share**2) / trials**2
        effective = share * (1 - share) / variance if 0 < share < 1 else trials**2 / all_
        return share * effective, effective

    @property
    def _squared(self) -> Summary:
        """The statistics under squared weights, from which errors under importance weights come."""
        return Summary(self.summary.rows, np.asarray(self.summary.weights, float) ** 2)

    @property
    def bins(self) -> Bins:
        """The bins, without empty ones, of a measure of the gaps between event rates and predictions."""
        gaps = self.summary.gaps(self.entry.metric, self.options)
        squares = self._squared.gaps(self.entry.metric, self.options) if self.weighted else gaps
        used = np.asarray(gaps.events + gaps.others) > 0
        return Bins(*(
            np.asarray(table)[used] for table in (gaps.events, gaps.others, gaps.gap, squares.events, squares.others)))


UNITS = {"gaps": 5, "squared_gaps": ENOUGH, "scatter": ENOUGH}
"""Independent units for each bin from which on its noise is seen: replicates show (m - 1) / m of that of a bin of m
units. Of squares, which are noise before all else, more are needed: see the simulations of docs/methods.md."""


CURVE_ROWS, CURVE_RAREST = 50, 10
"""The rows, and those of the rarer level, from which on limits of distances from a calibration curve cover as often as
they say. Of fewer the curve follows each of them: of 20 rows 74 to 92 % are covered, see the simulations of
docs/methods.md."""


def few_for_curve(entry: MetricPlan, inputs: MethodInputs) -> Sentence | None:
    """Return why rows are too few for limits of a distance from a calibration curve; None where they are enough."""
    if "curve_distance_at" not in entry.metric.takes:
        return None
    rows, rarest = inputs.rows, inputs.rarest
    if rows >= CURVE_ROWS and rarest >= CURVE_RAREST:
        return None
    if rows < CURVE_ROWS:
        return sentence("few-rows-for-curve", rows=rows, least=CURVE_ROWS)
    return sentence("few-rarer-rows-for-curve", rows=rarest, least=CURVE_RAREST)


def too_few_units_for_bins(summary: Summary, entry: MetricPlan, units: float) -> Sentence | None:
    """Return why replicates of few ``units`` do not show the noise of a measure of gaps; None where they do.

    Units are rows, clusters, or under importance weights the effective rows. A bin of a single unit is the same in
    every replicate that has it, however uncertain its event rate is.
    """
    least = UNITS.get(str(entry.metric.interval))
    if least is None:
        return None
    summaries = [(summary, entry.params)]
    if entry.of_class and entry.average != "none":
        summaries = list(zip(summary.classes, entry.of_class, strict=True))
    gaps = [against.gaps(entry.metric, params) for against, params in summaries]
    bins = max(int(np.count_nonzero(gap.events + gap.others > 0)) for gap in gaps)
    if units >= least * bins:
        return None
    code = "few-units-in-bins" if entry.metric.interval == "gaps" else "few-units-in-digits"
    return sentence(code, units=float(units), bins=bins, least=least)


def rare_level(
    summary: Summary, entry: MetricPlan, options: Mapping[str, object], sample: Sample, subset: Subset
) -> Sentence | None:
    """Return why limits cover too seldom where no row, or few clusters, have the rarer of two levels; else None.

    For a proportion it is few clusters with a success, or a failure. More than `FEW_CLUSTERS` are not looked at.
    """
    rows, clusters = summary.rows, subset.clusters
    if not hasattr(rows, "codes"):
        return None
    is_proportion = entry.metric.interval == "proportion" and entry.average in (None, "none")
    if rows.levels == 2 and not is_proportion and np.any(np.asarray(summary("occurring")) <= 0):
        return sentence("one-level")
    if clusters is None or clusters > FEW_CLUSTERS:
        return None
    clusters_with = np.zeros(2 if is_proportion else rows.levels, int)
    for positions in subset.rows_by_cluster(sample):
        cluster = Summary(rows.at(positions), summary.weights[positions])
        if is_proportion:
            successes, trials = cluster.proportion(entry.metric, options)
            clusters_with += [successes > 0, trials > successes]
        else:
            clusters_with += cluster("occurring") > 0
        if (clusters_with >= FEWEST).all():
            return None
    # What occurs in no cluster at all is not rare, but absent, which other reasons tell.
    occurring = np.where(clusters_with > 0, clusters_with, FEWEST)
    fewest = int(occurring.min())
    if fewest >= FEWEST:
        return None
    kind = ("success", "failure")[occurring.argmin()] if is_proportion else "rarer-level"
    return sentence(f"few-clusters-with-{kind}", few=fewest, clusters=clusters, least=FEWEST)
