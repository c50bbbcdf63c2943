"""Measures of predicted classes against the prevalence, and over all thresholds at some prevalences."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.prevalence.plan import PriorPlan
from evalpipe.chapters.thresholds.plan import called
from evalpipe.engine.averages import values
from evalpipe.engine.curves.declare import Computed, CurveRows, curve
from evalpipe.engine.curves.ranking import Steps, shown
from evalpipe.results.curves import events
from evalpipe.statistics import sweep

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats
    from evalpipe.chapters.curves.plan import RelationsPlan
    from evalpipe.plan.measures import MetricPlan

PREVALENCES = np.arange(1, 50) / 50
"""The prevalences at which a measure is given."""

MOST = 200
"""About the most thresholds at each prevalence."""


def _at(entry: MetricPlan, prevalence: float) -> MetricPlan:
    """Return a measure at a prevalence of the event; one that it does not change stays as it is."""
    shares = (prevalence, 1 - prevalence)
    return replace(entry, prior=PriorPlan(shares, None if entry.metric.within else shares, prevalence))


def _titles(asked: RelationsPlan) -> dict[str, str]:
    return {called(entry, asked.measures): entry.metric.title for entry in asked.measures}


@curve(events.RelatedMeasures, of=("event",), needs="scores")
def related(rows: CurveRows) -> Computed | None:
    """Compute each measure at each threshold and prevalence; they need both classes."""
    asked = rows.plan.relations
    if asked is None or not rows.once(Steps.of).has_both:
        return None
    m = len(rows.summary.rows.distinct) + 1
    keep = shown(m, MOST)
    swept, many = sweep(rows.summary, np.arange(m - 1, -1, -1)), len(asked.prevalences)
    at_every = [
        {called(entry, asked.measures): values(swept, _at(entry, at)) for entry in asked.measures}
        for at in asked.prevalences]
    columns = {name: np.concatenate([measures[name][keep] for measures in at_every]) for name in at_every[0]}
    threshold = np.r_[np.inf, rows.summary.rows.threshold_at[::-1]][keep]
    points = {"prevalence": np.repeat(asked.prevalences, len(keep)), "threshold": np.tile(threshold, many), **columns}
    many_points = None if len(keep) == m else m * many
    highest = tuple(_where_first_is_highest(measures) for measures in at_every)
    return points, events.RelatedNotes(points_of=many_points, titles=_titles(asked), highest=highest)


def _where_first_is_highest(measures: dict[str, Floats]) -> dict[str, float | None]:
    """Return each measure where the first is highest, and of several thresholds the next; None where undefined."""
    columns = np.array(list(measures.values()))
    # The last key of lexsort is the first by which it sorts.
    best = columns[:, np.lexsort(np.nan_to_num(columns, nan=-np.inf)[::-1])[-1]]
    return {name: None if np.isnan(value) else float(value) for name, value in zip(measures, best, strict=True)}


@curve(events.MeasuresByPrevalence, of=("event",), needs="labels")
def by_prevalence(rows: CurveRows) -> Computed | None:
    """Compute each measure of the predicted classes at each prevalence."""
    asked = rows.plan.relations
    if asked is None:
        return None
    columns = {
        called(entry, asked.measures): np.array([values(rows.summary, _at(entry, at)) for at in PREVALENCES]).ravel()
        for entry in asked.measures}
    # Without rows of a level nothing can be reweighted, and every value is undefined.
    return None if np.isnan(list(columns.values())).all() else (
        {"prevalence": PREVALENCES, **columns}, events.RelationNotes(titles=_titles(asked)))
