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
from evalpipe.statistics import of_cells, sweep, swept_in_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.chapters.curves.plan import RelationsPlan
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Summary

PREVALENCES = np.arange(1, 50) / 50
"""The prevalences at which a measure is given."""

MOST = 200
"""About the most thresholds at each prevalence."""

AT_ONCE = 32_768
"""Thresholds at which the highest of a measure is looked for at once."""


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
    keep, many = shown(m, MOST), len(asked.prevalences)
    swept = sweep(rows.summary, m - 1 - keep)
    at_every = [_related(asked, swept, at) for at in asked.prevalences]
    columns = {name: np.concatenate([measures[name] for measures in at_every]) for name in at_every[0]}
    threshold = np.r_[np.inf, rows.summary.rows.threshold_at[::-1]][keep]
    points = {"prevalence": np.repeat(asked.prevalences, len(keep)), "threshold": np.tile(threshold, many), **columns}
    many_points = None if len(keep) == m else m * many
    highest = tuple(
        _highest(asked, rows.summary, at, cuts) for at, cuts in _where_first_is_highest(asked, rows.summary))
    return points, events.RelatedNotes(points_of=many_points, titles=_titles(asked), highest=highest)


def _related(asked: RelationsPlan, swept: Summary, prevalence: float) -> dict[str, Floats]:
    """Return each measure at a prevalence, by name."""
    return {called(entry, asked.measures): values(swept, _at(entry, prevalence)) for entry in asked.measures}


def _where_first_is_highest(asked: RelationsPlan, summary: Summary) -> Iterator[tuple[float, Wholes]]:
    """Yield each prevalence with the cuts at which the first measure is highest there, from the highest cut down."""
    cuts = np.arange(len(summary.rows.distinct), -1, -1)
    parts: dict[float, list[Floats]] = {at: [] for at in asked.prevalences}
    for swept in swept_in_parts(summary, cuts, AT_ONCE):
        for at, part in parts.items():
            part.append(np.nan_to_num(values(swept, _at(asked.measures[0], at)), nan=-np.inf))
    for at, part in parts.items():
        first = np.concatenate(part)
        yield at, cuts[first == first.max()]


def _highest(asked: RelationsPlan, summary: Summary, prevalence: float, cuts: Wholes) -> dict[str, float | None]:
    """Return each measure at the cut among some at which the next after the first is highest; None where undefined."""
    measures = _related(asked, sweep(summary, cuts), prevalence)
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
    cells = of_cells(rows.summary.reportable)  # not the rows, each of which would be reweighted to every prevalence
    columns = {
        called(entry, asked.measures): np.array([values(cells, _at(entry, at)) for at in PREVALENCES]).ravel()
        for entry in asked.measures}
    # Without rows of a level nothing can be reweighted, and every value is undefined.
    return None if np.isnan(list(columns.values())).all() else (
        {"prevalence": PREVALENCES, **columns}, events.RelationNotes(titles=_titles(asked)))
