"""Bands about the curves of one event: their heights at fixed places, in the data and in every replicate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from evalpipe.engine.curves.declare import Computed, CurveRows, curve, listed
from evalpipe.intervals.bands import pointwise_band, simultaneous_band
from evalpipe.metrics.values import ratio
from evalpipe.results.curves import bands

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats
    from evalpipe.results.curves import Column
    from evalpipe.statistics import Summary

PLACES = np.arange(101) / 100
"""The places on the horizontal axis at which a band is given."""

def curve_heights(summary: Summary) -> dict[str, Floats]:
    """Return the height of each curve at `PLACES`, [..., 101]; NaN where a class is missing.

    Between two thresholds the curves of sensitivity and of events found run straight; precision is that of the highest
    threshold which reaches the recall.
    """
    events, others = summary("events_from"), summary("others_from")
    tested = events + others
    sensitivity, false_positive_rate = ratio(events, events[..., :1]), ratio(others, others[..., :1])
    precision = ratio(events, tested, empty=1.0)
    both = (events[..., 0] > 0) & (others[..., 0] > 0)
    heights = {
        "roc_band": _straight(false_positive_rate, sensitivity),
        "pr_band": _reached(sensitivity, precision),
        "gain_band": _straight(ratio(tested, tested[..., :1]), sensitivity),
    }
    return {name: np.where(both[..., None], values, np.nan) for name, values in heights.items()}


def _straight(across: Floats, up: Floats) -> Floats:
    """Interpolate curves [..., m] that descend from (1, 1) to a last step down to (0, 0)."""
    return _each(across, up, lambda x, y: np.interp(PLACES, np.append(0.0, x[::-1]), np.append(0.0, y[::-1])))


def _reached(across: Floats, up: Floats) -> Floats:
    """Return the height at the last point from the left whose place is reached."""
    def at(x: Floats, y: Floats) -> Floats:
        place = np.searchsorted(-x, -PLACES + 1e-12, side="right") - 1
        return y[np.clip(place, 0, None)]

    return _each(across, up, at)


def _each(across: Floats, up: Floats, height: Any) -> Floats:
    flat = zip(across.reshape(-1, across.shape[-1]), up.reshape(-1, up.shape[-1]), strict=True)
    return np.stack([height(x, y) for x, y in flat]).reshape(*across.shape[:-1], len(PLACES))


@curve(bands.RocBand, of=("event",), needs="scores")
def roc_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the ROC curve, where it was drawn."""
    band = _band(rows, "roc_band")
    return band and (bands.RocBandPoints(
        false_positive_rate=listed(PLACES), sensitivity=band.height, **band.limits), band.notes)


@curve(bands.PrBand, of=("event",), needs="scores")
def pr_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the precision-recall curve, where it was drawn."""
    band = _band(rows, "pr_band")
    return band and (bands.PrBandPoints(recall=listed(PLACES), precision=band.height, **band.limits), band.notes)


@curve(bands.GainBand, of=("event",), needs="scores")
def gain_band(rows: CurveRows) -> Computed | None:
    """Compute the band about the curve of cumulative gain, where it was drawn."""
    band = _band(rows, "gain_band")
    return band and (bands.GainBandPoints(tested=listed(PLACES), found=band.height, **band.limits), band.notes)


class Band(NamedTuple):
    """A curve at `PLACES`: its height, its limits at each place alone and at all at once, and its notes."""

    height: Column
    limits: dict[str, Column]
    notes: bands.BandNotes


def _heights(rows: CurveRows) -> dict[str, Floats]:
    return curve_heights(rows.summary)


def _band(rows: CurveRows, name: str) -> Band | None:
    """Return the band about a curve; None where none was drawn or a class is absent."""
    drawn, height = rows.drawn.get(name), rows.once(_heights)[name]
    if drawn is None or np.isnan(height).all():
        return None
    level = rows.plan.level
    limits = (*pointwise_band(drawn, level), *simultaneous_band(drawn, height, level, (0.0, 1.0)))
    names = ("lower", "upper", "simultaneous_lower", "simultaneous_upper")
    columns = {name: listed(values) for name, values in zip(names, limits, strict=True)}
    return Band(listed(height), columns, bands.BandNotes(level=level))
