"""The value of a measure; of several classes, each against the rest, and the averages over them."""

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
    summary: Summary, entry: MetricPlan, drawn_shares: Floats | None = None, scale: Floats | None = None
) -> Floats:
    """Return a measure's value under each row of weights, [...], or for average "none" by class, [..., K].

    At a prevalence the classes are reweighted to it. NaN where a class that has a share is absent, and where the
    model does not give what the measure needs. ``drawn_shares`` [..., K] are the shares of the classes that
    replicates have drawn, for a measure whose prevalence is uncertain; ``scale`` [...] multiplies a measure that
    grows with the rows. An expression is computed from the values of its measures on the same statistics.
    """
    if isinstance(entry.metric, ExpressionMetric) and entry.metric.tree is not None:
        parts = {name: values(summary, part, drawn_shares, scale) for name, part in entry.parts}
        return computed(entry.metric.tree, parts)
    if entry.metric.needs not in summary.rows.gives:
        return np.full((*summary.weights.shape[:-1], *([len(entry.of_class)] * (entry.average == "none"))), np.nan)
    summary = summary.seen_by(entry.metric)
    shares: Floats | tuple[float, ...] | None = entry.prior.shares
    if drawn_shares is not None and entry.prior.uncertain:
        entry, shares = (entry.under(drawn_shares), None) if shares is None else (entry, drawn_shares)
    reweighted = summary if shares is None else summary.at(shares)
    if entry.average is None:
        value = reweighted.value(entry.metric, entry.params)
    elif entry.average == "micro":
        value = reweighted.pooled.value(entry.metric, entry.of_class[0])
    elif entry.average == "none":
        value = by_class(reweighted, entry)
    else:
        value = mean_over_classes(by_class(reweighted, entry), reweighted("occurring"), entry.average)
    if shares is not None:
        is_absent = summary.lacks(shares)
        value = np.where(is_absent.reshape(is_absent.shape + (1,) * (value.ndim - is_absent.ndim)), np.nan, value)
    if scale is not None and entry.metric.extensive:
        value = value * scale.reshape(scale.shape + (1,) * (value.ndim - scale.ndim))
    return value


def at_prevalence(summary: Summary, entry: MetricPlan) -> Summary:
    """Return ``summary`` reweighted to the prevalence of a measure; unchanged for the prevalence of the data."""
    return summary if entry.prior.shares is None else summary.at(entry.prior.shares)


def by_class(summary: Summary, entry: MetricPlan) -> Floats:
    """Return a measure's value for each class against the rest, [..., K]."""
    pairs = zip(summary.classes, entry.of_class, strict=True)
    return np.stack([against_rest.value(entry.metric, options) for against_rest, options in pairs], axis=-1)


def mean_over_classes(of_classes: Floats, occurring: Floats, average: str) -> Floats:
    """Return the mean over the last axis, of classes with a value: plain ("macro"), or weighted by ``occurring``.

    Values and ``occurring``, the weights of the true classes, are [..., K]. NaN where no class has a value.
    """
    weight = np.ones_like(of_classes) if average == "macro" else occurring
    # A class without a value leaves the mean with its weight; `classes_used` tells the reader.
    weight = np.where(np.isnan(of_classes), 0.0, weight)
    return ratio((np.nan_to_num(of_classes) * weight).sum(axis=-1), weight.sum(axis=-1))
