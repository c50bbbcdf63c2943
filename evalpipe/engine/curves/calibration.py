"""Reliability diagrams, and calibration curves of one event: windows, a logistic line, a spline and the isotonic fit.

Equal scores always share a bin. The isotonic fit is made to many replicates at once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from evalpipe.arithmetic import cos, expit, power
from evalpipe.base import constants
from evalpipe.calibration import Unfit
from evalpipe.calibration.isotonic import pava, pooled
from evalpipe.calibration.scales import Events, clipped, logit
from evalpipe.calibration.spline import BandCurve, BandLine, Spread, logistic_line, logistic_spline
from evalpipe.engine.curves.declare import VERTICES, Computed, CurveRows, Heights, Kind, curve, interval_method_of
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bootstrap import kish, simultaneous_band
from evalpipe.metrics.smooth import equal_weight_bins
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import calibration
from evalpipe.results.curves.calibration import (
    Refinement,
    RefinementNotes,
    Reliability,
    ReliabilityNotes,
    Rug,
    RugNotes,
)
from evalpipe.statistics import Summary
from evalpipe.statistics.grid import EDGES, cut
from evalpipe.statistics.rows import runs_within, starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Flags, Floats, Wholes
    from evalpipe.plan.plan import Plan
    from evalpipe.statistics import Rows


def bin_edges(summary: Summary, strategy: str, bins: int) -> Floats:
    """Return the lowest score of each used bin, ascending, shape [used].

    ``uniform``: ``bins`` of equal width, closed below, the last closed above too. ``quantile``: bins of equal weight,
    floor(bins x weight below / total weight), where a group of equal scores goes to the bin of its first row, so fewer
    bins may be used. ``summary`` has the case weights, not a replicate's, so bins stay the same in all
    replicates.
    """
    rows = summary.rows
    if strategy == "uniform":
        starts, _ = runs_within(rows.probability_of_score, np.arange(bins) / bins)
    else:
        starts = starts_of_runs(equal_weight_bins(rows.by_score(summary.weights[rows.order]), bins))
    # Bins without scores have no edge.
    lowest: Floats = rows.distinct[starts]
    return lowest


def midpoints(summary: Summary, strategy: str, bins: int, edges: Floats) -> Floats:
    """Return the middle of each used bin [used], whose lowest scores are the ``edges``, as a probability.

    A bin of equal width has the middle of its part of 0 to 1. A bin of equal weight has the middle between its lowest
    probability and that of the next bin; the last bin, between its lowest and its highest.
    """
    rows = summary.rows
    lowest = rows.probability_of_score[np.searchsorted(rows.distinct, edges)]
    if strategy == "uniform":
        borders = np.arange(bins + 1) / bins
        bin_index = np.searchsorted(borders[:-1], lowest, "right") - 1
        return np.asarray((borders[bin_index] + borders[bin_index + 1]) / 2)
    ends = np.append(lowest[1:], rows.probability_of_score[-1])
    return np.asarray((lowest + ends) / 2)


def bin_totals(rows: Rows, values: Floats, edges: Floats) -> Floats:
    """Return the totals [..., bins] of values [..., m] at distinct scores, in bins with lowest scores ``edges``."""
    starts, inside = runs_within(rows.distinct, edges)
    binned = np.zeros((*values.shape[:-1], len(edges)))
    binned[..., inside] = totals_of_runs(values, starts)
    return binned


def event_rates(summary: Summary, edges: Floats) -> Floats:
    """Return the share of events in each bin, [..., bins]; NaN where a replicate left a bin empty."""
    events, others = (bin_totals(summary.rows, summary(name), edges) for name in ("events_at", "others_at"))
    return ratio(events, events + others)


REFINED_DIGITS = 2
"""Decimals to which probabilities are rounded for the refinement plot, as for the parts of the Brier score."""

RUG, RUG_PLACES = 250, 100
"""The most probabilities that a rug marks one by one, and the parts of 1 at which it marks more; `rug` of the spec
states them."""

OF: tuple[Kind, ...] = ("event", "class", "top_label", "cut")


def _reliability_diagram(rows: CurveRows, strategy: str) -> Computed:
    """Compute a reliability diagram, with limits from replicates of its event rates [B, bins] where there are any."""
    summary, name = rows.summary, f"calibration_{strategy}"
    edges = bin_edges(summary, strategy, rows.plan.calibration.settings.bins)
    events, others = (bin_totals(summary.rows, summary(at), edges) for at in ("events_at", "others_at"))
    weight = events + others
    probability_sums = (summary("events_at") + summary("others_at")) * summary.rows.probability_of_score
    mean = bin_totals(summary.rows, probability_sums, edges) / weight
    total = float(weight.sum())
    count = bin_totals(summary.rows, summary.rows.by_score(summary.row_counts[summary.rows.order]), edges)
    scale = observations_per_weight(rows, lambda values: bin_totals(summary.rows, values, edges))
    points = {"mean_probability": mean, "event_rate": events / weight,
              **_event_rate_limits(rows, name, events * scale, weight * scale), "weight": weight, "rows": count}
    if rows.plan.calibration.settings.position == "midpoint":
        points["midpoint"] = midpoints(summary, strategy, rows.plan.calibration.settings.bins, edges)
    gap = float(np.average(np.abs(events / weight - mean), weights=weight))
    return points, ReliabilityNotes(
        bins_requested=rows.plan.calibration.settings.bins, bins_used=len(weight), method=method_of_bins(rows, name),
        mean_gap=gap, mean_probability=float(probability_sums.sum()) / total, event_rate=float(events.sum()) / total)


def _lowest_scores(plan: Plan, summary: Summary, strategy: str) -> Floats:
    """Return the lowest score of each bin that the plan asks for, [used]; bins are the same in all replicates."""
    return bin_edges(summary, strategy, plan.calibration.settings.bins)


# One function serves both, bound to its way of making bins.
for _strategy in ("uniform", "quantile"):
    curve(Reliability, of=OF, needs="probabilities", name=f"calibration_{_strategy}",
          heights=Heights(event_rates, partial(_lowest_scores, strategy=_strategy), binned=True, divides_rows=True))(
        partial(_reliability_diagram, strategy=_strategy))


def method_of_bins(rows: CurveRows, name: str) -> str:
    """Return the interval method of shares of rows in bins or windows; "none" where the rows allow no limits."""
    method = interval_method_of(rows.plan, name)
    return method if method in LIMITS or name in rows.drawn else "none"


def observations_per_weight(rows: CurveRows, total: Callable[[Floats], Floats]) -> Floats | float:
    """Return Kish's effective observations (1965) over the weight of each bin under importance weights; else 1.

    ``total`` returns the total in each bin of values at distinct scores.
    """
    if rows.sample.weight_kind != "importance":
        return 1.0
    ordered = rows.summary.weights[rows.summary.rows.order]
    weight, squares = (total(rows.summary.rows.by_score(values)) for values in (ordered, ordered**2))
    return ratio(weight, squares)


def _event_rate_limits(rows: CurveRows, name: str, events: Floats, trials: Floats) -> dict[str, Floats]:
    """Return pointwise and simultaneous limits of event rates in bins, ``events`` / ``trials`` [bins], as columns.

    Bins share no rows, so simultaneous binomial limits have the confidence level whose power of the number of bins
    is the plan's level.
    """
    method, level, drawn = interval_method_of(rows.plan, name), rows.plan.level, rows.drawn.get(name)
    pointwise = simultaneous = rows.limits(name, len(events))
    if method in LIMITS:
        pointwise, simultaneous = (
            LIMITS[method](events, trials, confidence) for confidence in (level, float(power(level, 1 / len(events)))))
    elif drawn is not None:
        simultaneous = simultaneous_band(drawn, events / trials, level, (0.0, 1.0))
    names = ("lower", "upper", "simultaneous_lower", "simultaneous_upper")
    return dict(zip(names, (*pointwise, *simultaneous), strict=True))


@curve(Rug, of=("event",), needs="probabilities")
def rug(rows: CurveRows) -> Computed:
    """Compute the weight of events and non-events at each distinct probability; of many, at each rounded one."""
    probability = rows.summary.rows.probability_of_score
    distinct = len(np.unique(probability))
    marked = probability if distinct <= RUG else np.rint(probability * RUG_PLACES) / RUG_PLACES
    positions, cell = np.unique(marked, return_inverse=True)
    events, others = (np.bincount(cell, rows.summary(name), len(positions)) for name in ("events_at", "others_at"))
    points = {"probability": positions, "events": events, "others": others}
    return points, RugNotes(distinct=distinct, places=RUG_PLACES if distinct > RUG else None)


@curve(Refinement, of=("event",), needs="probabilities")
def refinement(rows: CurveRows) -> Computed:
    """Compute, for each rounded probability, the event rate and what is left of the Brier score if it is forecast."""
    events, others, probability_sums = (
        rows.summary(name, {"digits": REFINED_DIGITS}) for name in ("rounded_events", "rounded_others", "rounded_sum")
    )
    weight = events + others
    rate = ratio(events, weight)
    left = rate * (1 - rate)
    points = {"probability": ratio(probability_sums, weight), "event_rate": rate, "refinement": left, "weight": weight}
    return points, RefinementNotes(digits=REFINED_DIGITS, mean=float(np.average(left, weights=weight)))


def pooled_runs(events: Flags, others: Flags) -> Wholes:
    """Return the starts [g] of the runs of neighbouring probabilities that every isotonic fit pools.

    There are m distinct probabilities; ``events`` and ``others`` [m] tell whether rows of the class have them.
    Neighbours whose shares do not rise have one level, so a probability of events only goes with the next, and one
    without events with the one before, whatever the weights.
    """
    rises = np.ones(len(events), bool)
    np.logical_and(others[:-1], events[1:], out=rises[1:])
    return np.flatnonzero(rises)


@dataclass(frozen=True)
class IsotonicFits:
    """Isotonic fits to ``b`` replicates at ``m`` distinct probabilities each, in ``g`` runs of one level each.

    ``kept`` are the places (distinct probabilities) that have weight, numbered through all replicates, ascending;
    ``run`` [m] is the number of each place's run; ``levels`` [b, g] are the levels, from 0 to 1, and 0 where a run has
    no weight.
    """

    kept: Wholes
    run: Wholes
    levels: Floats

    @classmethod
    def of(cls, events: Floats, total: Floats, starts: Wholes) -> IsotonicFits:
        """Fit the shares ``events`` / ``total`` of replicates, both [b, m]; ``starts`` comes from `pooled_runs`."""
        run = np.repeat(np.arange(len(starts)), np.diff(starts, append=total.shape[-1]))
        hits_in, weight_in = (np.add.reduceat(values, starts, axis=-1) for values in (events, total))
        levels = np.zeros(weight_in.shape)
        weighted_runs = np.flatnonzero(weight_in)
        if len(weighted_runs):
            hits, weight = np.take(hits_in, weighted_runs), np.take(weight_in, weighted_runs)
            replicate = weighted_runs // len(starts)
            blocks = pooled(hits, weight, np.diff(replicate, prepend=-1) > 0)
            # From totals, for what is 2 higher has lost digits.
            level = np.add.reduceat(hits, blocks) / np.add.reduceat(weight, blocks)
            levels.flat[weighted_runs] = np.repeat(level, np.diff(blocks, append=len(hits)))
        return cls(np.flatnonzero(total), run, levels)

    def between(self, positions: Floats, at: Floats) -> Floats:
        """Return the heights [b, k] of the fits at ``positions`` [k], on straight lines between levels.

        ``at`` [m] are the distinct probabilities, ascending. Beyond the first and the last that has weight the
        height stays the same; it is NaN without any weight. Between two too near for a slope in double precision,
        it is the lower level.
        """
        b, m = len(self.levels), len(self.run)
        if not len(self.kept):
            return np.full((b, len(positions)), np.nan)
        # How many levels there are up to each place of `at`, over all replicates; before its first place too.
        up_to = np.zeros(b * m + 1, np.intp)
        up_to[self.kept + 1] = 1
        np.cumsum(up_to, out=up_to)
        replicate = np.arange(b)[:, None]
        begin = replicate * m
        first, last = up_to[begin], up_to[begin + m] - 1
        not_above, below = np.searchsorted(at, positions, side="right"), np.searchsorted(at, positions)
        left = self.kept[np.clip(up_to[begin + not_above] - 1, first, last)] % m
        right = self.kept[np.clip(up_to[begin + below], first, last)] % m
        low, high = (self.levels[replicate, self.run[place]] for place in (left, right))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            heights = (high - low) / (at[right] - at[left]) * (positions - at[left]) + low
        heights = np.where((left == right) | ~np.isfinite(heights), low, heights)
        return np.where(last >= first, heights, np.nan)


B = TypeVar("B", BandLine, BandCurve)

WINDOW_DIGITS = 10
"""Decimals of hundredths that the ends of windows have: 0.35 is written so, and no sum of steps ends beside it."""

PLACES = 50
"""The probabilities at which a smooth curve is given, denser at either end."""

EXACT, CELLS = 2048, 2048
"""The most distinct probabilities that a smooth curve is fitted to as they are; more are joined in about so many cells,
which moves it by less than a thousandth."""


def window_centres(plan: Plan) -> Floats:
    """Return the centres of the moving calibration windows in percent, [windows]: from 0 by the step, and 100."""
    step = round(100 * plan.calibration.settings.window.moved_by, WINDOW_DIGITS)
    centres = np.round(np.arange(0, int(100 / step + 1e-9) + 1) * step, WINDOW_DIGITS)
    return centres if centres[-1] == 100 else np.r_[centres, 100.0]


def window_ends(plan: Plan, _: Summary) -> Floats:
    """Return the lower ends of all windows and after them the upper ends, [2 x windows], cut off at 0 and 1.

    The windows are those of Kuhn & Johnson.
    """
    half = round(100 * plan.calibration.settings.window.width, WINDOW_DIGITS) / 2
    ends = [np.round(window_centres(plan) + side * half, WINDOW_DIGITS) for side in (-1, 1)]
    return np.concatenate([np.clip(end, 0, 100) / 100 for end in ends])


def window_totals(distinct: Floats, values: Floats, ends: Floats) -> Floats:
    """Return the totals [..., windows] in each window of values [..., m] at distinct probabilities; see `window_ends`.

    Windows are closed below; those that reach 1 are closed above too.
    """
    low, high = np.split(ends, 2)
    first, last = (np.searchsorted(distinct, side) for side in (low, np.where(high < 1, high, np.inf)))
    # Windows overlap, so that their totals are no sums of runs that part the rows.
    return np.stack([values[..., a:b].sum(axis=-1) for a, b in zip(first, last, strict=True)], axis=-1)


def window_rates(summary: Summary, ends: Floats) -> Floats:
    """Return the share of events in each window, [..., windows]; NaN in one without rows."""
    events, others = (
        window_totals(summary.rows.probability_of_score, summary(name), ends) for name in ("events_at", "others_at"))
    return ratio(events, events + others)


@curve(calibration.CalibrationWindow, of=("event", "class"), needs="probabilities",
       heights=Heights(window_rates, window_ends, binned=True))
def windows(rows: CurveRows) -> Computed:
    """Compute the share of events among the rows of each window that has any, with its limits."""
    plan, summary = rows.plan, rows.summary
    distinct, row_counts = summary.rows.probability_of_score, summary.row_counts[summary.rows.order]
    events, others = summary("events_at"), summary("others_at")
    summed = [events, events + others, (events + others) * distinct, summary.rows.by_score(row_counts)]
    ends = window_ends(plan, summary)
    totals = [window_totals(distinct, values, ends) for values in summed]
    used = totals[3] > 0
    hits, weight, probability_sum, count = (values[used] for values in totals)
    lower, upper = (limits[used] for limits in rows.limits("calibration_window", len(used)))
    method = method_of_bins(rows, "calibration_window")
    if method in LIMITS:
        scale = observations_per_weight(rows, lambda values: window_totals(distinct, values, ends))
        scale = np.broadcast_to(scale, len(totals[3]))[used]
        lower, upper = LIMITS[method](hits * scale, weight * scale, plan.level)
    points = {
        "centre": window_centres(plan)[used] / 100, "mean_probability": probability_sum / weight,
        "event_rate": hits / weight, "lower": lower, "upper": upper, "weight": weight, "rows": count}
    window = plan.calibration.settings.window
    return points, calibration.WindowNotes(width=window.width, step=window.moved_by, method=method)


class LogOddsTable(NamedTuple):
    """The events by probability that curves on the log odds are fitted to, and the probabilities [g] of their points.

    ``spread`` are the rows behind the table where standard errors are robust; ``clipped`` is the weight of the rows
    moved off 0 or 1.
    """

    table: Events
    places: Floats
    spread: Spread | None
    clipped: float


def _log_odds_table(rows: CurveRows) -> LogOddsTable | None:
    """Return the weight of events and others by probability, clipped off 0 and 1 so that it has a logit.

    The logistic line and the spline are fitted to it. None where a class is absent.
    """
    sample, summary = rows.sample, rows.summary
    weight = summary.floats
    if sample.weight_kind == "importance":
        # A spline's penalty is chosen by what the rows tell, which is as much as so many rows of equal weight do.
        weight = weight * (kish(weight) / np.sum(weight))
        summary = Summary(summary.rows, weight)
    distinct, probabilities = clipped(summary.rows.probability_of_score), clipped(summary.rows.event_probability)
    starts = starts_of_runs(distinct)
    events, others = (summary(name) for name in ("events_at", "others_at"))
    if len(starts) < len(distinct):
        distinct, events, others = distinct[starts], np.add.reduceat(events, starts), np.add.reduceat(others, starts)
    if not (np.any(events) and np.any(others)):
        return None
    # Denser at either end.
    share = (1 - cos(np.pi * np.arange(1, PLACES - 1) / (PLACES - 1))) / 2
    positions = np.asarray(np.r_[distinct[0], distinct[0] + share * (distinct[-1] - distinct[0]), distinct[-1]])
    robust = sample.weight_kind == "importance" or rows.plan.cluster is not None
    # The Hessian's errors take rows for independent observations, which weighted rows and rows of a cluster are not.
    spread = Spread(summary.rows.truth, weight, np.searchsorted(distinct, probabilities), sample.cluster,
                    None if sample.by_cluster is None else sample.by_cluster.totals) if robust else None
    clipped_weight = float(np.sum(rows.summary.weights[probabilities != rows.summary.rows.event_probability]))
    table, spread = _join_probabilities(Events(distinct, events, others), spread)
    return LogOddsTable(table, positions, spread, clipped_weight)


def _table_and_fit(rows: CurveRows, fit: Callable[[Events, Floats, Spread | None], B]) -> tuple[LogOddsTable, B] | None:
    """Return the table of events and the curve that ``fit`` fits to it; None without a class or a fit.

    ``fit`` takes the table, the probabilities at which the curve is stored, and what robust errors need.
    """
    data = rows.once(_log_odds_table)
    try:
        return None if data is None else (data, fit(data.table, data.places, data.spread))
    except Unfit:
        return None


@curve(calibration.CalibrationLogistic, of=("event", "class"), needs="probabilities")
def logistic(rows: CurveRows) -> Computed | None:
    """Compute the logistic line, log odds of events by log odds of probabilities; None where it has no fit."""
    fitted = _table_and_fit(rows, logistic_line)
    if fitted is None:
        return None
    data, line = fitted
    return _points_with_limits(rows, data, line), calibration.LogisticNotes(
        level=rows.plan.level, clipped=data.clipped, intercept=line.intercept, slope=line.slope,
        slope_inside=_slope_without_clipped(data), method=_error_method(rows, data, "likelihood"))


def _slope_without_clipped(data: LogOddsTable) -> float | None:
    """Return the slope of the logistic line without rows of probability 0 or 1; None without these, or a fit."""
    at = data.table.at
    inside = (at > constants.LOG_ODDS_CLIP) & (at < 1 - constants.LOG_ODDS_CLIP)
    if not data.clipped or not inside.any():
        return None
    try:
        return logistic_line(Events(*(values[inside] for values in data.table)), at[inside][:1]).slope
    except Unfit:
        return None


@curve(calibration.CalibrationSpline, of=("event", "class"), needs="probabilities")
def spline(rows: CurveRows) -> Computed | None:
    """Compute the smoothing spline, log odds of events by log odds of probabilities; None where it has no fit."""
    fitted = _table_and_fit(rows, logistic_spline)
    if fitted is None:
        return None
    data, curved = fitted
    return _points_with_limits(rows, data, curved), calibration.SplineNotes(
        level=rows.plan.level, clipped=data.clipped, edf=curved.edf, criterion="unbiased risk",
        method=_error_method(rows, data, "bayesian"))


def _error_method(rows: CurveRows, data: LogOddsTable, plain: str) -> str:
    """Return the kind of a curve's standard errors: "sandwich" where rows are weighted or clustered, else ``plain``."""
    if rows.plan.interval_method == "none":
        return "none"
    return plain if data.spread is None else "sandwich"


