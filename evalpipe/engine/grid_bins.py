"""What the bins of a measure may hold, where rows are known by the cells of a grid that they were counted in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from evalpipe.metrics.bins import ROUNDING, equal_weight
from evalpipe.metrics.ranges import BinRanges
from evalpipe.statistics.groups import totals_of_runs
from evalpipe.statistics.rows import present

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.metrics.declare import Metric
    from evalpipe.statistics import Rows


@dataclass(frozen=True)
class _Binned:
    """Cells [n] that lie in one bin, from the ``first`` that they may be in to the ``last``, or are parted among these.

    ``until`` [n] is the weight of all rows up to the end of a cell; of the cell only what exceeds the border of a bin,
    of ``borders`` [bins + 1], may lie in it. Both are None where all of it may. ``expected`` [bins] are the
    probabilities that bins stand for, None where they are those of their rows.
    """

    rows: Rows
    weights: Floats
    first: Wholes
    last: Wholes
    until: Floats | None = None
    borders: Floats | None = None
    expected: Floats | None = None


def bin_ranges(
    rows: Rows, weights: Floats, single: Flags, metric: Metric, params: Mapping[str, Any], *, exact: bool
) -> BinRanges:
    """Return the least and the largest that bins may hold of cells [n] of some weights.

    ``single`` [n] tells which share their score with no row that may be ranked apart. ``exact``: the mean probability
    of each cell is that of its rows.
    """
    cut = 0 if metric.cut is None else metric.cut(params)
    if cut:
        return _totals(_of_equal_weight(rows, weights, single, cut), cut, exact=exact)
    low, high = present(rows.ends, "ends of cells").T
    if "digits" in params:
        steps = 10 ** params["digits"]
        first, last = (np.rint(np.round(end, params["digits"]) * steps).astype(np.intp) for end in (low, high))
        expected = np.arange(steps + 1) / steps
        if "rounded_sum" not in metric.takes:  # events are compared with the prevalence
            expected = np.full(steps + 1, (weights * rows.truth).sum() / weights.sum())
        return _totals(_Binned(rows, weights, first, last, expected=expected), steps + 1, exact=exact)
    edges = np.arange(params["bins"]) / params["bins"]
    first, last = (np.searchsorted(edges, end, side="right") - 1 for end in (low, high))
    return _totals(_Binned(rows, weights, first, last), params["bins"], exact=exact)


def _of_equal_weight(rows: Rows, weights: Floats, single: Flags, bins: int) -> _Binned:
    """Return cells in bins of equal weight: a bin ends in a cell where it has no row of its own to end at."""
    at = totals_of_runs(weights[rows.order], rows.starts)
    running, place = np.cumsum(at), np.searchsorted(rows.distinct, rows.scored)
    first = equal_weight(at, bins)
    # A row that begins just where a cell ends is in the next one.
    last = np.ceil(bins * running / running[-1] - ROUNDING).astype(np.intp) - 1
    last = np.where(single[rows.order][rows.starts], first, np.maximum(last, first))
    borders = running[-1] * np.arange(bins + 1) / bins
    return _Binned(rows, weights, first[place], last[place], running[place], borders)


def _totals(binned: _Binned, bins: int, *, exact: bool) -> BinRanges:
    """Return the totals of the bins, with as little and as much of each cell as they may have."""
    events, others, expected, gap, variance = np.zeros((5, 2, bins))
    chances = np.repeat([[1.0], [0.0]], bins, axis=1)
    ranges = BinRanges(events, others, expected, gap, variance, chances, binned.rows.trained_on)
    sure = binned.first == binned.last
    _add(ranges, binned, np.flatnonzero(sure), 0, exact=exact)
    parted = np.flatnonzero(~sure)
    for step in range(int((binned.last - binned.first).max(initial=-1)) + 1 if len(parted) else 0):
        _add(ranges, binned, parted[binned.first[parted] + step <= binned.last[parted]], step, exact=False)
    return ranges


def _add(ranges: BinRanges, binned: _Binned, chosen: Wholes, step: int, *, exact: bool) -> None:
    """Add to the ``step``-th bin after their first what the ``chosen`` cells may give it."""
    rows, place, weight = binned.rows, binned.first[chosen] + step, binned.weights[chosen]
    low, high = (_chances(binned, chosen, place, end, exact=exact) for end in (0, 1))
    parted = binned.first[chosen] < binned.last[chosen]
    least, most = weight * ~parted, weight
    if binned.until is not None and binned.borders is not None:
        below, above = binned.until[chosen] - binned.borders[place], binned.until[chosen] - binned.borders[place + 1]
        most = np.minimum(weight, np.maximum(below, 0.0)) if step else weight
        least = np.where(parted & (step == 0), weight - np.minimum(weight, np.maximum(above, 0.0)), least)
    truth = rows.truth[chosen]
    gaps = np.where(truth, least * (1 - high), -most * high), np.where(truth, most * (1 - low), -least * low)
    spread = np.minimum(low * (1 - low), high * (1 - high))  # p (1 - p) is least at an end
    added = ((least * truth, most * truth), (least * ~truth, most * ~truth), (least * low, most * high), gaps,
             (least * spread, most / 4))
    all_totals = ranges.events, ranges.others, ranges.expected, ranges.gap, ranges.variance
    for totals, pair in zip(all_totals, added, strict=True):
        np.add(totals, [np.bincount(place, values, totals.shape[-1]) for values in pair], out=totals)
    np.minimum.at(ranges.chances[0], place, low)
    np.maximum.at(ranges.chances[1], place, high)


def _chances(binned: _Binned, chosen: Wholes, place: Wholes, end: int, *, exact: bool) -> Floats:
    """Return the least (``end`` 0) or the largest probability that cells count with in the bins of their ``place``."""
    if binned.expected is not None:
        return np.asarray(binned.expected[place])
    mean = binned.rows.chances[chosen]
    if exact:
        return mean
    # The mean of a cell is within its ends but for rounding.
    ends = present(binned.rows.ends, "ends of cells")[chosen, end]
    return np.asarray(np.maximum(ends, mean) if end else np.minimum(ends, mean))
