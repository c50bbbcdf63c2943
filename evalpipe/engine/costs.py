"""What rows cost under policies that look at no model: the same level predicted for all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.results import CostReference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.data.sample import Sample
    from evalpipe.plan.plan import Plan


def cost_references(plan: Plan, sample: Sample) -> Iterator[CostReference]:
    """Yield the mean cost of the rows if each level in turn is predicted for all; nothing where no costs are named."""
    if plan.costs is None:
        return
    codes = np.where(sample.truth, 0, 1) if sample.task == "binary" else sample.truth
    occurring = np.bincount(codes, sample.weights, len(sample.levels))
    costs = (occurring[:, None] * np.asarray(plan.costs.matrix)).sum(axis=0) / occurring.sum()
    least = int(costs.argmin())
    for place, level in enumerate(sample.levels):
        yield CostReference(
            dataset=sample.dataset, level=level, cost=float(costs[place]), cheapest=place == least)
