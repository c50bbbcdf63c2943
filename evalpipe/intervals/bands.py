"""Bands around a curve from its bootstrap replicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats

    Band = tuple[Floats, Floats]


def pointwise_band(replicates: Floats, level: float) -> Band:
    """Return the lower and upper percentile limits [m] of each point of a curve, from its replicates [B, m].

    Each point is covered at the level by itself, so the whole curve is covered less often. Replicates that are NaN at a
    point are left out there; where fewer than two are defined, the limits are NaN. Efron (1979).
    """
    by_point, tail = np.ascontiguousarray(replicates.T), (1 - level) / 2
    absent, limits = np.isnan(by_point).sum(axis=1), np.full((2, len(by_point)), np.nan)
    known = replicates.shape[0] - absent >= 2
    # Points without gaps are sorted all at once, which takes a fraction of the time; both give the same limits.
    for points, quantile in ((known & (absent == 0), np.quantile), (known & (absent > 0), np.nanquantile)):
        if points.any():
            limits[:, points] = quantile(by_point[points], [tail, 1 - tail], axis=1)
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
    band = np.full((2, replicates.shape[1]), np.nan)
    known = ~np.isnan(value) & ((~np.isnan(replicates)).sum(axis=0) >= 2)
    if known.any():
        drawn, centre = replicates[:, known], value[known]
        moves = np.nanmax(drawn, axis=0) > np.nanmin(drawn, axis=0)
        reach = np.zeros(len(centre))
        reach[moves] = _reach(drawn[:, moves], centre[moves], level)
        band[:, known] = np.clip([centre - reach, centre + reach], *within)
    return band[0], band[1]


def _reach(drawn: Floats, centre: Floats, level: float) -> Floats:
    """Return how far the band goes to either side at points that vary, [m]."""
    if not len(centre):
        return centre
    errors = np.nanstd(drawn, axis=0, ddof=1)
    furthest = np.fmax.reduce(np.abs(drawn - centre) / errors, axis=1)
    return np.asarray(errors * np.quantile(furthest[~np.isnan(furthest)], level))
