"""What an interval method may need of an estimate, by the name of its parameter; each is made when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.intervals.bins import Bins
from evalpipe.intervals.bootstrap import kish
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Floats
    from evalpipe.engine.drawn import Drawn
    from evalpipe.plan.measures import MetricPlan

NAMES = frozenset({
    "value", "level", "kind", "measure", "options", "successes", "trials", "bins", "replicates", "jackknife", "errors",
    "error", "clusters", "bounds", "rarest",
})
"""The needs that are no statistics."""

DRAWN = ("replicates", "jackknife", "errors", "error", "clusters")
"""Those that the replicates of the estimate know."""


@dataclass(frozen=True)
class Given:
    """One estimate as an interval method sees it.

    ``options`` are those of the metric, ``weighted`` says that weights are importance weights, under which a proportion
    counts rows of equal weight that tell as much.
    """

    entry: MetricPlan
    summary: Summary
    options: Mapping[str, object]
    value: float
    level: float
    weighted: bool
    drawn: Drawn

    def __call__(self, name: str) -> Any:
        """Return what has this name: one of `NAMES`, or else the statistic."""
        if name not in NAMES:
            return self.summary(name, self.options)
        return getattr(self.drawn if name in DRAWN else self, name)

    @property
    def kind(self) -> str | None:
        """The kind of interval that the metric declares."""
        return self.entry.metric.interval

    @property
    def measure(self) -> str:
        """The name of the metric."""
        return self.entry.metric.name

    @property
    def bounds(self) -> tuple[float, float]:
        """The range of the metric under its options."""
        return self.entry.metric.bounds(self.options)

    @property
    def rows(self) -> float:
        """The observations; under importance weights so many rows of equal weight as tell as much."""
        return float(kish(self.summary.weights)) if self.weighted else float(np.sum(self.summary.weights))

    @property
    def rarest(self) -> float:
        """Those of the level that has the fewest of them."""
        occurring = np.asarray(self.summary("occurring"), float)
        return float(occurring[occurring > 0].min() / occurring.sum()) * self.rows

    @property
    def successes(self) -> Floats:
        """The successes of a proportion."""
        return self._proportion[0]

    @property
    def trials(self) -> Floats:
        """The trials of a proportion."""
        return self._proportion[1]

    @cached_property
    def _proportion(self) -> tuple[Floats, Floats]:
        successes, trials = self.summary.proportion(self.entry.metric, self.options)
        return self._effective(successes, trials) if self.weighted else (successes, trials)

    def _effective(self, successes: Floats, trials: Floats) -> tuple[Floats, Floats]:
        """Return successes among so many rows of equal weight as would leave the proportion as uncertain as it is.

        The effective trials are p (1 - p) over the variance of the weighted proportion, sum of w^2 (y - p)^2 over the
        squared total; Kish's (sum of w)^2 / sum of w^2 where p is 0 or 1. Korn & Graubard (1998).
        """
        hits, all_ = self._squared.proportion(self.entry.metric, self.options)
        share = successes / trials
        spread = (hits * (1 - share) ** 2 + (all_ - hits) * share**2) / trials**2
        effective = share * (1 - share) / spread if 0 < share < 1 else trials**2 / all_
        return share * effective, effective

    @property
    def _squared(self) -> Summary:
        """The statistics under squared weights, from which errors under importance weights come."""
        return Summary(self.summary.rows, np.asarray(self.summary.weights, float) ** 2)

    @property
    def bins(self) -> Bins:
        """The bins of a measure of gaps that have rows."""
        gaps = self.summary.gaps(self.entry.metric, self.options)
        squares = self._squared.gaps(self.entry.metric, self.options) if self.weighted else gaps
        used = np.asarray(gaps.events + gaps.others) > 0
        return Bins(*(
            np.asarray(table)[used] for table in (gaps.events, gaps.others, gaps.gap, squares.events, squares.others)))
