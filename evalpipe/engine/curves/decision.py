"""The decision curve: what acting on a model's probabilities brings, by the probability from which one acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, curve, listed
from evalpipe.intervals.bands import pointwise_band
from evalpipe.metrics.values import ratio
from evalpipe.results.curves.calibration import NetBenefit, NetBenefitNotes, NetBenefitPoints

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats
    from evalpipe.statistics import Summary

THRESHOLDS = np.arange(1, 100) / 100
"""The threshold probabilities of the curve; cells of a grid end at them where one model is alone."""

ODDS = THRESHOLDS / (1 - THRESHOLDS)


def net_benefits(summary: Summary) -> Floats:
    """Return the net benefit of acting on rows from each of `THRESHOLDS` upwards, [..., 99]. Vickers & Elkin (2006)."""
    events, others = summary("events_from"), summary("others_from")
    total = events[..., :1] + others[..., :1]
    nobody = np.zeros_like(total)
    place = np.searchsorted(summary.rows.chance_at, THRESHOLDS, side="left")
    caught, alarmed = (np.concatenate([values, nobody], axis=-1)[..., place] for values in (events, others))
    return ratio(caught - alarmed * ODDS, total)


@curve(NetBenefit, of=("event",), needs="probabilities")
def decision_curve(rows: CurveRows) -> Computed:
    """Compute the curve with that of acting on all rows; `net_benefits` are its replicates."""
    summary, drawn, level = rows.summary, rows.drawn.get("net_benefit"), rows.plan.level
    height = net_benefits(summary)
    events, others = summary("events_from")[0], summary("others_from")[0]
    everybody = (events - others * ODDS) / (events + others)
    lower, upper = (np.full(len(height), np.nan),) * 2 if drawn is None else pointwise_band(drawn, level)
    gained = height - np.maximum(everybody, 0.0)
    most = int(gained.argmax())
    points = NetBenefitPoints(
        threshold=listed(THRESHOLDS), net_benefit=listed(height), treat_all=listed(everybody), lower=listed(lower),
        upper=listed(upper))
    return points, NetBenefitNotes(
        largest_gain=float(gained[most]), largest_gain_at=float(THRESHOLDS[most]),
        level=None if drawn is None else level)
