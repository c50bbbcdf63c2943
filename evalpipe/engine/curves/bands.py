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

    from evalpipe.arraytypes import Floats, Wholes
    from evalpipe.statistics import Summary

PLACES = np.arange(101) / 100
"""The places on the horizontal axis at which a band is given."""


def roc_heights(summary: Summary, places: Floats) -> Floats:
    """Return the sensitivity at false positive rates ``places`` [k], [..., k]; NaN where a class is missing."""
    events, others = _shares(summary)
    return _defined(_straight(others, events, places), summary)


def pr_heights(summary: Summary, places: Floats) -> Floats:
    """Return the precision of the highest threshold that reaches each recall, [..., k]; NaN where a class lacks."""
    events, others = summary("events_from"), summary("others_from")
    place = _reached(_shares(summary)[0], places)
    hits, alarms = (np.take_along_axis(_rising(values), place, axis=-1) for values in (events, others))
    return _defined(ratio(hits, hits + alarms, empty=1.0), summary)


def gain_heights(summary: Summary, places: Floats) -> Floats:
    """Return the share of events found at shares of the rows ``places``, [..., k]; NaN where a class is missing."""
    events, others = summary("events_from"), summary("others_from")
    tested = events + others
    return _defined(_straight(_share(tested), _share(events), places), summary)


def _shares(summary: Summary) -> tuple[Floats, Floats]:
    """Return the shares of the events and of the others at or above each score, as `_rising` has them."""
    return _share(summary("events_from")), _share(summary("others_from"))


def _share(values: Floats) -> Floats:
    """Return the part of all that values [..., m] at or above each score are, as `_rising` has them."""
    rising = _rising(values)
    with np.errstate(invalid="ignore"):  # without any weight there is no curve, see `_defined`
        return rising / rising[:, -1:]


def _rising(values: Floats) -> Floats:
    """Return values [..., m] from the highest score down, after a 0 for no score, in rows of their own: [c, m + 1]."""
    rising = np.zeros((values[..., 0].size, values.shape[-1] + 1))
    rising[:, 1:] = values.reshape(-1, values.shape[-1])[:, ::-1]
    return rising


def _defined(heights: Floats, summary: Summary) -> Floats:
    """Return heights [c, k] of as many curves as there are rows of weights, [..., k]; NaN where a class is missing."""
    both = (summary("events_from")[..., 0] > 0) & (summary("others_from")[..., 0] > 0)
    return np.where(both[..., None], heights.reshape(*both.shape, -1), np.nan)


def _straight(x: Floats, y: Floats, places: Floats) -> Floats:
    """Interpolate curves that rise from (0, 0) to (1, 1), both [c, m]: they run straight between points."""
    # A curve may step up at a place: from the last point there. One search a curve, and the rest for all at once.
    left = np.stack([row.searchsorted(places, side="right") for row in x]) - 1
    right = np.minimum(left + 1, x.shape[-1] - 1)
    (x0, x1), (y0, y1) = (
        [np.take_along_axis(values, at, axis=-1) for at in (left, right)] for values in (x, y))
    gap = x1 - x0
    return y0 + (y1 - y0) / np.where(gap > 0, gap, 1.0) * (places - x0)


def _reached(x: Floats, places: Floats) -> Wholes:
    """Return the number of the first point at which curves [c, m] that rise from 0 reach each place, [c, k]."""
    # A recall that is reached may come out a rounding below it, as weights are summed. No score reaches no recall.
    place = np.stack([row.searchsorted(places - 1e-12) for row in x])
    return np.asarray(np.clip(place, 1, x.shape[-1] - 1))


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
