"""How far a value computed from cells may be from the value of the rows that were counted in them.

First for bins, for the isotonic curve and for the logistic line, then for every measure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalpipe.arithmetic.functions import exp, log, log1p
from evalpipe.engine.averages import at_prevalence, values
from evalpipe.metrics.bins import ROUNDING, equal_weight
from evalpipe.metrics.logistic import rates
from evalpipe.metrics.values import BinRanges
from evalpipe.statistics import Summary
from evalpipe.statistics.groups import totals_of_runs
from evalpipe.statistics.rows import present
from evalpipe.statistics.scores import CLIPPED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.metrics.declare import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Rows


@dataclass(frozen=True)
class _BinnedCells:
    """Cells [n] whose rows lie in bins from the ``first`` to the ``last`` that they may be in.

    For bins of equal weight, ``until`` [n] is the weight of all rows up to the end of a cell and ``borders`` [bins + 1]
    are those of the bins: of a cell, no more may lie in a bin than exceeds its lower border. Both are None for other
    bins. ``expected`` [bins] are the probabilities that bins stand for, None where they are those of their rows.
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
    """Return the least and the largest totals that bins may have, from cells [n] and their weights.

    ``single`` [n] tells which share their score with no row that may be ranked apart. ``exact``: the mean probability
    of each cell is that of its rows.
    """
    bins = 0 if metric.even_bins is None else metric.even_bins(params)
    if bins:
        return _range_of_totals(_bins_of_equal_weight(rows, weights, single, bins), bins, exact=exact)
    low, high = present(rows.ends, "ends of cells").T
    if "digits" in params:
        steps = 10 ** params["digits"]
        first, last = (np.rint(np.round(end, params["digits"]) * steps).astype(np.intp) for end in (low, high))
        expected = np.arange(steps + 1) / steps
        if "rounded_sum" not in metric.takes:  # events are compared with the prevalence
            expected = np.full(steps + 1, (weights * rows.truth).sum() / weights.sum())
        return _range_of_totals(_BinnedCells(rows, weights, first, last, expected=expected), steps + 1, exact=exact)
    edges = np.arange(params["bins"]) / params["bins"]
    first, last = (np.searchsorted(edges, end, side="right") - 1 for end in (low, high))
    return _range_of_totals(_BinnedCells(rows, weights, first, last), params["bins"], exact=exact)


def _bins_of_equal_weight(rows: Rows, weights: Floats, single: Flags, bins: int) -> _BinnedCells:
    """Assign cells to bins of equal weight; a cell whose rows may have different ranks may lie in several bins."""
    at = totals_of_runs(weights[rows.order], rows.starts)
    running, place = np.cumsum(at), np.searchsorted(rows.distinct, rows.scored)
    first = equal_weight(at, bins)
    # A row that begins just where a cell ends is in the next one.
    last = np.ceil(bins * running / running[-1] - ROUNDING).astype(np.intp) - 1
    last = np.where(single[rows.order][rows.starts], first, np.maximum(last, first))
    borders = running[-1] * np.arange(bins + 1) / bins
    return _BinnedCells(rows, weights, first[place], last[place], running[place], borders)


def _range_of_totals(binned: _BinnedCells, bins: int, *, exact: bool) -> BinRanges:
    """Return the totals of the bins, with as little and as much of each cell as may lie in them."""
    events, others, expected, gap, variance = np.zeros((5, 2, bins))
    chances = np.repeat([[1.0], [0.0]], bins, axis=1)
    ranges = BinRanges(events, others, expected, gap, variance, chances, binned.rows.trained_on)
    certain = binned.first == binned.last
    _add_cells(ranges, binned, np.flatnonzero(certain), 0, exact=exact)
    divided = np.flatnonzero(~certain)
    for step in range(int((binned.last - binned.first).max(initial=-1)) + 1 if len(divided) else 0):
        _add_cells(ranges, binned, divided[binned.first[divided] + step <= binned.last[divided]], step, exact=False)
    return ranges


def _add_cells(ranges: BinRanges, binned: _BinnedCells, chosen: Wholes, step: int, *, exact: bool) -> None:
    """Add to the ``step``-th bin after their first as little and as much as the ``chosen`` cells may have in it."""
    rows, place, weight = binned.rows, binned.first[chosen] + step, binned.weights[chosen]
    mean = rows.chances[chosen]
    if binned.expected is not None:
        low = high = np.asarray(binned.expected[place])
    elif exact:
        low = high = mean
    else:  # the mean of a cell is within its ends but for rounding
        ends = present(rows.ends, "ends of cells")[chosen]
        low, high = np.minimum(ends[:, 0], mean), np.maximum(ends[:, 1], mean)
    divided = binned.first[chosen] < binned.last[chosen]
    least, most = weight * ~divided, weight
    if binned.until is not None and binned.borders is not None:
        below, above = binned.until[chosen] - binned.borders[place], binned.until[chosen] - binned.borders[place + 1]
        most = np.minimum(weight, np.maximum(below, 0.0)) if step else weight
        least = np.where(divided & (step == 0), weight - np.minimum(weight, np.maximum(above, 0.0)), least)
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


