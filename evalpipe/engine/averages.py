"""One-vs-all: the values of a measure for each class, and the ways of bringing them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics.expressions import ExpressionMetric, computed
from evalpipe.metrics.values import ratio

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Summary


def values(
    summary: Summary, entry: MetricPlan, drawn: Floats | None = None, scale: Floats | None = None
) -> Floats:
    """Return a measure's value [...], or for the average "none" its value for each class [..., K].

    At a prevalence the classes of the rows that the measure sees are weighed to it; NaN where one that has a share is
    absent, and where the model does not give what the measure needs. ``drawn`` [..., K] are shares that replicates have
    drawn, for a measure whose prevalence is uncertain; ``scale`` [...] multiplies a measure that grows with the rows.
    An expression is computed from the values of its measures on the same statistics.
    """
    if isinstance(entry.metric, ExpressionMetric) and entry.metric.tree is not None:
        return computed(entry.metric.tree, {name: values(summary, part, drawn, scale) for name, part in entry.parts})
    taken = _taken(summary, entry, drawn)
    if scale is None or not entry.metric.extensive:
        return taken
    return taken * scale.reshape(scale.shape + (1,) * (taken.ndim - scale.ndim))


def _taken(summary: Summary, entry: MetricPlan, drawn: Floats | None) -> Floats:
    """Return the values of a measure of the statistics' rows, at its prevalence."""
    if entry.metric.needs not in summary.rows.gives:
        return np.full((*summary.weights.shape[:-1], *([len(entry.of_class)] * (entry.average == "none"))), np.nan)
    summary = summary.seen_by(entry.metric)
    shares: Floats | tuple[float, ...] | None = entry.prior.shares
    if drawn is not None and entry.prior.uncertain:
        if shares is None:
            return _values(summary, entry.under(drawn))
        shares = drawn
    if shares is None:
        return _values(summary, entry)
    estimate, lacking = _values(summary.at(shares), entry), summary.lacks(shares)
    return np.where(lacking.reshape(lacking.shape + (1,) * (estimate.ndim - lacking.ndim)), np.nan, estimate)


def weighed(summary: Summary, entry: MetricPlan) -> Summary:
    """Return the statistics under the weights that a measure is taken with."""
    return summary if entry.prior.shares is None else summary.at(entry.prior.shares)


def _values(summary: Summary, entry: MetricPlan) -> Floats:
    if entry.average is None:
        return summary.value(entry.metric, entry.params)
    if entry.average == "micro":
        return summary.pooled.value(entry.metric, entry.of_class[0])
    of_classes = by_class(summary, entry)
    return of_classes if entry.average == "none" else brought_together(of_classes, summary("occurring"), entry.average)


def by_class(summary: Summary, entry: MetricPlan) -> Floats:
    """Return a measure's value for each class against the rest, [..., K]."""
    pairs = zip(summary.classes, entry.of_class, strict=True)
    return np.stack([against_rest.value(entry.metric, options) for against_rest, options in pairs], axis=-1)


def brought_together(of_classes: Floats, occurring: Floats, average: str) -> Floats:
    """Return the mean over the classes that have a value, plain ("macro") or by their true weight; NaN without any."""
    size = np.ones_like(of_classes) if average == "macro" else occurring
    # A class without a value leaves the mean with its weight; `classes_used` tells the reader.
    size = np.where(np.isnan(of_classes), 0.0, size)
    return ratio((np.nan_to_num(of_classes) * size).sum(axis=-1), size.sum(axis=-1))
