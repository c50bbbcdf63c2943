"""Bands around a curve from its bootstrap replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats

    Band = tuple[Floats, Floats]


AT_ONCE = 1_000_000
"""Replicates of points that limits are computed of at once (8 MB); changes no result."""


def pointwise_band(replicates: Floats, level: float) -> Band:
    """Return the lower and upper percentile limits [m] of each point of a curve, from its replicates [B, m].

    Each point is covered at the level by itself, so the whole curve is covered less often. Replicates that are NaN at a
    point are left out there; where fewer than two are defined, the limits are NaN. Efron (1979).
    """
    limits, tail = np.full((2, replicates.shape[1]), np.nan), (1 - level) / 2
    step = max(1, AT_ONCE // max(1, len(replicates)))
    for first in range(0, replicates.shape[1], step):
        by_point = np.ascontiguousarray(replicates[:, first : first + step].T)
        absent = np.isnan(by_point).sum(axis=1)
        enough = len(replicates) - absent >= 2
        # Points without gaps are sorted all at once, which takes a fraction of the time; both give the same limits.
        for chosen, quantile in ((enough & (absent == 0), np.quantile), (enough & (absent > 0), np.nanquantile)):
            points = np.flatnonzero(chosen)
            if len(points):
                limits[:, first + points] = quantile(by_point[points], [tail, 1 - tail], axis=1)
    return limits[0], limits[1]


def simultaneous_band(
    replicates: Floats, value: Floats, level: float, within: tuple[float, float] = (-np.inf, np.inf)
) -> Band:
    """Return the lower and upper limits [m] of a band that covers all points of a curve at once, at the level.

    The sup-t band: a point's ``value`` [m] plus and minus its standard error over the replicates [B, m], times the
    level-quantile of the replicates' largest |replicate - value| / error over the points. Montiel Olea & Plagborg-
    Møller (2019), with replicates in place of their normal draws. Clipped to the range ``within`` that the curve cannot
    leave. A point at which no replicate moves, such as an end of the curve, stays at its value; that says nothing about
    other rows. A point without a value, or with fewer than two defined replicates, is NaN and left out of the largest.
    The band is symmetric, so with few rows it covers shares near 0 and 1 less often than it says.
    """
    band, size = np.full((2, replicates.shape[1]), np.nan), len(replicates)
    defined = np.flatnonzero(~np.isnan(value) & ((~np.isnan(replicates)).sum(axis=0) >= 2))
    errors, furthest = np.zeros(len(value)), np.full(size, np.nan)
    step = max(1, AT_ONCE // max(1, size))
    for first in range(0, len(defined), step):
        points = defined[first : first + step]
        drawn = replicates[:, points]
        points = points[np.nanmax(drawn, axis=0) > np.nanmin(drawn, axis=0)]
        if len(points):
            drawn = replicates[:, points]
            errors[points] = np.nanstd(drawn, axis=0, ddof=1)
            away = np.abs(drawn - value[points]) / errors[points]
            furthest = np.fmax(furthest, np.fmax.reduce(away, axis=1))
    varies = ~np.isnan(furthest)
    reach = errors * np.quantile(furthest[varies], level) if varies.any() else errors
    band[:, defined] = np.clip([value[defined] - reach[defined], value[defined] + reach[defined]], *within)
    return band[0], band[1]
