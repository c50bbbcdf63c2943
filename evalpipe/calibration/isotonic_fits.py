"""Isotonic fits to many replicates at once, and their heights at fixed places."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Flags, Floats


def fits(events: Floats, total: Floats) -> Floats:
    """Return the levels of the isotonic fits to the shares ``events`` / ``total`` of replicates, both [b, m].

    One level, between 0 and 1, for each place that has weight, all replicates one after another.
    """
    from scipy.optimize import isotonic_regression

    kept = np.flatnonzero(total)
    if not len(kept):
        return np.empty(0)
    hits, weight = np.take(events, kept), np.take(total, kept)
    # Shares of the next replicate are 2 higher, so that blocks end with their replicate: one call fits them all.
    blocks = isotonic_regression(hits / weight + 2.0 * (kept // total.shape[-1]), weights=weight).blocks
    # From totals, for what is 2 higher has lost digits.
    levels = np.add.reduceat(hits, blocks[:-1]) / np.add.reduceat(weight, blocks[:-1])
    return np.asarray(np.repeat(levels, np.diff(blocks)))


def between(places: Floats, at: Floats, weighs: Flags, levels: Floats) -> Floats:
    """Return the heights [b, k] at ``places`` [k] of lines through the levels of `fits`; NaN without any weight.

    ``at`` [m] ascends; ``weighs`` [b, m] is whether it has weight. Beyond the first and the last that have, the height
    stays. Between two so near that no slope can be held in double precision, the lower level holds.
    """
    if not len(levels):
        return np.full((len(weighs), len(places)), np.nan)
    # How many levels there are up to each place of `at`, over all replicates; before its first place too.
    up_to = np.concatenate([[0], np.cumsum(weighs)])
    begin = np.arange(len(weighs))[:, None] * len(at)
    first, last = up_to[begin], up_to[begin + len(at)] - 1
    left = np.clip(up_to[begin + np.searchsorted(at, places, side="right")] - 1, first, last)
    right = np.clip(up_to[begin + np.searchsorted(at, places)], first, last)
    x = np.broadcast_to(at, weighs.shape)[weighs]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        slope = (levels[right] - levels[left]) / (x[right] - x[left])
        heights = slope * (places - x[left]) + levels[left]
    heights = np.where((left == right) | ~np.isfinite(heights), levels[left], heights)
    return np.where(last >= first, heights, np.nan)
