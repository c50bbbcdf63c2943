"""A dataset as it was evaluated: what every table of the results is computed from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.engine.estimates import Scope, estimates
from evalpipe.engine.replicates import draw
from evalpipe.engine.subsets import subsets, summaries_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate
    from evalpipe.statistics import Summary


@dataclass(frozen=True)
class Evaluated:
    """One dataset with the statistics of each model in each of its subsets that is large enough, and the replicates."""

    plan: Plan
    sample: Sample
    subsets: tuple[Subset, ...]
    summaries: dict[tuple[str, int], Summary]
    replicates: Replicates

    def scopes(self, model: str, *, rest: bool = False) -> Iterator[Scope]:
        """Yield the subsets that have numbers of a model, all rows first; the rests of slices too if asked."""
        for number, subset in enumerate(self.subsets):
            if (model, number) in self.summaries and (rest or subset.beside is None):
                yield Scope(self.plan, self.sample, model, number, subset, self.summaries[model, number])

    def estimate(self, model: str, entry: MetricPlan) -> Estimate:
        """Return the estimate on all rows of a measure that is one number, which the model serves."""
        return next(estimates(next(self.scopes(model)), entry, self.replicates))


def evaluated(plan: Plan, sample: Sample, advance: Callable[[int], None] = lambda _: None) -> Evaluated:
    """Return a sample with its statistics and their replicates; ``advance`` is told of each block of these done."""
    divided = subsets(plan, sample)
    summaries = summaries_of(plan, sample, divided)
    replicates = draw(plan, replace(sample, searched=()), summaries, subsets, advance)
    return Evaluated(plan, sample, divided, summaries, replicates)
