"""Ranks of rows, and ties that a map of predictions makes by rounding, broken by what it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from evalpipe.statistics.groups import Groups

if TYPE_CHECKING:
    from evalpipe.base.arraytypes import Floats, Wholes

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
