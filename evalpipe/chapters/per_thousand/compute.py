"""What a thousand rows come to: rates of the confusion matrix at the prevalence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.per_thousand.records import PerThousand

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalpipe.base.arraytypes import Floats
    from evalpipe.engine.estimates import Evaluated, Scope
    from evalpipe.plan.plan import Plan

ROWS = 1000
"""The rows that the counts add up to."""


def tables(plan: Plan, evaluated: Sequence[Evaluated]) -> dict[str, object]:
    """Return what a thousand rows come to, as field of the results; none unless the outcome is binary."""
    if plan.task != "binary":
        return {}
    # Those of models that predict classes of a dataset with events and non-events.
    scopes = ((next(dataset.scopes(name), None), model)
              for dataset in evaluated for name, model in dataset.sample.models.items())
    return {"per_thousand": [row for scope, model in scopes if scope is not None and model.predicted is not None
                             for row in _of_model(plan, scope)]}


def _of_model(plan: Plan, scope: Scope) -> Iterator[PerThousand]:
    """Yield how many of `ROWS` rows a model finds, misses and falsely names; nothing of rows of a single class."""
    sample, summary, model = scope.sample, scope.summary, scope.sample.models[scope.model]
    events = float(summary("events"))
    totals = np.array([events, float(summary("total")) - events])
    if not totals.all():
        return
    prevalence = events / totals.sum() if plan.prevalence is None else plan.prevalence.shares[0]
    # Rows are the truth, event first; columns the predicted class, event first, and no class.
    cells = summary.reportable("confusion")
    rates = np.column_stack([cells, totals - cells.sum(axis=1)]) / totals[:, None]
    hits, misses, events_without_class, alarms, left_alone, others_without_class = _rounded(
        (ROWS * rates * [[prevalence], [1 - prevalence]]).ravel())
    threshold = None if model.cuts is not None else model.threshold
    yield PerThousand(
        dataset=sample.dataset, **sample.named(scope.model), threshold=threshold, prevalence=prevalence,
        declared=plan.prevalence is not None, true_positives=hits, false_negatives=misses, false_positives=alarms,
        true_negatives=left_alone, unclassified=events_without_class + others_without_class)


def _rounded(numbers: Floats) -> list[int]:
    """Return whole numbers with the same sum: each rounded down, and the largest remainders up, the first of a tie."""
    floors = np.floor(numbers + 1e-9)
    order = np.argsort(-(numbers - floors).round(9), kind="stable")
    floors[order[:round(numbers.sum() - floors.sum())]] += 1
    return [int(number) for number in floors]
