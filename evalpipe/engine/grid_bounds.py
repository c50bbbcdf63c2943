"""How far a value from the cells of a grid may be from that of the rows that were counted in them.

A cell tells how many rows it has, between which ends their probabilities lie, and whether those of its events, and of
its others, are all equal. Where both are, their order is known; where not, every order is possible.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.averages import values, weighed
from evalpipe.engine.grid_bins import bin_ranges
from evalpipe.engine.grid_isotonic import isotonic_distances
from evalpipe.engine.grid_lines import line_errors, widest
from evalpipe.statistics import Summary
from evalpipe.statistics.rows import present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.plan.measures import MetricPlan
    from evalpipe.statistics import Rows

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

Reach = tuple[float, float]
"""The least and the largest value that a measure may have."""


def error_bound(summary: Summary, entry: MetricPlan, *, sliced: bool, recalibrated: bool) -> float | None:
    """Return how far a measure may be from that of the rows themselves; None where it is that, or rows are held.

    ``sliced`` rows have means of cells that are those of all rows; ``recalibrated`` ones are those of the map as it was
    fitted to cells. Guaranteed but for smooth curves, recalibrated rows and expressions. These are taken with cells at
    their ends in six ways.
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
    reach = np.array([*_reach(summary, entry, of_chances=bool(of_chances or of_rows), exact=not moved)])
    return float(np.nanmax(np.abs(reach - value), initial=0.0))


def _reach(summary: Summary, entry: MetricPlan, *, of_chances: bool, exact: bool) -> Iterator[float]:
    """Yield values between the least and the largest of which a measure lies; ``exact``: means of cells are known."""
    metric, seen = entry.metric, weighed(summary.seen_by(entry.metric), entry)
    if metric.tied is not None:
        yield from _tied(seen, entry)
    elif metric.of_gaps or (metric.binned is not None and np.isfinite(_binned(seen, entry, exact=exact)).all()):
        yield from _binned(seen, entry, exact=exact)
    elif "calibration_line" in metric.takes and np.isfinite(error := _line_error(seen, entry)):
        yield from (float(values(summary, entry)) + side * error for side in (-1, 1))
    elif "curve_distance_at" in metric.takes:
        yield from _distances(seen, entry)
    else:
        yield from (float(values(at, entry)) for at in _placements(summary, of_chances=of_chances))


def _line_error(summary: Summary, entry: MetricPlan) -> float:
    """Return how far a coefficient of the logistic line may be off."""
    errors = line_errors(summary)
    return float(entry.metric(np.array(errors)))


def _tied(summary: Summary, entry: MetricPlan) -> Iterator[float]:
    """Yield the least and the largest value that a measure itself says it may have."""
    assert entry.metric.tied is not None  # noqa: S101 - known to the caller
    ordered, single = _in_order(summary.rows)
    at = Summary(ordered, summary.weights)
    tables = [at(name, entry.params) for name in entry.metric.takes]
    first = ordered.order[ordered.starts]
    yield from map(float, entry.metric.tied(*tables, single=single[first]))


def _binned(summary: Summary, entry: MetricPlan, *, exact: bool) -> Reach:
    """Return the least and the largest value of a measure of bins."""
    rows, single = _in_order(summary.rows)
    metric, params = entry.metric, entry.params
    ranges = bin_ranges(rows, summary.floats, single, metric, params, exact=exact)
    if metric.binned is not None:
        return metric.binned(ranges)
    return ranges.distance(metric.norm(params), float(summary.floats.sum()))


def _distances(summary: Summary, entry: MetricPlan) -> Iterator[float]:
    """Yield a measure of how far probabilities are from a curve, with each row as near and as far as it may be."""
    rows, smooth = summary.rows, entry.params["smooth"]
    if smooth == "isotonic":
        sides = isotonic_distances(*_in_order(rows), summary.floats)
    else:
        low, high = present(rows.ends, "ends of cells").T
        moved = smooth == "spline" and len(rows.distinct) < FEW_SCORES and (low < high).any()
        if moved or widest(summary) > COARSE:
            yield from (0.0, 1.0)
            return
        sides = _smooth_distances(summary, entry)
    weights = {"events_at": summary.floats * rows.truth, "others_at": summary.floats * ~rows.truth}
    for side in sides:
        tables = {**weights, "curve_distance_at": side}
        yield float(entry.metric(*(tables[name] for name in entry.metric.takes), **entry.params))


def _smooth_distances(summary: Summary, entry: MetricPlan) -> tuple[Floats, Floats]:
    """Return how near to a smooth curve each row may be, and how far, both [n].

    That is as near and as far as it is with cells at any of their ends, and once more by how much these differ and by
    how much probabilities may in a cell.
    """
    low, high = present(summary.rows.ends, "ends of cells").T
    tried = [summary, *_placements(summary, of_chances=True)]
    away = np.stack([np.asarray(at("curve_distance_at", entry.params))[_places(at.rows)] for at in tried])
    if np.isnan(away).all():
        return away[0], away[0]
    nearest, farthest = np.nanmin(away, axis=0), np.nanmax(away, axis=0)
    spread = farthest - nearest + high - low
    return np.maximum(nearest - spread, 0.0), np.minimum(farthest + spread, 1.0)


def _places(rows: Rows) -> Wholes:
    """Return the place of each row among the distinct scores, [n]."""
    return np.searchsorted(rows.distinct, rows.scored)


def _orders(rows: Rows) -> tuple[Wholes, Flags, Floats]:
    """Return the cell of each row, [n], and of each cell whether its order is known, and which it is, [cells].

    The order is 1 where its events are above its other rows, -1 where they are below, 0 where all are tied.
    """
    cell = np.unique(rows.scored, return_inverse=True)[1]
    low, high = present(rows.ends, "ends of cells").T
    known, of_kind = np.ones(int(cell.max()) + 1, bool), np.full((2, int(cell.max()) + 1), np.nan)
    known[cell[low < high]] = False
    for kind in (0, 1):
        of_kind[kind, cell[rows.truth == kind]] = low[rows.truth == kind]
    return cell, known, np.nan_to_num(np.sign(of_kind[1] - of_kind[0]))


def _in_order(rows: Rows) -> tuple[Rows, Flags]:
    """Return rows with scores that rank the events and others of a cell where their order is known.

    With it, whether all that share a score are tied, [n].
    """
    cell, known, order = _orders(rows)
    return replace(rows, score=3.0 * cell + (order * known)[cell] * rows.truth, stated=None), known[cell]


def _placements(summary: Summary, *, of_chances: bool) -> Iterator[Summary]:
    """Yield the statistics with the events of each cell above its other rows, and below them, where either may be.

    ``of_chances`` moves probabilities to the ends of cells too: of events and others apart, all together, and those of
    the lower half of cells against those of the upper.
    """
    rows: Rows = summary.rows
    low, high = present(rows.ends, "ends of cells").T
    cell, known, order = _orders(rows)
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
