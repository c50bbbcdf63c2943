"""What a measure would be if truth and prediction were independent: the value of a model that knows nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.chapters.prevalence.plan import SAMPLE
from evalpipe.engine.averages import values
from evalpipe.engine.independent import exact
from evalpipe.intervals.resampling import stream
from evalpipe.metrics.values import ratio
from evalpipe.statistics import Summary

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan

EXPANDED = 1_000_000
"""The most observations that frequency weights are taken apart into, so that each is paired by itself."""


def no_information(plan: Plan, sample: Sample, summary: Summary, entry: MetricPlan) -> Floats:
    """Return the mean of a measure over pairings of truths with predictions, [], or [K] where each class has its own.

    ``summary`` is of the rows that the measure sees: of predicted classes, those that have one are paired among
    themselves; at a prevalence they count as reweighted. Exact where the mean has a closed form; else over
    random pairings, as many as the plan says. NaN where it is undefined in all, or there are no rows; and of an
    expression of measures at prevalences of their own, whose rows cannot be reweighted to all of them.
    """
    if any(part.prior.asked is not None for _, part in entry.parts):
        return np.asarray(np.nan)
    if not summary.weights.any():  # no row has a class: there is nothing to pair
        return np.full_like(values(summary, entry), np.nan)
    entry = replace(entry, prior=replace(entry.prior, shares=entry.prior.asked))
    known = None if entry.parts else exact(summary, entry, whole=sample.weight_kind != "importance")
    if known is not None:
        return known
    weighted = sample.weight is not None
    if entry.prior.shares is not None:
        if summary.lacks(entry.prior.shares):
            return np.full_like(values(summary, entry), np.nan)
        summary, entry = summary.at(entry.prior.shares), replace(entry, prior=SAMPLE)
        weighted = True
    elif sample.weight_kind == "frequency" and summary.weights.sum() <= EXPANDED:
        rows = summary.rows.taken(np.repeat(np.arange(len(summary.weights)), summary.weights.astype(np.intp)))
        summary, weighted = Summary(rows, np.ones(len(rows.truth))), False
    pairings = (_pairing(plan, sample, summary, number, weighted=weighted) for number in range(plan.permutations))
    drawn = np.stack([values(Summary(summary.rows.paired(pairing), summary.weights), entry) for pairing in pairings])
    known = ~np.isnan(drawn)
    return ratio(np.where(known, drawn, 0.0).sum(axis=0), known.sum(axis=0))


def _pairing(plan: Plan, sample: Sample, summary: Summary, number: int, *, weighted: bool) -> Wholes:
    """Draw which row's truth meets each prediction: a permutation; with weights, rows in proportion to them."""
    generator, n = stream(plan.seed, "pairing", sample.dataset, number), len(summary.rows.truth)
    if not weighted:
        return generator.permutation(n)
    return generator.choice(n, n, p=summary.weights / summary.weights.sum())


def skill(entry: MetricPlan, value: float, known: float) -> float | None:
    """Return the share of the way from the value without information to the best one; None where there is none."""
    if entry.metric.direction == "none":
        return None
    end = entry.metric.bounds(entry.params)[entry.metric.direction == "maximize"]
    if not np.isfinite([end, value, known]).all() or end == known:
        return None
    return float((value - known) / (end - known))