def _join_probabilities(table: Events, spread: Spread | None) -> tuple[Events, Spread | None]:
    """Return the table, and the rows of robust errors, with neighbouring probabilities joined if over `EXACT`.

    The smallest and the largest probability stay as they are.
    """
    if len(table.at) <= EXACT:
        return table, spread
    cell = cut(table.at, CELLS, (table.at, np.r_[EDGES, table.at[[1, -1]]]))
    at, events, others = (
        np.asarray(np.bincount(cell, values), float)
        for values in (table.total * logit(table.at), table.events, table.others)
    )
    joined = Events(expit(at / (events + others)), events, others)
    return joined, None if spread is None else replace(spread, place=cell[spread.place])


def _points_with_limits(rows: CurveRows, data: LogOddsTable, fitted: BandLine | BandCurve) -> dict[str, Floats]:
    """Return the columns of a curve's points, with two-sided limits that are normal on the log odds."""
    from scipy.special import ndtri

    reach = fitted.error * ndtri((1 + rows.plan.level) / 2)
    if rows.plan.interval_method == "none":
        reach = np.full(len(reach), np.nan)
    lower, upper = (expit(fitted.log_odds + side * reach) for side in (-1, 1))
    return {"probability": data.places, "event_rate": expit(fitted.log_odds), "lower": lower, "upper": upper}


