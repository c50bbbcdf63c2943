"""Bins of equal weight and quantiles along ordered scores, and totals in bins."""

from __future__ import annotations

from typing import Any

import numpy as np

ROUNDING = 1e-9
"""A share of the weight that misses the border of a bin by less than this part of a bin misses it by rounding alone."""


def equal_weight(at: Any, bins: int) -> Any:
    """Return the bin of each distinct score, in ascending order, from the weight ``at`` it [..., m]: [..., m].

    A score belongs to bin floor(``bins`` x weight below it / all weight): equal scores are never split and go where the
    first of them falls, so bins may stay empty. Where all weight is zero every score is of bin 0.
    """
    running = np.cumsum(at, axis=-1)
    total = running[..., -1:]
    share = (running - at) / np.where(total > 0, total, 1.0)
    return np.minimum((bins * share + ROUNDING).astype(np.intp), bins - 1)


def totals_in(place: Any, values: Any, bins: int) -> Any:
    """Total ``values`` [..., m] of each of so many bins, given the bin of each value: [..., bins]."""
    flat = values.reshape(-1, values.shape[-1])
    first = np.arange(len(flat))[:, None] * bins
    # A count of weights adds them one after the other, so that a batch sums in the order of a single row.
    found = np.bincount((place.reshape(flat.shape) + first).ravel(), flat.ravel(), len(flat) * bins)
    return found.reshape(*values.shape[:-1], bins)


def quantile(at: Any, values: Any, share: float) -> Any:
    """Return the value [...] that a share of the weight ``at`` the ascending values [..., m] does not exceed.

    The mean of two neighbours where exactly that share lies at or below the first of them (type 2 of Hyndman & Fan,
    1996), so that the quantile of the reversed order is the same one, and a weight of 3 is three rows.
    """
    running = np.cumsum(at, axis=-1)
    total = running[..., -1:]
    places = ((running < total * part).sum(axis=-1, keepdims=True) for part in (share - ROUNDING, share + ROUNDING))
    low, high = (np.take_along_axis(values, np.minimum(one, at.shape[-1] - 1), axis=-1)[..., 0] for one in places)
    return (low + high) / 2
