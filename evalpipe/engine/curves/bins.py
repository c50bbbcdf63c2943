"""Bins of predicted probability for reliability diagrams. Equal scores always share a bin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.metrics.bins import equal_weight
from evalpipe.metrics.values import ratio
from evalpipe.statistics.groups import runs_within, starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics import Rows, Summary


def bin_edges(summary: Summary, strategy: str, bins: int) -> Floats:
    """Return the lowest score of each used bin, ascending, shape [used].

    ``uniform``: ``bins`` of equal width, closed below, the last closed above too. ``quantile``: bins of equal weight,
    floor(bins x weight below / total weight), where a group of equal scores goes to the bin of its first row, so fewer
    bins may be used. ``summary`` has the case weights, not a replicate's, so bins stay the same in all
    replicates.
    """
    rows = summary.rows
    if strategy == "uniform":
        starts, _ = runs_within(rows.chance_at, np.arange(bins) / bins)
    else:
        starts = starts_of_runs(equal_weight(rows.by_score(summary.weights[rows.order]), bins))
    # Bins that no score is in leave no edge behind.
    lowest: Floats = rows.distinct[starts]
    return lowest


def midpoints(summary: Summary, strategy: str, bins: int, edges: Floats) -> Floats:
    """Return the middle of each used bin [used], whose lowest scores are the ``edges``, as a probability.

    Of equal width, in the middle of its share of 0 to 1; of equal weight, between its lowest probability and that of
    the next bin, of the last bin its highest.
    """
    rows = summary.rows
    lowest = rows.chance_at[np.searchsorted(rows.distinct, edges)]
    if strategy == "uniform":
        borders = np.arange(bins + 1) / bins
        place = np.searchsorted(borders[:-1], lowest, "right") - 1
        return np.asarray((borders[place] + borders[place + 1]) / 2)
    ends = np.append(lowest[1:], rows.chance_at[-1])
    return np.asarray((lowest + ends) / 2)


def totals(rows: Rows, values: Floats, edges: Floats) -> Floats:
    """Total values at each distinct score [..., m] in each bin [..., bins]."""
    starts, inside = runs_within(rows.distinct, edges)
    binned = np.zeros((*values.shape[:-1], len(edges)))
    binned[..., inside] = totals_of_runs(values, starts)
    return binned


def event_rates(summary: Summary, edges: Floats) -> Floats:
    """Return the share of events in each bin, [..., bins]; NaN where a replicate left a bin empty."""
    events, others = (totals(summary.rows, summary(name), edges) for name in ("events_at", "others_at"))
    return ratio(events, events + others)
