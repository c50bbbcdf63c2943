"""Bands about the curves of one event: their heights at fixed places, in the data and in every replicate."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.intervals.bands import simultaneous_band
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.results.curves import Curve
    from evalpipe.statistics import Summary

PLACES = np.arange(101) / 100
"""The positions on the horizontal axis at which a band is given."""


def roc_heights(summary: Summary, places: Floats) -> Floats:
    """Return the sensitivity at false positive rates ``places`` [k], [..., k]; NaN where a class is missing."""
    summary = summary.ranked
    events, others = (_flat(summary.shares_from(name)) for name in ("events_from", "others_from"))
    return _shaped(_interpolated(others, events, places), summary)


def pr_heights(summary: Summary, places: Floats) -> Floats:
    """Return the precision of the highest threshold that reaches each recall, [..., k]; NaN without a class."""
    summary = summary.ranked
    # A recall that is reached may come out a rounding below it, as weights are summed. No score reaches no recall.
    events, others = _flat(summary("events_from")), _flat(summary("others_from"))
    recalls = _flat(summary.shares_from("events_from"))
    point_index = np.clip(_positions(recalls, places - 1e-12, "left"), 1, events.shape[-1])
    flat_index = _flat_positions(events.shape[-1] - point_index, events.shape[-1])
    hits, alarms = np.take(events, flat_index), np.take(others, flat_index)
    return _shaped(ratio(hits, hits + alarms, empty=1.0), summary)


def gain_heights(summary: Summary, places: Floats) -> Floats:
    """Return the share of events found at shares of the rows ``places``, [..., k]; NaN where a class is missing."""
    summary = summary.ranked
    events, tested = summary.shares_from("events_from"), summary.shares_from("events_from", "others_from")
    return _shaped(_interpolated(_flat(tested), _flat(events), places), summary)


def _flat(values: Floats) -> Floats:
    """Return values [..., m] with a row for each curve, [c, m]."""
    return values.reshape(-1, values.shape[-1])


def _shaped(heights: Floats, summary: Summary) -> Floats:
    """Return heights [c, k] in the shape of the weights, [..., k]; NaN where a class is missing."""
    both = (summary("events_from")[..., 0] > 0) & (summary("others_from")[..., 0] > 0)
    shaped = heights.reshape(*both.shape, -1)
    return shaped if both.all() else np.where(both[..., None], shaped, np.nan)


def _interpolated(x: Floats, y: Floats, places: Floats) -> Floats:
    """Return heights [c, k] at ``places`` [k] of curves ``x``, ``y`` [c, m] from (0, 0) to (1, 1), interpolated."""
    # A curve may step up at a place: from the last point there. One search a curve, and the rest for all at once.
    left = _positions(x, places, "right") - 1
    right = np.minimum(left + 1, x.shape[-1] - 1)
    left_index, right_index = _flat_positions(left, x.shape[-1]), _flat_positions(right, x.shape[-1])
    x0, y0 = np.take(x, left_index), np.take(y, left_index)
    gap, rise = np.take(x, right_index), np.take(y, right_index)
    gap -= x0
    rise -= y0
    rise /= np.where(gap > 0, gap, 1.0)
    rise *= places - x0
    return np.asarray(y0 + rise)


def _positions(x: Floats, places: Floats, side: Literal["left", "right"]) -> Wholes:
    """Return the index of each of ``places`` [k] among the ascending numbers ``x`` [c, m] of each curve, [c, k]."""
    position = np.empty((len(x), len(places)), np.intp)
    for row, curve_x in zip(position, x, strict=True):
        row[:] = curve_x.searchsorted(places, side)
    return position


def _flat_positions(position: Wholes, m: int) -> Wholes:
    """Return positions [c, k] in curves of ``m`` points each as positions in the flat array of all curves."""
    return position + np.arange(len(position))[:, None] * m


def _band(
    rows: CurveRows, name: str, heights: Callable[[Summary, Floats], Floats], axes: tuple[str, str]
) -> Computed | None:
    """Return the pointwise and the simultaneous band about a curve; None without replicates or a class."""
    drawn, height, level = rows.drawn.get(name), heights(rows.summary, PLACES), rows.plan.level
    if drawn is None or np.isnan(height).all():
        return None
    lower, upper = rows.limits(name, len(height))
    low, high = simultaneous_band(drawn, height, level, (0.0, 1.0))
    return {
        axes[0]: PLACES, axes[1]: height, "lower": lower, "upper": upper, "simultaneous_lower": low,
        "simultaneous_upper": high,
    }, calibration.BandNotes(level=level)


_BANDS: dict[type[Curve], tuple[str, Callable[[Summary, Floats], Floats], tuple[str, str]]] = {
    calibration.RocBand: ("roc_band", roc_heights, ("false_positive_rate", "sensitivity")),
    calibration.PrBand: ("pr_band", pr_heights, ("recall", "precision")),
    calibration.GainBand: ("gain_band", gain_heights, ("tested", "found")),
}
for _record, (_name, _heights, _axes) in _BANDS.items():
    curve(_record, of=("event",), needs="scores", heights=Heights(_heights, lambda *_: PLACES))(
        partial(_band, name=_name, heights=_heights, axes=_axes))
