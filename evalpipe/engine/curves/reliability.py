"""Reliability diagrams: bins of predicted probability, and the refinement of rounded probabilities.

Equal scores always share a bin.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from evalpipe.arithmetic.functions import power
from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, Kind, curve, interval_method_of
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bands import simultaneous_band
from evalpipe.metrics.bins import equal_weight
from evalpipe.metrics.values import ratio
from evalpipe.results.curves.calibration import (
    Refinement,
    RefinementNotes,
    Reliability,
    ReliabilityNotes,
    Rug,
    RugNotes,
)
from evalpipe.statistics.groups import runs_within, starts_of_runs, totals_of_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats
    from evalpipe.plan.plan import Plan
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
        starts, _ = runs_within(rows.probability_of_score, np.arange(bins) / bins)
    else:
        starts = starts_of_runs(equal_weight(rows.by_score(summary.weights[rows.order]), bins))
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


DIGITS = 2
"""Decimals to which probabilities are rounded for the refinement plot, as for the parts of the Brier score."""

RUG, PLACES = 250, 100
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
    """Return the lowest score of each of the bins that the plan asks for; they are the same in all replicates."""
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
    """Return pointwise and simultaneous limits of the event rates in bins, as columns of the curve.

    Bins share no rows, so simultaneous binomial limits have the confidence level whose power of the number of bins is
    the plan's level.
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
    marked = probability if distinct <= RUG else np.rint(probability * PLACES) / PLACES
    positions, cell = np.unique(marked, return_inverse=True)
    events, others = (np.bincount(cell, rows.summary(name), len(positions)) for name in ("events_at", "others_at"))
    points = {"probability": positions, "events": events, "others": others}
    return points, RugNotes(distinct=distinct, places=PLACES if distinct > RUG else None)


@curve(Refinement, of=("event",), needs="probabilities")
def refinement(rows: CurveRows) -> Computed:
    """Compute, for each rounded probability, the event rate and what is left of the Brier score if it is forecast."""
    events, others, probability_sums = (
        rows.summary(name, {"digits": DIGITS}) for name in ("rounded_events", "rounded_others", "rounded_sum")
    )
    weight = events + others
    rate = ratio(events, weight)
    left = rate * (1 - rate)
    points = {"probability": ratio(probability_sums, weight), "event_rate": rate, "refinement": left, "weight": weight}
    return points, RefinementNotes(digits=DIGITS, mean=float(np.average(left, weights=weight)))
