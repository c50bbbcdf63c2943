"""What items whose text is also in another dataset do to the mean scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.leaks.records import LeakedItems

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.data.sample import Sample
    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan

MOST_NAMES = 20
"""The most leaked items that are named."""


def tables(_: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the field of the results on leaked items, a row for each evaluated dataset and reference dataset."""
    return {"leaked_items": [row for dataset in evaluated for row in _of_sample(dataset.sample)]}


def _of_sample(sample: Sample) -> Iterator[LeakedItems]:
    """Yield a row for each dataset in which the items of a sample were looked for."""
    names = [] if sample.ids is None else sample.ids.to_list()
    scores = {name: np.asarray(model.predicted, float) for name, model in sample.models.items()}
    for leaks in sample.leaks:
        leaked = (leaks.same | leaks.run).intersection(names)
        weights = np.ones(len(names)) if sample.weight is None else sample.weight
        of_others = weights * [name not in leaked for name in names]
        means, without = ({name: float(np.average(values, weights=counted)) for name, values in scores.items()}
                          if counted.any() else {} for counted in (weights, of_others))
        yield LeakedItems(
            dataset=sample.dataset, other=leaks.other, items=len(names), leaked=len(leaked),
            same=len(leaks.same.intersection(names)), without_text=len(leaks.without.intersection(names)),
            names=sorted(leaked)[:MOST_NAMES], means=means, means_without=without)
