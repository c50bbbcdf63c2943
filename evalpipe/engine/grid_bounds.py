"""How far a value computed from cells may be from the value of the rows that were counted in them.

First for bins, for the isotonic curve and for the logistic line, then for every measure.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalpipe.arithmetic import exp, log, log1p
from evalpipe.base import constants
from evalpipe.engine.averages import at_prevalence, values
from evalpipe.engine.subsets import rows_of
from evalpipe.metrics.logistic import rates
from evalpipe.metrics.smooth import ROUNDING, equal_weight_bins
from evalpipe.metrics.values import BinRanges
from evalpipe.statistics import Summary
from evalpipe.statistics.rows import present, totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.data.sample import Sample
    from evalpipe.engine.subsets import Subset
    from evalpipe.metrics.declare import Metric
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Rows


@dataclass(frozen=True)
class _BinnedCells:
    """Cells [n], and the ``first`` and the ``last`` bin [n] that the rows of each cell may lie in.

    For bins of equal weight, ``until`` [n] is the weight of all rows up to the end of a cell and ``borders`` [bins + 1]
    the weight of all rows up to each end of a bin: of a cell, no more may lie in a bin than exceeds its lower border.
    Both are None for other bins. ``expected`` [bins] are the probabilities that bins stand for, None where each row
    keeps its own.
    """

    rows: Rows
    weights: Floats
    first: Wholes
    last: Wholes
    until: Floats | None = None
    borders: Floats | None = None
    expected: Floats | None = None


def bin_ranges(
    rows: Rows, weights: Floats, all_tied: Flags, metric: Metric, params: Mapping[str, Any], *, exact: bool
) -> BinRanges:
    """Return the least and the largest totals that the bins of a metric may have, from cells [n] and their weights.

    Rows are known by the cell that they were counted in alone, so which bin each is in may be unknown. ``all_tied`` [n]
    tells whether all rows with a cell's score are tied, ``exact`` that a cell's probability is the mean of its rows.
    """
    bins = 0 if metric.even_bins is None else metric.even_bins(params)
    if bins:
        return _range_of_totals(_bins_of_equal_weight(rows, weights, all_tied, bins), bins, exact=exact)
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


def _bins_of_equal_weight(rows: Rows, weights: Floats, all_tied: Flags, bins: int) -> _BinnedCells:
    """Return, for the rows of each cell [n], the bins of equal weight that they may lie in.

    A cell counts rows whose exact scores are not known, so its rows may be in several bins. They are in one bin
    where ``all_tied`` [n] says that all rows with a cell's score are tied. The weight up to each border is
    returned too.
    """
    weight_of_rank = totals_of_runs(weights[rows.order], rows.starts)
    weight_up_to, rank = np.cumsum(weight_of_rank), np.searchsorted(rows.distinct, rows.scored)
    first = equal_weight_bins(weight_of_rank, bins)
    # Of a cell that ends just where a bin does, no row is in the next bin.
    last = np.ceil(bins * weight_up_to / weight_up_to[-1] - ROUNDING).astype(np.intp) - 1
    last = np.where(all_tied[rows.order][rows.starts], first, np.maximum(last, first))
    borders = weight_up_to[-1] * np.arange(bins + 1) / bins
    return _BinnedCells(rows, weights, first[rank], last[rank], weight_up_to[rank], borders)


def _range_of_totals(binned: _BinnedCells, bins: int, *, exact: bool) -> BinRanges:
    """Return the least and the largest totals of the bins, from the cells that may lie in them."""
    events, non_events, expected, gap, variance = np.zeros((5, 2, bins))
    probabilities = np.repeat([[1.0], [0.0]], bins, axis=1)
    ranges = BinRanges(events, non_events, expected, gap, variance, probabilities, binned.rows.trained_on)
    certain = binned.first == binned.last
    _add_cells(ranges, binned, np.flatnonzero(certain), 0, exact=exact)
    divided = np.flatnonzero(~certain)
    for step in range(int((binned.last - binned.first).max(initial=-1)) + 1 if len(divided) else 0):
        _add_cells(ranges, binned, divided[binned.first[divided] + step <= binned.last[divided]], step, exact=False)
    return ranges


def _add_cells(ranges: BinRanges, binned: _BinnedCells, cell_indices: Wholes, step: int, *, exact: bool) -> None:
    """Add to ``ranges`` the least and the most that some cells may have in the ``step``-th bin after their first."""
    rows, bin_index, weight = binned.rows, binned.first[cell_indices] + step, binned.weights[cell_indices]
    mean = rows.event_probability[cell_indices]
    if binned.expected is not None:
        low = high = np.asarray(binned.expected[bin_index])
    elif exact:
        low = high = mean
    else:  # the mean of a cell is within its ends but for rounding
        ends = present(rows.ends, "ends of cells")[cell_indices]
        low, high = np.minimum(ends[:, 0], mean), np.maximum(ends[:, 1], mean)
    divided = binned.first[cell_indices] < binned.last[cell_indices]
    least, most = weight * ~divided, weight
    if binned.until is not None and binned.borders is not None:
        below, above = (binned.until[cell_indices] - binned.borders[bin_index + end] for end in (0, 1))
        most = np.minimum(weight, np.maximum(below, 0.0)) if step else weight
        least = np.where(divided & (step == 0), weight - np.minimum(weight, np.maximum(above, 0.0)), least)
    truth = rows.truth[cell_indices]
    gaps = np.where(truth, least * (1 - high), -most * high), np.where(truth, most * (1 - low), -least * low)
    spread = np.minimum(low * (1 - low), high * (1 - high))  # p (1 - p) is least at an end, and at most 1 / 4
    added = ((least * truth, most * truth), (least * ~truth, most * ~truth), (least * low, most * high), gaps,
             (least * spread, most / 4))
    all_totals = ranges.events, ranges.others, ranges.expected, ranges.gap, ranges.variance
    for totals, pair in zip(all_totals, added, strict=True):
        np.add(totals, [np.bincount(bin_index, values, totals.shape[-1]) for values in pair], out=totals)
    np.minimum.at(ranges.probabilities[0], bin_index, low)
    np.maximum.at(ranges.probabilities[1], bin_index, high)


MOST_CELLS = 4096
"""Neighbouring cells are joined to at most so many, for the work grows with their square. The limits stay limits."""


def isotonic_distances(rows: Rows, all_tied: Flags, weights: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest distance from the isotonic curve that each row may have, both [n].

    ``rows`` are cells with scores that rank them, ``all_tied`` [n] tells whether all rows with a cell's score are tied.
    Distances are 0 where the weight is.
    """
    used = weights > 0
    cell = np.unique(rows.scored[used], return_inverse=True)[1]
    cell_count = int(cell.max(initial=-1)) + 1
    cells_per_group = -(-cell_count // MOST_CELLS) if cell_count else 1
    group = cell // cells_per_group
    kind_weights = weights[used] * [rows.truth[used], ~rows.truth[used]]
    events, non_events = (np.bincount(group, kind_weight).astype(float) for kind_weight in kind_weights)
    unordered = np.bincount(group, ~all_tied[used]) > 0 if cells_per_group == 1 else np.ones(len(events), bool)
    highest = _highest_isotonic_rates(events, non_events, unordered)[group]
    lowest = 1 - _highest_isotonic_rates(non_events[::-1], events[::-1], unordered[::-1])[::-1][group]
    low, high = present(rows.ends, "ends of cells")[used].T
    distances = np.zeros((2, len(weights)))
    distances[0, used] = np.maximum(np.maximum(low - highest, lowest - high), 0.0)
    distances[1, used] = np.maximum(highest - low, high - lowest)
    nearest, farthest = distances
    return nearest, farthest


def _highest_isotonic_rates(events: Floats, non_events: Floats, unordered: Flags) -> Floats:
    """Return the largest event rate [cells] of the isotonic curve, in any order of the rows of ``unordered`` cells.

    The curve is the least, over the ends of a run of rows, of the largest event rate over its starts (Robertson, Wright
    & Dykstra 1988, section 1.4). Fewer ends can but raise it: here runs end where cells do. A run that starts within a
    cell has the largest rate where it leaves out all others of that cell.
    """
    total, hits = (np.concatenate([[0.0], np.cumsum(table)]) for table in (events + non_events, events))
    start = total[:-1] + np.where(unordered, non_events, 0.0)
    highest = np.ones(len(events))
    for end in range(len(events)):
        weight = total[end + 1] - start[: end + 1]
        rate = np.divide(hits[end + 1] - hits[: end + 1], weight, out=np.zeros(end + 1), where=weight > 0)
        np.minimum(highest[: end + 1], np.maximum.accumulate(rate), out=highest[: end + 1])
    return highest


class _CentredCells(NamedTuple):
    """Log odds of cells, less their mean ``middle``, in standard deviations ``unit``.

    ``z`` [n] are the log odds that the line was fitted to, ``low`` and ``high`` [n] the ends of the cells.
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
    """Return how far the calibration line's intercept and slope on rows may be from those on cells; inf if unknown.

    The line in centred log odds of unit spread has two nearly independent equations. Their information is bounded from
    below by rows at the ends of their cells, their gradient from above; the fit can move no further than both allow.
    """
    cells, weight, (intercept, slope) = _centred_cells(summary), summary.floats, summary("calibration_line")
    slope_per_unit, odds_at_middle = slope * cells.unit, intercept + slope * cells.middle
    probability, *ends = (rates(odds_at_middle + slope_per_unit * x).event for x in (cells.z, cells.low, cells.high))
    information, steeper = weight * probability * (1 - probability), exp(np.abs(slope_per_unit) * cells.width)
    terms = [total.sum() for total in (information, information * cells.z, information * cells.z**2)]
    inverse = np.array([[terms[2], -terms[1]], [-terms[1], terms[0]]]) / (terms[0] * terms[2] - terms[1] ** 2)
    # What is left of the information, at worst, where rows lie at the ends of their cells.
    lost_share = np.sqrt(inverse[1, 1] * (information * cells.width**2).sum())
    information_share = float(max(1 - lost_share, 0.0) ** 2 / steeper.max())
    if not information_share > 0:
        return np.inf, np.inf
    inverse /= information_share
    off, missed = (np.max([np.abs(end - of) for end in ends], axis=0) for of in (probability, summary.rows.truth))
    away = np.maximum(np.abs(cells.low), np.abs(cells.high))
    moved = (np.abs(slope_per_unit) * information * steeper * away + weight * missed) * cells.width
    rest = np.array([(weight * off).sum(), moved.sum()])
    step = np.sqrt((np.abs(inverse) * np.outer(rest, rest)).sum())

    def error_at(x: float) -> float:
        """Return the standard error of the line at the centred log odds ``x``."""
        return float(np.sqrt(inverse[0, 0] + 2 * inverse[0, 1] * x + inverse[1, 1] * x**2))

    largest = max(error_at(x) for x in (cells.low.min(), cells.high.max()))
    if not largest * step < 1:
        return np.inf, np.inf
    longest = float(-log1p(-largest * step) / largest)
    return longest * error_at(-cells.middle / cells.unit), longest * np.sqrt(inverse[1, 1]) / cells.unit


def widest_cell(summary: Summary) -> float:
    """Return the width of the widest cell in standard deviations of the log odds; 0 where no cell has a width."""
    low, high = (_clipped_log_odds(end) for end in present(summary.rows.ends, "ends of cells").T)
    width = float((high - low).max(initial=0.0))
    return width / _centred_cells(summary).unit if width > 0 else 0.0


def _centred_cells(summary: Summary) -> _CentredCells:
    """Return the log odds of the cells and of their ends, centred and in standard deviations."""
    rows, weight = summary.rows, summary.floats
    fitted = _clipped_log_odds(rows.probability_of_score[np.searchsorted(rows.distinct, rows.scored)])
    low, high = (_clipped_log_odds(end) for end in present(rows.ends, "ends of cells").T)
    middle = float((weight * fitted).sum() / weight.sum())
    unit = float(np.sqrt((weight * (fitted - middle) ** 2).sum() / weight.sum()))
    ends = np.minimum(low, fitted), np.maximum(high, fitted)
    return _CentredCells(middle, unit, *((x - middle) / unit for x in (fitted, *ends)))


def _clipped_log_odds(probability: Floats) -> Floats:
    """Return log(p / (1 - p)), with p and 1 - p raised to `LOG_ODDS_CLIP` where they are smaller."""
    event, other = (np.maximum(share, constants.LOG_ODDS_CLIP) for share in (probability, 1 - probability))
    return np.asarray(log(event) - log(other))


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
    """Return how far a measure of cells may be from its value on their rows; None where both agree, or without cells.

    Rows were counted in cells to read large data, so their exact scores are lost. ``sliced``: the means of cells are
    means of all rows, not of the slice. ``recalibrated``: probabilities were mapped by a fit to cells. The bound is
    guaranteed but for smooth curves, recalibrated rows and expressions, which are computed with the probabilities of
    cells at their ends in six ways.
    """
    if getattr(summary.rows, "ends", None) is None:
        return None
    uncertain, of_probabilities = uncertainty_in_cells(entry, sliced=sliced, recalibrated=recalibrated)
    value = values(summary, entry) if uncertain else math.nan
    if np.isnan(value):
        return None
    exact = not (sliced or recalibrated)
    possible = np.array([*_extreme_values(summary, entry, of_probabilities=of_probabilities, exact=exact)])
    return float(np.nanmax(np.abs(possible - value), initial=0.0))


def uncertainty_in_cells(entry: MetricPlan, *, sliced: bool, recalibrated: bool) -> tuple[bool, bool]:
    """Tell whether cells give a measure only nearly, and whether that hangs on where probabilities lie in them.

    ``sliced`` and ``recalibrated`` as in `error_bound`.
    """
    used = {name for leaf in entry.leaves for name in leaf.metric.statistics}
    placed = used & (PLACED | (SUMMED if sliced or recalibrated else set()) | (ROUNDED if recalibrated else set()))
    of_probabilities = bool(placed) or (
        recalibrated and any(leaf.metric.needs == "probabilities" for leaf in entry.leaves))
    return bool(used & (RANKED | SUMMED | ROUNDED)) or of_probabilities, of_probabilities


def values_of_scores(
    plan: Plan, sample: Sample, divided: Mapping[str, Sequence[Subset]]
) -> dict[tuple[str, int, int], Floats]:
    """Return the values that cells give only nearly from every score, by model, its subset and measure in the plan.

    ``divided`` are the subsets of each model. Empty unless every score was kept; expressions stay as cells have them.
    """
    exact: dict[tuple[str, int, int], Floats] = {}
    for (_, slicing), of_scores in sample.scored.items():
        for name, model in of_scores.models.items():
            for number, subset in enumerate(divided[name]):
                if subset.slicing != slicing or not (number == 0 or plan.slices.enough(subset.n)):
                    continue
                entries = [(i, entry) for i, entry in enumerate(plan.entries) if not entry.parts
                           and (number == 0 or not plan.of_all_rows(i))
                           and uncertainty_in_cells(entry, sliced=number > 0, recalibrated=model.source is not None)[0]]
                if entries:
                    summary = _summary_of_scores(of_scores, name, subset, divided[name])
                    exact |= {(name, number, i): values(summary, entry) for i, entry in entries}
    return exact


def _summary_of_scores(of_scores: Sample, name: str, subset: Subset, divided: Sequence[Subset]) -> Summary:
    """Return the statistics of every score of a model in all rows, in a slice, or in the rest of a slice."""
    rows, weights = rows_of(of_scores, of_scores.models[name]), of_scores.weights
    if subset.slicing is None:
        return Summary(rows, weights)
    of_slice, sliced = subset if subset.rest_of is None else divided[subset.rest_of], of_scores.slicings[subset.slicing]
    in_slice = sliced.codes == next(code for code, labels in enumerate(sliced.labels) if labels == of_slice.slice)
    members = np.flatnonzero(in_slice if subset.rest_of is None else ~in_slice)
    return Summary(rows.at(members), weights[members])


def _extreme_values(summary: Summary, entry: MetricPlan, *, of_probabilities: bool, exact: bool) -> Iterator[float]:
    """Yield values of a measure whose least and largest enclose its value on the rows.

    ``of_probabilities``: the measure depends on probabilities within cells. ``exact``: the means of cells are known.
    """
    metric, seen = entry.metric, at_prevalence(summary.seen_by(entry.metric), entry)
    if metric.tied_range is not None:
        ordered, all_tied = _ordered_within_cells(seen.rows)
        ordered_summary = Summary(ordered, seen.weights)
        tables = [ordered_summary(name, entry.params) for name in metric.takes]
        yield from map(float, metric.tied_range(*tables, single=all_tied[ordered.order[ordered.starts]]))
    elif metric.of_gaps or (
        metric.binned_range is not None and np.isfinite(_binned_range(seen, entry, exact=exact)).all()
    ):
        yield from _binned_range(seen, entry, exact=exact)
    elif "calibration_line" in metric.takes and np.isfinite(error := float(metric(np.array(line_errors(seen))))):
        yield from (float(values(summary, entry)) + side * error for side in (-1, 1))
    elif "curve_distance_at" in metric.takes:
        yield from _curve_distance_values(seen, entry)
    else:
        placements = _extreme_placements(summary, of_probabilities=of_probabilities)
        yield from (float(values(placement, entry)) for placement in placements)


def _binned_range(summary: Summary, entry: MetricPlan, *, exact: bool) -> tuple[float, float]:
    """Return the least and the largest value that a measure of bins may have on the rows of the cells."""
    rows, all_tied = _ordered_within_cells(summary.rows)
    metric, params = entry.metric, entry.params
    ranges = bin_ranges(rows, summary.floats, all_tied, metric, params, exact=exact)
    if metric.binned_range is not None:
        return metric.binned_range(ranges)
    return ranges.distance(metric.norm(params), float(summary.floats.sum()))


def _curve_distance_values(summary: Summary, entry: MetricPlan) -> Iterator[float]:
    """Yield a measure of distances from a calibration curve, first with all rows as near as may be, then as far."""
    rows, smooth = summary.rows, entry.params["smooth"]
    if smooth == "isotonic":
        nearest, farthest = isotonic_distances(*_ordered_within_cells(rows), summary.floats)
    else:
        low, high = present(rows.ends, "ends of cells").T
        knots_move = smooth == "spline" and len(rows.distinct) < FEW_SCORES and (low < high).any()
        if knots_move or widest_cell(summary) > COARSE:
            yield from (0.0, 1.0)
            return
        # As near and as far as with cells at any of their ends; then by as much again as these and the cell vary.
        placements = [summary, *_extreme_placements(summary, of_probabilities=True)]
        all_distances = np.stack([np.asarray(placement("curve_distance_at", entry.params))[
            np.searchsorted(placement.rows.distinct, placement.rows.scored)] for placement in placements])
        nearest = farthest = all_distances[0]
        if not np.isnan(all_distances).all():
            nearest, farthest = np.nanmin(all_distances, axis=0), np.nanmax(all_distances, axis=0)
            spread = farthest - nearest + high - low
            nearest, farthest = np.maximum(nearest - spread, 0.0), np.minimum(farthest + spread, 1.0)
    weights = {"events_at": summary.floats * rows.truth, "others_at": summary.floats * ~rows.truth}
    for distances in (nearest, farthest):
        tables = {**weights, "curve_distance_at": distances}
        yield float(entry.metric(*(tables[name] for name in entry.metric.takes), **entry.params))


def _order_in_cells(rows: Rows) -> tuple[Wholes, Flags, Floats]:
    """Return the cell of each row [n], whether the order of rows in each cell is known [cells], and this order.

    The order [cells] is 1 where the events of a cell are above its other rows, -1 where below, 0 where all are tied.
    """
    cell_of_row = np.unique(rows.scored, return_inverse=True)[1]
    low, high = present(rows.ends, "ends of cells").T
    cells = int(cell_of_row.max()) + 1
    is_order_known, score_of_kind = np.ones(cells, bool), np.full((2, cells), np.nan)
    is_order_known[cell_of_row[low < high]] = False
    for kind in (0, 1):
        score_of_kind[kind, cell_of_row[rows.truth == kind]] = low[rows.truth == kind]
    return cell_of_row, is_order_known, np.nan_to_num(np.sign(score_of_kind[1] - score_of_kind[0]))


def _ordered_within_cells(rows: Rows) -> tuple[Rows, Flags]:
    """Return rows with scores that rank the events of a cell above or below its other rows where this is known.

    Also return for each row [n] whether all rows that then share its score are truly tied, and not only in one cell.
    """
    cell_of_row, is_order_known, order = _order_in_cells(rows)
    score = 3.0 * cell_of_row + (order * is_order_known)[cell_of_row] * rows.truth
    return replace(rows, score=score, stated=None), is_order_known[cell_of_row]


def _extreme_placements(summary: Summary, *, of_probabilities: bool) -> Iterator[Summary]:
    """Yield statistics with the events of each cell above its other rows, then below, where their order is unknown.

    ``of_probabilities`` also moves probabilities to an end of their cell: events to one end and other rows to the
    other, all to the same end, or the lower half of cells to one end and the upper half to the other.
    """
    rows: Rows = summary.rows
    low, high = present(rows.ends, "ends of cells").T
    cell_of_row, is_order_known, order = _order_in_cells(rows)
    upper = rows.scored > np.median(rows.scored)
    for event_above in (True, False):
        ranked = np.where(is_order_known, order, 1.0 if event_above else -1.0)[cell_of_row] * rows.truth
        score = 3.0 * cell_of_row + ranked
        if not of_probabilities:
            yield Summary(replace(rows, score=score, stated=None), summary.weights)
            continue
        apart = np.where(rows.truth == event_above, high, low)
        for probability in (apart, high if event_above else low, np.where(upper == event_above, high, low)):
            yield Summary(replace(rows, score=score, probability=probability, stated=None), summary.weights)
