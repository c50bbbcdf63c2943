"""The counts behind the sliders of the page: events and non-events at or above each of some thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.what_if.plan import what_if_plan
from evalpipe.chapters.what_if.records import GroupCounts, WhatIf

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalpipe.engine.estimates import Evaluated
    from evalpipe.plan.plan import Plan

STEPS = 100
"""The steps of the slider from 0 to 1."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return the counts of each dataset as field of the results; none where the page has no sliders."""
    if not plan.part(what_if_plan):
        return {"what_if": []}
    tables = (_counts_of_dataset(plan, dataset) for dataset in evaluated)
    return {"what_if": [table for table in tables if table.groups]}


def _counts_of_dataset(plan: Plan, dataset: Evaluated) -> WhatIf:
    """Return events (hits) and other rows (alarms) at or above each threshold, by model and slice of a dataset."""
    models = {name: model for name, model in dataset.sample.models.items()
              if model.probability is not None and model.zone is None}
    scopes = [scope for name in models for scope in dataset.scopes(name)]
    cuts = [model.threshold for model in models.values()]
    thresholds = np.unique([*np.arange(STEPS + 1) / STEPS, *(cut for cut in cuts if cut is not None)])
    groups = []
    for scope in scopes:
        indices = np.searchsorted(scope.summary.rows.probability_of_score, thresholds, side="left")
        hits, alarms = (np.r_[scope.summary(name), 0.0][indices] for name in ("events_from", "others_from"))
        groups.append(GroupCounts(
            **scope.sample.named(scope.model), hits=hits.tolist(), alarms=alarms.tolist(),
            slice=None if scope.subset.slice is None else dict(scope.subset.slice)))
    independent = plan.cluster is None and not plan.importance
    return WhatIf(
        dataset=dataset.sample.dataset, thresholds=thresholds.tolist(), limited=independent, groups=groups)
