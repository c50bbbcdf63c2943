"""Rows ranked by score and cut into groups.

Ranks are cut where floor((rank - 1) x groups / n) changes, so groups differ by one row at most. Rows of equal score
that straddle a cut are shared in expectation, never by the order of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.statistics import Summary

ROUNDING = 1e-12
"""A share of all weight by which sums of weights may differ from rounding alone."""


def ranked(summary: Summary, groups: int, *, whole: bool) -> tuple[Floats, Floats]:
    """Return what the rows, and the events, of the first groups weigh together: each [..., groups + 1], from none on.

    ``whole`` says that weights count observations, which no cut may divide.
    """
    events, others = summary("events_from"), summary("others_from")
    tested = events + others
    cuts = tested[..., :1] * np.arange(groups + 1) / groups
    # Rounded first, so that a cut that is whole but for rounding takes no further row.
    cuts = np.ceil(np.round(cuts, 9)) if whole else cuts
    flat = zip(*(values.reshape(-1, values.shape[-1]) for values in (cuts, tested, events)), strict=True)
    captured = [np.interp(at, np.r_[0.0, x[::-1]], np.r_[0.0, y[::-1]]) for at, x, y in flat]
    return cuts, np.reshape(captured, cuts.shape)


def groups_of(score: Floats, weights: Floats, groups: int, *, whole: bool) -> tuple[Wholes, Wholes]:
    """Return the first and the last group, from 1, that has a part of each row or of rows tied with it, both [n].

    They differ where a cut divides tied rows, or a row of frequency weight above one.
    """
    _, place = np.unique(score, return_inverse=True)
    at = np.bincount(place, weights)[::-1]  # from the highest score down
    ends = np.cumsum(at)
    cuts = ends[-1] * np.arange(1, groups + 1) / groups
    cuts = np.ceil(np.round(cuts, 9)) if whole else cuts
    # A sum of weights that is a cut but for rounding is that cut.
    slack = ROUNDING * ends[-1]
    first = np.searchsorted(cuts, ends - at + slack, side="right")
    last = np.maximum(first, np.searchsorted(cuts, ends - slack, side="left"))
    of_row = len(at) - 1 - place
    return np.asarray(first[of_row] + 1), np.asarray(last[of_row] + 1)
