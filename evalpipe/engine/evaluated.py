"""A dataset as it was evaluated: what every table of the results is computed from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalpipe.engine.estimates import Place
from evalpipe.engine.parts import parts, summaries_of
from evalpipe.engine.replicates import draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.engine.parts import Part
    from evalpipe.engine.replicates import Replicates
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Summary


@dataclass(frozen=True)
class Evaluated:
    """One dataset with the statistics of each model in each of its parts that is large enough, and the replicates."""

    plan: Plan
    sample: Sample
    parts: tuple[Part, ...]
    summaries: dict[tuple[str, int], Summary]
    replicates: Replicates

    def places(self, model: str, *, rest: bool = False) -> Iterator[Place]:
        """Yield the parts that have numbers of a model, all rows first; the rests of slices too if asked."""
        for number, part in enumerate(self.parts):
            if (model, number) in self.summaries and (rest or part.beside is None):
                yield Place(self.plan, self.sample, model, number, part, self.summaries[model, number])


def evaluated(plan: Plan, sample: Sample, advance: Callable[[int], None] = lambda _: None) -> Evaluated:
    """Return a sample with its statistics and their replicates; ``advance`` is told of each block of these done."""
    divided = parts(plan, sample)
    summaries = summaries_of(plan, sample, divided)
    replicates = draw(plan, replace(sample, searched=()), summaries, parts, advance)
    return Evaluated(plan, sample, divided, summaries, replicates)
