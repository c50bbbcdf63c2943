"""Bins of predicted probability for reliability diagrams. Equal scores always share a bin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.metrics.declare import ratio

if TYPE_CHECKING:
    from evalpipe.statistics import Summary

Floats = np.ndarray[Any, np.dtype[np.float64]]
Whole = np.ndarray[Any, np.dtype[np.intp]]

BINS = 10
STRATEGIES = ("uniform", "quantile")


def assign(summary: Summary, strategy: str, weight: Floats | None) -> Whole:
    """Return the bin of each distinct score, ascending, shape [m].

    ``uniform``: ten bins of equal width, closed below, the last closed above too. ``quantile``: bins of equal weight,
    floor(10 x weight below / total weight), where a group of equal scores goes to the bin of its first row, so fewer
    than ten bins may be used. ``weight`` are the case weights, not a replicate's, so bins stay the same in all
    replicates.
    """
    rows = summary.rows
    if strategy == "uniform":
        edges = np.arange(BINS + 1) / BINS
        index: Whole = np.minimum(np.searchsorted(edges, rows.distinct, side="right") - 1, BINS - 1)
        return index
    each = np.ones(len(rows.truth)) if weight is None else weight
    at = rows.by_score(each[rows.order])
    below = np.cumsum(at) - at
    place: Whole = np.minimum((BINS * below / at.sum()).astype(np.intp), BINS - 1)
    return place


def totals(values: Floats, bins: Whole) -> Floats:
    """Total values at each distinct score [..., m] in each used bin [..., used]."""
    return np.add.reduceat(values, np.flatnonzero(np.r_[True, bins[1:] != bins[:-1]]), axis=-1)


def event_rates(summary: Summary, strategy: str, weight: Floats | None) -> Floats:
    """Return the share of events in each used bin, [..., used]; NaN where a replicate left a bin empty."""
    bins = assign(summary, strategy, weight)
    events, others = totals(summary("events_at"), bins), totals(summary("others_at"), bins)
    return ratio(events, events + others)