def _weights_by_probability(summary: Summary) -> tuple[Floats, Floats, Floats]:
    """Return the distinct probabilities [m], and the weight of events and of others at each [..., m].

    Scores that round to one probability are one forecast here.
    """
    at_scores = summary.rows.probability_of_score
    starts = starts_of_runs(at_scores)
    distinct = at_scores if len(starts) == len(at_scores) else at_scores[starts]
    return distinct, *(totals_of_runs(summary(name), starts) for name in ("events_at", "others_at"))


def isotonic_ends(starts: Wholes, m: int, vertices: int) -> Wholes:
    """Return the indices, among ``m`` probabilities, of both ends of the blocks of an isotonic fit, ascending.

    ``starts`` are those where blocks begin. About ``vertices`` of the ends are kept where there are more.
    """
    ends = np.unique(np.r_[starts, starts[1:] - 1, m - 1])
    if len(ends) > vertices:
        ends = ends[np.unique(np.round(np.linspace(0, len(ends) - 1, vertices)).astype(np.intp))]
    return ends


def isotonic_places(summary: Summary) -> Floats:
    """Return the probabilities of the points of an event's isotonic curve, [k]."""
    distinct, events, others = _weights_by_probability(summary)
    starts, _ = pava(events, events + others)
    return np.asarray(distinct[isotonic_ends(starts, len(distinct), VERTICES["event"])])


