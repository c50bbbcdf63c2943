"""Bands about the curves of one event: their heights at fixed places, in the data and in every replicate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.intervals.bands import simultaneous_band
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import calibration

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.statistics import Summary

PLACES = np.arange(101) / 100
"""The places on the horizontal axis at which a band is given."""


def roc_heights(summary: Summary, places: Floats) -> Floats:
    """Return the sensitivity at false positive rates ``places`` [k], [..., k]; NaN where a class is missing."""
    summary = summary.ranked
    events, others = (_flat(summary.shares_from(name)) for name in ("events_from", "others_from"))
    return _defined(_straight(others, events, places), summary)


def pr_heights(summary: Summary, places: Floats) -> Floats:
    """Return the precision of the highest threshold that reaches each recall, [..., k]; NaN where a class lacks."""
    summary = summary.ranked
    # A recall that is reached may come out a rounding below it, as weights are summed. No score reaches no recall.
    events, others = _flat(summary("events_from")), _flat(summary("others_from"))
    place = np.clip(_searched(_flat(summary.shares_from("events_from")), places - 1e-12, "left"), 1, events.shape[-1])
    at = _of_all(events.shape[-1] - place, events.shape[-1])
    hits, alarms = np.take(events, at), np.take(others, at)
    return _defined(ratio(hits, hits + alarms, empty=1.0), summary)


def gain_heights(summary: Summary, places: Floats) -> Floats:
    """Return the share of events found at shares of the rows ``places``, [..., k]; NaN where a class is missing."""
    summary = summary.ranked
    events, tested = summary.shares_from("events_from"), summary.shares_from("events_from", "others_from")
    return _defined(_straight(_flat(tested), _flat(events), places), summary)


def _flat(values: Floats) -> Floats:
    """Return values [..., m] of all curves, one after the other: [c, m]."""
    return values.reshape(-1, values.shape[-1])


def _defined(heights: Floats, summary: Summary) -> Floats:
    """Return heights [c, k] of as many curves as there are rows of weights, [..., k]; NaN where a class is missing."""
    both = (summary("events_from")[..., 0] > 0) & (summary("others_from")[..., 0] > 0)
    shaped = heights.reshape(*both.shape, -1)
    return shaped if both.all() else np.where(both[..., None], shaped, np.nan)


def _straight(x: Floats, y: Floats, places: Floats) -> Floats:
    """Interpolate curves that rise from (0, 0) to (1, 1), both [c, m]: they run straight between points."""
    # A curve may step up at a place: from the last point there. One search a curve, and the rest for all at once.
    left = _searched(x, places, "right") - 1
    right = np.minimum(left + 1, x.shape[-1] - 1)
    at, beyond = _of_all(left, x.shape[-1]), _of_all(right, x.shape[-1])
    x0, y0 = np.take(x, at), np.take(y, at)
    gap, rise = np.take(x, beyond), np.take(y, beyond)
    gap -= x0
    rise -= y0
    rise /= np.where(gap > 0, gap, 1.0)
    rise *= places - x0
    return np.asarray(y0 + rise)


def _searched(x: Floats, places: Floats, side: Literal["left", "right"]) -> Wholes:
    """Return where each place [k] stands among the ascending numbers of each curve, x [c, m]: [c, k]."""
    position = np.empty((len(x), len(places)), np.intp)
    for row, curve_x in zip(position, x, strict=True):
        row[:] = curve_x.searchsorted(places, side)
    return position


def _of_all(place: Wholes, m: int) -> Wholes:
    """Return the places [c, k] in curves of ``m`` points each among the points of all, one curve after the other."""
    return place + np.arange(len(place))[:, None] * m


@curve(calibration.RocBand, of=("event",), needs="scores", heights=Heights(roc_heights, lambda *_: PLACES))
def roc_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the ROC curve, where it was drawn."""
    return _band(rows, "roc_band", roc_heights, ("false_positive_rate", "sensitivity"))


@curve(calibration.PrBand, of=("event",), needs="scores", heights=Heights(pr_heights, lambda *_: PLACES))
def pr_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the precision-recall curve, where it was drawn."""
    return _band(rows, "pr_band", pr_heights, ("recall", "precision"))


@curve(calibration.GainBand, of=("event",), needs="scores", heights=Heights(gain_heights, lambda *_: PLACES))
def gain_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the curve of cumulative gain, where it was drawn."""
    return _band(rows, "gain_band", gain_heights, ("tested", "found"))


def _band(
    rows: CurveRows, name: str, heights: Callable[[Summary, Floats], Floats], axes: tuple[str, str]
) -> Computed | None:
    """Return the band about a curve, at each place alone and at all at once; None without replicates or a class."""
    drawn, height, level = rows.drawn.get(name), heights(rows.summary, PLACES), rows.plan.level
    if drawn is None or np.isnan(height).all():
        return None
    lower, upper = rows.limits(name, len(height))
    low, high = simultaneous_band(drawn, height, level, (0.0, 1.0))
    return {
        axes[0]: PLACES, axes[1]: height, "lower": lower, "upper": upper, "simultaneous_lower": low,
        "simultaneous_upper": high,
    }, calibration.BandNotes(level=level)
