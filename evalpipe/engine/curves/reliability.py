"""Reliability diagrams with bins, and the refinement of rounded probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe import constants
from evalpipe.engine.curves.bins import bin_edges, totals
from evalpipe.engine.curves.declare import Computed, CurveRows, Kind, curve, listed
from evalpipe.intervals import LIMITS
from evalpipe.intervals.bands import pointwise_band, simultaneous_band
from evalpipe.metrics.values import ratio
from evalpipe.results.curves.calibration import (
    Refinement,
    RefinementNotes,
    RefinementPoints,
    Reliability,
    ReliabilityNotes,
    ReliabilityPoints,
)

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats

DIGITS = 2
"""Decimals to which probabilities are rounded for the refinement plot, as for the parts of the Brier score."""

OF: tuple[Kind, ...] = ("event", "class", "top_label", "cut")


@curve(Reliability, of=OF, needs="probabilities", name="calibration_uniform")
def of_equal_width(rows: CurveRows) -> Computed:
    """Compute a reliability diagram with bins of equal width."""
    return _diagram(rows, "uniform")


@curve(Reliability, of=OF, needs="probabilities", name="calibration_quantile")
def of_equal_weight(rows: CurveRows) -> Computed:
    """Compute a reliability diagram with bins of equal weight."""
    return _diagram(rows, "quantile")


def _diagram(rows: CurveRows, strategy: str) -> Computed:
    """Return the bins, with limits from replicates of their event rates [B, bins] where there are any."""
    summary, drawn = rows.summary, rows.drawn.get(f"calibration_{strategy}")
    edges = bin_edges(summary.rows, strategy, rows.sample.weight)
    events, others = (totals(summary.rows, summary(name), edges) for name in ("events_at", "others_at"))
    weight = events + others
    stated = (summary("events_at") + summary("others_at")) * summary.rows.chance_at
    mean = totals(summary.rows, stated, edges) / weight
    count = totals(summary.rows, summary.rows.by_score(np.ones(len(summary.rows.truth))), edges)
    lower, upper, low, high = _rate_limits(rows, events, weight, drawn)
    points = ReliabilityPoints(
        mean_probability=listed(mean), event_rate=listed(events / weight), lower=listed(lower), upper=listed(upper),
        simultaneous_lower=listed(low), simultaneous_upper=listed(high), weight=listed(weight), rows=listed(count),
    )
    gap = float(np.average(np.abs(events / weight - mean), weights=weight))
    method = method_of_bins(rows, drawn)
    return points, ReliabilityNotes(
        bins_requested=constants.BINS, bins_used=len(weight), method=method, mean_gap=gap)


def method_of_bins(rows: CurveRows, drawn: Floats | None) -> str:
    """Return how limits of event rates in bins and windows are made."""
    return rows.plan.bins if rows.plan.bins in LIMITS or drawn is not None else "none"


def _rate_limits(
    rows: CurveRows, events: Floats, weight: Floats, drawn: Floats | None
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the limits of the event rates in bins, of each alone and of all at once.

    All at once, binomial limits take the level whose power of the number of bins is the one asked: bins share no rows.
    """
    bins, level, nowhere = rows.plan.bins, rows.plan.level, np.full(len(weight), np.nan)
    if bins in LIMITS:
        alone = LIMITS[bins](events, weight, level)
        return (*alone, *LIMITS[bins](events, weight, level ** (1 / len(weight))))
    if drawn is None:
        return nowhere, nowhere, nowhere, nowhere
    together = simultaneous_band(drawn, events / weight, level, (0.0, 1.0))
    return (*pointwise_band(drawn, level), *together)


@curve(Refinement, of=("event",), needs="probabilities")
def refinement(rows: CurveRows) -> Computed:
    """Compute, for each rounded probability, the event rate and what is left of the Brier score if it is forecast."""
    events, others, stated = (
        rows.summary(name, {"digits": DIGITS}) for name in ("rounded_events", "rounded_others", "rounded_sum")
    )
    weight = events + others
    rate = ratio(events, weight)
    left = rate * (1 - rate)
    points = RefinementPoints(
        probability=listed(ratio(stated, weight)), event_rate=listed(rate), refinement=listed(left),
        weight=listed(weight))
    return points, RefinementNotes(digits=DIGITS, mean=float(np.average(left, weights=weight)))
