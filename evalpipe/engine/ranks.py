"""Ranks of rows: ties that a map of predictions makes by rounding, and groups cut from rows in order of score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.groups import Groups

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes
    from evalpipe.statistics import Summary


MIDDLE = 0.5
"""Values from here on are moved down and others up, so that probabilities stay between 0 and 1."""


def apart(values: Floats, ranking: Floats) -> Floats:
    """Return the values [n], those that are equal moved by a few of the smallest steps into the order of ``ranking``.

    A monotone map keeps the order of its arguments, but rounds results near 0 and 1 to the same number. Rows whose
    rank is equal too stay equal.
    """
    order = np.lexsort((ranking, values))
    value, rank = values[order] + 0.0, ranking[order]
    new = np.r_[True, (value[1:] != value[:-1]) | (rank[1:] != rank[:-1])]
    steps = _steps(value[new])
    if (np.diff(steps) > 0).all():
        return values
    low = int(np.searchsorted(value[new], MIDDLE))
    place = np.arange(len(steps))
    up = np.maximum.accumulate(steps[:low] - place[:low]) + place[:low]
    down = (np.minimum.accumulate((steps - place)[:low - 1 if low else None:-1]) + place[:low - 1 if low else None:-1])
    moved = np.maximum.accumulate(_values(np.concatenate([up, down[::-1]])))
    untied = np.empty_like(value)
    untied[order] = moved[np.cumsum(new) - 1]
    return untied


def mid_ranks(values: Floats, weights: Floats) -> Floats:
    """Return the weight of the rows below each of the values [n], and half of that of the rows equal to it, [n]."""
    groups = Groups.by(values)
    totals = groups.totals(weights)
    ranks = np.empty(len(values))
    ranks[groups.order] = np.repeat(np.cumsum(totals) - totals / 2, np.diff(groups.starts, append=len(values)))
    return ranks


def _steps(values: Floats) -> Wholes:
    """Number floats so that neighbours differ by one."""
    bits = values.view(np.int64)
    return np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)


def _values(steps: Wholes) -> Floats:
    """Return the floats of these numbers."""
    return np.where(steps < 0, np.iinfo(np.int64).min - steps, steps).view(np.float64)


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