MOST_CELLS = 4096
"""Neighbouring cells are joined to at most so many, for the work grows with their square. The limits stay limits."""


def isotonic_distances(rows: Rows, single: Flags, weights: Floats) -> tuple[Floats, Floats]:
    """Return how near to the isotonic curve each row is at least, and how far at most, both [n]; 0 without weight.

    ``rows`` are those of cells in order, and ``single`` [n] tells which share their score with no row that may be
    ranked apart.
    """
    used = weights > 0
    cell = np.unique(rows.scored[used], return_inverse=True)[1]
    cells = int(cell.max(initial=-1)) + 1
    joined = -(-cells // MOST_CELLS) if cells else 1
    group = cell // joined
    of_rows = weights[used] * [rows.truth[used], ~rows.truth[used]]
    events, others = (np.bincount(group, of_kind).astype(float) for of_kind in of_rows)
    unordered = np.bincount(group, ~single[used]) > 0 if joined == 1 else np.ones(len(events), bool)
    highest = _highest_isotonic_rates(events, others, unordered)[group]
    lowest = 1 - _highest_isotonic_rates(others[::-1], events[::-1], unordered[::-1])[::-1][group]
    low, high = present(rows.ends, "ends of cells")[used].T
    distances = np.zeros((2, len(weights)))
    distances[0, used] = np.maximum(np.maximum(low - highest, lowest - high), 0.0)
    distances[1, used] = np.maximum(highest - low, high - lowest)
    nearest, farthest = distances
    return nearest, farthest


def _highest_isotonic_rates(events: Floats, others: Floats, unordered: Flags) -> Floats:
    """Return the largest event rate [cells] of the isotonic curve, in any order of the rows of ``unordered`` cells.

    The curve is the least, over the ends of a run of rows, of the largest event rate over its starts (Robertson, Wright
    & Dykstra 1988, section 1.4). Fewer ends can but raise it: here runs end where cells do. A run that starts within a
    cell has the largest rate where it leaves out all others of that cell.
    """
    total, hits = (np.concatenate([[0.0], np.cumsum(table)]) for table in (events + others, events))
    start = total[:-1] + np.where(unordered, others, 0.0)
    highest = np.ones(len(events))
    for end in range(len(events)):
        weight = total[end + 1] - start[: end + 1]
        rate = np.divide(hits[end + 1] - hits[: end + 1], weight, out=np.zeros(end + 1), where=weight > 0)
        np.minimum(highest[: end + 1], np.maximum.accumulate(rate), out=highest[: end + 1])
    return highest


class _CentredCells(NamedTuple):
    """The log odds of cells, less their mean ``middle``, in standard deviations ``unit``.

    ``z`` [n] are those that the line was fitted to, ``low`` and ``high`` [n] the ends of the cells.
    """

    middle: float
    unit: float
    z: Floats
    low: Floats
    high: Floats

    @property
    def width(self) -> Floats:
        """How far the log odds of a cell's rows may be from ``z``, [n]."""
        return np.maximum(self.z - self.low, self.high - self.z)


def line_errors(summary: Summary) -> tuple[float, float]:
    """Return how far the intercept and slope of rows may be from those of cells; infinite where no bound is known.

    The line in centred log odds of unit spread has two nearly independent equations. Their information is bounded from
    below by rows at the ends of their cells, their gradient from above; the fit can move no further than both allow.
    """
    cells, weight, (intercept, slope) = _centred_cells(summary), summary.floats, summary("calibration_line")
    bend, start = slope * cells.unit, intercept + slope * cells.middle
    chance, *ends = (rates(start + bend * x).event for x in (cells.z, cells.low, cells.high))
    information, steeper = weight * chance * (1 - chance), exp(np.abs(bend) * cells.width)
    terms = [total.sum() for total in (information, information * cells.z, information * cells.z**2)]
    inverse = np.array([[terms[2], -terms[1]], [-terms[1], terms[0]]]) / (terms[0] * terms[2] - terms[1] ** 2)
    # What is left of the information, at worst, where rows lie at the ends of their cells.
    lost = np.sqrt(inverse[1, 1] * (information * cells.width**2).sum())
    kept = float(max(1 - lost, 0.0) ** 2 / steeper.max())
    if not kept > 0:
        return np.inf, np.inf
    inverse /= kept
    off, missed = (np.max([np.abs(end - of) for end in ends], axis=0) for of in (chance, summary.rows.truth))
    away = np.maximum(np.abs(cells.low), np.abs(cells.high))
    moved = (np.abs(bend) * information * steeper * away + weight * missed) * cells.width
    rest = np.array([(weight * off).sum(), moved.sum()])
    step = np.sqrt((np.abs(inverse) * np.outer(rest, rest)).sum())

    def error_at(x: float) -> float:
        """Return the standard error of the line at a place."""
        return float(np.sqrt(inverse[0, 0] + 2 * inverse[0, 1] * x + inverse[1, 1] * x**2))

    largest = max(error_at(x) for x in (cells.low.min(), cells.high.max()))
    if not largest * step < 1:
        return np.inf, np.inf
    longest = float(-log1p(-largest * step) / largest)
    return longest * error_at(-cells.middle / cells.unit), longest * np.sqrt(inverse[1, 1]) / cells.unit


def widest(summary: Summary) -> float:
    """Return the width of the widest cell in standard deviations of the log odds; 0 where no cell has any."""
    low, high = (_log_odds(end) for end in present(summary.rows.ends, "ends of cells").T)
    width = float((high - low).max(initial=0.0))
    return width / _centred_cells(summary).unit if width > 0 else 0.0


def _centred_cells(summary: Summary) -> _CentredCells:
    rows, weight = summary.rows, summary.floats
    fitted = _log_odds(rows.chance_at[np.searchsorted(rows.distinct, rows.scored)])
    low, high = (_log_odds(end) for end in present(rows.ends, "ends of cells").T)
    middle = float((weight * fitted).sum() / weight.sum())
    unit = float(np.sqrt((weight * (fitted - middle) ** 2).sum() / weight.sum()))
    ends = np.minimum(low, fitted), np.maximum(high, fitted)
    return _CentredCells(middle, unit, *((x - middle) / unit for x in (fitted, *ends)))


def _log_odds(chances: Floats) -> Floats:
    return np.asarray(log(np.maximum(chances, CLIPPED)) - log(np.maximum(1 - chances, CLIPPED)))


RANKED = {"events_at", "others_at", "events_from", "others_from"}
"""Statistics that take the rows of a cell as tied."""

PLACED = {"log_odds_at", "shortfall_at"}
"""Statistics that take the rows of a cell at its mean probability, where more than a sum of these counts."""

SUMMED = {"probability_at", "binned_gap", "binned_events", "binned_others"}
"""Statistics that take them so and sum them: exact where the mean of each cell is known. In a slice it is that of all
rows. Cells end where bins do, until recalibration moves them."""

ROUNDED = {"rounded_sum", "rounded_events", "rounded_others"}
"""Statistics of rounded probabilities: exact, for cells end where rounding does, until recalibration moves them."""

COARSE = 0.01
"""Where a cell is wider than this, in standard deviations of the log odds, nothing is known of smooth curves."""

FEW_SCORES = 20
"""Where fewer scores are told apart, cells that hold several move the knots of a spline: as little is known."""



def error_bound(summary: Summary, entry: MetricPlan, *, sliced: bool, recalibrated: bool) -> float | None:
    """Return how far a measure of cells may be from that of their rows; None where they agree, or rows are held.

    ``sliced``: the means of cells are those of all rows, not of the slice. ``recalibrated``: probabilities were mapped
    by a fit to cells. The bound is guaranteed but for smooth curves, recalibrated rows and expressions, which are
    computed with the probabilities of cells at their ends in six ways.
    """
    if getattr(summary.rows, "ends", None) is None:
        return None
    leaves = entry.leaves
    used = {name for leaf in leaves for name in leaf.metric.statistics}
    moved = sliced or recalibrated
    of_chances = used & (PLACED | (SUMMED if moved else set()) | (ROUNDED if recalibrated else set()))
    of_rows = recalibrated and any(leaf.metric.needs == "probabilities" for leaf in leaves)
    if not (used & (RANKED | SUMMED | ROUNDED) or of_chances or of_rows):
        return None
    value = values(summary, entry)
    if np.isnan(value):
        return None
    possible = np.array([*_extreme_values(summary, entry, of_chances=bool(of_chances or of_rows), exact=not moved)])
    return float(np.nanmax(np.abs(possible - value), initial=0.0))


def _extreme_values(summary: Summary, entry: MetricPlan, *, of_chances: bool, exact: bool) -> Iterator[float]:
    """Yield values between the least and the largest of which a measure lies; ``exact``: means of cells are known."""
    metric, seen = entry.metric, at_prevalence(summary.seen_by(entry.metric), entry)
    if metric.tied_range is not None:
        ordered, single = _ordered_within_cells(seen.rows)
        at = Summary(ordered, seen.weights)
        tables = [at(name, entry.params) for name in metric.takes]
        yield from map(float, metric.tied_range(*tables, single=single[ordered.order[ordered.starts]]))
    elif metric.of_gaps or (
        metric.binned_range is not None and np.isfinite(_binned_range(seen, entry, exact=exact)).all()
    ):
        yield from _binned_range(seen, entry, exact=exact)
    elif "calibration_line" in metric.takes and np.isfinite(error := float(metric(np.array(line_errors(seen))))):
        yield from (float(values(summary, entry)) + side * error for side in (-1, 1))
    elif "curve_distance_at" in metric.takes:
        yield from _curve_distance_values(seen, entry)
    else:
        yield from (float(values(at, entry)) for at in _extreme_placements(summary, of_chances=of_chances))


def _binned_range(summary: Summary, entry: MetricPlan, *, exact: bool) -> tuple[float, float]:
    """Return the least and the largest value of a measure of bins."""
    rows, single = _ordered_within_cells(summary.rows)
    metric, params = entry.metric, entry.params
    ranges = bin_ranges(rows, summary.floats, single, metric, params, exact=exact)
    if metric.binned_range is not None:
        return metric.binned_range(ranges)
    return ranges.distance(metric.norm(params), float(summary.floats.sum()))


def _curve_distance_values(summary: Summary, entry: MetricPlan) -> Iterator[float]:
    """Yield a measure of distances from a calibration curve, with each row as near and as far as it may be."""
    rows, smooth = summary.rows, entry.params["smooth"]
    if smooth == "isotonic":
        nearest, farthest = isotonic_distances(*_ordered_within_cells(rows), summary.floats)
    else:
        low, high = present(rows.ends, "ends of cells").T
        knots_move = smooth == "spline" and len(rows.distinct) < FEW_SCORES and (low < high).any()
        if knots_move or widest(summary) > COARSE:
            yield from (0.0, 1.0)
            return
        # As near and as far as with cells at any of their ends; then by as much again as these and the cell vary.
        tried = [summary, *_extreme_placements(summary, of_chances=True)]
        away = np.stack([np.asarray(at("curve_distance_at", entry.params))[
            np.searchsorted(at.rows.distinct, at.rows.scored)] for at in tried])
        nearest = farthest = away[0]
        if not np.isnan(away).all():
            nearest, farthest = np.nanmin(away, axis=0), np.nanmax(away, axis=0)
            spread = farthest - nearest + high - low
            nearest, farthest = np.maximum(nearest - spread, 0.0), np.minimum(farthest + spread, 1.0)
    weights = {"events_at": summary.floats * rows.truth, "others_at": summary.floats * ~rows.truth}
    for distances in (nearest, farthest):
        tables = {**weights, "curve_distance_at": distances}
        yield float(entry.metric(*(tables[name] for name in entry.metric.takes), **entry.params))


def _order_in_cells(rows: Rows) -> tuple[Wholes, Flags, Floats]:
    """Return the cell of each row, [n], and of each cell whether the order of its rows is known, and it, [cells].

    The order is 1 where its events are above its other rows, -1 where they are below, 0 where all are tied.
    """
    cell = np.unique(rows.scored, return_inverse=True)[1]
    low, high = present(rows.ends, "ends of cells").T
    known, of_kind = np.ones(int(cell.max()) + 1, bool), np.full((2, int(cell.max()) + 1), np.nan)
    known[cell[low < high]] = False
    for kind in (0, 1):
        of_kind[kind, cell[rows.truth == kind]] = low[rows.truth == kind]
    return cell, known, np.nan_to_num(np.sign(of_kind[1] - of_kind[0]))


def _ordered_within_cells(rows: Rows) -> tuple[Rows, Flags]:
    """Return rows with scores that rank the events and others of a cell where their order is known.

    The second, [n], tells whether all that share a row's score are tied.
    """
    cell, known, order = _order_in_cells(rows)
    return replace(rows, score=3.0 * cell + (order * known)[cell] * rows.truth, stated=None), known[cell]


def _extreme_placements(summary: Summary, *, of_chances: bool) -> Iterator[Summary]:
    """Yield the statistics with the events of each cell above its other rows, and below them, where either may be.

    ``of_chances`` moves probabilities to the ends of cells too: of events and others apart, all together, and those of
    the lower half of cells against those of the upper.
    """
    rows: Rows = summary.rows
    low, high = present(rows.ends, "ends of cells").T
    cell, known, order = _order_in_cells(rows)
    upper = rows.scored > np.median(rows.scored)
    for event_above in (True, False):
        ranked = np.where(known, order, 1.0 if event_above else -1.0)[cell] * rows.truth
        score = 3.0 * cell + ranked
        if not of_chances:
            yield Summary(replace(rows, score=score, stated=None), summary.weights)
            continue
        apart = np.where(rows.truth == event_above, high, low)
        for chances in (apart, high if event_above else low, np.where(upper == event_above, high, low)):
            yield Summary(replace(rows, score=score, probability=chances, stated=None), summary.weights)
