"""The decision curve: what acting on a model's probabilities brings, by the probability from which one acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.intervals import LIMITS
from evalpipe.intervals.contrasts import net_benefit_limits
from evalpipe.metrics.values import ratio
from evalpipe.results.curves.calibration import NetBenefit, NetBenefitNotes

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats
    from evalpipe.statistics import Summary

THRESHOLDS = np.arange(1, 100) / 100
"""The threshold probabilities of the curve; cells of a grid end at them where one model is alone."""


def _weights_reached(summary: Summary, thresholds: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weight of all rows [..., 1], and that of events and others with at least each threshold [..., k]."""
    events, others = summary("events_from"), summary("others_from")
    total = events[..., :1] + others[..., :1]
    nothing = np.zeros_like(total)  # from a threshold above all probabilities
    score_index = np.searchsorted(summary.rows.probability_of_score, thresholds, side="left")
    caught, alarmed = (np.concatenate([values, nothing], axis=-1)[..., score_index] for values in (events, others))
    return total, caught, alarmed


def net_benefits(summary: Summary, thresholds: Floats) -> Floats:
    """Return the net benefit of acting on rows from each of ``thresholds`` [k] up, [..., k]. Vickers & Elkin (2006)."""
    total, caught, alarmed = _weights_reached(summary, thresholds)
    return ratio(caught - alarmed * (thresholds / (1 - thresholds)), total)



@curve(NetBenefit, of=("event",), needs="probabilities", heights=Heights(net_benefits, lambda *_: THRESHOLDS))
def decision_curve(rows: CurveRows) -> Computed:
    """Compute the net benefit by threshold with its limits, beside that of acting on all rows."""
    summary = rows.summary
    height = net_benefits(summary, THRESHOLDS)
    events, others = summary("events_from")[0], summary("others_from")[0]
    everybody = (events - others * (THRESHOLDS / (1 - THRESHOLDS))) / (events + others)
    if "net_benefit" not in rows.drawn or rows.plan.bins not in LIMITS or rows.plan.importance:
        lower, upper = rows.limits("net_benefit", len(THRESHOLDS))
    else:  # by the method of the measure
        reached = _weights_reached(summary, THRESHOLDS)
        lower, upper = net_benefit_limits(*reached, {"threshold": THRESHOLDS}, rows.plan.level)
    gained = height - np.maximum(everybody, 0.0)
    most = int(gained.argmax())
    points = {
        "threshold": THRESHOLDS, "net_benefit": height, "treat_all": everybody, "lower": lower, "upper": upper}
    return points, NetBenefitNotes(
        largest_gain=float(gained[most]), largest_gain_at=float(THRESHOLDS[most]),
        level=rows.plan.level if "net_benefit" in rows.drawn else None)
