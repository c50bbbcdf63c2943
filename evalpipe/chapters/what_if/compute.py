"""What predicted classes come to: of a thousand rows at the prevalence, and at other thresholds by the sliders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.what_if.plan import what_if_plan
from evalpipe.chapters.what_if.records import GroupCounts, PerThousand, WhatIf

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.plan.plan import Plan


ROWS = 1000
"""The rows that the counts add up to."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return what a thousand rows of a binary outcome come to, and the counts of sliders where the page has them."""
    counted = [_counts_of_dataset(plan, dataset) for dataset in evaluated if plan.part(what_if_plan)]
    fields: dict[str, object] = {"what_if": [table for table in counted if table.groups]}
    if plan.task != "binary":
        return fields
    # Of models that predict classes of a dataset with events and non-events, all with outcomes.
    with_outcomes = [dataset for dataset in evaluated if dataset.sample.judged is None]
    scopes = ((next(dataset.scopes(name), None), model)
              for dataset in with_outcomes for name, model in dataset.sample.models.items())
    rows = [row for scope, model in scopes if scope is not None and model.predicted is not None
            for row in _model_record(plan, scope)]
    return fields | {"per_thousand": rows}


def _model_record(plan: Plan, scope: Scope) -> Iterator[PerThousand]:
    """Yield a model's confusion matrix as counts that sum to `ROWS`; nothing where all rows are of a single class."""
    sample, summary, model = scope.sample, scope.summary, scope.sample.models[scope.model]
    events = float(summary("events"))
    totals = np.array([events, float(summary("total")) - events])
    if not totals.all():
        return
    prevalence = events / totals.sum() if plan.prevalence is None else plan.prevalence.shares[0]
    # Rows are the truth, event first; columns the predicted class, event first, and no class.
    cells = summary.reportable("confusion")
    rates = np.column_stack([cells, totals - cells.sum(axis=1)]) / totals[:, None]
    hits, misses, events_without_class, alarms, left_alone, others_without_class = _rounded_to_total(
        (ROWS * rates * [[prevalence], [1 - prevalence]]).ravel())
    threshold = None if model.cuts is not None else model.threshold
    yield PerThousand(
        dataset=sample.dataset, **sample.named(scope.model), threshold=threshold, prevalence=prevalence,
        declared=plan.prevalence is not None, true_positives=hits, false_negatives=misses, false_positives=alarms,
        true_negatives=left_alone, unclassified=events_without_class + others_without_class)


def _rounded_to_total(numbers: Floats) -> list[int]:
    """Round numbers to whole ones with the same sum by largest remainders: ties go to the first."""
    floors = np.floor(numbers + 1e-9)
    order = np.argsort(-(numbers - floors).round(9), kind="stable")
    floors[order[:round(numbers.sum() - floors.sum())]] += 1
    return [int(number) for number in floors]


STEPS = 100
"""The steps of the slider from 0 to 1."""


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
