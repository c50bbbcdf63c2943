"""Isotonic fits to many replicates at once, and their heights at fixed places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.arraytypes import Floats, Wholes


@dataclass(frozen=True)
class Fits:
    """Isotonic fits to ``b`` replicates of ``m`` places each: a level at every place that has weight.

    ``kept`` are these places, numbered through all replicates, ascending; ``levels`` are the levels there, from 0 to 1.
    """

    kept: Wholes
    levels: Floats
    b: int
    m: int

    @classmethod
    def of(cls, events: Floats, total: Floats) -> Fits:
        """Fit the shares ``events`` / ``total`` of replicates, both [b, m]."""
        from scipy.optimize import isotonic_regression

        kept = np.flatnonzero(total != 0)
        if not len(kept):
            return cls(kept, np.empty(0), *total.shape)
        hits, weight = np.take(events, kept), np.take(total, kept)
        # Shares of the next replicate are 2 higher, so that blocks end with their replicate: one call fits them all.
        ends = np.searchsorted(kept, np.arange(len(total) + 1) * total.shape[-1])
        shares = hits / weight
        shares += np.repeat(2.0 * np.arange(len(total)), np.diff(ends))
        blocks = isotonic_regression(shares, weights=weight).blocks
        # From totals, for what is 2 higher has lost digits.
        levels = np.add.reduceat(hits, blocks[:-1]) / np.add.reduceat(weight, blocks[:-1])
        return cls(kept, np.repeat(levels, np.diff(blocks)), *total.shape)

    def between(self, places: Floats, at: Floats) -> Floats:
        """Return the heights [b, k] at ``places`` [k] of lines through the levels; NaN without any weight.

        ``at`` [m] ascends. Beyond the first and the last place that has weight the height stays. Between two so near
        that no slope can be held in double precision, the lower level holds.
        """
        if not len(self.levels):
            return np.full((self.b, len(places)), np.nan)
        # How many levels there are up to each place of `at`, over all replicates; before its first place too.
        up_to = np.zeros(self.b * self.m + 1, np.intp)
        up_to[self.kept + 1] = 1
        np.cumsum(up_to, out=up_to)
        begin = np.arange(self.b)[:, None] * self.m
        first, last = up_to[begin], up_to[begin + self.m] - 1
        left = np.clip(up_to[begin + np.searchsorted(at, places, side="right")] - 1, first, last)
        right = np.clip(up_to[begin + np.searchsorted(at, places)], first, last)
        x, further = at[self.kept[left] % self.m], at[self.kept[right] % self.m]
        low = self.levels[left]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            heights = (self.levels[right] - low) / (further - x) * (places - x) + low
        heights = np.where((left == right) | ~np.isfinite(heights), low, heights)
        return np.where(last >= first, heights, np.nan)
