"""Isotonic fits to many replicates at once, and their heights at fixed places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Flags, Floats, Wholes


def pooled_runs(events: Flags, others: Flags) -> Wholes:
    """Return where runs of places begin that every isotonic fit pools, however the rows are weighed: [g] of m places.

    ``events`` and ``others`` [m] tell whether a place has rows of the class. Neighbours whose shares do not rise have
    one level, so a place of events alone goes with the next, and one without events with the one before.
    """
    rises = np.ones(len(events), bool)
    np.logical_and(others[:-1], events[1:], out=rises[1:])
    return np.flatnonzero(rises)


@dataclass(frozen=True)
class Fits:
    """Isotonic fits to ``b`` replicates of ``m`` places each, which lie in ``g`` runs that have one level each.

    ``kept`` are the places that have weight, numbered through all replicates, ascending; ``run`` [m] is the number of
    each place's run; ``levels`` [b, g] are the levels, from 0 to 1, and 0 where a run has no weight.
    """

    kept: Wholes
    run: Wholes
    levels: Floats

    @classmethod
    def of(cls, events: Floats, total: Floats, starts: Wholes) -> Fits:
        """Fit the shares ``events`` / ``total`` of replicates, both [b, m]; ``starts`` are those of `pooled_runs`."""
        from scipy.optimize import isotonic_regression

        run = np.repeat(np.arange(len(starts)), np.diff(starts, append=total.shape[-1]))
        hits_in, weight_in = (np.add.reduceat(values, starts, axis=-1) for values in (events, total))
        levels = np.zeros(weight_in.shape)
        weighed = np.flatnonzero(weight_in)
        if len(weighed):
            hits, weight = np.take(hits_in, weighed), np.take(weight_in, weighed)
            # Shares of the next replicate are 2 higher, so that blocks end with it: one call fits them all.
            shares = hits / weight
            shares += 2.0 * (weighed // len(starts))
            blocks = isotonic_regression(shares, weights=weight).blocks
            # From totals, for what is 2 higher has lost digits.
            level = np.add.reduceat(hits, blocks[:-1]) / np.add.reduceat(weight, blocks[:-1])
            levels.flat[weighed] = np.repeat(level, np.diff(blocks))
        return cls(np.flatnonzero(total), run, levels)

    def between(self, places: Floats, at: Floats) -> Floats:
        """Return the heights [b, k] at ``places`` [k] of lines through the levels; NaN without any weight.

        ``at`` [m] ascends. Beyond the first and the last place that has weight the height stays. Between two so near
        that no slope can be held in double precision, the lower level holds.
        """
        b, m = len(self.levels), len(self.run)
        if not len(self.kept):
            return np.full((b, len(places)), np.nan)
        # How many levels there are up to each place of `at`, over all replicates; before its first place too.
        up_to = np.zeros(b * m + 1, np.intp)
        up_to[self.kept + 1] = 1
        np.cumsum(up_to, out=up_to)
        replicate = np.arange(b)[:, None]
        begin = replicate * m
        first, last = up_to[begin], up_to[begin + m] - 1
        not_above, below = np.searchsorted(at, places, side="right"), np.searchsorted(at, places)
        left = self.kept[np.clip(up_to[begin + not_above] - 1, first, last)] % m
        right = self.kept[np.clip(up_to[begin + below], first, last)] % m
        low, high = (self.levels[replicate, self.run[place]] for place in (left, right))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            heights = (high - low) / (at[right] - at[left]) * (places - at[left]) + low
        heights = np.where((left == right) | ~np.isfinite(heights), low, heights)
        return np.where(last >= first, heights, np.nan)