def isotonic_heights(summary: Summary, places: Floats) -> Floats:
    """Return the isotonic fit at ``places`` [k] under each row of weights, [..., k]; NaN where all weigh nothing.

    Between two distinct probabilities the curve runs straight; beyond those that have weight it stays level.
    """
    distinct, events, others = _weights_by_probability(summary)
    total = (events + others).reshape(-1, len(distinct))
    runs = pooled_runs(*summary.rows.classes_present)
    heights = IsotonicFits.of(events.reshape(total.shape), total, runs).between(places, distinct)
    return heights.reshape(*events.shape[:-1], len(places))


@curve(calibration.CalibrationIsotonic, of=("event", "class"), needs="probabilities",
       heights=Heights(isotonic_heights, lambda _, summary: isotonic_places(summary)))
def isotonic(rows: CurveRows) -> Computed:
    """Compute the isotonic fit where its blocks start and end, with pointwise limits, and the parts of the Brier score.

    With S(f) the Brier score of a forecast f, c the fit and r the share of events: miscalibration S(p) - S(c),
    discrimination S(r) - S(c), uncertainty S(r). Dimitriadis, Gneiting & Jordan (2021).
    """
    distinct, events, others = _weights_by_probability(rows.summary)
    starts, level = pava(events, events + others)
    fit = np.repeat(level, np.diff(np.r_[starts, len(distinct)]))
    ends = isotonic_ends(starts, len(distinct), rows.vertices)
    lower, upper = rows.limits("calibration_isotonic", len(ends))
    total = np.sum(events + others)
    brier, calibrated, constant = (
        float(np.sum(events * (1 - f) ** 2 + others * f**2) / total) for f in (distinct, fit, np.sum(events) / total))
    if rows.summary.ranked is not rows.summary:  # the parts of the Brier score as measures have them
        calibrated = float(rows.summary.ranked("squared_error_after_isotonic") / total)
    all_ends = len(isotonic_ends(starts, len(distinct), len(distinct)))
    points = {"probability": distinct[ends], "event_rate": fit[ends], "lower": lower, "upper": upper}
    # The fit is never worse than p or than the share of events on the rows that it is of: below 0 is rounding.
    return points, calibration.IsotonicNotes(
        miscalibration=max(brier - calibrated, 0.0), discrimination=max(constant - calibrated, 0.0),
        uncertainty=constant, blocks=len(starts),
        method="percentile" if "calibration_isotonic" in rows.drawn else "none",
        points_of=all_ends if all_ends > len(ends) else None)
