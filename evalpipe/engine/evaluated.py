"""A dataset as it was evaluated: what every table of the results is computed from."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from evalpipe.engine.estimates import Scope, estimates, insufficient, not_served
from evalpipe.engine.replicates import draw
from evalpipe.engine.rows import rows_of
from evalpipe.engine.subsets import subsets, summaries_of
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.engine.replicates import Replicates
    from evalpipe.engine.subsets import Subset
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.results import Estimate

    Estimates = dict[tuple[int, int], tuple[Estimate, ...]]


@dataclass(frozen=True)
class Evaluated:
    """One dataset with the statistics of each model in each of its subsets that is large enough, and the replicates.

    ``of_model`` are the same subsets, in the rows that statistics of each model are taken of.
    """

    plan: Plan
    sample: Sample
    subsets: tuple[Subset, ...]
    of_model: dict[str, tuple[Subset, ...]]
    summaries: dict[tuple[str, int], Summary]
    replicates: Replicates
    _estimates: dict[str, Estimates] = field(default_factory=dict, repr=False, compare=False)

    def scopes(self, model: str, *, rest: bool = False) -> Iterator[Scope]:
        """Yield the subsets that have numbers of a model, all rows first; the rests of slices too if asked."""
        for number, subset in enumerate(self.of_model[model]):
            if (model, number) in self.summaries and (rest or subset.beside is None):
                yield self.scope(model, number, self.summaries[model, number])

    def scope(self, model: str, number: int, summary: Summary) -> Scope:
        """Return a subset with some of its statistics of a model."""
        subset = self.of_model[model][number]
        return Scope(self.plan, self.sample.of(model, subset.slicing), model, number, subset, summary)

    def estimates_of(self, model: str) -> Estimates:
        """Return the estimates of a model, by the number of the subset and that of the measure in the plan."""
        if model not in self._estimates:
            self._estimates[model] = {
                (number, k): tuple(estimated)
                for number, subset in enumerate(self.subsets) if subset.beside is None
                for k, estimated in enumerate(self._estimated(model, number))
            }
        return self._estimates[model]

    def forget(self, model: str) -> None:
        """Forget the large tables of a model, of which a million rows have a hundred megabytes."""
        for (name, _), summary in self.summaries.items():
            if name == model:
                summary.forget()

    def beside_others(self, scope: Scope) -> Scope:
        """Return a scope with the rows of all models together, of a dataset that is held its own."""
        if not self.sample.streamed:
            return scope
        subset = self.subsets[scope.number]
        part = self.sample.of(None, subset.slicing)
        rows = rows_of(part, part.models[scope.model])
        rows = rows if subset.rows is None else rows.taken(subset.rows)
        return replace(scope, sample=part, subset=subset, summary=Summary(rows, subset.of(part.weights)))

    def _estimated(self, model: str, number: int) -> Iterator[Iterator[Estimate]]:
        """Yield the estimates of each measure of the plan in a subset, whose scope serves them all."""
        summary, whole = self.summaries.get((model, number)), self.summaries[model, 0]
        scope = self.scope(model, number, summary or whole)
        for entry in self.plan.metrics:
            if not scope.serves(entry):
                yield not_served(scope, entry)
            else:
                yield insufficient(scope, entry) if summary is None else estimates(scope, entry, self.replicates)

    def diagnosed(self) -> Iterator[Estimate]:
        """Yield the estimates on all rows of the measures that only findings rest on."""
        for model in self.sample.models:
            scope = self.scope(model, 0, self.summaries[model, 0])
            for entry in self.plan.diagnosed:
                yield from estimates(scope, entry, self.replicates) if scope.serves(entry) else ()
            self.forget(model)

    def estimate(self, model: str, entry: MetricPlan) -> Estimate:
        """Return the estimate on all rows of a measure that the plan lists and that is one number."""
        return self.estimates_of(model)[0, self.plan.metrics.index(entry)][0]


def evaluated(plan: Plan, sample: Sample, advance: Callable[[int], None] = lambda _: None) -> Evaluated:
    """Return a sample with its statistics and their replicates; ``advance`` is told of each block of these done."""
    divided = subsets(plan, sample)
    of_model = {name: subsets(plan, sample, name) if sample.streamed else divided for name in sample.models}
    summaries = summaries_of(plan, sample, of_model)
    together = plan.compare is not None or bool(plan.goals)
    replicates = draw(plan, sample, summaries, divided, advance, together=together)
    for summary in summaries.values():
        summary.forget()
    return Evaluated(plan, sample, divided, of_model, summaries, replicates)
