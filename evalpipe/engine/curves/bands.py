"""Bands about the curves of one event: their heights at fixed places, in the data and in every replicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, Heights, curve
from evalpipe.intervals.bands import simultaneous_band
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import bands

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalpipe.arraytypes import Floats
    from evalpipe.statistics import Summary

PLACES = np.arange(101) / 100
"""The places on the horizontal axis at which a band is given."""


def roc_heights(summary: Summary, places: Floats) -> Floats:
    """Return the sensitivity at false positive rates ``places`` [k], [..., k]; NaN where a class is missing."""
    events, others = summary("events_from"), summary("others_from")
    return _drawn(_straight, ratio(others, others[..., :1]), ratio(events, events[..., :1]), summary, places)


def pr_heights(summary: Summary, places: Floats) -> Floats:
    """Return the precision of the highest threshold that reaches each recall, [..., k]; NaN where a class lacks."""
    events, others = summary("events_from"), summary("others_from")
    precision = ratio(events, events + others, empty=1.0)
    return _drawn(_reached, ratio(events, events[..., :1]), precision, summary, places)


def gain_heights(summary: Summary, places: Floats) -> Floats:
    """Return the share of events found at shares of the rows ``places``, [..., k]; NaN where a class is missing."""
    events, others = summary("events_from"), summary("others_from")
    tested = events + others
    return _drawn(_straight, ratio(tested, tested[..., :1]), ratio(events, events[..., :1]), summary, places)


def _drawn(
    height: Callable[[Floats, Floats, Floats], Floats], across: Floats, up: Floats, summary: Summary, places: Floats
) -> Floats:
    """Return the ``height`` of each of some curves [..., m] at ``places`` [k], [..., k]."""
    flat = zip(across.reshape(-1, across.shape[-1]), up.reshape(-1, up.shape[-1]), strict=True)
    # np.interp and np.searchsorted take one curve at a time.
    heights = np.stack([height(places, x, y) for x, y in flat]).reshape(*across.shape[:-1], len(places))
    both = (summary("events_from")[..., 0] > 0) & (summary("others_from")[..., 0] > 0)
    return np.where(both[..., None], heights, np.nan)


def _straight(places: Floats, x: Floats, y: Floats) -> Floats:
    """Interpolate a curve that descends from (1, 1) to a last step down to (0, 0): it runs straight between points."""
    return np.asarray(np.interp(places, np.append(0.0, x[::-1]), np.append(0.0, y[::-1])))


def _reached(places: Floats, x: Floats, y: Floats) -> Floats:
    """Return the height at the last point from the left whose place is reached."""
    # A recall that is reached may come out a rounding below it, as weights are summed.
    place = np.searchsorted(-x, -places + 1e-12, side="right") - 1
    return y[np.clip(place, 0, None)]


@curve(bands.RocBand, of=("event",), needs="scores", heights=Heights(roc_heights, lambda *_: PLACES))
def roc_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the ROC curve, where it was drawn."""
    return _band(rows, "roc_band", roc_heights, ("false_positive_rate", "sensitivity"))


@curve(bands.PrBand, of=("event",), needs="scores", heights=Heights(pr_heights, lambda *_: PLACES))
def pr_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the precision-recall curve, where it was drawn."""
    return _band(rows, "pr_band", pr_heights, ("recall", "precision"))


@curve(bands.GainBand, of=("event",), needs="scores", heights=Heights(gain_heights, lambda *_: PLACES))
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
    }, bands.BandNotes(level=level)
